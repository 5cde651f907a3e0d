package tune

import (
	"os"
	"path/filepath"
	"testing"

	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// TestWhatIsTakenUp: a session of tune that did not come to its end, also after proposals that
// left nothing behind; not when the scores would not compare.
func TestWhatIsTakenUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scenario.yaml")
	write := func(duration string) *load.Scenario {
		if err := os.WriteFile(path, []byte("version: 1\nname: s\nworkload: 1\nduration: "+duration+"\nsessions:\n  - name: s\n    steps:\n      - {request: GET /}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		sc, err := load.LoadScenario(path)
		if err != nil {
			t.Fatal(err)
		}
		return sc
	}
	for name, c := range map[string]struct {
		after func(st *store.Store)
		fresh bool
		want  bool
	}{
		"interrupted":              {nil, false, true},
		"ended with an error":      {nil, false, true},
		"the user wants a new one": {nil, true, false},
		"a proposal that was put back": {func(st *store.Store) {
			session(t, st, store.Session{Command: "try", Stack: "s", State: "done"}, false)
		}, false, true},
		"a comparison": {func(st *store.Store) {
			session(t, st, store.Session{Command: "compare", Stack: "s", State: "done"}, false)
		}, false, true},
		"a proposal that was kept": {func(st *store.Store) {
			session(t, st, store.Session{Command: "try", Stack: "s", State: "done"}, true)
		}, false, false},
		"another session came to its end": {func(st *store.Store) {
			session(t, st, store.Session{Command: "tune", Stack: "s", State: "done", AsFound: 1}, false)
		}, false, false},
		"another scenario": {nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			sc := write("5s")
			st, err := store.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			s := &stack.Stack{Name: "s"}
			tu := &Tuner{Stack: s, Store: st, Bench: &Bench{Stack: s, Scenario: sc}, UI: quietly{}, Options: Options{Fresh: c.fresh}}
			state := "interrupted"
			if name == "ended with an error" {
				state = "failed"
			}
			id := session(t, st, store.Session{Command: "tune", Stack: "s", State: state, AsFound: 10, Scenario: tu.Bench.scenarioHash()}, true)
			if c.after != nil {
				c.after(st)
			}
			if name == "another scenario" {
				tu.Bench.Scenario = write("6s")
			}
			got, err := tu.resumable()
			if err != nil {
				t.Fatal(err)
			}
			if (got != nil && got.ID == id) != c.want || got != nil && got.ID != id {
				t.Errorf("taken up: %+v, want %v", got, c.want)
			}
		})
	}
}

// session stores one with a step that was kept or not.
func session(t *testing.T, st *store.Store, s store.Session, kept bool) int64 {
	t.Helper()
	if err := st.SaveSession(&s); err != nil {
		t.Fatal(err)
	}
	if err := st.SaveStep(&store.Step{Session: s.ID, Seq: 1, Kept: kept}); err != nil {
		t.Fatal(err)
	}
	return s.ID
}
