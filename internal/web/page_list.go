package web

import (
	"html/template"
	"net/http"
	"net/url"
	"strconv"

	"kasoku/internal/store"
)

// perPage rows of a list.
const perPage = 50

// sessionsView is a page of the list of sessions.
type sessionsView struct {
	Sessions []store.Session
	Next     template.URL // query of the next page; "" = this is the last
	Later    bool         // not the first page
}

// before reads where a page begins; 0: at the newest.
func (s *Server) before(w http.ResponseWriter, r *http.Request) (int64, bool) {
	if v := r.URL.Query().Get("before"); v != "" {
		return s.number(w, r, v)
	}
	return 0, true
}

// atEnd is beyond every ID.
const atEnd = int64(1<<63 - 1)

func (s *Server) sessionList(w http.ResponseWriter, r *http.Request) {
	before, ok := s.before(w, r)
	if !ok {
		return
	}
	v := sessionsView{Later: before != 0}
	if before == 0 {
		before = atEnd
	}
	var err error
	if v.Sessions, err = s.o.Store.SessionsBefore(before, perPage+1); err != nil {
		s.failed(w, r, err)
		return
	}
	if len(v.Sessions) > perPage {
		v.Sessions = v.Sessions[:perPage]
		v.Next = template.URL(url.Values{"before": {strconv.FormatInt(v.Sessions[perPage-1].ID, 10)}}.Encode())
	}
	s.render(w, r, http.StatusOK, "sessions", page{Title: "Sessions", At: "sessions"}, v)
}

// runsView is a page of the list of runs.
type runsView struct {
	Runs    []store.Run
	Session int64
	Step    int64
	Kind    string
	Kinds   []string
	// With is a run that is chosen for a comparison already, also on the pages
	// before; 0: none.
	With  int64
	Next  template.URL // query
	Later bool
}

// Query of the list with other values: of the first page if before is 0.
func (v runsView) Query(kind string, before, with int64) template.URL {
	q := url.Values{}
	for name, id := range map[string]int64{"session": v.Session, "step": v.Step, "before": before, "with": with} {
		if id != 0 {
			q.Set(name, strconv.FormatInt(id, 10))
		}
	}
	if kind != "" {
		q.Set("kind", kind)
	}
	return template.URL(q.Encode())
}

func (s *Server) runList(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	f := store.RunFilter{Kind: q.Get("kind"), Limit: perPage + 1}
	var v runsView
	var ok bool
	if f.Before, ok = s.before(w, r); !ok {
		return
	}
	for _, x := range []struct {
		name string
		to   *int64
	}{{"session", &f.Session}, {"step", &f.Step}, {"with", &v.With}} {
		if v := q.Get(x.name); v != "" {
			if *x.to, ok = s.number(w, r, v); !ok {
				return
			}
		}
	}
	v.Session, v.Step, v.Kind, v.Later = f.Session, f.Step, f.Kind, f.Before != 0
	v.Kinds = []string{store.Scored, store.Diagnostic, store.Probe}
	var err error
	if v.Runs, err = s.o.Store.Runs(f); err != nil {
		s.failed(w, r, err)
		return
	}
	if len(v.Runs) > perPage {
		v.Runs = v.Runs[:perPage]
		v.Next = v.Query(v.Kind, v.Runs[perPage-1].ID, v.With)
	}
	s.render(w, r, http.StatusOK, "runs", page{Title: "Runs", At: "runs"}, v)
}
