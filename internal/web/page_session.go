package web

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/report"
	"kasoku/internal/store"
)

// sessionView is what the page of a session shows.
type sessionView struct {
	*report.Model
	Timeline, Forest, CPU template.HTML
	// Spent is the report's breakdown of a right answer's time, Where what ran
	// for it.
	Spent, Where []bar
	Resources    []resource
	Hosts        []hostCharts
	Running      bool
	// Left are the findings that Work does not tell.
	Left []diagnose.Finding
	// Undoable are the kept transactions that are still in force.
	Undoable map[int64]bool
}

// stepView is a step with the page that it stands on.
type stepView struct {
	report.Step
	Of *sessionView
}

// sessionCache keeps the page that all viewers look at, so that five of them
// cost one reading of the store.
type sessionCache struct {
	mu   sync.Mutex
	id   int64
	mark string
	view *sessionView
	// made are the pages of view, by what else they depend on: five viewers
	// cost one page.
	made map[string]string
}

// page of v, made by build if it has not been made yet.
func (c *sessionCache) page(v *sessionView, key string, build func() (string, error)) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text := c.made[key]; text != "" && c.view == v {
		return text, nil
	}
	text, err := build()
	if err == nil && c.view == v {
		c.made[key] = text
	}
	return text, err
}

// latest shows the newest session, or how to begin one.
func (s *Server) latest(w http.ResponseWriter, r *http.Request) {
	x, err := s.o.Store.LastSession()
	if errors.Is(err, store.ErrNotFound) {
		s.render(w, r, http.StatusOK, "session", page{Title: "No session yet", At: "session", Live: true, Busy: s.others()}, (*sessionView)(nil))
		return
	}
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.showSession(w, r, x.ID)
}

func (s *Server) session(w http.ResponseWriter, r *http.Request) {
	if id, ok := s.number(w, r, r.PathValue("id")); ok {
		s.showSession(w, r, id)
	}
}

func (s *Server) showSession(w http.ResponseWriter, r *http.Request, id int64) {
	v, err := s.sessionView(r, id)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	p := page{Title: fmt.Sprintf("Session %d", id), At: "session", Live: v.Running, Busy: s.others()}
	p.AtWork = v.Running && (s.fed.Load() || p.Busy != "")
	key := fmt.Sprint(s.loginOf(r) != nil, p.AtWork, p.Busy) // no form of a login's own is on it
	text, err := s.built.page(v, key, func() (string, error) { return s.made(r, "session", p, v) })
	send(w, http.StatusOK, text, err)
	s.reads.Add(1)
}

// sessionView builds what the page shows, or takes it from the cache while
// nothing was written.
func (s *Server) sessionView(r *http.Request, id int64) (*sessionView, error) {
	mark, err := s.o.Store.Mark()
	if err != nil {
		return nil, err
	}
	c := &s.built
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.view != nil && c.id == id && c.mark == mark {
		return c.view, nil
	}
	o := report.Options{Rule: s.o.Rule, WithoutLevels: true}
	if c.view != nil {
		o.Like = c.view.Model
	}
	m, err := report.Build(r.Context(), s.o.Store, id, o)
	if err != nil {
		return nil, err
	}
	v := &sessionView{Model: m, Timeline: report.Timeline(m), Forest: report.Forest(m), CPU: report.CPUBars(m),
		Running: m.Session.State == "running", Left: withoutWork(m), Undoable: map[int64]bool{}}
	switch {
	case m.Seen == nil:
	case c.view != nil && c.view.Seen == m.Seen: // taken over
		v.Spent, v.Where, v.Resources, v.Hosts = c.view.Spent, c.view.Where, c.view.Resources, c.view.Hosts
	default:
		if err := v.addLast(s.o.Store, s.hostOf); err != nil {
			return nil, err
		}
	}
	txs, err := change.Read(s.o.Dir)
	if err != nil {
		return nil, err
	}
	for _, tx := range txs {
		v.Undoable[tx.ID] = tx.InForce()
	}
	c.id, c.mark, c.view, c.made = id, mark, v, map[string]string{}
	return v, nil
}

// Judged counts the steps that have ended, for the script to see a newer one.
func (v *sessionView) Judged() (n int) {
	for i := range v.Steps {
		n += store.Judged([]store.Step{v.Steps[i].Step})
	}
	return n
}

// mostMoves of routes and statements stand on the page; the run has all.
const mostMoves = 10

// TopRoutes are those that take most of the time.
func (v *sessionView) TopRoutes() []report.RouteChange {
	return v.Routes[:min(len(v.Routes), mostMoves)]
}

// TopStatements: see TopRoutes.
func (v *sessionView) TopStatements() []report.StatementChange {
	return v.Statements[:min(len(v.Statements), mostMoves)]
}

// LastSide is the last diagnostic run, nil if there is none.
func (v *sessionView) LastSide() *report.Side {
	if v.After != nil {
		return v.After
	}
	return v.Before
}

// addLast draws the pictures of the last diagnostic run.
func (v *sessionView) addLast(st *store.Store, hostOf func(string) string) error {
	last, err := st.Run(v.Seen.Run)
	if err != nil {
		return err
	}
	labels := []string{"As found"}
	switch {
	case v.After != nil && v.Running:
		labels = append(labels, "So far")
	case v.After != nil:
		labels = append(labels, "At the end")
	}
	v.Spent, v.Where = timeBars(v.Times, labels...), whereTime(last, v.Times, v.Model.CPU)
	if d := last.Diagnosis; d != nil {
		v.Resources, v.Hosts = resources(d), overTime(last.Evidence, d, hostOf)
	}
	return nil
}

// withoutWork leaves out what the work list tells as one item: the same
// pattern has a finding for each route.
func withoutWork(m *report.Model) []diagnose.Finding {
	listed := map[string]bool{}
	for _, w := range m.Work {
		listed[w.Rule] = true
	}
	return slices.DeleteFunc(slices.Clone(m.Findings), func(f diagnose.Finding) bool {
		return strings.HasPrefix(f.Rule, "request.") && listed[f.Rule]
	})
}
