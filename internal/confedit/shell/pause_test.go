package shell

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestFindPause(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"TICK": "0.5", "UNIT": "500", "SHORT": "2s", "BASE": "http://127.0.0.1:8080", "WORD": "soon"}[name]
		return v, ok
	}
	for _, c := range []struct {
		name, script string
		seconds      float64
		variable     string
		set          string // the script with a fifth of the pause; "": the variable's value is in value
		value        string
	}{
		{"a number", "while true; do curl -s http://127.0.0.1/tick; sleep 0.5; done", 0.5, "", "while true; do curl -s http://127.0.0.1/tick; sleep 0.1; done", ""},
		{"a unit", "until false\ndo ./tick\n sleep 5s # a while\ndone\n", 5, "", "until false\ndo ./tick\n sleep 1s # a while\ndone\n", ""},
		{"quotes", `while :; do ./tick; /bin/sleep "2"; done`, 2, "", `while :; do ./tick; /bin/sleep "0.4"; done`, ""},
		{"in the condition", "while sleep 1; do ./tick; done", 1, "", "while sleep 0.2; do ./tick; done", ""},
		{"for", "for i in 1 2 3; do ./tick $i; sleep 1; done", 1, "", "for i in 1 2 3; do ./tick $i; sleep 0.2; done", ""},
		{"a branch", "while true; do if ./tick; then :; else sleep 1; fi; done", 1, "", "while true; do if ./tick; then :; else sleep 0.2; fi; done", ""},
		{"of the environment", `while true; do ./tick; sleep "$TICK"; done`, 0.5, "TICK", "", "0.1"},
		{"with its unit", "while true; do ./tick; sleep ${SHORT}; done", 2, "SHORT", "", "0.4s"},
		{"with a unit behind", "while true; do ./tick; sleep ${TICK}s; done", 0.5, "TICK", "", "0.1"},
		{"with a default", "while true; do ./tick; sleep ${TICK:-3}; done", 0.5, "TICK", "", "0.1"},
		{"the default", "while true; do ./tick; sleep ${NONE:-3}; done", 3, "", "while true; do ./tick; sleep ${NONE:-0.6}; done", ""},
		{"of the script", "pause=2\nwhile true; do ./tick; sleep $pause; done", 2, "", "pause=0.4\nwhile true; do ./tick; sleep $pause; done", ""},
		{"its own default", "TICKS=${TICKS:-4}\nwhile true; do ./tick; sleep $TICKS; done", 4, "", "TICKS=${TICKS:-0.8}\nwhile true; do ./tick; sleep $TICKS; done", ""},
		{"its own, of the environment", "TICK=${TICK:-4}\nwhile true; do ./tick; sleep $TICK; done", 0.5, "TICK", "", "0.1"},
	} {
		p := FindPause(c.script, env)
		if p == nil || p.Number.Value != c.seconds || p.Variable != c.variable {
			t.Errorf("%s: %+v, want %g s of %q", c.name, p, c.seconds, c.variable)
			continue
		}
		if c.set != "" && p.Set(c.script, c.seconds/5) != c.set {
			t.Errorf("%s: %q, want %q", c.name, p.Set(c.script, c.seconds/5), c.set)
		}
		if c.value != "" && p.Text(c.seconds/5) != c.value {
			t.Errorf("%s: %q, want %q", c.name, p.Text(c.seconds/5), c.value)
		}
		if c.set != "" {
			if out, err := exec.Command("sh", "-n", "-c", c.set).CombinedOutput(); err != nil {
				t.Errorf("%s: sh does not read what was written: %v, %s", c.name, err, out)
			}
		}
	}
}

// What is no loop with one pause is left alone.
func TestNoPause(t *testing.T) {
	for _, script := range []string{
		"", "sleep 5", "while true; do ./tick; done", "while true; do ./a; sleep 1; ./b; sleep 2; done",
		"while true; do echo 'sleep 5; done'; done", "while true; do sleep $((n * 2)); done", "while true; do sleep 1 2; done",
		"while true; do ./tick; sleep $WORD; done", "while true; do ./tick; sleep $NONE; done", "a=1; a=2; while true; do ./tick; sleep $a; done",
		"while true; do ./tick; sleep infinity; done", "while true; do ./tick; sleep `cat pause`; done", "while true; do (", "x=$(while true; do sleep 1",
		"while true; do ./tick; sleep ${TICK%s}; done", "while true; do ./tick; sleep 0; done", "sleep 9 && while true; do ./tick; done",
	} {
		env := func(name string) (string, bool) { return "soon", name == "WORD" }
		if p := FindPause(script, env); p != nil {
			t.Errorf("%q: %+v", script, p)
		}
	}
}

func TestRound(t *testing.T) {
	base := func(name string) (string, bool) { return "http://127.0.0.1:8080", name == "BASE" }
	p := FindPause(`while true; do curl -sf "$BASE/tick" || echo bad; [ -e x ] && php cron.php; curl -s http://127.0.0.1/b; $CMD; sleep 1; done`, base)
	if p == nil || !slices.Equal(p.Programs, []string{"curl", "php", "?"}) || strings.Join(p.URLs, " ") != "http://127.0.0.1:8080/tick http://127.0.0.1/b" {
		t.Errorf("%+v", p)
	}
}
