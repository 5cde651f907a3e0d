package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// Options of New.
type Options struct {
	Stack   string // its name
	Version string
	// Store and Dir (.kasoku) are read only. Rule is that of the stack file.
	Store *store.Store
	Dir   string
	Rule  experiment.Rule
	// HostOf tells the host of a service as the stack has it now, "" if it has
	// none of that name; nil: not known.
	HostOf func(service string) string
	// Undo puts back a kept transaction as the only writer; nil: no buttons.
	Undo func(ctx context.Context, tx int64) error
	// Token that logs a browser in; "" = nobody can.
	Token string
	// OpenReading: pages need no login, as is right on loopback only.
	OpenReading bool
	// Names, in lower case, that the server is asked by besides addresses.
	Names []string
}

// Server answers browsers.
type Server struct {
	o   Options
	hub *Hub
	// fed: this process publishes; else the store is watched.
	fed     atomic.Bool
	closing chan struct{} // closed when event streams must end
	// reads of sessions' pages since the end of what is published was.
	reads atomic.Int64
	once  sync.Once

	mu     sync.Mutex
	logins map[[sha256.Size]byte]*login

	undoing  sync.Mutex // one at a time
	profiles profiles
	built    sessionCache
	sent     lastEvent
}

// New makes a server; Handler serves it, Start listens too.
func New(o Options) *Server {
	return &Server{o: o, hub: NewHub(), closing: make(chan struct{}), logins: map[[sha256.Size]byte]*login{}}
}

// Publish shows a moment to all viewers. It never waits.
func (s *Server) Publish(l tune.Live) {
	s.fed.Store(true)
	if l.Ended {
		s.reads.Store(0)
	}
	s.hub.Publish(l)
}

func (s *Server) hostOf(service string) string {
	if s.o.HostOf == nil {
		return ""
	}
	return s.o.HostOf(service)
}

// Close ends the event streams; pages go on.
func (s *Server) Close() { s.once.Do(func() { close(s.closing) }) }

// Handler is the whole dashboard.
func (s *Server) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", s.latest)
	m.HandleFunc("GET /sessions", s.sessionList)
	m.HandleFunc("GET /sessions/{id}", s.session)
	m.HandleFunc("GET /runs", s.runList)
	m.HandleFunc("GET /runs/{id}", s.run)
	m.HandleFunc("GET /runs/{id}/artifacts/{name}", s.artifact)
	m.HandleFunc("GET /runs/{id}/profiles/{name}/{view...}", s.profile)
	m.HandleFunc("GET /compare", s.compare)
	m.HandleFunc("GET /journal", s.journal)
	m.HandleFunc("GET /journal/{id}", s.entry)
	m.HandleFunc("POST /journal/{id}/undo", s.undo)
	m.HandleFunc("GET /events", s.events)
	m.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) { s.loginPage(w, r, http.StatusOK, "") })
	m.HandleFunc("POST /login", s.logIn)
	m.HandleFunc("GET /static/{name}", static)
	m.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, http.StatusNotFound, "There is no such page.", "")
	})
	return s.guard(m)
}

//go:embed static templates
var files embed.FS

func static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	kind := map[string]string{"app.css": "text/css; charset=utf-8", "app.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml"}[name]
	b, err := files.ReadFile("static/" + name)
	if kind == "" || err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache") // a newer Kasoku has newer ones
	_, _ = w.Write(b)                           // a browser that left
}

// pages are the templates, each with the frame around it. They are read when the
// first page is wanted: most commands show none, and reading them is a fifth of
// what a start allocates.
var pages = sync.OnceValue(func() map[string]*template.Template {
	frame := template.Must(template.New("frame").Funcs(funcs).ParseFS(files, "templates/frame.html", "templates/parts.html"))
	out := map[string]*template.Template{}
	for _, name := range []string{"login", "fail", "session", "sessions", "run", "runs", "compare", "journal", "entry"} {
		out[name] = template.Must(template.Must(frame.Clone()).ParseFS(files, "templates/"+name+".html"))
	}
	return out
})

// page is what the frame shows.
type page struct {
	Title   string
	At      string // which entry of the navigation it is
	Stack   string
	Version string
	Login   bool   // logged in
	CSRF    string // of the login
	Live    bool   // show the live panel
	Undo    bool   // changes can be put back here
	Busy    string // who works on the project
	AtWork  bool   // somebody is seen at work, here or elsewhere
	Body    any
}

// render writes one page, nothing of one that fails half-way.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, name string, p page, body any) {
	text, err := s.made(r, name, p, body)
	send(w, status, text, err)
}

// made is one page as a browser gets it.
func (s *Server) made(r *http.Request, name string, p page, body any) (string, error) {
	p.Body, p.Stack, p.Version, p.Undo = body, s.o.Stack, s.o.Version, s.o.Undo != nil
	if l := s.loginOf(r); l != nil {
		p.Login, p.CSRF = true, l.csrf
	}
	var b bytes.Buffer
	if err := pages()[name].ExecuteTemplate(&b, "frame", p); err != nil {
		return "", err
	}
	return ui.Clean(b.String()), nil
}

func send(w http.ResponseWriter, status int, made string, err error) {
	if err != nil {
		http.Error(w, text("The page could not be made: "+err.Error()), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(made)) // a browser that left
}

// failure is what the page "fail" shows.
type failure struct{ Problem, Hint string }

func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, problem, hint string) {
	s.render(w, r, status, "fail", page{Title: http.StatusText(status)}, failure{text(problem), text(hint)})
}

// failed shows an error of the store or the journal.
func (s *Server) failed(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	if errors.Is(err, store.ErrNotFound) {
		status = http.StatusNotFound
	}
	s.fail(w, r, status, err.Error(), ui.Hint(err))
}

// number reads a path value or a query value; it answers by itself if that is
// no number.
func (s *Server) number(w http.ResponseWriter, r *http.Request, value string) (int64, bool) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		s.fail(w, r, http.StatusNotFound, fmt.Sprintf("%q is no number.", value), "")
		return 0, false
	}
	return n, true
}

// others names who works on the project, "" if it is this process, which the
// live panel tells.
func (s *Server) others() string {
	if s.fed.Load() {
		return ""
	}
	return s.atWork()
}

// atWork names another Kasoku that works on the project, "" if none does.
func (s *Server) atWork() string { return change.AtWork(s.o.Dir) }
