package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func newTest(o Options) (*UI, *bytes.Buffer, *bytes.Buffer) {
	var out, err bytes.Buffer
	return New(&out, &err, o), &out, &err
}

func TestPlainMessages(t *testing.T) {
	u, out, errs := newTest(Options{})
	u.Step("Measure")
	u.Info("two\nlines")
	u.Warn("slow disk", "wait")
	u.Error(Coded(BadInput, errors.New("no file"), "kasoku init"))
	u.Error(nil)
	u.Clear()
	if got, want := out.String(), "== Measure\n   two\n   lines\n"; got != want {
		t.Errorf("out %q, want %q", got, want)
	}
	if got, want := errs.String(), "warning: slow disk\n  try: wait\nerror: no file\n  try: kasoku init\n"; got != want {
		t.Errorf("err %q, want %q", got, want)
	}
}

func TestQuietStillWarns(t *testing.T) {
	u, out, errs := newTest(Options{Quiet: true, TTY: true, NoColor: true})
	u.Step("a")
	u.Info("b")
	u.Progress("c")
	u.Warn("d", "")
	if out.Len() != 0 || errs.String() != "warning: d\n" {
		t.Errorf("out %q, err %q", out, errs)
	}
}

func TestErrorAsJSON(t *testing.T) {
	u, _, errs := newTest(Options{JSON: true})
	u.Error(Coded(Target, errors.New("line\nbreak \x1b[2J"), "look"))
	var got map[string]any
	if err := json.Unmarshal(errs.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	if got["error"] != "line\nbreak \x1b[2J" || got["hint"] != "look" || got["exit_code"] != 4.0 {
		t.Errorf("got %v", got)
	}
	if strings.Count(errs.String(), "\n") != 1 || strings.Contains(errs.String(), "\x1b") {
		t.Errorf("not one harmless line: %q", errs)
	}
}

func TestColour(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		env  [2]string
		want bool
	}{
		"terminal":    {Options{TTY: true}, [2]string{"TERM", "xterm"}, true},
		"pipe":        {Options{}, [2]string{"TERM", "xterm"}, false},
		"--no-color":  {Options{TTY: true, NoColor: true}, [2]string{"TERM", "xterm"}, false},
		"NO_COLOR":    {Options{TTY: true}, [2]string{"NO_COLOR", "1"}, false},
		"dumb":        {Options{TTY: true}, [2]string{"TERM", "dumb"}, false},
		"empty value": {Options{TTY: true}, [2]string{"NO_COLOR", ""}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("NO_COLOR", "")
			t.Setenv("TERM", "xterm")
			t.Setenv(c.env[0], c.env[1])
			u, out, errs := newTest(c.o)
			u.Step("x")
			u.Warn("y", "z")
			if got := strings.Contains(out.String()+errs.String(), "\x1b["); got != c.want {
				t.Errorf("coloured: %v, want %v: %q %q", got, c.want, out, errs)
			}
		})
	}
}

func TestNoColourIntoAFile(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	f, err := os.CreateTemp(t.TempDir(), "err")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	u := New(&bytes.Buffer{}, f, Options{TTY: true})
	u.Warn("p", "h")
	b, _ := os.ReadFile(f.Name())
	if string(b) != "warning: p\n  try: h\n" {
		t.Errorf("got %q", b)
	}
}

func TestProgressOnTerminal(t *testing.T) {
	u, out, errs := newTest(Options{TTY: true, NoColor: true})
	u.Progress("one")
	u.Progress("two\n" + strings.Repeat("界", 100))
	u.Warn("w", "")
	u.Info("done")
	parts := strings.Split(out.String(), "\r\x1b[K")
	if len(parts) != 4 || parts[1] != "   one" || parts[3] != "   done\n" {
		t.Fatalf("got %q", parts)
	}
	if w := Width(parts[2]); w > 79 || w < 77 || strings.Contains(parts[2], "\n") {
		t.Errorf("the long line takes %d columns: %q", w, parts[2])
	}
	if errs.String() != "warning: w\n" {
		t.Errorf("err %q", errs)
	}
}

func TestProgressElsewhere(t *testing.T) {
	u, out, _ := newTest(Options{})
	now := time.Unix(1000, 0)
	u.now = func() time.Time { return now }
	for range 45 {
		u.Progress("tick " + now.Format("05"))
		now = now.Add(time.Second)
	}
	if got := strings.Count(out.String(), "\n"); got != 5 {
		t.Errorf("%d lines in 45 s, want 5: %q", got, out)
	}
	if strings.ContainsAny(out.String(), "\r\x1b") {
		t.Errorf("control sequences in a pipe: %q", out)
	}
}

func TestTargetCannotSteerTheTerminal(t *testing.T) {
	u, out, errs := newTest(Options{TTY: true, NoColor: true})
	evil := "\x1b]0;owned\x07\x9b2J\r\xff \u202eabc"
	u.Info(evil)
	u.Warn(evil, evil)
	u.Error(errors.New(evil))
	for _, s := range []string{out.String(), errs.String()} {
		if strings.ContainsAny(s, "\x1b\x07\r\u202e") || strings.Contains(s, "\x9b") || strings.Contains(s, "\xff") {
			t.Errorf("got through: %q", s)
		}
	}
	if !strings.Contains(out.String(), `\x1b]0;owned\x07`) {
		t.Errorf("not shown as escapes: %q", out)
	}
}

func TestCodes(t *testing.T) {
	inner := Coded(Busy, errors.New("held"), "wait")
	for name, c := range map[string]struct {
		err  error
		code int
		hint string
	}{
		"nil":       {nil, OK, ""},
		"plain":     {errors.New("x"), Failure, ""},
		"coded":     {inner, Busy, "wait"},
		"wrapped":   {fmt.Errorf("tune: %w", inner), Busy, "wait"},
		"outermost": {Coded(Target, inner, ""), Target, "wait"},
		"joined":    {errors.Join(errors.New("a"), inner), Busy, "wait"},
		"nil inner": {Coded(Target, nil, "h"), OK, ""},
	} {
		if Code(c.err) != c.code || Hint(c.err) != c.hint {
			t.Errorf("%s: %d %q, want %d %q", name, Code(c.err), Hint(c.err), c.code, c.hint)
		}
	}
}
