package load

import (
	"fmt"
	"slices"
	"time"
)

// Summary says what a scenario does, for people and for --json.
type Summary struct {
	Name     string           `json:"name"`
	Workload int              `json:"workload"`
	Warmup   time.Duration    `json:"warmup"`   // nanoseconds
	Duration time.Duration    `json:"duration"` // nanoseconds
	Timeout  time.Duration    `json:"timeout"`  // nanoseconds
	Seed     uint64           `json:"seed"`
	Sessions []SessionSummary `json:"sessions"`
	Setup    []StepSummary    `json:"setup,omitempty"`
	Teardown []StepSummary    `json:"teardown,omitempty"`
	Pools    []PoolSummary    `json:"pools"`
	Routes   []RouteSummary   `json:"routes"`
	// Warnings are about what is allowed but seldom meant.
	Warnings []string `json:"warnings"`
}

// SessionSummary is one kind of visit.
type SessionSummary struct {
	Name   string        `json:"name"`
	Weight int           `json:"weight"`
	Share  float64       `json:"share"` // of all sessions, 0…1
	Steps  []StepSummary `json:"steps"`
}

// StepSummary is one request.
type StepSummary struct {
	Name   string `json:"name"`
	Route  string `json:"route"`
	Repeat int    `json:"repeat"`
	// Checks beyond the status, of the first and the last answer.
	Checks int `json:"checks"`
	Assets int `json:"assets"`
	// AutoAssets: those that the page refers to are fetched, too.
	AutoAssets bool `json:"auto_assets,omitempty"`
}

// PoolSummary is one set of data.
type PoolSummary struct {
	Name   string   `json:"name"`
	Rows   uint64   `json:"rows"`
	Fields []string `json:"fields"`
	Draws  int      `json:"draws"` // places that draw from it
}

// RouteSummary is a label of results with its worth.
type RouteSummary struct {
	Label  string  `json:"label"`
	Weight float64 `json:"weight"`
}

// Summary of the scenario.
func (s *Scenario) Summary() Summary {
	out := Summary{Name: s.Name, Workload: s.Workload, Warmup: s.Warmup, Duration: s.Duration, Timeout: s.Timeout, Seed: s.Seed,
		Setup: s.summarizeSteps(s.setup), Teardown: s.summarizeSteps(s.teardown), Pools: []PoolSummary{}, Warnings: []string{}}
	for i := range s.sessions {
		one := &s.sessions[i]
		out.Sessions = append(out.Sessions, SessionSummary{Name: one.name, Weight: one.weight, Share: float64(one.weight) / float64(s.weights), Steps: s.summarizeSteps(one)})
	}
	for _, p := range s.pools {
		out.Pools = append(out.Pools, PoolSummary{Name: p.name, Rows: p.rows, Fields: p.fields, Draws: s.drawsFrom(p)})
	}
	for i, label := range s.routes {
		one := RouteSummary{Label: label, Weight: 1}
		if i < len(s.score.weights) {
			one.Weight = s.score.weights[i]
		}
		out.Routes = append(out.Routes, one)
	}
	out.Warnings = append(out.Warnings, s.warnings()...)
	return out
}

func (s *Scenario) summarizeSteps(one *session) []StepSummary {
	var out []StepSummary
	for i := range one.steps {
		st := &one.steps[i]
		out = append(out, StepSummary{Name: st.name, Route: s.routes[st.route], Repeat: st.repeat, Checks: st.checks(), Assets: len(st.assets), AutoAssets: st.auto != nil})
	}
	return out
}

// visits are all sessions with setup and teardown.
func (s *Scenario) visits() []*session {
	out := []*session{s.setup}
	for i := range s.sessions {
		out = append(out, &s.sessions[i])
	}
	return append(out, s.teardown)
}

// allDraws of a session.
func (s *session) allDraws() []draw {
	out := slices.Clone(s.draws)
	for i := range s.steps {
		out = append(out, s.steps[i].draws...)
	}
	return out
}

func (s *Scenario) drawsFrom(p *pool) int {
	n := 0
	for _, v := range s.visits() {
		for _, d := range v.allDraws() {
			if d.pool == p {
				n++
			}
		}
	}
	return n
}

// checks of a step beyond the status.
func (st *step) checks() int {
	n := st.expect.checks()
	if st.then != nil {
		n += st.then.checks()
	}
	return n
}

// checks beyond the status.
func (e *expectation) checks() int {
	n := len(e.headers) + len(e.contains) + len(e.lacks) + len(e.regexps) + len(e.json) + len(e.sets)
	for _, given := range []bool{e.typ != nil, e.time != nil, e.sha256 != "", e.size >= 0, e.golden != nil} {
		if given {
			n++
		}
	}
	return n
}

// warnings about what is allowed but seldom meant.
func (s *Scenario) warnings() []string {
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	s.fillWarnings(warn)
	for _, v := range s.visits() {
		for i := range v.steps {
			st := &v.steps[i]
			if st.checks() == 0 && len(st.extract) == 0 && st.method != "HEAD" && v != s.setup {
				warn("%s: %s checks only the status; a wrong page with that status would count as right: add for example expect: {contains: …}", v.name, st.name)
			}
		}
	}
	for _, p := range s.pools {
		if s.drawsFrom(p) == 0 {
			warn("pool %s: no session or step draws from it; remove it, or add draw: {name: %s}", p.name, p.name)
		}
	}
	for i := range s.sessions {
		for _, d := range s.sessions[i].allDraws() {
			if len(d.fields) == 0 {
				warn("%s: draws from the pool %s, but uses no field of it; remove the draw, or use ${…}", s.sessions[i].name, d.pool.name)
			}
			if d.pool.rows < uint64(s.Workload) && !d.pool.independent() {
				warn("%s: the pool %s has %d rows for %d users, so that several have the same row at once; add rows, or, where that is as in life (words, not people who log in), say order: random", s.sessions[i].name, d.pool.name, d.pool.rows, s.Workload)
			}
		}
	}
	return slices.Compact(out)
}

// independent: draws may give the same row to several users at once.
func (p *pool) independent() bool { return p.order != uniqueOrder }
