package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// maxPoolRows of a route; frequencies are kept in proportion.
	maxPoolRows = 10_000
	// maxThink is the longest pause that a scenario may have.
	maxThink = 10 * time.Minute
	// thinkStep: pauses are rounded to it.
	thinkStep = 10 * time.Millisecond
	// maxGaps kept for a median.
	maxGaps = 10_001
)

// mixer turns tokens into steps.
type mixer struct {
	*journal
	o      *LogOptions
	tokens []*token
	gaps   map[[2]uint32][]time.Duration
	pools  map[uint32]string // by route
	out    *scenario
	names  names
	notes  []string
}

// mix makes the scenario of sessions as recorded.
func (j *journal) mix(o *LogOptions) (*Draft, error) {
	visits := j.visits(o)
	m := &mixer{journal: j, o: o, tokens: j.tokenize(visits), pools: map[uint32]string{}, names: names{},
		gaps: map[[2]uint32][]time.Duration{}, out: &scenario{name: o.Name}}
	all := sequences(visits, m.tokens)
	chosen, coverage := choose(all, m.tokens, o.Sessions)
	if o.Think {
		m.measureGaps(visits)
	}
	d := &Draft{Requests: int64(len(j.hits)), Coverage: coverage, Routes: m.shares(chosen)}
	d.LeftOut = append(j.leftOut(), m.uncovered(chosen)...)
	for i, w := range weights(chosen) {
		m.session(chosen[i], i+1, w)
	}
	first, length, mean, peak := j.span()
	assets := 0
	for _, t := range m.tokens {
		assets = max(assets, len(t.assets))
	}
	d.Taken = []string{
		fmt.Sprintf("%d requests of %s from %s on (format %s): %.3g requests/s on average, %.0f in the busiest second",
			len(j.hits), ui(length), first.Format("2006-01-02 15:04:05 MST"), j.format, mean, peak),
		fmt.Sprintf("%d sessions were recorded, %d different ones; the scenario's %d stand for %.1f %% of the requests", len(visits), len(all), len(chosen), 100*coverage),
	}
	if slices.ContainsFunc(chosen, func(q *sequence) bool { return q.weight != float64(q.count) }) {
		d.Taken = append(d.Taken, "the sessions are too varied to take the most common ones: these are recorded ones, with weights that give the recorded mix of requests")
	}
	if !j.referers && assets > 0 {
		m.notes = append(m.notes, "The log has no Referer: files fetched within 2 s after a page count as its assets.")
	}
	if clients := countClients(j.hits); clients == 1 && len(j.hits) > 1000 {
		m.notes = append(m.notes, "All requests come from one client: if that is a proxy, log $http_x_forwarded_for, or the sessions are no visitors'.")
	}
	if o.Think {
		m.notes = append(m.notes, "Pauses (think) are the medians of the recorded ones; the log's resolution bounds how well.")
	}
	d.Notes = append(j.notes(o), m.notes...)
	m.out.comment = comments("Recorded from "+o.Source+".", d)
	return d, d.render(m.out)
}

func countClients(hits []hit) int {
	seen := map[uint32]bool{}
	for _, h := range hits {
		seen[h.client] = true
	}
	return len(seen)
}

// ui shows a length of time with two units.
func ui(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return d.Round(time.Minute).String()
	case d >= time.Second:
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}

// render fills the draft's files.
func (d *Draft) render(s *scenario) (err error) {
	d.Files, err = s.files()
	return err
}

// comments at the head of a scenario.
func comments(first string, d *Draft) []string {
	out := append([]string{first}, d.Taken...)
	if len(d.LeftOut) > 0 {
		out = append(out, "Left out:")
		for _, l := range d.LeftOut {
			out = append(out, "- "+l)
		}
	}
	return append(out, d.Notes...)
}

// session renders a chosen sequence.
func (m *mixer) session(q *sequence, n, weight int) {
	s := session{weight: weight}
	for i := 0; i < len(q.tokens); {
		run := 1
		for i+run < len(q.tokens) && q.tokens[i+run] == q.tokens[i] {
			run++
		}
		var next uint32
		haveNext := i+run < len(q.tokens)
		if haveNext {
			next = q.tokens[i+run]
		}
		st := m.step(q.tokens[i])
		st.repeat = run
		switch {
		case m.o.Think && run > 1:
			st.think = m.median(q.tokens[i], q.tokens[i])
		case m.o.Think && haveNext:
			st.think = m.median(q.tokens[i], next)
		}
		s.steps = append(s.steps, st)
		i += run
	}
	s.name = fmt.Sprintf("%d: %s", n, strings.TrimPrefix(m.routes[m.tokens[q.tokens[0]].route], "GET "))
	if k := len(q.tokens) - 1; k > 0 {
		s.name += fmt.Sprintf(" and %d more", k)
	}
	m.out.sessions = append(m.out.sessions, s)
}

// step renders a token. A route with several targets draws one from a pool.
func (m *mixer) step(id uint32) step {
	t := m.tokens[id]
	label := m.routes[t.route]
	method, _, _ := strings.Cut(label, " ")
	st := step{route: label, status: m.statuses(t.route)}
	if slices.Contains(writes, method) {
		st.comment = []string{"The body is not in the log: fill in form: or json:."}
	}
	for _, a := range t.assets {
		st.assets = append(st.assets, literal(m.target(a)))
	}
	if name := m.pool(t.route); name != "" {
		st.draw = []pair{{name, name}}
		st.request = method + " ${" + name + ".path}"
		return st
	}
	target := m.target(m.callsOf(t.route)[0].call)
	st.request = method + " " + literal(target)
	if path, _, _ := strings.Cut(target, "?"); label == method+" "+path {
		st.route = "" // the default
	}
	return st
}

// statuses that a route answered with. The load asks for whole, fresh answers,
// so 304 and 206 become 200.
func (m *mixer) statuses(route uint32) []int {
	seen := map[int]bool{}
	for _, t := range m.tokens {
		if t.route != route {
			continue
		}
		for s := range t.status {
			switch s {
			case 0, 304, 206:
				s = 200
			}
			seen[int(s)] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

type callCount struct {
	call  uint32
	count int64
}

// callsOf a route over all its tokens, most frequent first.
func (m *mixer) callsOf(route uint32) []callCount {
	sum := map[uint32]int64{}
	for _, t := range m.tokens {
		if t.route == route {
			for c, n := range t.calls {
				sum[c] += n
			}
		}
	}
	var out []callCount
	for c, n := range sum {
		out = append(out, callCount{c, n})
	}
	slices.SortFunc(out, func(a, b callCount) int {
		return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(m.target(a.call), m.target(b.call)))
	})
	return out
}

// pool makes the pool of a route's targets and returns its name; "" if the
// route has only one.
func (m *mixer) pool(route uint32) string {
	if name, ok := m.pools[route]; ok {
		return name
	}
	calls := m.callsOf(route)
	if len(calls) < 2 {
		m.pools[route] = ""
		return ""
	}
	name := m.names.unique(strings.TrimPrefix(m.routes[route], "GET "))
	p := pool{name: name, order: "random", header: []string{"path"}}
	if len(calls) > maxPoolRows {
		m.notes = append(m.notes, fmt.Sprintf("%s has %d different targets; the pool holds the %d most frequent.", m.routes[route], len(calls), maxPoolRows))
		calls = calls[:maxPoolRows]
	}
	for i, n := range inProportion(calls) {
		for range n {
			p.rows = append(p.rows, []string{m.target(calls[i].call)})
		}
	}
	m.out.pools = append(m.out.pools, p)
	m.pools[route] = name
	return name
}

// inProportion scales counts to at most maxPoolRows rows, at least one each.
func inProportion(calls []callCount) []int {
	total, divisor := int64(0), 0
	for _, c := range calls {
		total += c.count
		divisor = gcd(divisor, int(c.count))
	}
	out := make([]int, len(calls))
	for i, c := range calls {
		if n := c.count / int64(divisor); total/int64(divisor) <= maxPoolRows {
			out[i] = int(n)
		} else {
			out[i] = max(int((c.count*maxPoolRows+total/2)/total), 1)
		}
	}
	return out
}

// measureGaps notes the pauses between visits, from answer to next request.
func (m *mixer) measureGaps(sessions [][]visit) {
	for _, s := range sessions {
		for i := 1; i < len(s); i++ {
			key := [2]uint32{s[i-1].token, s[i].token}
			if gap := time.Duration(s[i].hit.at - s[i-1].hit.at - s[i-1].hit.took); len(m.gaps[key]) < maxGaps {
				m.gaps[key] = append(m.gaps[key], max(gap, 0))
			}
		}
	}
}

func (m *mixer) median(from, to uint32) time.Duration {
	gaps := m.gaps[[2]uint32{from, to}]
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return min(gaps[len(gaps)/2].Round(thinkStep), maxThink)
}

// shares compares the scenario's mix with the log's.
func (m *mixer) shares(chosen []*sequence) []Share {
	recorded, drafted, total := m.requestsByRoute(), map[uint32]float64{}, 0.0
	for _, q := range chosen {
		for id, n := range q.uses {
			t := m.tokens[id]
			drafted[t.route] += q.weight * float64(n)
			for _, a := range t.assets {
				drafted[m.byCall[a]] += q.weight * float64(n)
			}
			total += q.weight * float64(n*t.size())
		}
	}
	var out []Share
	for route, n := range recorded {
		out = append(out, Share{Route: m.routes[route], Recorded: n, Drafted: drafted[route] / max(total, 1)})
	}
	slices.SortFunc(out, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Recorded, a.Recorded), strings.Compare(a.Route, b.Route))
	})
	return out
}

func (j *journal) requestsByRoute() map[uint32]int64 {
	out := map[uint32]int64{}
	for _, h := range j.hits {
		out[h.route]++
	}
	return out
}

// uncovered lists the routes that no session asks for.
func (m *mixer) uncovered(chosen []*sequence) []string {
	var names []string
	requests, routes := int64(0), 0
	for _, s := range m.shares(chosen) {
		if s.Drafted == 0 {
			requests, routes = requests+s.Recorded, routes+1
			if len(names) < shownLines {
				names = append(names, fmt.Sprintf("%s (%d)", s.Route, s.Recorded))
			}
		}
	}
	if routes == 0 {
		return nil
	}
	text := fmt.Sprintf("%d requests for %d routes that are too rare for the %d sessions; --sessions raises the number: %s", requests, routes, m.o.Sessions, strings.Join(names, ", "))
	if routes > len(names) {
		text += fmt.Sprintf(" and %d more", routes-len(names))
	}
	return []string{text}
}
