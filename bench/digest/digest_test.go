package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/digest"
)

// Every form of the generated log is one that Kasoku knows, and every endpoint
// is in it under its name: else the benchmark would judge something else.
func TestGeneratedLogs(t *testing.T) {
	all := endpoints()
	if len(all) < 95 || len(all) > 110 {
		t.Errorf("%d routes; the benchmark is about 100", len(all))
	}
	n := 1000 * len(all)
	if testing.Short() {
		n /= 4
	}
	for _, f := range forms {
		var b bytes.Buffer
		var line []byte
		if err := requestsOf(n, func(q *request) error {
			line = f.write(line[:0], q)
			_, err := b.Write(line)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		a, err := digest.AccessLogs(context.Background(), []digest.Input{{Name: f.name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }}}, digest.AccessOptions{})
		if err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		if a.Lines != int64(n) || a.Bad != 0 || !a.Timed {
			t.Errorf("%s: %d lines of %d, %d bad (%s), timed %v", f.name, a.Lines, n, a.Bad, a.FirstBad, a.Timed)
		}
		found := map[string]bool{}
		for _, r := range a.Routes {
			found[r.Method+" "+r.Route] = true
		}
		for i := range all {
			if name := all[i].method + " " + all[i].route(); !found[name] {
				t.Errorf("%s: no route %s", f.name, name)
			} else {
				delete(found, name)
			}
		}
		if len(found) > 0 {
			t.Errorf("%s: routes that are none: %v", f.name, found)
		}
	}
}

func TestSameClasses(t *testing.T) {
	ours := `{"entries":9,"classes":[{"fingerprint":"A","schema":"x","count":3},{"fingerprint":"A","schema":"y","count":2},{"fingerprint":"B","count":4}]}`
	theirs := func(counts ...int) []byte {
		var c []string
		for _, n := range counts {
			c = append(c, fmt.Sprintf(`{"query_count":%d}`, n))
		}
		return []byte(`{"classes":[` + strings.Join(c, ",") + `]}`)
	}
	for _, tt := range []struct {
		why    string
		theirs []byte
		want   int
	}{
		{"the same; schemas are summed", theirs(4, 5), 0},
		{"another count", theirs(4, 6), 1},
		{"a class more", theirs(4, 5, 1), 3},
		{"none", theirs(), 1},
	} {
		d, _, err := sameClasses([]byte(ours), tt.theirs)
		if err != nil || len(d) != tt.want {
			t.Errorf("%s: %v %v", tt.why, d, err)
		}
	}
	if _, _, err := sameClasses([]byte(ours), []byte("# Query 1")); err == nil {
		t.Error("what is no JSON is compared")
	}
}

func TestFigures(t *testing.T) {
	var f figures
	f.judge("p", "enough", bar{20}, []float64{40, 50, math.NaN()}, []float64{2, 2, 2}, "")
	f.most("p", "little", 300, []float64{20, 30})
	f.same("p", "equal", nil, "5 classes")
	if !f.met() {
		t.Errorf("%+v", f)
	}
	for _, spoil := range []func(*figures){
		func(f *figures) { f.judge("p", "too little", bar{20}, []float64{30}, []float64{2}, "") },
		func(f *figures) { f.judge("p", "nobody ran", bar{20}, []float64{30}, []float64{math.NaN()}, "missing") },
		func(f *figures) { f.most("p", "much", 300, []float64{20, 301}) },
		func(f *figures) { f.most("p", "nothing", 300, nil) },
		func(f *figures) { f.most("p", "memory could not be read", 300, []float64{0}) },
		func(f *figures) { f.same("p", "differs", []string{"x"}, "") },
	} {
		g := slices.Clone(f)
		if spoil(&g); g.met() {
			t.Errorf("met: %+v", g[len(g)-1])
		}
	}
}

func TestParse(t *testing.T) {
	for _, args := range [][]string{{"-only", "all"}, {"-rounds", "0"}, {"-lines", "5"}, {"x"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%v is understood", args)
		}
	}
	if s, err := parse(nil, io.Discard); err != nil || s.lines != 5_000_000 || s.entries != 200_000 {
		t.Errorf("%+v %v", s, err)
	}
}

func TestPatterns(t *testing.T) {
	p := patterns(endpoints())
	if n := strings.Count(p, ",") + 1; n < 50 || n > 100 {
		t.Errorf("%d patterns", n)
	}
	if !strings.Contains(p, `^/image/[0-9]+\.jpg$`) || strings.ContainsAny(p, "#&~") {
		t.Error(p)
	}
}
