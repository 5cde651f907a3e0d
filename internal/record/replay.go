package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxReplayRoutes have a session of their own; the rest share one for each
	// method.
	maxReplayRoutes = 200
	// maxReplay is the longest window of a run.
	maxReplay = 24 * time.Hour
	// replayFile lists the planned times.
	replayFile = "replay.csv"
)

// replayEnd is how long the window goes on after the last request: a generator
// that wakes up late by some milliseconds still begins it.
const replayEnd = 20 * time.Millisecond

// replayed is one session of a replay: a route.
type replayed struct {
	name   string
	method string
	rows   [][]string
	status map[int]bool
	single bool // all rows are the same
}

// replay makes a scenario that asks for the same at the same times: a session
// per route with one step, whose pool has the targets in the order of time.
func (j *journal) replay(o *LogOptions) (*Draft, error) {
	if o.Speed <= 0 {
		return nil, fmt.Errorf("replay: the speed is %g; write a number above 0, for example 2 for twice as fast", o.Speed)
	}
	slices.SortStableFunc(j.hits, func(a, b hit) int { return cmp.Compare(a.at, b.at) })
	first, length, mean, peak := j.span()
	if !j.fine {
		j.spread()
		length += time.Second
	}
	window := time.Duration(float64(length)/o.Speed).Round(time.Millisecond) + replayEnd
	if window > maxReplay {
		return nil, fmt.Errorf("replay: the log is %s long and would take %s; a run has at most %s: cut the log, or take a higher speed: %w",
			ui(length), ui(window), maxReplay, errors.ErrUnsupported)
	}
	names := j.replayNames()
	byName := map[string]*replayed{}
	var sessions []*replayed
	var times bytes.Buffer
	times.WriteString("at,session\n")
	for i := range j.hits {
		h := &j.hits[i]
		name := names[h.route]
		r := byName[name]
		if r == nil {
			r = &replayed{name: name, method: j.calls[h.call].method, status: map[int]bool{}, single: true}
			byName[name], sessions = r, append(sessions, r)
		}
		r.add(j.target(h.call), h.status)
		times.WriteString(strconv.FormatFloat(float64(h.at-j.hits[0].at)/1e9, 'f', -1, 64))
		times.WriteByte(',')
		times.WriteString(csvField(name))
		times.WriteByte('\n')
	}
	d := &Draft{Requests: int64(len(j.hits)), Coverage: 1, LeftOut: j.leftOut(), Notes: j.notes(o)}
	for route, n := range j.requestsByRoute() {
		d.Routes = append(d.Routes, Share{Route: j.routes[route], Recorded: n, Drafted: float64(n) / float64(len(j.hits))})
	}
	slices.SortFunc(d.Routes, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Recorded, a.Recorded), strings.Compare(a.Route, b.Route))
	})
	d.Taken = []string{fmt.Sprintf("a replay of %d requests in %s from %s on (format %s), %g times as fast: %.3g requests/s on average, %.3g in the busiest second",
		len(j.hits), ui(length), first.Format("2006-01-02 15:04:05 MST"), j.format, o.Speed, mean*o.Speed, peak*o.Speed)}
	if !j.fine {
		d.Notes = append(d.Notes, "The log has whole seconds only: requests of one second are spread over it evenly.")
	}
	s := &scenario{name: o.Name, settings: []pair{{"warmup", "0s"}, {"duration", window.String()},
		{"arrivals", fmt.Sprintf("{recorded: %s, speed: %s}", replayFile, strconv.FormatFloat(o.Speed, 'f', -1, 64))}}}
	addReplayed(s, sessions)
	s.comment = comments("Replay of "+o.Source+".", d)
	if err := d.render(s); err != nil {
		return nil, err
	}
	d.Files = append(d.Files, File{replayFile, times.Bytes()})
	return d, nil
}

func csvField(s string) string {
	if strings.ContainsAny(s, ",\"\r\n") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

// spread puts requests of one second at even distances within it.
func (j *journal) spread() {
	for i := 0; i < len(j.hits); {
		n := 1
		for i+n < len(j.hits) && j.hits[i+n].at == j.hits[i].at {
			n++
		}
		for k := range n {
			j.hits[i+k].at += int64(k) * int64(time.Second) / int64(n)
		}
		i += n
	}
}

// replayNames is the session of each route: its own for the most frequent
// ones, else that of its method.
func (j *journal) replayNames() []string {
	count := j.requestsByRoute()
	order := slices.SortedFunc(maps.Keys(count), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(j.routes[a], j.routes[b]))
	})
	out := make([]string, len(j.routes))
	for i, route := range order {
		out[route] = j.routes[route]
		if i >= maxReplayRoutes {
			method, _, _ := strings.Cut(j.routes[route], " ")
			out[route] = method + " (other)"
		}
	}
	return out
}

func (r *replayed) add(target string, status uint16) {
	switch status {
	case 0, 304, 206:
		status = 200
	}
	r.single = r.single && (len(r.rows) == 0 || r.rows[0][0] == target)
	r.rows = append(r.rows, []string{target})
	r.status[int(status)] = true
}

func addReplayed(s *scenario, sessions []*replayed) {
	used := names{}
	for _, r := range sessions {
		st := step{route: r.name, status: slices.Sorted(maps.Keys(r.status))}
		one := session{name: r.name}
		if slices.Contains(writes, r.method) {
			st.comment = []string{"The body is not in the log: fill in form: or json:."}
		}
		if r.single {
			st.request = r.method + " " + literal(r.rows[0][0])
		} else {
			name := used.unique(strings.TrimPrefix(r.name, "GET "))
			s.pools = append(s.pools, pool{name: name, order: "sequential", header: []string{"path"}, rows: r.rows})
			one.draw = []pair{{name, name}}
			st.request = r.method + " ${" + name + ".path}"
		}
		one.steps = []step{st}
		s.sessions = append(s.sessions, one)
	}
}
