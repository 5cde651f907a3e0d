package load

import (
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var fixedTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// A permutation visits every row once.
func TestPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 3000).Draw(t, "n")
		p := newPermutation(n, rapid.Uint64().Draw(t, "seed"))
		seen := make([]bool, n)
		for i := range n {
			v := p.at(i)
			if v >= n || seen[v] {
				t.Fatalf("%d of %d maps to %d, seen before or too large", i, n, v)
			}
			seen[v] = true
		}
	})
	big := newPermutation(1<<40+7, 1)
	if a, b := big.at(0), big.at(1); a == b || a > 1<<40+7 {
		t.Errorf("%d %d", a, b)
	}
}

// Users never share a row, all rows are used, and each user's rows repeat
// only after all of them.
func TestPoolPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pool{rows: rapid.Uint64Range(1, 200).Draw(t, "rows")}
		users := rapid.Uint64Range(1, p.rows).Draw(t, "users")
		owner := make([]int, p.rows)
		for u := range users {
			for i := range 2 * p.rows {
				row := p.position(i, u, users)
				if owner[row] != 0 && owner[row] != int(u)+1 {
					t.Fatalf("row %d belongs to users %d and %d", row, owner[row]-1, u)
				}
				owner[row] = int(u) + 1
				if i < users && row == p.position(i+1, u, users) && p.rows >= 2*users {
					t.Fatalf("user %d has row %d twice running", u, row)
				}
			}
		}
		if slices.Contains(owner, 0) {
			t.Fatalf("rows without an owner: %v", owner)
		}
	})
	few := pool{rows: 3}
	if got := few.position(5, 7, 8); got != 1 {
		t.Errorf("user 7 of 8 with 3 rows has row %d", got)
	}
}

func TestGeneratedFields(t *testing.T) {
	s := mustParse(t, "version: 1\nname: x\npools: {a: {generate: {from: 0, to: 70000}, fields: {ip: \"10.${n/256%256}.${n%256}.7\", n: \"${n}\", dollar: \"$${n}\"}}}\nsessions: [{steps: [{request: GET /}]}]\n")
	p := s.pools[0]
	for field, want := range []string{"10.17.113.7", "70001", "${n}"} {
		if got := string(p.append(nil, 70001, field)); got != want {
			t.Errorf("field %d is %q, want %q", field, got, want)
		}
	}
}

// Encoded values come back as they were.
func TestEncodings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		if got, err := url.QueryUnescape(string(appendEncoded(nil, []byte(s), formText))); err != nil || got != s {
			t.Fatalf("form: %q %v", got, err)
		}
		if got, err := url.PathUnescape(string(appendEncoded(nil, []byte(s), urlText))); err != nil || got != s {
			t.Fatalf("url: %q %v", got, err)
		}
		var got string
		if err := json.Unmarshal([]byte(`"`+string(appendEncoded(nil, []byte(s), jsonText))+`"`), &got); err != nil || got != s {
			t.Fatalf("json: %q %v", got, err)
		}
		if h := string(appendEncoded(nil, []byte(s), headerText)); strings.ContainsAny(h, "\r\n\x00") {
			t.Fatalf("header: %q", h)
		}
	})
}

func TestFindJSON(t *testing.T) {
	const body = ` {"a": {"b": [1, {"c": "x\"]y"}, [ ] ]}, "a.b": true, "é\n": null, "e": {}} `
	tests := []struct{ path, want string }{
		{"$.a.b[0]", "1"}, {"$.a.b[1].c", `"x\"]y"`}, {"$.a.b[2]", "[ ]"}, {`$["a.b"]`, "true"}, {"$['e']", "{}"},
		{"$.a.b[3]", ""}, {"$.a.b[0].c", ""}, {"$.b", ""}, {"$.e.x", ""}, {"$[0]", ""}, {"$.a[0]", ""},
		{"$", strings.TrimSpace(body)},
	}
	for _, tt := range tests {
		path, err := parseJSONPath(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := findJSON([]byte(body), path); string(got) != tt.want || ok != (tt.want != "") {
			t.Errorf("%s is %q, %v; want %q", tt.path, got, ok, tt.want)
		}
	}
	if !sameJSON([]byte(`{"a":1,"b":[1.0]}`), []byte(`{"b": [1], "a": 1}`)) || sameJSON([]byte(`"1"`), []byte(`1`)) {
		t.Error("sameJSON compares by writing")
	}
}

// A value is found where encoding/json finds it.
func TestFindJSONAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.String())).Draw(t, "object")
		body, err := json.MarshalIndent(object, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		for k, list := range object {
			for i, want := range list {
				got, ok := findJSON(body, []jsonStep{{key: k, index: -1}, {index: i}})
				if !ok || string(jsonString(got)) != want {
					t.Fatalf("%q[%d] is %q, want %q in %s", k, i, got, want, body)
				}
			}
		}
	})
}

func FuzzFindJSON(f *testing.F) {
	f.Add([]byte(`{"a":[{"b":"\"]"}]}`), "$.a[0].b")
	f.Add([]byte(`{"a`), "$.a")
	f.Fuzz(func(t *testing.T, body []byte, text string) {
		path, err := parseJSONPath(text)
		if err != nil {
			return
		}
		if got, ok := findJSON(body, path); ok && json.Valid(body) && !json.Valid(got) {
			t.Errorf("%s of %s is %q, which is no JSON", text, body, got)
		}
	})
}

func TestCookies(t *testing.T) {
	var j jar
	steps := []struct{ set, at, ask, want string }{
		{"id=1; Path=/; HttpOnly", "/login", "/", "id=1"},
		{"id=2; path=/", "/login", "/x/y?q", "id=2"},
		{"deep=d", "/a/b/c", "/a/b", "id=2; deep=d"},
		{"", "", "/a/bc", "id=2"},
		{"id=; Max-Age=0; Path=/", "/", "/a/b/", "deep=d"},
		{"deep=x; expires=Thu, 01-Jan-1970 00:00:01 GMT", "/a/b/c", "/a/b/", ""},
		{"keep=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT", "/", "/", "keep=1"},
		{"keep=2; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "/", "/", "keep=2"},
		{"nonsense", "/", "/", "keep=2"},
	}
	for i, s := range steps {
		if s.set != "" {
			j.set([]byte(s.set), []byte(s.at), fixedTime)
		}
		want := ""
		if s.want != "" {
			want = "Cookie: " + s.want + "\r\n"
		}
		if got := string(j.append(nil, []byte(s.ask))); got != want {
			t.Errorf("step %d: %q, want %q", i, got, want)
		}
	}
}

func TestMaskSecrets(t *testing.T) {
	tests := []struct{ in, want string }{
		{"POST /login login=a&password=b+c&x=1", "POST /login login=a&password=***&x=1"},
		{"POST /l user%5Bpassword%5D=b&PASSWD=c", "POST /l user%5Bpassword%5D=***&PASSWD=***"},
		{"GET /?api_token=abc&q=1", "GET /?api_token=***&q=1"},
		{`POST /l {"login":"a","password" : "b\"c","n":1}`, `POST /l {"login":"a","password" : "***","n":1}`},
		{`{"pwd":1234}`, `{"pwd":"***"}`},
		{"GET /compass", "GET /compass"},
	}
	for _, tt := range tests {
		if got := maskSecrets(tt.in); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

func TestScorePoints(t *testing.T) {
	s := scoring{weights: []float64{1, 3, 0.5}, mismatch: 50, timeout: 20, error: 10}
	if got := s.points([]int64{10, 4, 2}, 1, 2, 3); got != 10+12+1-50-40-30 {
		t.Errorf("score %v", got)
	}
}

// The meter counts what ended in the window; failures that overlap it; wrong
// answers always.
func TestMeter(t *testing.T) {
	const s = time.Second
	m := newMeter(1, 1, 2*s, s, false)
	sh := &m.shards[0]
	sh.record(0, succeeded, span{0, s / 2}, 0, 1)  // warm-up, before the window is known
	sh.record(0, mismatched, span{0, s / 2}, 0, 1) // wrong in the warm-up
	m.begin.Store(int64(s))
	for _, r := range []struct {
		o          outcome
		sent, done time.Duration
	}{
		{succeeded, s / 2, s},              // began before, ended in it
		{succeeded, s, 2*s + s/2},          // in it
		{succeeded, 2 * s, 3 * s},          // ended after it: not counted
		{mismatched, 2 * s, 3 * s},         // wrong after it
		{mismatched, s, 2 * s},             // wrong in it
		{timedOut, 2 * s, 7 * s},           // hung at its end
		{failed, 3*s + 1, 3*s + 2},         // after it
		{failed, s / 2, s/2 + s/4},         // before it
		{timedOut, 0, s - s/4},             // before it
		{failed, 2*s + s/2, 2*s + s/2 + 1}, // in it
	} {
		sh.record(0, r.o, span{r.sent, r.done}, r.sent, 10)
	}
	sc := &Scenario{routes: []string{"GET /"}, score: scoring{weights: []float64{2}, mismatch: 1, timeout: 1, error: 1}}
	var res Result
	m.result(&res, sc)
	if res.Requests != 3 || res.Succeeded != 2 || res.Mismatches != 3 || res.Unmeasured != 2 || res.Timeouts != 1 || res.Errors != 1 {
		t.Errorf("%+v", res)
	}
	if want := (2*2 - 3 - 1 - 1) / 2.0; res.Score != want {
		t.Errorf("score %v, want %v", res.Score, want)
	}
	want := []SeriesPoint{{-1, 1, 3}, {0, 1, 0}, {1, 1, 3}}
	if !slices.Equal(res.Series, want) {
		t.Errorf("series %v, want %v", res.Series, want)
	}
	if r := res.Routes[0]; r.Requests != 5 || r.Succeeded != 2 || r.Failed != 3 {
		t.Errorf("route %+v", r)
	}
}

func TestSaturated(t *testing.T) {
	const s = time.Second
	cores := time.Duration(maxProcs())
	tests := []struct {
		name      string
		g         generator
		median    time.Duration
		onMachine bool
		want      string
	}{
		{"idle", generator{own: s / 10, all: s}, s / 100, true, ""},
		{"all processors", generator{own: cores * s * 95 / 100, all: cores * s}, s / 100, true, "processors it may use"},
		{"half of a shared machine is its due", generator{own: cores * s / 2, all: cores * s}, s / 100, true, ""},
		{"late, but the target uses more", generator{own: cores * s / 3, all: cores * s, late: s / 200}, s / 100, true, ""},
		{"late and the bigger consumer", generator{own: cores * s * 6 / 10, all: cores * s, late: s / 200}, s / 100, true, "typically 5ms"},
		{"late, the target elsewhere", generator{own: s / 10, all: 0, late: s / 200}, s / 100, false, "typically 5ms"},
		{"late, machine not readable", generator{own: s / 10, all: 0, late: s / 200}, s / 100, true, "typically 5ms"},
		{"no latency", generator{late: s}, 0, false, ""},
	}
	for _, tt := range tests {
		got := tt.g.saturated(s, tt.median, tt.onMachine)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestParseBusy(t *testing.T) {
	if got := parseBusy("cpu  100 20 30 4000 50 6 7 8 0 0\ncpu0 1 2\n"); got != 163*10*time.Millisecond {
		t.Errorf("busy %s", got)
	}
	for _, bad := range []string{"", "intr 1", "cpu a b c d e f g h"} {
		if got := parseBusy(bad); got != 0 {
			t.Errorf("%q gives %s", bad, got)
		}
	}
}

func TestWorkloadChoice(t *testing.T) {
	tests := []struct {
		scores []float64
		rising bool
		best   int
	}{
		{[]float64{100}, true, 1},
		{[]float64{100, 104}, true, 2},
		{[]float64{100, 102}, false, 1},
		{[]float64{100, 150, 152}, false, 2},
		{[]float64{100, 150, 90}, false, 2},
		{[]float64{-100, -50}, true, 2},
		{[]float64{-100, -120}, false, 1},
		{[]float64{0, 0}, false, 1},
	}
	for _, tt := range tests {
		var points []WorkloadPoint
		for i, s := range tt.scores {
			points = append(points, WorkloadPoint{Workload: 1 << i, Score: s})
		}
		got := stillRising(points) && !math.IsNaN(points[0].Score)
		if best := smallestGood(points); got != tt.rising || best != 1<<(tt.best-1) {
			t.Errorf("%v: rising %v, best %d", tt.scores, got, best)
		}
	}
}

// Lateness is held against what a request typically takes: of pages with many small
// files that is not the file's time, and one answer that hung counts for little.
func TestTypicalLatency(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		about string
		l     Percentiles
		want  time.Duration
	}{
		{"all alike", Percentiles{Mean: 10 * ms, P50: 10 * ms, P95: 12 * ms}, 10 * ms},
		{"files of 0.2 ms and pages of 600 ms", Percentiles{Mean: 80 * ms, P50: ms / 5, P95: 600 * ms}, 80 * ms},
		{"one that hung", Percentiles{Mean: 500 * ms, P50: 2 * ms, P95: 4 * ms}, 4 * ms},
	} {
		if got := typical(c.l); got != c.want {
			t.Errorf("%s: %s, want %s", c.about, got, c.want)
		}
	}
}
