package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"time"
)

// object is a JSON object of an answer.
type object = map[string]any

// failure is an answer that says why not.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

func refuse(status int, text string) error { return &failure{status, text} }

// call is one request: its body, who plays, and when.
type call struct {
	*http.Request
	body []byte
	user int64
	now  int64
}

// read decodes the body.
func (c *call) read(into any) error {
	if err := json.Unmarshal(c.body, into); err != nil {
		return refuse(http.StatusBadRequest, "the body is no JSON of this request")
	}
	return nil
}

type handler func(c *call) (object, error)

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", s.health)
	mux.Handle("POST /user", s.answer(s.register))
	mux.Handle("POST /login", s.answer(s.login))
	for pattern, h := range map[string]handler{
		"GET /home":              s.home,
		"POST /play/start":       s.startPlay,
		"POST /play/finish":      s.finishPlay,
		"POST /battle":           s.battle,
		"GET /cards":             s.cards,
		"POST /deck":             s.setDeck,
		"POST /gacha":            s.gacha,
		"GET /shop":              s.shop,
		"POST /shop":             s.buy,
		"GET /friends":           s.friends,
		"POST /friends":          s.befriend,
		"GET /presents":          s.presents,
		"POST /presents/receive": s.receive,
	} {
		mux.Handle(pattern, s.answer(s.player(h)))
	}
	mux.HandleFunc("GET /admin/books", s.books)
	return mux
}

// answer reads the request, answers it in JSON, and logs both. An answer that is no
// failure carries the common part.
func (s *server) answer(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		c := &call{Request: r, body: body, now: time.Now().Unix()}
		out, err := h(c)
		if err == nil {
			out["common"], err = s.common(c)
		}
		status := http.StatusOK
		var f *failure
		switch {
		case errors.As(err, &f):
			status, out = f.status, object{"error": f.text}
		case err != nil:
			log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
			status, out = http.StatusInternalServerError, object{"error": "internal error"}
		}
		var text bytes.Buffer
		if err := json.NewEncoder(&text).Encode(out); err != nil {
			log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
			status = http.StatusInternalServerError
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		w.Write(text.Bytes())
		if err := s.log.write(c, status, text.Bytes()); err != nil {
			log.Printf("API log: %v", err)
		}
	})
}

// health is up when the database and Redis answer.
func (s *server) health(w http.ResponseWriter, r *http.Request) {
	if err := errors.Join(s.db.PingContext(r.Context()), s.redis.Ping(r.Context()).Err()); err != nil {
		http.Error(w, "not ready", http.StatusServiceUnavailable)
		return
	}
	io.WriteString(w, "ok\n")
}
