package tune

import (
	"context"
	"math"
	"strings"
	"testing"

	"kasoku/internal/store"
)

// On a machine that becomes faster by itself, run by run, the gain that a session
// tells is that of its changes: as found is put in place again between runs.
func TestGainIsOfAlternatingRuns(t *testing.T) {
	v := newVirtual(t, good("a", 50), good("b", 20))
	v.alone("a", "b") // one step each
	v.drift = 1.01
	asFound := v.text()
	s, err := v.tuner().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := s.Compared
	if c == nil || c.By != store.ByPairs || c.Pairs != endPairs {
		t.Fatalf("compared %+v", c)
	}
	if math.Abs(s.Gain()/1.8-1) > 0.03 || c.Low > 1.8 || c.High < 1.8 || s.Final != c.Final {
		t.Errorf("gain %.3f (%.3f to %.3f), want 1.8; final %.1f", s.Gain(), c.Low, c.High, s.Final)
	}
	if apart := s.Final / s.AsFound; apart < 2 {
		t.Errorf("the runs that were not made in turn tell %.2f: this test shows nothing", apart)
	}
	if v.on() != "a b" || len(v.exec.Pending()) > 0 {
		t.Errorf("in force is %q, pending %v", v.on(), v.exec.Pending())
	}
	if err := v.exec.UndoAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v.text() != asFound {
		t.Errorf("undone:\n%s", v.text())
	}
}

// A session that is cut off while as found is in place goes on with all that it kept.
func TestCutOffWhileEndsAreCompared(t *testing.T) {
	v := newVirtual(t, good("a", 50), good("b", 20))
	v.alone("a", "b")
	tu := v.tuner()
	ctx, cut := context.WithCancel(t.Context())
	run := tu.Bench.instead
	tu.Bench.instead = func(c context.Context, o RunOptions) (*store.Run, error) {
		if strings.HasPrefix(o.Label, "as found, pair") {
			if v.on() != "" {
				t.Errorf("as found has %q on", v.on())
			}
			cut()
		}
		return run(c, o)
	}
	if s, err := tu.Run(ctx); err == nil || s.State != "interrupted" {
		t.Fatalf("%v", err)
	}
	if v.on() != "a b" {
		t.Fatalf("after the interruption %q is on", v.on())
	}
	s, err := v.tuner().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v.on() != "a b" || s.Compared == nil || s.Compared.By != store.ByPairs || math.Abs(s.Gain()/1.8-1) > 0.03 {
		t.Errorf("%q is on; compared %+v", v.on(), s.Compared)
	}
}
