package screen

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"kasoku/internal/tune"
	"kasoku/internal/ui"
	"kasoku/internal/ui/uitest"
)

// TestSessionOnATerminal plays a session and compares what stands on the
// terminal at some moments with a recording that was looked at.
func TestSessionOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	for _, columns := range []int{80, 40} {
		synctest.Test(t, func(t *testing.T) {
			term := uitest.New(columns, 24)
			u := ui.New(term, term, ui.Options{TTY: true, NoColor: true, Size: term.Size})
			var record string
			shot := func(name string) { record += fmt.Sprintf("--- %s\n%s\n", name, term.Text()) }
			play(u, shot)
			file := filepath.Join("testdata", fmt.Sprintf("session.%d", columns))
			if *update {
				if err := os.WriteFile(file, []byte(record), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if record != string(want) {
				t.Errorf("%d columns:\n%swant\n%s", columns, record, want)
			}
		})
	}
}

// play is a session as tune tells it.
func play(u *ui.UI, shot func(name string)) {
	m, watch := moments(), Session(u)
	state := func(name string) {
		time.Sleep(time.Second)
		watch(m[name])
	}
	said := func(name, level, text string) {
		l := m[name]
		l.Said = &tune.Said{Level: level, Text: text}
		watch(l)
	}
	u.Step("Measure the service as found")
	said("first", "step", "Measure the service as found")
	state("first")
	shot("the first run")
	u.Info("as found: 121.5 points/s with 8 users")
	u.Info("bottleneck: the CPU is 98 % busy; db uses 6.1 ms of the 7.9 ms per request")
	said("trying", "step", "3. Create an index on users(login)")
	state("trying")
	shot("the first pair")
	u.Warn("a run was no evidence: 他のプロセスが CPU の 30 % を使いました", "stop other work on this machine")
	state("effect")
	shot("after a warning")
	state("hosts")
	shot("Japanese, three hosts")
	u.Step("3. Create an index on users(login)")
	u.Info("kept: improved, +12.3 % (95 %: +4.1 % to +21.5 %), 12 runs, 40s; p = 0.0001")
	u.Step("Measure the final score")
	said("first", "step", "Measure the final score")
	state("ending")
	shot("interrupted")
	u.Clear()
	u.Warn("interrupted; the target has been put back", "")
	shot("the end")
}
