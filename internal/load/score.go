package load

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"kasoku/internal/ui"
)

// Defaults of score; docs/reference/scenario.md shows them.
const (
	// defaultObjective of a right answer. Half a second is where a visitor
	// still feels served at once; a service has its own number.
	defaultObjective = 500 * time.Millisecond
	penaltyMismatch  = 50
	penaltyError     = 10
	penaltyTimeout   = 20

	minObjective = time.Microsecond
)

// scoreKind is the formula of a score.
type scoreKind uint8

const (
	scorePoints     scoreKind = iota // every right answer has its weight
	scoreGoodput                     // only those within the objective
	scoreExpression                  // as the scenario says
)

// scoring says what answers are worth. It does not change after Parse.
type scoring struct {
	kind                              scoreKind
	weights                           []float64 // by route
	mismatch, timeout, error, dropped float64   // points off, ≥ 0
	limits                            []limits  // by route
	expression                        *expression
	assumed                           bool // nobody said what penalties there are
}

// limits of a route that a right answer's latency is compared with.
type limits struct {
	objective time.Duration // for goodput
	t         time.Duration // T of Apdex
}

// limit of a route, for its tally.
func (s *scoring) limit(route int) limits {
	if route >= 0 && route < len(s.limits) {
		return s.limits[route]
	}
	return limits{defaultObjective, defaultObjective}
}

// limit tells the tallies of all routes what answers are compared with. It
// must come before the first answer.
func (m *meter) limit(s *scoring) {
	for i := range m.shards {
		for route := range m.shards[i].routes {
			m.shards[i].routes[route].limits = s.limit(route)
		}
	}
}

// classify a right answer by its latency.
func (t *tally) classify(latency time.Duration) {
	if latency <= t.limits.objective {
		t.good++
	}
	if latency <= t.limits.t {
		t.satisfied++
	} else if latency <= apdexFrustrated*t.limits.t {
		t.tolerated++
	}
}

// readScore reads score; n may be nil. All steps must be known.
func (c *compiler) readScore(n ast.Node) {
	sc := scoring{mismatch: penaltyMismatch, error: penaltyError, timeout: penaltyTimeout}
	var o map[string]ast.Node
	if n != nil {
		o = c.object(n, "score", "weights", "default_weight", "penalty", "objective", "objectives", "apdex", "expression")
	}
	defaultWeight := 1.0
	c.number(o["default_weight"], "score.default_weight", 0, mostPoints, &defaultWeight)
	weights := map[string]float64{}
	c.byRoute(o["weights"], "score.weights", func(p pair) {
		w := 0.0
		c.number(p.value, "the weight of "+p.key, 0, mostPoints, &w)
		weights[p.key] = w
	})
	c.readPenalty(&sc, o["penalty"])
	sc.assumed = o["penalty"] == nil && o["expression"] == nil
	limitOf := c.readLimits(o)
	sc.kind = kindOfScore(o)
	if sc.kind == scoreExpression {
		c.readExpression(&sc, o)
	}
	for _, label := range c.out.routes {
		w, ok := weights[label]
		if !ok {
			w = defaultWeight
		}
		sc.weights = append(sc.weights, w)
		sc.limits = append(sc.limits, limitOf(label))
	}
	c.out.score = sc
}

// kindOfScore: an expression says all; an objective asks for goodput; weights
// or penalties alone count every right answer, however late; nothing at all is
// goodput at the default objective.
func kindOfScore(o map[string]ast.Node) scoreKind {
	given := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { return o[k] != nil })
	}
	switch {
	case given("expression"):
		return scoreExpression
	case given("objective", "objectives") || !given("weights", "default_weight", "penalty"):
		return scoreGoodput
	}
	return scorePoints
}

func (c *compiler) readPenalty(sc *scoring, n ast.Node) {
	var p map[string]ast.Node
	if n != nil {
		p = c.object(n, "score.penalty", "mismatch", "error", "timeout", "dropped")
	}
	c.number(p["mismatch"], "score.penalty.mismatch", 0, mostPoints, &sc.mismatch)
	c.number(p["error"], "score.penalty.error", 0, mostPoints, &sc.error)
	c.number(p["timeout"], "score.penalty.timeout", 0, mostPoints, &sc.timeout)
	sc.dropped = sc.error
	c.number(p["dropped"], "score.penalty.dropped", 0, mostPoints, &sc.dropped)
}

// Forgiving is the scenario without penalties, for a service that gives wrong answers as
// found: they would leave nothing of the score. nil where the file says what penalties there
// are, or where there are none.
func (s *Scenario) Forgiving() *Scenario {
	if !s.score.assumed || s.score.mismatch == 0 {
		return nil
	}
	out := *s
	out.score.mismatch, out.score.error, out.score.timeout, out.score.dropped = 0, 0, 0, 0
	return &out
}

// Penalties are the points that wrong and missing answers of a run took, per second.
func (s *Scenario) Penalties(r *Result) float64 {
	if r.Window <= 0 || s.score.kind == scoreExpression {
		return 0
	}
	return -s.score.points(nil, r.Mismatches, r.Timeouts, r.Errors) / r.Window.Seconds()
}

// readLimits reads the objectives and Apdex's T. What is not given for a route
// is the general one; T without any number is the objective.
func (c *compiler) readLimits(o map[string]ast.Node) func(label string) limits {
	objective, t := defaultObjective, time.Duration(0)
	objectives, ts := map[string]time.Duration{}, map[string]time.Duration{}
	durations := func(n ast.Node, what, one string, to map[string]time.Duration) {
		c.byRoute(n, what, func(p pair) {
			d := defaultObjective
			c.duration(p.value, one+p.key, minObjective, maxTimeout, &d)
			to[p.key] = d
		})
	}
	c.duration(o["objective"], "score.objective", minObjective, maxTimeout, &objective)
	durations(o["objectives"], "score.objectives", "the objective of ", objectives)
	if o["apdex"] != nil {
		a := c.object(o["apdex"], "score.apdex", "t", "routes")
		c.duration(a["t"], "score.apdex.t", minObjective, maxTimeout, &t)
		durations(a["routes"], "score.apdex.routes", "the Apdex T of ", ts)
	}
	return func(label string) limits {
		l := limits{objective: objective}
		if d, ok := objectives[label]; ok {
			l.objective = d
		}
		l.t = l.objective
		if t > 0 {
			l.t = t
		}
		if d, ok := ts[label]; ok {
			l.t = d
		}
		return l
	}
}

// byRoute reads a mapping whose keys are routes.
func (c *compiler) byRoute(n ast.Node, what string, read func(pair)) {
	if n == nil {
		return
	}
	for _, p := range c.document.pairs(n, what) {
		read(p)
		if _, ok := c.scoredRoute(p.key); !ok {
			c.fail(p.at, "%s: no step has the route %q; %s", what, p.key, suggest(p.key, c.labels()))
		}
	}
}

// scoredRoute finds a route that score names. Redirects and assets may lead to
// places that no step names.
func (c *compiler) scoredRoute(label string) (index int, ok bool) {
	if c.follows && strings.HasPrefix(label, "GET /") {
		return c.route(label), true
	}
	index, ok = c.out.routeIndex[label]
	return index, ok
}

func (c *compiler) labels() []string {
	labels := slices.Clone(c.out.routes)
	sort.Strings(labels)
	return labels
}

func (c *compiler) readExpression(sc *scoring, o map[string]ast.Node) {
	for _, key := range []string{"weights", "default_weight", "penalty"} {
		if o[key] != nil {
			c.fail(o[key], "score.%s does nothing beside score.expression; write it into the expression, or remove one of them", key)
		}
	}
	text, ok := c.text(o["expression"], "score.expression")
	if !ok {
		return
	}
	var err error
	if sc.expression, err = parseExpression(text, c.scoredRoute, c.labels); err != nil {
		c.fail(o["expression"], "score.expression: %s", err)
	}
}

// scoreInput is what one run counted.
type scoreInput struct {
	window     time.Duration
	routes     []*tally // by index; nil: none
	all        *tally   // their sum
	unmeasured int64    // wrong answers outside the window
	planned    int64    // sessions of the open model
	dropped    int64
}

// scoreOutput is what a run is worth.
type scoreOutput struct {
	score   float64
	goodput float64  // right answers within their objective per second
	apdex   *float64 // nil: nothing was asked
	routes  []routeScore
	text    string // how score was computed
}

// routeScore is one route's part.
type routeScore struct {
	limits
	good  int64
	apdex *float64 // nil: nothing was asked
}

// evaluate computes a run's score; all numbers are finite.
func (s *scoring) evaluate(in scoreInput) scoreOutput {
	a := newAccount(in)
	out := scoreOutput{goodput: a.perSecond(float64(a.all.good)), apdex: a.all.apdex}
	for i := range in.routes {
		m := &a.routes[i]
		out.routes = append(out.routes, routeScore{limits: s.limit(i), good: m.good, apdex: m.apdex})
	}
	if s.kind == scoreExpression && s.expression != nil {
		out.score = s.expression.evaluate(a)
		out.text = s.text() + a.oddities()
		return out
	}
	worth := make([]int64, min(len(a.routes), len(s.weights)))
	for i := range worth {
		if worth[i] = a.routes[i].ok; s.kind == scoreGoodput {
			worth[i] = a.routes[i].good
		}
	}
	points := s.points(worth, a.all.mismatches, a.all.timeouts, a.all.errors) - s.dropped*float64(in.dropped)
	out.score, out.text = a.perSecond(points), s.text()
	return out
}

// points is Σ weight(route)·right − Σ penalties.
func (s *scoring) points(right []int64, mismatches, timeouts, errors int64) float64 {
	p := 0.0
	for i, n := range right {
		p += s.weights[i] * float64(n)
	}
	return p - s.mismatch*float64(mismatches) - s.timeout*float64(timeouts) - s.error*float64(errors)
}

// text says in one line how the score is computed.
func (s *scoring) text() string {
	if s.kind == scoreExpression && s.expression != nil {
		return "score = " + s.expression.text
	}
	what := "right answers"
	if s.kind == scoreGoodput {
		what += " within " + s.objectives()
	}
	if slices.ContainsFunc(s.weights, func(w float64) bool { return w != 1 }) {
		what += ", by the weights of their routes"
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return fmt.Sprintf("score = (%s − %s per wrong answer, %s per error, %s per time-out, %s per dropped session) per second",
		what, number(s.mismatch), number(s.error), number(s.timeout), number(s.dropped))
}

// objectives in words: "500 ms", or "200 ms to 500 ms, by route".
func (s *scoring) objectives() string {
	if len(s.limits) == 0 {
		return ui.Duration(defaultObjective)
	}
	low, high := s.limits[0].objective, s.limits[0].objective
	for _, l := range s.limits {
		low, high = min(low, l.objective), max(high, l.objective)
	}
	if low == high {
		return ui.Duration(low)
	}
	return ui.Duration(low) + " to " + ui.Duration(high) + " (by route)"
}

// scoreInput is what the meter counted; res holds Unmeasured and Open already.
func (m *meter) scoreInput(res *Result, all *tally, routes []tally) scoreInput {
	in := scoreInput{window: m.window, all: all, unmeasured: res.Unmeasured}
	if res.Open != nil {
		in.planned, in.dropped = res.Open.Planned, res.Open.Dropped
	}
	for i := range routes {
		in.routes = append(in.routes, &routes[i])
	}
	return in
}
