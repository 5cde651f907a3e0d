package load

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// scored is a scenario with two routes and the given score (a YAML mapping);
// "" leaves score out.
func scored(t testing.TB, score string) *Scenario {
	t.Helper()
	s, err := Parse("scenario.yaml", []byte(scoredSource(score)))
	if err != nil {
		t.Fatalf("score: %s: %v", score, err)
	}
	return s
}

func scoredSource(score string) string {
	src := "version: 1\nname: shop\nsessions:\n  - steps:\n      - request: GET /\n      - request: POST /login\n"
	if score != "" {
		src += "score: " + score + "\n"
	}
	return src
}

// tallyOf counts right answers by latency, and failures.
func tallyOf(l limits, right map[time.Duration]int, mismatches, timeouts, errors int) *tally {
	t := &tally{limits: l}
	for latency, n := range right {
		for range n {
			t.add(succeeded, latency, 1000)
		}
	}
	for range mismatches {
		t.add(mismatched, 10*time.Millisecond, 1000)
	}
	for range timeouts {
		t.add(timedOut, 5*time.Second, 0)
	}
	for range errors {
		t.add(failed, time.Millisecond, 0)
	}
	return t
}

// sampleRun is the run that docs/reference/scenario.md computes its examples with:
// in 10 s, GET / had 900 right answers in 100 ms, 60 in 400 ms and 40 in 1 s;
// POST /login had 200 right ones in 100 ms, 2 wrong, 1 time-out, 3 errors; of
// 400 planned sessions 5 were dropped.
func sampleRun(s *Scenario) scoreInput {
	const ms = time.Millisecond
	in := scoreInput{window: 10 * time.Second, planned: 400, dropped: 5, all: &tally{}, routes: []*tally{
		tallyOf(s.score.limit(0), map[time.Duration]int{100 * ms: 900, 400 * ms: 60, 1000 * ms: 40}, 0, 0, 0),
		tallyOf(s.score.limit(1), map[time.Duration]int{100 * ms: 200}, 2, 1, 3)}}
	for _, t := range in.routes {
		in.all.merge(t)
	}
	return in
}

func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

func TestScore(t *testing.T) {
	const penalties = 2*50 + 1*20 + 3*10 + 5*10
	tests := []struct {
		name, score string
		want        float64 // points per second
		text        string
	}{
		{"nothing said: goodput at 500 ms", "", (960 + 200 - penalties) / 10.0, "within 500 ms − 50 per wrong answer, 10 per error, 20 per time-out, 10 per dropped session"},
		{"only Apdex: as well", "{apdex: {t: 100ms}}", (960 + 200 - penalties) / 10.0, "within 500 ms"},
		{"an objective", "{objective: 200ms}", (900 + 200 - penalties) / 10.0, "within 200 ms"},
		{"an objective equal to the latency", "{objective: 400ms}", (960 + 200 - penalties) / 10.0, "within 400 ms"},
		{"of one route", "{objectives: {GET /: 1s}}", (1000 + 200 - penalties) / 10.0, "within 500 ms to 1.00 s (by route)"},
		{"with weights", "{objective: 200ms, weights: {POST /login: 5}}", (900 + 5*200 - penalties) / 10.0, "by the weights"},
		{"weights alone: lateness does not matter", "{weights: {POST /login: 5}}", (1000 + 5*200 - penalties) / 10.0, "right answers, by the weights"},
		{"default weight alone", "{default_weight: 2}", (2*1200 - penalties) / 10.0, "right answers, by the weights"},
		{"penalties alone", "{penalty: {mismatch: 1, error: 2, timeout: 3}}", (1200 - 2 - 6 - 3 - 10) / 10.0, "2 per dropped"},
		{"dropped sessions", "{penalty: {dropped: 100}}", (1200 - 2*50 - 20 - 30 - 500) / 10.0, "100 per dropped"},
		{"dropped sessions forgiven", "{objective: 200ms, penalty: {dropped: 0}}", (1100 - 2*50 - 20 - 30) / 10.0, "0 per dropped"},
		{"an expression", `"(good - 50*mismatches)/window"`, (1160 - 100) / 10.0, "score = (good - 50*mismatches)/window"},
	}
	tests[len(tests)-1].score = `{expression: ` + tests[len(tests)-1].score + `}`
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := scored(t, tt.score)
			out := s.score.evaluate(sampleRun(s))
			if !near(out.score, tt.want) {
				t.Errorf("score %v, want %v", out.score, tt.want)
			}
			if !strings.Contains(out.text, tt.text) || strings.Contains(out.text, "\n") {
				t.Errorf("text %q, want %q in it", out.text, tt.text)
			}
		})
	}
}

// A scenario that names weights and penalties scores as before objectives
// came.
func TestScoreOfLoginCase(t *testing.T) {
	src, err := os.ReadFile("../../cases/login/scenario.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse("../../cases/login/scenario.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	in := scoreInput{window: 4 * time.Second, unmeasured: 1}
	want := 0.0
	for i := range s.routes {
		in.routes = append(in.routes, tallyOf(s.score.limit(i), map[time.Duration]int{3 * time.Second: i + 1}, 0, 0, 1))
		want += s.score.weights[i]*float64(i+1) - 10
	}
	if s.score.kind != scorePoints || s.score.weights[s.routeIndex["POST /login"]] != 5 {
		t.Errorf("%+v", s.score)
	}
	if got := s.score.evaluate(in).score; !near(got, (want-50)/4) {
		t.Errorf("score %v, want %v", got, (want-50)/4)
	}
}

func TestScoreApdex(t *testing.T) {
	tests := []struct {
		score      string
		all, login float64
		t0, t1     time.Duration
	}{
		{"", (960 + 40/2. + 200) / 1211, 200. / 206, 500 * time.Millisecond, 500 * time.Millisecond},
		{"{apdex: {t: 100ms}}", (900 + 60/2. + 200) / 1211, 200. / 206, 100 * time.Millisecond, 100 * time.Millisecond},
		{"{apdex: {t: 50ms, routes: {GET /: 250ms}}}", (900 + 100/2. + 200/2.) / 1211, 100. / 206, 250 * time.Millisecond, 50 * time.Millisecond},
		{"{objective: 50ms}", (900/2. + 200/2.) / 1211, 100. / 206, 50 * time.Millisecond, 50 * time.Millisecond},
		{"{objective: 50ms, objectives: {GET /: 100ms}, apdex: {routes: {POST /login: 1s}}}", (900 + 60/2. + 200) / 1211, 200. / 206, 100 * time.Millisecond, time.Second},
	}
	for _, tt := range tests {
		s := scored(t, tt.score)
		out := s.score.evaluate(sampleRun(s))
		if out.apdex == nil || !near(*out.apdex, tt.all) {
			t.Errorf("%s: Apdex %v, want %v", tt.score, out.apdex, tt.all)
			continue
		}
		if got := out.routes[1].apdex; got == nil || !near(*got, tt.login) {
			t.Errorf("%s: of the login %v, want %v", tt.score, got, tt.login)
		}
		if out.routes[0].t != tt.t0 || out.routes[1].t != tt.t1 {
			t.Errorf("%s: T %s and %s", tt.score, out.routes[0].t, out.routes[1].t)
		}
	}
}

// A run in which nothing happened has a score, and no Apdex.
func TestScoreOfNothing(t *testing.T) {
	for _, score := range []string{"", "{weights: {GET /: 2}}", `{expression: "ok/requests + apdex + p99/1ms + mean('GET /')/1s"}`} {
		s := scored(t, score)
		for _, in := range []scoreInput{{}, {window: time.Second}, {window: time.Second, routes: []*tally{nil, nil}}, {window: time.Second, routes: []*tally{{}, {}}, all: &tally{}}} {
			out := s.score.evaluate(in)
			if out.score != 0 || out.goodput != 0 || out.apdex != nil {
				t.Errorf("%s: %+v", score, out)
			}
			if s.score.kind == scoreExpression && !strings.Contains(out.text, "without a value, taken as 0: the division by 0 at character 3, apdex, p99, mean('GET /')") {
				t.Errorf("text %q", out.text)
			}
		}
	}
	var zero scoring
	if out := zero.evaluate(scoreInput{window: time.Second, routes: []*tally{{}}}); out.score != 0 || zero.limit(3).objective != defaultObjective {
		t.Errorf("%+v", out)
	}
}

func TestScoreErrors(t *testing.T) {
	tests := []struct {
		name, score string
		want        []string
	}{
		{"route of an objective", "{objectives: {GET /logn: 1s}}", []string{"score.objectives", `"GET /logn"`, "known are"}},
		{"route of a weight", "{weights: {POST /logn: 1}}", []string{"score.weights", `did you mean "POST /login"?`}},
		{"route of Apdex", "{apdex: {routes: {POST /logn: 1s}}}", []string{"score.apdex.routes", `did you mean "POST /login"?`}},
		{"no unit", "{objective: 500}", []string{"score.objective", "unit"}},
		{"no time at all", "{objective: 0s}", []string{"score.objective is 0s"}},
		{"T too long", "{apdex: {t: 100h}}", []string{"score.apdex.t"}},
		{"unknown key", "{apdex: {T: 1s}}", []string{`unknown key "T"`, `did you mean "t"?`}},
		{"negative penalty", "{penalty: {dropped: -1}}", []string{"score.penalty.dropped"}},
		{"expression beside weights", `{expression: "ok", weights: {GET /: 2}}`, []string{"score.weights does nothing beside score.expression"}},
		{"expression beside penalty", `{expression: "ok", penalty: {error: 2}}`, []string{"score.penalty does nothing"}},
		{"route in the expression", `{expression: "ok + good('POST /logn')"}`, []string{"score.expression: character 11", `did you mean "POST /login"?`}},
		{"no text", `{expression: [ok]}`, []string{"score.expression must be a text"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("scenario.yaml", []byte(scoredSource(tt.score)))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range append(tt.want, "scenario.yaml:7:") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
		})
	}
}

// Redirects may lead to places that only score names.
func TestScoreOfFollowedRoute(t *testing.T) {
	src := strings.Replace(scoredSource(`{objectives: {GET /home: 1s}, expression: "ok('GET /cart')"}`), "POST /login", "POST /login\n        follow: true", 1)
	s, err := Parse("scenario.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{"GET /home", "GET /cart"} {
		i, ok := s.routeIndex[label]
		if !ok || len(s.score.limits) != len(s.routes) {
			t.Fatalf("%s is not among %v", label, s.routes)
		}
		if want := map[string]time.Duration{"GET /home": time.Second, "GET /cart": defaultObjective}[label]; s.score.limit(i).objective != want {
			t.Errorf("%s: %+v", label, s.score.limit(i))
		}
	}
}

// The counters of shards add up.
func TestTallyMergesCounters(t *testing.T) {
	l := limits{objective: 200 * time.Millisecond, t: 100 * time.Millisecond}
	a := tallyOf(l, map[time.Duration]int{100 * time.Millisecond: 1, 200 * time.Millisecond: 2, 400 * time.Millisecond: 4, 401 * time.Millisecond: 8}, 1, 1, 1)
	var sum tally
	sum.merge(a)
	sum.merge(a)
	if sum.good != 6 || sum.satisfied != 2 || sum.tolerated != 12 {
		t.Errorf("good %d, satisfied %d, tolerated %d", sum.good, sum.satisfied, sum.tolerated)
	}
}

func genTally(t *rapid.T, l limits) *tally {
	one := &tally{limits: l}
	for range rapid.IntRange(0, 60).Draw(t, "requests") {
		one.add(outcome(rapid.IntRange(0, 3).Draw(t, "outcome")), time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "latency")), 1)
	}
	return one
}

// Apdex lies between 0 and 1; goodput is at most the rate of right answers;
// the whole's Apdex is the mean of the routes', by their requests.
func TestScoreBounds(t *testing.T) {
	s := scored(t, "")
	rapid.Check(t, func(t *rapid.T) {
		l := limits{time.Duration(rapid.Int64Range(1, int64(2*time.Second)).Draw(t, "objective")), time.Duration(rapid.Int64Range(1, int64(2*time.Second)).Draw(t, "T"))}
		in := scoreInput{window: time.Duration(rapid.Int64Range(1, int64(time.Minute)).Draw(t, "window")), routes: []*tally{genTally(t, l), genTally(t, l)}}
		out := s.score.evaluate(in)
		var all tally
		all.merge(in.routes[0])
		all.merge(in.routes[1])
		right := float64(all.count[succeeded]) / in.window.Seconds()
		if out.goodput < 0 || out.goodput > right+1e-9*right {
			t.Fatalf("goodput %v, right answers %v per second", out.goodput, right)
		}
		requests := all.count[succeeded] + all.failures()
		if (out.apdex == nil) != (requests == 0) {
			t.Fatalf("Apdex %v of %d requests", out.apdex, requests)
		}
		sum := 0.0
		for i, r := range out.routes {
			if r.apdex == nil {
				continue
			}
			if *r.apdex < 0 || *r.apdex > 1 {
				t.Fatalf("Apdex %v", *r.apdex)
			}
			sum += *r.apdex * float64(in.routes[i].count[succeeded]+in.routes[i].failures())
		}
		if requests > 0 && (*out.apdex < 0 || *out.apdex > 1 || !near(*out.apdex*float64(requests), sum)) {
			t.Fatalf("Apdex %v, of the routes %v", *out.apdex, sum/float64(requests))
		}
		in.dropped = 1
		if dropped := s.score.evaluate(in).apdex; dropped == nil || requests > 0 && *dropped > *out.apdex {
			t.Fatalf("a dropped session made Apdex %v", dropped)
		}
	})
}

// Slower answers never give a better Apdex, goodput or default score; nor does
// a right answer that becomes a failure.
func TestScoreIsMonotone(t *testing.T) {
	s := scored(t, "")
	rapid.Check(t, func(t *rapid.T) {
		l := limits{time.Duration(rapid.Int64Range(1, int64(time.Second)).Draw(t, "objective")), time.Duration(rapid.Int64Range(1, int64(time.Second)).Draw(t, "T"))}
		fast, slow := &tally{limits: l}, &tally{limits: l}
		for range rapid.IntRange(1, 40).Draw(t, "requests") {
			latency := time.Duration(rapid.Int64Range(0, int64(5*time.Second)).Draw(t, "latency"))
			more := time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "more"))
			fast.add(succeeded, latency, 1)
			slow.add(outcome(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3}).Draw(t, "outcome")), latency+more, 1)
		}
		a := s.score.evaluate(scoreInput{window: time.Second, routes: []*tally{fast}})
		b := s.score.evaluate(scoreInput{window: time.Second, routes: []*tally{slow}})
		if *b.apdex > *a.apdex || b.goodput > a.goodput || b.score > a.score {
			t.Fatalf("fast: Apdex %v, goodput %v, score %v; slow: %v, %v, %v", *a.apdex, a.goodput, a.score, *b.apdex, b.goodput, b.score)
		}
	})
}

// Recording an answer in a tally that has its histogram does not allocate.
func TestTallyAllocatesNothing(t *testing.T) {
	one := &tally{limits: limits{time.Second, time.Second}}
	one.add(succeeded, time.Millisecond, 1)
	if n := testing.AllocsPerRun(100, func() { one.add(succeeded, time.Millisecond, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var docExample = regexp.MustCompile("(?s)```yaml\n(score:.*?)```")

// The examples of docs/reference/scenario.md under "The score" give what their comment
// says (→ 101.3) for the run that is told there.
func TestScoreDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/scenario.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(page), "\n## The score\n")
	if !ok {
		t.Fatal("docs/reference/scenario.md has no section The score")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	examples := 0
	for _, m := range docExample.FindAllStringSubmatch(section, -1) {
		examples++
		s, err := Parse("scenario.yaml", []byte(scoredSource("")+m[1]))
		if err != nil {
			t.Errorf("%v\n%s", err, m[1])
			continue
		}
		_, number, ok := strings.Cut(m[1], "→ ")
		number, _, _ = strings.Cut(number, "\n")
		want, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !ok || err != nil {
			t.Errorf("does not say what it gives (# → 1.23):\n%s", m[1])
			continue
		}
		if out := s.score.evaluate(sampleRun(s)); math.Abs(out.score-want) > 1e-3*math.Max(1, want) {
			t.Errorf("gives %.2f, not %v (%s):\n%s", out.score, want, out.text, m[1])
		}
	}
	if examples < 5 {
		t.Errorf("only %d examples", examples)
	}
	s := scored(t, "")
	out := s.score.evaluate(sampleRun(s))
	for _, want := range []string{fmt.Sprintf("Goodput is %.1f per second", out.goodput), fmt.Sprintf("Apdex is %.3f", *out.apdex)} {
		if !strings.Contains(section, want) {
			t.Errorf("the section does not say %q", want)
		}
	}
	names := append([]string(nil), functionNames...)
	for _, f := range figures {
		names = append(names, f.name)
	}
	for _, name := range names {
		if !regexp.MustCompile("`" + name + "[`(]").MatchString(section) {
			t.Errorf("the section does not name %s", name)
		}
	}
	for name := range literals {
		if !strings.ContainsAny(name, "µμ") && !regexp.MustCompile("`"+name+"`").MatchString(section) {
			t.Errorf("the section does not name the unit %s", name)
		}
	}
}
