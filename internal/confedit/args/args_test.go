package args

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kasoku/internal/confedit/textedit"
	_ "kasoku/internal/rapidseed"
)

var grammar = Grammar{Abbreviate: true, Options: []Option{
	{Names: []string{"-t", "--threads"}, Arg: true},
	{Names: []string{"-m", "--memory"}, Arg: true},
	{Names: []string{"-v", "--verbose"}},
	{Names: []string{"-M"}},
	{Names: []string{"-p"}, Arg: true},
}}

func TestGet(t *testing.T) {
	tests := []struct {
		why, text string
		q         Quoting
		name      string
		want      string
		ok        bool
	}{
		{"a word of its own", "x -t 5", Shell, "-t", "5", true},
		{"the same word", "x -t5", Shell, "-t", "5", true},
		{"a long name with =", "x --threads=5", Shell, "-t", "5", true},
		{"a long name and a word", "x --threads 5", Shell, "--threads", "5", true},
		{"a long name cut short", "x --thr=5", Shell, "-t", "5", true},
		{"the last one counts", "x -t 4 --threads=5", Shell, "-t", "5", true},
		{"behind a bundle of switches", "x -vMt5", Shell, "-t", "5", true},
		{"behind a bundle, a word", "x -vt 5", Shell, "-t", "5", true},
		{"another option's value is no option", "x -m -t 5", Shell, "-t", "", false},
		{"not behind --", "x -- -t 5", Shell, "-t", "", false},
		{"not in the next command", "x && y -t 5", Shell, "-t", "", false},
		{"not in a comment", "x # -t 5", Shell, "-t", "", false},
		{"# inside a word is text", "x -t a#b", Shell, "-t", "a#b", true},
		{"quotes", `x -t "a b"'c'\ d`, Shell, "-t", "a bc d", true},
		{"a continued line", "x \\\n -t \\\n 5", Shell, "-t", "5", true},
		{"quotes of systemd", `x -t "a\x41\tb"'\'c'`, Systemd, "-t", "aA\tb'c", true},
		{"$$ and %% of systemd", `x -t $$5%%`, Systemd, "-t", "$5%", true},
		{"; parts commands", `x ; y -t 5`, Systemd, "-t", "", false},
		{`\; does not`, `x \; -t 5`, Systemd, "-t", "5", true},
		{"plain text keeps quotes", `x -t "5"`, Plain, "-t", `"5"`, true},
		{"a switch", "x -vv -M", Plain, "-M", "", true},
	}
	for _, tt := range tests {
		got, ok := Parse(tt.text, tt.q).Get(grammar, tt.name)
		if ok != tt.ok || got.Value != tt.want {
			t.Errorf("%s: %s in %q is %q (%v), want %q (%v)", tt.why, tt.name, tt.text, got.Value, ok, tt.want, tt.ok)
		}
	}
	if o, _ := Parse(`x -t "$N"`, Shell).Get(grammar, "-t"); o.Literal {
		t.Error("a variable is taken for text")
	}
	if o, _ := Parse(`x -t '$N'`, Shell).Get(grammar, "-t"); !o.Literal {
		t.Error("a quoted dollar is taken for a variable")
	}
}

func TestSet(t *testing.T) {
	tests := []struct {
		why, text   string
		q           Quoting
		name, value string
		want        string
	}{
		{"a word of its own", "x  -t  5 y", Shell, "--threads", "8", "x  -t  8 y"},
		{"the same word", "x -t5", Shell, "-t", "8", "x -t8"},
		{"with =", "x --threads=5", Shell, "-t", "8", "x --threads=8"},
		{"in quotes", `x "--threads=5" 'y'`, Shell, "-t", "a b", `x "--threads=a b" 'y'`},
		{"quotes stay", `x -t '5'`, Shell, "-t", "8", `x -t '8'`},
		{"quotes where they are needed", `x -t 5`, Shell, "-t", "a b", `x -t 'a b'`},
		{"a single quote", `x -t '5'`, Shell, "-t", "it's", `x -t "it's"`},
		{"added, short", "x -v", Shell, "-t", "8", "x -v -t 8"},
		{"added, long", "x -v \\\n", Shell, "--threads", "8", "x -v --threads=8 \\\n"},
		{"added before --", "x -- y", Shell, "-t", "8", "x -t 8 -- y"},
		{"added to the first command", "x && y", Shell, "-t", "8", "x -t 8 && y"},
		{"added to nothing", "", Plain, "-t", "8", "-t 8"},
		{"a switch", "x", Plain, "-v", "", "x -v"},
		{"a switch that is there", "x -vM", Plain, "-M", "", "x -vM"},
		{"systemd's $", "x -t 5", Systemd, "-t", "$HOME %n", `x -t "$$HOME %%n"`},
		{"a bundle", "x -vt5", Plain, "-t", "8", "x -vt8"},
		{"in one of two quotes", `x -t'5'"6"`, Shell, "-t", "8", `x -t8`},
	}
	for _, tt := range tests {
		l := Parse(tt.text, tt.q)
		e, err := l.Set(grammar, tt.name, tt.value)
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if l.String() != tt.want || textedit.Apply(tt.text, e) != tt.want {
			t.Errorf("%s: %q became %q, want %q", tt.why, tt.text, l.String(), tt.want)
		}
		again, err := l.Set(grammar, tt.name, tt.value)
		if err != nil || again != (textedit.Edit{}) {
			t.Errorf("%s: a second set makes %+v, %v", tt.why, again, err)
		}
	}
}

func TestAdd(t *testing.T) {
	for _, tt := range []struct {
		text        string
		q           Quoting
		name, value string
		want        string
	}{
		{"x -t 5 y", Shell, "--threads", "8", "x -t 5 y --threads=8"},
		{"x -t 5 \\\n y\n", Systemd, "-t", "5", "x -t 5 \\\n y -t 5\n"},
		{"x -t5 -- y", Shell, "-t", "8", "x -t5 -t 8 -- y"},
		{"", Shell, "--threads", "8", "--threads=8"},
	} {
		l := Parse(tt.text, tt.q)
		before := len(l.All(grammar, tt.name))
		if _, err := l.Add(grammar, tt.name, tt.value); err != nil || l.String() != tt.want || len(l.All(grammar, tt.name)) != before+1 {
			t.Errorf("%q became %q, %v, want %q", tt.text, l.String(), err, tt.want)
		}
	}
	if _, err := Parse("x", Shell).Add(grammar, "-v", "5"); err == nil {
		t.Error("a switch takes a value")
	}
}

func TestSetErrors(t *testing.T) {
	for _, tt := range []struct {
		text        string
		q           Quoting
		name, value string
	}{
		{"x -t 5", Plain, "-t", "a b"}, {"x 'y", Shell, "-t", "5"}, {"x", Shell, "-v", "5"}, {"x", Shell, "t", "5"}, {"x -t 5", Shell, "-t", "\x00"}, {`x \`, Systemd, "-t", "5"}, {"x -t5", Shell, "-t", ""},
	} {
		l := Parse(tt.text, tt.q)
		if _, err := l.Set(grammar, tt.name, tt.value); err == nil || l.String() != tt.text {
			t.Errorf("%q: set %s %q has no error: %q", tt.text, tt.name, tt.value, l.String())
		}
	}
}

// TestShellAgrees has sh split what the package writes and reads.
func TestShellAgrees(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"a", "-t", " ", "\t", `'`, `"`, `\`, "\\\n", `\"`, "b#c", "=", "5"})
	gen := rapid.SliceOfN(pieces, 0, 9)
	compared := 0
	for i := range 400 {
		text := strings.Join(gen.Example(i), "")
		l := Parse(text, Shell)
		if l.Err() != nil || slices.ContainsFunc(l.Words, func(w Word) bool { return w.Operator }) {
			continue
		}
		out, err := exec.Command("sh", "-c", `printf '%s\0' x `+text).Output()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")[1:]; !slices.Equal(l.values(), want) && len(want)+len(l.Words) > 0 {
			t.Errorf("%q is %q to sh, %q here", text, want, l.values())
		}
		compared++
	}
	if compared < 150 {
		t.Errorf("only %d lists were compared", compared)
	}
	value := rapid.StringOf(rapid.SampledFrom([]rune("ab '\"\\$`*?;&|<>(){}#~!\n\té")))
	for i := range 200 {
		v := value.Example(i)
		raw, err := Encode(v, []string{"", "'", `"`}[i%3], Shell)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("sh", "-c", `printf '%s\0' `+raw).Output()
		if err != nil || string(out) != v+"\x00" {
			t.Errorf("%q is written %s and read %q by sh (%v)", v, raw, out, err)
		}
	}
}

// FuzzArgs: every text prints as it is; an edit changes its span alone, reads
// back, leaves every other word as it was, and is not made twice.
func FuzzArgs(f *testing.F) {
	f.Add(`/usr/bin/x -t 5 --memory="a b" -vM`, 0, "-t", "8")
	f.Add(`-/usr/bin/x $OPTS %i -t'5' ; y`, 1, "--threads", "a b")
	f.Add("-p 1 -- z", 2, "-v", "")
	f.Fuzz(func(t *testing.T, text string, quoting int, name, value string) {
		q := Quoting(uint(quoting) % 3)
		l := Parse(text, q)
		if l.String() != text {
			t.Fatalf("%q printed as %q", text, l.String())
		}
		before := l.values()
		e, err := l.Set(grammar, name, value)
		if err != nil {
			if l.String() != text {
				t.Fatalf("a failed set made %q of %q", l.String(), text)
			}
			return
		}
		now := l.String()
		if textedit.Apply(text, e) != now {
			t.Fatalf("%q became %q, the edit %+v says otherwise", text, now, e)
		}
		fresh := Parse(now, q)
		o, ok := fresh.Get(grammar, name)
		if !ok || o.Value != value {
			t.Fatalf("%q became %q: %s reads %q (%v), want %q", text, now, name, o.Value, ok, value)
		}
		if d := len(fresh.Words) - len(before); d < 0 || d > 2 {
			t.Fatalf("%q became %q: %d words more", text, now, d)
		}
		if again, err := l.Set(grammar, name, value); err != nil || again != (textedit.Edit{}) {
			t.Fatalf("%q: a second set makes %+v, %v", now, again, err)
		}
	})
}

// One word of a command is edited in its place: all other bytes stay, variables and
// specifiers too.
func TestSetWord(t *testing.T) {
	for _, c := range []struct {
		q              Quoting
		text, old, new string
		word           int
		want           string
	}{
		{Systemd, `/bin/sh -c "while true; do curl $$URL; sleep 0.5; done"`, "sleep 0.5", "sleep 0.1", 2, `/bin/sh -c "while true; do curl $$URL; sleep 0.1; done"`},
		{Systemd, `/bin/sh -c 'echo %i ${HOME}; sleep 1' x`, "sleep 1", "sleep 0.2", 2, `/bin/sh -c 'echo %i ${HOME}; sleep 0.2' x`},
		{Systemd, `/bin/sh -c "sleep 5"`, "sleep 5", "sleep 55", 2, `/bin/sh -c "sleep 55"`},
		{Shell, `bash -c 'while :; do ./tick; sleep 2s; done'`, "2s", "0.4s", 2, `bash -c 'while :; do ./tick; sleep 0.4s; done'`},
		{Systemd, `/srv/loop 5`, "5", "1", 1, `/srv/loop 1`},
	} {
		l := Parse(c.text, c.q)
		value := strings.Replace(l.Words[c.word].Value, c.old, c.new, 1)
		if _, err := l.SetWord(c.word, value); err != nil || l.String() != c.want {
			t.Errorf("%s: %s, %v, want %s", c.text, l.String(), err, c.want)
		}
	}
	l := Parse(`/bin/sh -c "a'b`, Systemd)
	if _, err := l.SetWord(2, "x"); err == nil {
		t.Error("a command that does not end was edited")
	}
}
