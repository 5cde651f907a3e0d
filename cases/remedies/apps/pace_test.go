package apps_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/await"
	"kasoku/internal/diagnose"
	"kasoku/internal/experiment/effecttest"
	"kasoku/internal/foreign"
	"kasoku/internal/remedy"
)

type loop struct{ name, file, was, becomes, asks string }

// paced are the loops of TestPace: where each says its pause, and what says it afterwards.
var paced = []loop{
	{"command", "supervisord.conf", "tick; sleep 0.5; done'", "tick; sleep 0.1; done'", "/tick"},
	{"script", "tick.sh", "PAUSE=${PAUSE:-0.5} # often enough", "PAUSE=${PAUSE:-0.1} # often enough", "/tock"},
}

// A loop under supervisor that asks the application twice a second is made to ask ten
// times a second, wherever its pause is said: in the command or in a script (variables: TestLoopSet).
func TestPace(t *testing.T) {
	supervisord, python := need(t, "supervisord"), need(t, "python3")
	need(t, "curl")
	dir, port := bed.Folder(t), bed.FreePort(t)
	write(t, dir, "www/index.html", "here\n", port)
	write(t, dir, "www/tick", "done\n", port)
	write(t, dir, "www/tock", "done\n", port)
	write(t, dir, "tick.sh", "#!/bin/sh\nPAUSE=${PAUSE:-0.5} # often enough\nwhile true; do\n\tcurl -s http://127.0.0.1:%PORT%/tock\n\tsleep $PAUSE\ndone\n", port)
	write(t, dir, "supervisord.conf", supervised+`[program:app]
command=`+python+` -m http.server --bind 127.0.0.1 --directory %DIR%/www %PORT%
stderr_logfile=%DIR%/app.log
[program:command]
command=/bin/sh -c 'while true; do curl -s http://127.0.0.1:%PORT%/tick; sleep 0.5; done'
startsecs=0
stopasgroup=true
[program:script]
command=/bin/sh %DIR%/tick.sh
startsecs=0
stopasgroup=true
`, port)
	service := func(name, more string) string {
		return "  - {name: " + name + ", kind: app, " + more + "control: {program: " + name + ", config: %DIR%/supervisord.conf}}\n"
	}
	write(t, dir, "kasoku.yaml", "version: 1\nservices:\n"+service("app", "listen: [\"127.0.0.1:%PORT%\"], ")+service("command", "")+service("script", "")+
		"load: {scenario: scenario.yaml, url: \"http://127.0.0.1:%PORT%\"}\nregulation: {memory_headroom_percent: 5}\n", port)
	calm(t, dir, "GET /", "here")
	bed.Start(t, dir, "supervisord", supervisord, "-n", "-c", dir+"/supervisord.conf")
	bed.Await(t, fmt.Sprintf("127.0.0.1:%d", port))
	b := bed.Open(t, dir)
	plans := func(t *testing.T) remedy.Result {
		in := b.Look(t, b.Stack.Regulation)
		in.Stack.Load.Command = &foreign.Command{Argv: []string{"./bench"}} // whose score such loops may pace
		var err error
		if in.Diagnosis, err = diagnose.Diagnose(diagnose.Input{Stack: in.Stack, Evidence: in.Evidence, Snapshot: in.Snapshot}); err != nil {
			t.Fatal(err)
		}
		return remedy.PlanAll(in)
	}
	b.Bench.Window = 3 * time.Second // some rounds
	var bad remedy.Result
	await.For(t, "all loops to be seen asleep", func() bool { // beside other work a round may take longer than its pause
		bad = plans(t)
		return !slices.ContainsFunc(paced, func(c loop) bool {
			return !slices.ContainsFunc(bad.Plans, func(p remedy.Plan) bool { return p.ID == "app.pace:"+c.name+":0.1" })
		})
	})
	b.Bench.Window = 500 * time.Millisecond
	for _, c := range paced {
		t.Run(c.name, func(t *testing.T) {
			p := bed.Want(t, bad, "app.pace:"+c.name+":0.1")
			if !strings.Contains(p.Why, "slept") {
				t.Errorf("nobody saw it sleep: %s", p.Why)
			}
			before := b.Hash(t)
			tx := b.Apply(t, p)
			if text, err := os.ReadFile(filepath.Join(dir, c.file)); err != nil || strings.Contains(string(text), c.was) || !strings.Contains(string(text), c.becomes) {
				t.Errorf("%s, %v:\n%s", c.file, err, text)
			}
			await.For(t, "the loop to pause for a tenth of a second", func() bool { return sleeping(dir, c.name, "0.1") })
			now := plans(t)
			if slices.ContainsFunc(now.Plans, func(q remedy.Plan) bool { return strings.HasPrefix(q.ID, "app.pace:"+c.name) }) {
				t.Error("planned again though in force")
			}
			b.Revert(t, tx)
			if b.Hash(t) != before {
				t.Error("the target is not as before")
			}
			await.For(t, "the loop to pause as before", func() bool { return sleeping(dir, c.name, "0.5") })
			rate := func() float64 { return roundsPerSecond(t, filepath.Join(dir, "app.log"), c.asks) }
			effecttest.MeasureOver(t, p, "rounds of the loop/s", 0, rate, rate, func() { tx = b.Apply(t, p) }, func() { b.Revert(t, tx) })
		})
	}
}

// roundsPerSecond is how often a loop asks for a path, by the time that five rounds take: what waits for
// its work waits for a round.
func roundsPerSecond(t *testing.T, log, path string) float64 {
	t.Helper()
	const rounds = 5
	seen := func() int {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "GET "+path+" ")
	}
	until := func(n int) time.Time {
		await.For(t, "the loop to ask again", func() bool { return seen() >= n })
		return time.Now()
	}
	first := seen() + 1
	begin := until(first)
	return rounds / until(first+rounds).Sub(begin).Seconds()
}

// sleeping reports whether a program of supervisor has a child `sleep PAUSE` now.
func sleeping(dir, program, pause string) bool {
	mains, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range mains {
		env, err := os.ReadFile(file)
		if err != nil || !strings.Contains("\x00"+string(env), "\x00SUPERVISOR_PROCESS_NAME="+program+"\x00") || !strings.Contains(string(env), dir) {
			continue
		}
		words, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if err == nil && string(words) == "sleep\x00"+pause+"\x00" {
			return true
		}
	}
	return false
}
