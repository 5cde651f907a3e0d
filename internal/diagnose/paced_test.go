package diagnose

import (
	"math"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/foreign"
	"kasoku/internal/stack"
)

// pacing has a worker of this unit run beside the application, under somebody else's
// benchmark, and sleep so many of a hundred moments.
func pacing(script string, slept int) func(*Input) {
	return func(in *Input) {
		in.Stack.Load.Command = &foreign.Command{Argv: []string{"./bench"}}
		in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "worker", Kind: stack.App, Control: stack.Control{Method: stack.MethodSystemd, Unit: "worker.service"}})
		in.Snapshot.Files["local"]["/etc/systemd/system/worker.service"] = evidence.File{Service: "worker", Content: []byte("[Service]\nEnvironment=TICK=0.5\nExecStart=/bin/sh -c \"" + script + "\"\n")}
		in.Evidence.Services["worker"] = evidence.ServiceUse{CPU: 0.1, Programs: []evidence.ProgramUse{{Name: "sleep", Seen: 5 * slept, Processes: 20}}}
	}
}

func pacedIn(t *testing.T, in Input) *Finding {
	t.Helper()
	d, err := Diagnose(in)
	if err != nil {
		t.Fatal(err)
	}
	if at := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Rule == "app.paced" }); at >= 0 {
		return &d.Findings[at]
	}
	return nil
}

func TestPaced(t *testing.T) {
	for _, c := range []struct {
		script string
		slept  int
		want   string // the pause to try; "" none
	}{
		{"while true; do curl -s http://127.0.0.1/tick; sleep 0.5; done", 90, "0.1"},
		{"while true; do curl -s http://127.0.0.1/tick; sleep $TICK; done", 90, "0.1"},
		{"while true; do curl -s http://127.0.0.1/tick; sleep 4; done", 90, "0.8"},
		{"while true; do curl -s http://127.0.0.1/tick; sleep 0.2; done", 90, "0.1"},
		{"while true; do curl -s http://127.0.0.1/tick; sleep 0.1; done", 90, ""},
		{"while true; do curl -s http://127.0.0.1/tick; sleep 60; done", 90, ""},
		{"while true; do curl -s http://127.0.0.1/tick; sleep 0.5; done", 30, ""}, // its work takes longer
		{"curl -s http://127.0.0.1/tick; sleep 0.5", 90, ""},
	} {
		in := healthy()
		pacing(c.script, c.slept)(&in)
		f := pacedIn(t, in)
		switch {
		case f == nil && c.want != "":
			t.Errorf("%s: not found", c.script)
		case f != nil && f.Subject["pause"] != c.want:
			t.Errorf("%s: %s, want %q", c.script, f.Subject["pause"], c.want)
		}
	}
	// Rounds of 0.625 s become such of 0.225 s, whatever the CPU does meanwhile.
	in := healthy()
	pacing("while true; do curl -s http://127.0.0.1/tick; sleep 0.5; done", 80)(&in)
	if f := pacedIn(t, in); f == nil || math.Abs(f.Bound-0.625/0.225) > 1e-9 || !strings.Contains(f.Formula, "a round takes 625.00 ms now") {
		t.Errorf("%+v", f)
	}
	in = healthy()
	pacing("while true; do curl -s http://127.0.0.1/tick; sleep 0.5; done", 90)(&in)
	in.Stack.Load.Command = nil
	if f := pacedIn(t, in); f != nil {
		t.Errorf("under a scenario: %s", f.Text)
	}
}

// A loop that only asks the stack itself is nobody's own setting.
func TestLoopOnlyAsks(t *testing.T) {
	for script, want := range map[string]bool{
		"while true; do curl -s http://127.0.0.1/tick; sleep 1; done":                             true,
		"while true; do wget -qO- http://localhost:8080/a; sleep 1; done":                         true,
		"while true; do curl -s https://api.example/tick; sleep 1; done":                          false,
		"while true; do curl -sk https://shop.example/tick; sleep 1; done":                        true,
		"while true; do curl -sk https://Jobs.Shop.example/tick; sleep 1; done":                   true,
		"while true; do curl -sk https://myshop.example/tick; sleep 1; done":                      false,
		"while true; do curl -sk https://all.net/tick; curl https://a.all.net/; sleep 1; done":    true,
		"while true; do curl -s http://127.0.0.1/tick -d x -H $(cat token); sleep 1; done":        false,
		"while true; do curl -s http://127.0.0.1/tick; php cron.php; sleep 1; done":               false,
		"while true; do curl -s; sleep 1; done":                                                   false,
		"while true; do curl -s http://127.0.0.1/a; curl -s http://mail.example/b; sleep 1; done": false,
	} {
		in := healthy()
		pacing(script, 90)(&in)
		l, err := LoopOf(in.Snapshot, in.Stack.Service("worker"))
		if err != nil || l == nil {
			t.Fatalf("%s: %v, %v", script, l, err)
		}
		config("/n", "listen 8080;", "listen 8080; server_name shop.example *.shop.example .all.net _;")(&in)
		if got := l.OnlyAsks(in.Stack, in.Snapshot); got != want {
			t.Errorf("%s: %v", script, got)
		}
	}
}

// What is written is read again as the same loop with the other pause.
func TestLoopSet(t *testing.T) {
	in := healthy()
	pacing("while true; do curl -s http://127.0.0.1/tick; sleep $TICK; done", 90)(&in)
	l, err := LoopOf(in.Snapshot, in.Stack.Service("worker"))
	if err != nil {
		t.Fatal(err)
	}
	changed, err := l.Set(0.1)
	if err != nil {
		t.Fatal(err)
	}
	text := string(changed["/etc/systemd/system/worker.service"])
	if !strings.Contains(text, "Environment=TICK=0.1\n") || !strings.Contains(text, "sleep $TICK; done") {
		t.Errorf("%s", text)
	}
}

func init() {
	signs = append(signs, struct {
		rule string
		sign func(*Input)
		says string
	}{"app.paced", pacing("while true; do curl -s http://127.0.0.1/tick; sleep 0.5; done", 90), "pauses for 500.00 ms, again and again; it slept 90 % of the time"})
}
