package tune

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// TestSlowerThanTheWindow: a service whose answers take longer than the window
// is measured again within one that it answers in, and not in an experiment.
func TestSlowerThanTheWindow(t *testing.T) {
	await.SkipShort(t)
	path := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(path, []byte("version: 1\nname: slow\nworkload: 4\nwarmup: 0s\nduration: 300ms\ntimeout: 2s\nsessions:\n  - name: s\n    steps:\n      - {request: GET /}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sc, err := load.LoadScenario(path)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Second)
		fmt.Fprint(w, "at last")
	}))
	defer srv.Close()
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var notes []string
	slow := &stack.Stack{Load: stack.LoadConfig{URL: srv.URL}}
	slow.Tune.MaxForeignCPU = 1 // what else runs does not matter: a busy machine would be waited for
	b := &Bench{Stack: slow, Hosts: map[string]host.Host{stack.LocalHost: host.NewLocal()},
		Scenario: sc, Store: st, Listeners: Listeners{Note: func(s string) { notes = append(notes, s) }}}

	run, err := b.Run(t.Context(), RunOptions{Kind: store.Scored})
	if err != nil {
		t.Fatal(err)
	}
	if l := run.Evidence.Load; l.Window < 4*time.Second || l.Succeeded == 0 || b.Answered(run) != nil {
		t.Errorf("window %s, %d answers", l.Window, l.Succeeded)
	}
	if !strings.Contains(strings.Join(notes, "\n"), "nothing was answered within 300ms; it is made again with 4s") {
		t.Errorf("notes %q", notes)
	}
	if run, err = b.Run(t.Context(), RunOptions{Kind: store.Scored, Side: experiment.Candidate, Step: 1}); err != nil {
		t.Fatal(err)
	}
	if l := run.Evidence.Load; l.Window > time.Second || l.Succeeded > 0 {
		t.Errorf("an experiment's run: window %s, %d answers", l.Window, l.Succeeded)
	}
}
