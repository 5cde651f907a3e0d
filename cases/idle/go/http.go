package main

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"strconv"
	"time"
)

// object is a JSON object of an answer.
type object = map[string]any

// failure is an answer that says why not.
type failure struct {
	status int
	body   object
}

func (f *failure) Error() string { return http.StatusText(f.status) }

func refuse(status int, text string) error {
	return &failure{status, object{"error": text}}
}

// handler answers a request with an object, or a failure.
type handler func(r *http.Request, now int64) (object, error)

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /health", answer(s.health))
	mux.Handle("POST /initialize", answer(s.initialize))
	mux.Handle("POST /user", answer(s.versioned(s.register)))
	mux.Handle("POST /login", answer(s.versioned(s.login)))
	for pattern, h := range map[string]playerHandler{
		"GET /user/{user}/home":                        s.home,
		"POST /user/{user}/gather":                     s.gather,
		"POST /user/{user}/deck":                       s.setDeck,
		"GET /user/{user}/items":                       s.items,
		"POST /user/{user}/gear":                       s.buyGear,
		"POST /user/{user}/gear/{card}/exp":            s.addExp,
		"GET /user/{user}/lottery":                     s.lotteries,
		"POST /user/{user}/lottery/{lottery}/draw/{n}": s.draw,
		"GET /user/{user}/presents/{page}":             s.presents,
		"POST /user/{user}/presents/receive":           s.receive,
	} {
		mux.Handle(pattern, answer(s.player(h)))
	}
	mux.Handle("POST /admin/login", answer(s.adminLogin))
	mux.Handle("GET /admin/master", answer(s.admin(s.master)))
	mux.Handle("PUT /admin/master", answer(s.admin(s.loadMaster)))
	mux.Handle("POST /admin/user/{user}/ban", answer(s.admin(s.ban)))
	mux.Handle("GET /admin/books", answer(s.admin(s.books)))
	return mux
}

func answer(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := h(r, time.Now().Unix())
		status := http.StatusOK
		var f *failure
		switch {
		case errors.As(err, &f):
			status, body = f.status, f.body
		case err != nil:
			log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
			status, body = http.StatusInternalServerError, object{"error": "internal error"}
		}
		text, err := json.Marshal(body)
		if err != nil {
			log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
			status = http.StatusInternalServerError
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		w.Write(text)
	})
}

// read decodes the body of a request.
func read(r *http.Request, into any) error {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		return refuse(http.StatusBadRequest, "the body is no JSON of this request")
	}
	return nil
}

// number is a number in the path.
func number(r *http.Request, name string) (int64, error) {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || n < 1 {
		return 0, refuse(http.StatusBadRequest, name+" must be a number from 1")
	}
	return n, nil
}

// health is up when the database answers.
func (s *server) health(r *http.Request, _ int64) (object, error) {
	version, err := s.masterVersion(r.Context())
	return object{"status": "ok", "master_version": version}, err
}

// initialize is told that the data was replaced. Nothing is kept, so nothing is to do.
func (s *server) initialize(*http.Request, int64) (object, error) {
	return object{"language": "go"}, nil
}
