package completion

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

type line struct {
	File string `short:"f" help:"The stack. It is read."`
	Log  struct {
		Paths []string `arg:"" optional:"" help:"Logs."`
		Kind  string   `enum:"auto,access,slow" default:"auto" help:"What it's of."`
		Deep  bool     `short:"d" help:"All: each one."`
		Spy   bool     `hidden:""`
	} `cmd:"" help:"Read logs."`
	Scenario struct {
		FromLog struct{} `cmd:"" help:"From a log."`
		FromHAR struct {
			HAR string `arg:""`
		} `cmd:"" name:"from-har" help:"From a HAR."`
	} `cmd:"" help:"Scenarios."`
	Shell struct {
		Name string `arg:"" enum:"bash,zsh" help:"One."`
	} `cmd:"" help:"Scripts."`
	Man struct {
		Command []string `arg:"" optional:"" complete:"commands"`
	} `cmd:"" help:"Pages."`
	Agent struct{} `cmd:"" hidden:""`
}

// typed are command lines, the last word not whole yet, and what each shell offers
// for it; "" is nothing but file names.
var typed = []struct {
	words []string
	want  string
}{
	{[]string{"tool", "l"}, "log"},
	{[]string{"tool", "s"}, "scenario shell"},
	{[]string{"tool", "shell", ""}, "bash zsh"},
	{[]string{"tool", "man", "sc"}, "scenario"},
	{[]string{"tool", "a"}, ""}, // what is hidden is not told
	{[]string{"tool", "scenario", "from-"}, "from-har from-log"},
	{[]string{"tool", "scenario", "from-har", "f"}, ""},
	{[]string{"tool", "-f", "x.yaml", "log", "--k"}, "--kind"},
	{[]string{"tool", "log", "--s"}, ""},
	{[]string{"tool", "log", "--fi"}, "--file"},
	{[]string{"tool", "log", "--kind", "a"}, "access auto"},
	{[]string{"tool", "log", "--file", "l"}, ""},
	{[]string{"tool", "log", "l"}, ""},
}

func script(t *testing.T, shell string) string {
	t.Helper()
	parser, err := kong.New(&line{}, kong.Name("tool"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Write(&out, shell, parser.Model); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each shell itself completes by the script. zsh completes within its line editor
// only, so its script runs with stand-ins for the functions that show what there is.
func TestShells(t *testing.T) {
	for shell, argv := range map[string][]string{
		"bash": {"bash", "-c", `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tool; printf '%s\n' "${COMPREPLY[@]}"`},
		"zsh": {"zsh", "-f", "-c", `compdef() {}; source "$0"; _files() {}; _describe() { print -l -- "${(@P)2}" }; compadd() { shift; print -l -- "$@" }
			words=("$@"); CURRENT=$#; _tool`},
		"fish": {"fish", "--no-config", "-c", `source $argv[1]; complete -C (string join ' ' -- $argv[2..-1])`},
	} {
		path := script(t, shell)
		for _, c := range typed {
			args := append(argv[1:len(argv):len(argv)], path)
			out, err := exec.Command(argv[0], append(args, c.words...)...).CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", shell, err, out)
			}
			if got := offered(string(out), c.words[len(c.words)-1]); got != c.want {
				t.Errorf("%s offers %q for %q, want %q", shell, got, c.words, c.want)
			}
		}
	}
}

// offered are the words among a shell's lines that begin with what was typed, each
// before its help; files of the folder are none of them.
func offered(out, begun string) string {
	var words []string
	for _, l := range strings.Split(out, "\n") {
		w, _, _ := strings.Cut(l, "\t")
		w, _, _ = strings.Cut(w, ":")
		if _, err := os.Stat(w); err != nil && w != "" && strings.HasPrefix(w, begun) {
			words = append(words, w)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// Help texts stand beside the words where the shell shows them, quotes and all.
func TestHelpIsShown(t *testing.T) {
	fish := script(t, "fish")
	out, err := exec.Command("fish", "--no-config", "-c", `source $argv[1]; complete -C 'tool log --'`, fish).CombinedOutput()
	for _, want := range []string{"--kind\tWhat it's of", "--deep\tAll: each one", "--file\tThe stack\n"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("fish does not tell %q: %v\n%s", want, err, out)
		}
	}
}

func TestUnknownShell(t *testing.T) {
	err := Write(&bytes.Buffer{}, "tcsh", nil)
	if err == nil || !strings.Contains(err.Error(), "bash, zsh, fish") {
		t.Errorf("%v", err)
	}
}
