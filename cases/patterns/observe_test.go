package patterns

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// TestForms starts each program in each form once, and shows with none of them
// instrumented what `kasoku run` finds (checkObserved), what is found when
// requests come one at a time (checkProbed), and that all forms answer alike
// (checkRoutes).
func TestForms(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	t.Parallel()
	var s *Service
	var first map[string]any
	for _, f := range forms {
		if s == nil {
			s = New(t, f.lang, f.form, "")
		} else {
			s.Start(f.lang, f.form, "")
		}
		who := f.lang + " " + f.form
		s.checkObserved(t, who, f.form)
		s.Reset()
		s.checkProbed(t, who, f.form)
		s.Reset()
		got := s.checkRoutes(t, who)
		if first == nil {
			first = got
		}
		for name, want := range first {
			if !reflect.DeepEqual(got[name], want) {
				t.Errorf("%s: %s answers %v, php bad %v", name, who, got[name], want)
			}
		}
	}
	if out, err := s.Run("status"); err != nil || !strings.HasPrefix(out, "go, clean\n") {
		t.Errorf("status: %v\n%s", err, out)
	}
	s.checkReset(t)
}

// checkObserved: what `kasoku run` finds in a service that nobody instrumented is
// exactly the patterns of the bad form, each with a finding, and none of the
// clean form; and the target is as it was.
func (s *Service) checkObserved(t *testing.T, who, form string) {
	t.Helper()
	run := s.observe(t)
	for _, h := range run.Evidence.Health {
		if h.Source == "requests one at a time" && !h.OK {
			t.Errorf("%s: %s", who, h.Text)
		}
	}
	if run.Evidence.Requests == nil {
		t.Fatalf("%s: no request was followed: %+v", who, run.Evidence.Health)
	}
	checkPatterns(t, who, form, run.Evidence.Requests)
	found := map[string]bool{}
	for _, x := range run.Diagnosis.Findings {
		if x.Subject["kind"] != "" {
			found[x.Subject["route"]] = true
		}
	}
	for _, p := range run.Evidence.Requests.Patterns {
		if !found[p.Method+" "+p.Route] {
			t.Errorf("%s: %s at %s %s has no finding", who, p.Kind, p.Method, p.Route)
		}
	}
}

// observe makes one diagnostic run as the command does.
func (s *Service) observe(t *testing.T) *store.Run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	st, err := stack.Load(s.Stack)
	if err != nil {
		t.Fatal(err)
	}
	st.Evidence.Profile = stack.ProfileOff // it has tests of its own
	scenario, err := load.LoadScenario(filepath.Join(s.Dir, "scenario.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	db, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	hosts := map[string]host.Host{stack.LocalHost: host.NewLocal()}
	x, err := tune.OpenExecutor(ctx, dir, st, hosts)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	// Long enough that users who go through all routes reach the last one on a
	// busy machine, too: what the load does not show again is not believed.
	b := &tune.Bench{Stack: st, Hosts: hosts, Store: db, Scenario: scenario, Window: 4 * time.Second, Warmup: 200 * time.Millisecond}
	run, _, err := tune.Observe(ctx, x, b, 4, "patterns", reporter{t})
	if err != nil {
		t.Fatal(err)
	}
	if left := x.Pending(); len(left) > 0 {
		t.Errorf("%d changes were not put back", len(left))
	}
	return run
}

// reporter puts the loop's words into the test's log.
type reporter struct{ t *testing.T }

func (r reporter) Step(s string)       { r.t.Log(s) }
func (r reporter) Info(s string)       { r.t.Log(s) }
func (r reporter) Warn(s, hint string) { r.t.Logf("%s (%s)", s, hint) }
