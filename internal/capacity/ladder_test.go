package capacity

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/stat"
)

// virtual is a service whose throughput follows a law, on a clock that only its
// runs move.
type virtual struct {
	law    stat.Scaling
	took   time.Duration
	now    time.Time
	asked  []int
	change func(*Rung)
}

func (v *virtual) run(_ context.Context, users int) (Rung, error) {
	v.asked, v.now = append(v.asked, users), v.now.Add(v.took)
	x := v.law.At(float64(users))
	r := Rung{Level: Level{N: users, Users: users, PerSecond: x, Figures: Figures{"p95": 3 * float64(users) / x * 1e9, "errors": 0}}}
	if v.change != nil {
		v.change(&r)
	}
	return r, nil
}

func (v *virtual) clock() time.Time { return v.now }

func TestLadder(t *testing.T) {
	for _, c := range []struct {
		name   string
		law    stat.Scaling
		budget time.Duration
		most   int
		goal   string
		change func(*Rung)
		want   []int
		warn   string
	}{
		{"up and down again", stat.Scaling{Lambda: 50, Sigma: 0.2}, time.Hour, 8, "", nil, []int{1, 2, 4, 8, 8, 4, 2, 1}, ""},
		{"two behind the peak are enough", stat.Scaling{Lambda: 50, Sigma: 0.1, Kappa: 0.01}, time.Hour, 256, "", nil,
			[]int{1, 2, 4, 8, 16, 32, 64, 64, 32, 16, 8, 4, 2, 1}, ""},
		// p95 is 60 ms with one, 247 ms with 16, 462 ms with 32, 911 ms with 64.
		{"two that break the objective, and one between", stat.Scaling{Lambda: 50, Sigma: 0.2, Kappa: 0.0005}, time.Hour, 256, "p95<300ms", nil,
			[]int{1, 2, 4, 8, 16, 32, 64, 64, 32, 22, 16, 8, 4, 2, 1}, ""},
		{"half of the time up, the rest down", stat.Scaling{Lambda: 50, Sigma: 0.2}, 10 * time.Second, 256, "", nil, []int{1, 2, 4, 8, 16, 16, 8, 4, 2, 1}, "half of its 10s were used"},
		{"no time at all still shows two", stat.Scaling{Lambda: 50, Sigma: 0.2}, time.Millisecond, 256, "", nil, []int{1, 2}, "half of its 1ms"},
		{"the generator ends it, and what it limited is left out", stat.Scaling{Lambda: 50}, time.Hour, 256, "", func(r *Rung) {
			if r.N >= 4 {
				r.Unfit, r.Stop = "the load generator was the limit", true
			}
		}, []int{1, 2, 4, 2, 1}, ""},
		{"so do wrong answers", stat.Scaling{Lambda: 50}, time.Hour, 256, "", func(r *Rung) {
			if r.N >= 4 {
				r.Figures["errors"] = 3
			}
		}, []int{1, 2, 4, 2, 1}, ""},
	} {
		v := &virtual{law: c.law, took: time.Second, change: c.change}
		o := LadderOptions{Budget: c.budget, Most: c.most, Clock: v.clock}
		if c.goal != "" {
			o.Goal = objective(t, c.goal)
		}
		m, err := Ladder(context.Background(), v.run, o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !slices.Equal(v.asked, c.want) {
			t.Errorf("%s: measured %v, want %v", c.name, v.asked, c.want)
		}
		if len(m.Levels)+len(m.Dropped) != len(v.asked) || c.change != nil && len(m.Dropped) != 1 {
			t.Errorf("%s: %d levels, dropped %+v", c.name, len(m.Levels), m.Dropped)
		}
		if got := strings.Join(m.Warnings, " "); !strings.Contains(got, c.warn) || c.warn == "" && got != "" {
			t.Errorf("%s: warnings %q", c.name, got)
		}
	}
}

// A failure ends the ladder and keeps what was measured; a service that answers
// nothing rightly is an error.
func TestLadderFails(t *testing.T) {
	broken := errors.New("no route")
	v := &virtual{law: stat.Scaling{Lambda: 50}, took: time.Second}
	m, err := Ladder(context.Background(), func(ctx context.Context, users int) (Rung, error) {
		if users == 4 {
			return Rung{}, broken
		}
		return v.run(ctx, users)
	}, LadderOptions{Budget: time.Hour, Clock: v.clock})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "4 users") || len(m.Levels) != 2 {
		t.Errorf("%v, levels %+v", err, m.Levels)
	}
	v.change = func(r *Rung) { r.Figures["errors"] = 100 }
	if _, err = Ladder(context.Background(), v.run, LadderOptions{Budget: time.Hour, Clock: v.clock}); err == nil || !strings.Contains(err.Error(), "answered wrongly") {
		t.Errorf("got %v", err)
	}
	for _, o := range []LadderOptions{{}, {Budget: -1}, {Budget: 1, Most: -1}} {
		if _, err := Ladder(context.Background(), v.run, o); err == nil {
			t.Errorf("%+v gave no error", o)
		}
	}
}
