package main

import (
	"encoding/json"
	"log"
	"net/http"
)

// ServeHTTP is the front controller.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && s.sendStaticFile(w, r) {
		return
	}
	w.Header().Set("Cache-Control", "no-store, no-cache, must-revalidate")
	sess, err := s.sessions.open(w, r)
	if err != nil {
		fail(w, r, err)
		return
	}
	switch r.URL.Path {
	case "/":
		err = s.showForm(w, sess)
	case "/login":
		if r.Method != http.MethodPost {
			err = s.render(w, http.StatusNotFound, "not_found.html", nil)
			break
		}
		err = s.handleLogin(w, r, sess)
	case "/mypage":
		err = s.showMypage(w, r, sess)
	case "/logout":
		sess.UserID = 0
		if err = s.sessions.save(sess); err == nil {
			redirect(w, "/")
		}
	case "/report":
		var rep report
		if rep, err = s.makeReport(r.Context()); err == nil {
			err = sendJSON(w, rep)
		}
	case "/health":
		err = s.showHealth(w, r)
	default:
		err = s.render(w, http.StatusNotFound, "not_found.html", nil)
	}
	if err != nil {
		fail(w, r, err)
	}
}

func (s *server) showForm(w http.ResponseWriter, sess *session) error {
	notice := sess.Notice
	if notice != "" {
		sess.Notice = ""
		if err := s.sessions.save(sess); err != nil {
			return err
		}
	}
	return s.render(w, http.StatusOK, "form.html", map[string]any{"Notice": notice})
}

func (s *server) handleLogin(w http.ResponseWriter, r *http.Request, sess *session) error {
	a := attempt{login: r.PostFormValue("login"), password: r.PostFormValue("password"), ip: clientAddress(r)}
	u, notice, err := s.attemptLogin(r.Context(), a)
	if err != nil {
		return err
	}
	to := "/mypage"
	if u == nil {
		sess.Notice, to = notice, "/"
	} else {
		sess.UserID = u.ID
	}
	if err := s.sessions.save(sess); err != nil {
		return err
	}
	redirect(w, to)
	return nil
}

func (s *server) showMypage(w http.ResponseWriter, r *http.Request, sess *session) error {
	u, err := s.currentUser(r, sess)
	if err != nil {
		return err
	}
	if u == nil {
		sess.Notice = noticeNeedsLogin
		if err := s.sessions.save(sess); err != nil {
			return err
		}
		redirect(w, "/")
		return nil
	}
	previous, err := s.previousLogin(r.Context(), u.ID)
	if err != nil {
		return err
	}
	return s.render(w, http.StatusOK, "mypage.html", map[string]any{"User": u, "Previous": previous})
}

// currentUser is who is logged in in this session, or nil.
func (s *server) currentUser(r *http.Request, sess *session) (*user, error) {
	if sess.UserID == 0 {
		return nil, nil
	}
	return s.userByID(r.Context(), sess.UserID)
}

func (s *server) showHealth(w http.ResponseWriter, r *http.Request) error {
	var users int
	if err := s.db.QueryRowContext(r.Context(), "SELECT COUNT(*) FROM users").Scan(&users); err != nil {
		return err
	}
	return sendJSON(w, struct {
		Status string `json:"status"`
		Users  int    `json:"users"`
	}{"ok", users})
}

func (s *server) render(w http.ResponseWriter, status int, view string, vars any) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	return s.views.ExecuteTemplate(w, view, vars)
}

func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusFound)
}

func sendJSON(w http.ResponseWriter, value any) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(value)
}

func fail(w http.ResponseWriter, r *http.Request, err error) {
	log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
	http.Error(w, "internal error", http.StatusInternalServerError)
}
