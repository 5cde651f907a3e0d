package change

import (
	"os"
	"path/filepath"
	"testing"

	"kasoku/internal/host"
)

// TestGuardsTurnNothingApart: Kasoku is gone while it turns databases round, and
// each host's guard does what it can alone, in either order, also after a reboot. After that one of the
// two is written to, never both, and `kasoku recover` brings back what was.
func TestGuardsTurnNothingApart(t *testing.T) {
	p := newTwoDBs(t)
	w := p.write(t, 0)
	x, err := Open(t.Context(), p.options(filepath.Join(p.dir, ".kasoku")))
	must(t, err)
	tx, err := x.Apply(t.Context(), Intent{Title: "copy", Changes: p.replica()})
	must(t, err)
	must(t, x.Keep(t.Context(), tx.ID))
	must(t, x.Close())
	before := p.seen(t)
	every := 3 // a guard waits seconds for whom its database is followed by
	if everyStep() {
		every = 1
	}
	orders := [][]string{{"h1", "h2"}, {"h2", "h1"}}
	must(t, os.WriteFile(p.path("main.cnf"), []byte("read_only = 0\n"), 0o640))
	for _, job := range []string{"turn-apply", "turn-revert", "settled-apply"} {
		for step := 1; ; step += every {
			dir := lab(p).project(t)
			name := lab(p).kill(t, dir, job, step)
			if name == "" {
				x, err := Open(t.Context(), p.options(dir))
				must(t, err)
				must(t, x.UndoAll(t.Context()))
				must(t, x.Close())
				break
			}
			if job == "settled-apply" {
				p.rebooted(t)
			}
			for _, here := range orders[step%2] {
				o := p.options(dir)
				o.Here = here
				g, err := Open(t.Context(), o)
				must(t, err)
				_, err = g.Recover(t.Context())
				if err != nil {
					t.Logf("%s killed before %s: guard of %s: %v", job, name, here, err)
				}
				must(t, g.Close())
			}
			if got := p.ask(t, "main", "SELECT @@read_only") + p.ask(t, "spare", "SELECT @@read_only"); got != "01" && got != "10" {
				t.Fatalf("%s killed before %s: read-only: %s", job, name, got)
			}
			x, err := Open(t.Context(), p.options(dir))
			must(t, err)
			_, err = x.Recover(t.Context())
			if err != nil {
				t.Fatalf("%s killed before %s: recover: %v", job, name, err)
			}
			must(t, x.UndoAll(t.Context()))
			wantEqual(t, name, p.seen(t), before)
			must(t, x.Close())
		}
	}
	w.end(t, p, "main")
}

// onTwoHosts gives each of the two a host of its own name.
func (p twoDBs) onTwoHosts(o *Options) {
	o.Hosts = map[string]host.Host{"local": host.NewLocal(), "h1": host.NewLocal(), "h2": host.NewLocal()}
	o.Stack.Services[0].Host, o.Stack.Services[1].Host = "h1", "h2"
}
