package trace

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"kasoku/internal/sqllog"
)

// Options say what the requests are.
type Options struct {
	// Source of the requests, for Summary.Source: "walk" or "spans".
	Source string
}

// Thresholds of patterns. They are per request.
const (
	// fewest repetitions that are a loop over rows. Two of a kind are often a
	// pair by design (a user and a friend, source and target of a transfer).
	fewest = 3
	// again is enough for the same row or key: the second read brings nothing.
	again = 2
	// connectShare of a route's requests must open a connection; less is a pool
	// that grows, or its connections that reach their age.
	connectShare = 0.9
	// prepareShare of a route's requests must prepare; less is a pool whose new
	// connections prepare once and keep it.
	prepareShare = 0.5
	// connectRequests: a pool's first requests open connections too.
	connectRequests = 3
	// maxCalls of one request are looked at; more is a job, not a page, and its
	// patterns show in these.
	maxCalls = 5000
	// maxSources named per pattern.
	maxSources = 5
)

// Summarize finds what requests of each route call and the patterns among the
// calls. It is pure. What it returns holds no values: statements are
// fingerprints, variable parts of keys are *.
func Summarize(requests []Request, o Options) *Summary {
	out := &Summary{Source: o.Source, Requests: len(requests)}
	names := learnKeys(requests)
	rd := &reader{keys: names, known: map[statementKey]*statement{}, classes: map[string]*class{}}
	routes := map[[2]string]*routeSum{}
	for i := range requests {
		r := &requests[i]
		id := [2]string{r.Method, r.Route}
		sum := routes[id]
		if sum == nil {
			sum = &routeSum{method: r.Method, route: r.Route, classes: map[classID]*CallClass{}, patterns: map[patternID]*patternSum{}, talks: map[string]int{}}
			routes[id] = sum
		}
		sum.add(r, rd)
	}
	for _, sum := range routes {
		out.Routes = append(out.Routes, sum.calls())
		out.Patterns = append(out.Patterns, sum.found()...)
	}
	slices.SortFunc(out.Routes, func(a, b RouteCalls) int {
		return cmp.Or(cmp.Compare(b.perRequest(), a.perRequest()), cmp.Compare(a.Route, b.Route), cmp.Compare(a.Method, b.Method))
	})
	slices.SortFunc(out.Patterns, func(a, b Pattern) int {
		return cmp.Or(cmp.Compare(b.saved(), a.saved()), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Route, b.Route),
			cmp.Compare(a.Method, b.Method), cmp.Compare(a.Service, b.Service), cmp.Compare(a.What, b.What))
	})
	return out
}

func (r RouteCalls) perRequest() float64 {
	sum := 0.0
	for _, c := range r.Calls {
		sum += c.PerRequest
	}
	return sum
}

// saved is how many calls fewer all requests of the route would make.
func (p Pattern) saved() float64 { return (p.PerRequest - p.Could) * float64(p.With) }

type classID struct{ service, system, kind, what string }

type patternID struct{ kind, service, what string }

// routeSum adds up the requests of one route.
type routeSum struct {
	method, route string
	requests      int
	classes       map[classID]*CallClass // PerRequest and Took hold sums
	patterns      map[patternID]*patternSum
	talks         map[string]int // requests that called the service
}

// patternSum adds up one pattern over the requests of a route.
type patternSum struct {
	first          occurrence
	calls, could   int
	with, most     int
	took           time.Duration
	after, sources map[string]int
}

// occurrence is a pattern in one request.
type occurrence struct {
	kind            string
	service, system string
	what, after     string
	better, example string
	keys            []string // columns whose values differ
	statements      []string // fingerprints, where there are several
	calls           []*call
	could           int
}

func (s *routeSum) add(r *Request, rd *reader) {
	s.requests++
	streams := rd.streams(r)
	for _, st := range streams {
		s.talks[st.service]++
		for i := range st.calls {
			c := &st.calls[i]
			id := classID{st.service, c.System, c.Kind, c.what}
			class := s.classes[id]
			if class == nil {
				class = &CallClass{Service: st.service, System: c.System, Kind: c.Kind, What: c.what}
				s.classes[id] = class
			}
			class.PerRequest++
			class.Took += c.Took
			if class.Source == "" {
				class.Source = c.Source
			}
		}
		found := map[patternID]*occurrence{}
		for _, find := range finders[st.system] {
			for _, o := range find(st) {
				o.service, o.system = st.service, st.system
				id := patternID{o.kind, st.service, o.what}
				if have := found[id]; have != nil {
					have.calls, have.could = append(have.calls, o.calls...), have.could+o.could
					continue
				}
				found[id] = &o
			}
		}
		for id, o := range found {
			s.note(id, o)
		}
	}
}

func (s *routeSum) note(id patternID, o *occurrence) {
	p := s.patterns[id]
	if p == nil {
		p = &patternSum{first: *o, after: map[string]int{}, sources: map[string]int{}}
		s.patterns[id] = p
	}
	p.with++
	p.calls += len(o.calls)
	p.could += o.could
	p.most = max(p.most, len(o.calls))
	if o.after != "" {
		p.after[o.after]++
	}
	for _, c := range o.calls {
		p.took += c.Took
		if c.Source != "" {
			p.sources[c.Source]++
		}
	}
}

func (s *routeSum) calls() RouteCalls {
	out := RouteCalls{Method: s.method, Route: s.route, Requests: s.requests}
	for _, c := range s.classes {
		c.PerRequest /= float64(s.requests)
		c.Took /= time.Duration(s.requests)
		out.Calls = append(out.Calls, *c)
	}
	slices.SortFunc(out.Calls, func(a, b CallClass) int {
		return cmp.Or(cmp.Compare(b.PerRequest, a.PerRequest), cmp.Compare(a.Service, b.Service), cmp.Compare(a.What, b.What), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

func (s *routeSum) found() []Pattern {
	var out []Pattern
	for _, p := range s.patterns {
		o := p.first
		talks := s.talks[o.service]
		if o.kind == RowConnects && (talks < connectRequests || float64(p.with) < connectShare*float64(talks)) {
			continue
		}
		if o.kind == PrepareOnce && float64(p.with) < prepareShare*float64(talks) {
			continue
		}
		out = append(out, Pattern{Kind: o.kind, Measures: measures(&o), Method: s.method, Route: s.route,
			Service: o.service, System: o.system, What: o.what, Keys: o.keys, Statements: o.statements, After: mostOf(p.after),
			PerRequest: float64(p.calls) / float64(p.with), Most: p.most, Could: float64(p.could) / float64(p.with),
			Requests: s.requests, With: p.with, Took: p.took / time.Duration(s.requests),
			Better: o.better, Sources: ranked(p.sources, maxSources), Example: o.example})
	}
	return out
}

// mostOf returns the most frequent name, "" if there is none.
func mostOf(counts map[string]int) string {
	if top := ranked(counts, 1); len(top) > 0 {
		return top[0]
	}
	return ""
}

// ranked returns the n most frequent names, most frequent first.
func ranked(counts map[string]int, n int) []string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return names[:min(n, len(names))]
}

// measures are the catalogue's IDs of a kind of pattern.
func measures(o *occurrence) []string {
	switch o.kind {
	case NPlusOne:
		return []string{"I04"}
	case SameRead:
		return []string{"C08"}
	case SameTable:
		return []string{"G15"}
	case RowWrites:
		if verb := o.calls[0].sql.verb; verb == "INSERT" || verb == "REPLACE" {
			return []string{"C15"}
		}
		return []string{"I08"}
	case IDByUpdate:
		return []string{"I03"}
	case SingleGets, SingleRedis:
		return []string{"C10"}
	case PrepareOnce:
		return []string{"I06"}
	case SameWrite:
		return []string{"C09"}
	case QueriesInLoop:
		return []string{"G15", "I11"}
	case RowConnects:
		switch o.system {
		case SQL:
			return []string{"I14"}
		case Memcached:
			return []string{"C12", "C13"}
		}
		return []string{"C13"}
	}
	return nil
}

// call is a Call with what is known about its text.
type call struct {
	Call
	sql *statement // of SQL; nil for connects
	// values tells SQL calls of one fingerprint apart, row their conditions;
	// open: the values are unknown, so equal texts may differ.
	values, row string
	open        bool
	verb        string // of a cache command, lower case
	what        string // masked
}

// stream are one request's calls to one service, in order.
type stream struct {
	service, system string
	calls           []call
	found           []loop
	looped          bool
}

// reader turns calls into streams. Statements come again and again, so what
// was found out about a text is kept.
type reader struct {
	keys  *keyNames
	known map[statementKey]*statement
	// classes by fingerprint.
	classes map[string]*class
}

// maxKnown texts are kept at once.
const maxKnown = 50_000

func (rd *reader) statement(text string, postgres bool) *statement {
	key := statementKey{text, postgres}
	if s := rd.known[key]; s != nil {
		return s
	}
	if len(rd.known) >= maxKnown {
		clear(rd.known)
		clear(rd.classes)
	}
	if len(text) > sqllog.MaxStatement {
		text = text[:sqllog.MaxStatement]
	}
	s := readStatement(text, postgres, rd.classes)
	rd.known[key] = s
	return s
}

// streams parts a request's calls by service, in the order of their names.
func (rd *reader) streams(r *Request) []*stream {
	byName := map[[2]string]*stream{}
	var out []*stream
	for i := range r.Calls[:min(len(r.Calls), maxCalls)] {
		c := call{Call: r.Calls[i]}
		id := [2]string{c.Service, c.System}
		st := byName[id]
		if st == nil {
			st = &stream{service: c.Service, system: c.System}
			byName[id] = st
			out = append(out, st)
		}
		switch {
		case c.Kind == Connect:
			c.what = "connect"
		case c.Kind == Close && c.Text == "":
			c.what = "close"
		case c.System == SQL:
			c.sql = rd.statement(c.Text, c.Postgres)
			c.what = c.sql.fingerprint
			c.values, c.row, c.open = c.sql.values, c.sql.condition, c.sql.open
			if c.Value != 0 { // of the placeholders
				value := strconv.FormatUint(c.Value, 16)
				c.values, c.row, c.open = c.values+"\x00"+value, c.row+"\x00"+value, false
			}
		case c.System == Memcached || c.System == Redis:
			c.verb, c.what = rd.keys.command(c.Text, c.Keys)
		default:
			c.what = rd.keys.target(c.Text)
		}
		st.calls = append(st.calls, c)
	}
	return out
}

// finders are what looks for patterns in one request's calls to one service.
var finders = map[string][]func(*stream) []occurrence{
	SQL:       {findIDs, findLoops, findNPlusOne, findSameRows, findSameTable, findRowWrites, findPrepares, findConnects},
	Memcached: {findSameKeys, findSameWrites, findSingles, findConnects},
	Redis:     {findSameKeys, findSameWrites, findSingles, findConnects},
}

func findConnects(st *stream) []occurrence {
	o := occurrence{kind: RowConnects, what: "a new connection", could: 0}
	o.better = "one connection per worker, kept between requests (a persistent connection or a pool)"
	for i := range st.calls {
		if st.calls[i].Kind == Connect && !st.calls[i].Failed {
			o.calls = append(o.calls, &st.calls[i])
		}
	}
	if len(o.calls) == 0 {
		return nil
	}
	return []occurrence{o}
}
