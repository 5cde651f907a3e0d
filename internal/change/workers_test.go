package change

import (
	"context"
	"os"
	"strings"
	"testing"

	"kasoku/internal/stack"
)

// counting is a Controller of a service whose workers become as many as its file says,
// or stay as they are.
type counting struct {
	*recorder
	runs  *int
	after int // a restart
	err   error
}

func (c *counting) Restart(ctx context.Context) error {
	*c.runs, c.after = c.after, *c.runs
	return c.recorder.Restart(ctx)
}

func (c *counting) Workers(context.Context, string, string) (int, error) { return *c.runs, c.err }

func (f *fixture) counting(c *counting) {
	f.t.Helper()
	must(f.t, f.x.Close())
	c.recorder = &recorder{f, "web"}
	o := f.options()
	o.Control = func(string) (Controller, error) { return c, nil }
	o.Progress = func(line string) { f.calls = append(f.calls, line) }
	x, err := Open(f.t.Context(), o)
	must(f.t, err)
	f.x = x
}

func workersEdit(path string, before, count int) Change {
	c := edit1(path, "workers 2\n", "workers 4\n", "web", Restart)
	c.Workers = &Workers{Server: "gunicorn", Before: before, Count: count}
	return c
}

// A number of workers that is written and does not run is not in force: it is put back.
func TestWorkersThatDoNotRun(t *testing.T) {
	for _, c := range []struct {
		what        string
		runs, after int
		err         error
		refused     bool
		unseen      string
	}{
		{"as many as set", 2, 4, nil, false, ""},
		{"the option is overridden", 2, 2, nil, true, ""},
		{"others ran before, so the count shows nothing", 3, 3, nil, false, "cannot be seen: 3 run where 2 are set now"},
		{"they cannot be told", 2, 2, stack.ErrUnseen, false, "cannot be seen"},
	} {
		f := newFixture(t)
		path := f.file("conf", "workers 2\n")
		runs := c.runs
		f.counting(&counting{runs: &runs, after: c.after, err: c.err})
		_, err := f.apply(workersEdit(path, 2, 4))
		if (err != nil) != c.refused || c.refused && !strings.Contains(err.Error(), "not in force: 2 workers of gunicorn in web run instead of 4") {
			t.Errorf("%s: %v", c.what, err)
		}
		text, rerr := os.ReadFile(path)
		must(t, rerr)
		if back := string(text) == "workers 2\n"; back != c.refused {
			t.Errorf("%s: the file holds %q", c.what, text)
		}
		if said := strings.Join(f.calls, "\n"); !strings.Contains(said, c.unseen) {
			t.Errorf("%s: nothing says %q: %s", c.what, c.unseen, said)
		}
	}
}

// Verify counts too, until another transaction sets the number.
func TestVerifyCountsWorkers(t *testing.T) {
	f := newFixture(t)
	path := f.file("conf", "workers 2\n")
	runs := 2
	f.counting(&counting{runs: &runs, after: 4})
	tx, err := f.apply(workersEdit(path, 2, 4))
	must(t, err)
	must(t, f.x.Keep(t.Context(), tx.ID))
	if d, err := f.x.Verify(t.Context()); err != nil || len(d) != 0 {
		t.Fatalf("in force: %v, %v", d, err)
	}
	runs = 3
	d, err := f.x.VerifyTx(t.Context(), tx.ID)
	if err != nil || len(d) != 1 || d[0].Object != "number of workers of gunicorn in web" || d[0].Want != "4" || d[0].Got != "3" || d[0].Change != 0 {
		t.Fatalf("3 run: %+v, %v", d, err)
	}
	other, err := f.apply(edit1(path, "workers 4\n", "workers 2\n", "web", Restart))
	must(t, err)
	must(t, f.x.Keep(t.Context(), other.ID))
	runs = 2
	if d, err := f.x.Verify(t.Context()); err != nil || len(d) != 0 {
		t.Errorf("set anew: %v, %v", d, err)
	}
}

// A service that goes on with the workers that it was given, although its file is put back,
// is told of.
func TestWorkersThatStay(t *testing.T) {
	for _, stay := range []bool{false, true} {
		f := newFixture(t)
		runs := 2
		c := &counting{runs: &runs, after: 4}
		f.counting(c)
		tx, err := f.apply(workersEdit(f.file("conf", "workers 2\n"), 2, 4))
		must(t, err)
		if stay {
			c.after = 4
		}
		must(t, f.x.Revert(t.Context(), tx.ID))
		if said := strings.Join(f.calls, "\n"); strings.Contains(said, "4 workers of gunicorn in web run where 2 ran before") != stay {
			t.Errorf("they stay: %t; said: %s", stay, said)
		}
	}
}
