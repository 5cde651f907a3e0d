package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestShownCommandsAreThere: every command of a page names a program, a command, flags,
// a target, a script, a package and tests that there are. Commands within a line of text may
// leave arguments out.
func TestShownCommandsAreThere(t *testing.T) {
	known := repository(t)
	inline := regexp.MustCompile("(?s)`((?:bin/)?kasoku [^`]+|make [a-z][^`]*)`")
	for page, text := range docPages(t) {
		for _, c := range commands(t, page, text) {
			for _, args := range simple(c.text) {
				if err := known.check(args); err != nil {
					t.Errorf("%s:%d: %s: %v", c.page, c.line, c.text, err)
				}
			}
		}
		for _, m := range inline.FindAllStringSubmatchIndex(text, -1) {
			c := strings.Join(strings.Fields(text[m[2]:m[3]]), " ")
			for _, args := range simple(c) {
				if err := known.named(args); err != nil {
					t.Errorf("%s:%d: `%s`: %v", page, 1+strings.Count(text[:m[0]], "\n"), c, err)
				}
			}
		}
	}
}

// TestHintsNameCommands: so do commands that the program itself names, in help and in errors.
func TestHintsNameCommands(t *testing.T) {
	known := repository(t)
	inline := regexp.MustCompile("`(kasoku [^`]+)`")
	verb := regexp.MustCompile(`%[-+ 0]*[a-z]`)
	for _, folder := range []string{"../../cmd", "../../internal"} {
		err := filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
				return err
			}
			text, err := os.ReadFile(p)
			if err != nil || !bytes.Contains(text, []byte("`kasoku ")) {
				return err
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, p, text, 0)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				l, ok := n.(*ast.BasicLit)
				if !ok || l.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(l.Value)
				if err != nil {
					return true
				}
				for _, m := range inline.FindAllStringSubmatch(text, -1) {
					for _, args := range simple(verb.ReplaceAllString(m[1], "1")) {
						if err := known.named(args); err != nil {
							t.Errorf("%s: `%s`: %v", fset.Position(l.Pos()), m[1], err)
						}
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestExamplesOfHelp: the examples of every command's help can be typed as they are.
func TestExamplesOfHelp(t *testing.T) {
	known := repository(t)
	var look func(n *kong.Node)
	look = func(n *kong.Node) {
		examples := 0
		for _, line := range strings.Split(n.Detail, "\n") {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "kasoku ") {
				continue
			}
			examples++
			for _, args := range simple(behind.ReplaceAllString(line, "")) {
				if err := known.check(args); err != nil {
					t.Errorf("%s: %s: %v", n.FullPath(), line, err)
				}
			}
		}
		if examples == 0 && len(n.Children) == 0 && !n.Hidden {
			t.Errorf("the help of %s has no example", n.FullPath())
		}
		for _, c := range n.Children {
			if !c.Hidden {
				look(c)
			}
		}
	}
	for _, c := range known.kasoku.Children {
		if !c.Hidden {
			look(c)
		}
	}
}

// existing is what commands may name.
type existing struct {
	parser  *kong.Kong
	kasoku  *kong.Node
	targets map[string]bool
	root    fs.FS
}

func repository(t *testing.T) *existing {
	t.Helper()
	p, err := commandLine(&CLI{}, io.Discard, io.Discard, kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	x := &existing{parser: p, kasoku: p.Model.Node, targets: map[string]bool{"field-NAME": true}, root: os.DirFS("../..")}
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(readText(t, "../../Makefile"), -1) {
		x.targets[m[1]] = true
	}
	folders, err := filepath.Glob("../../field/*/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		x.targets["field-"+filepath.Base(filepath.Dir(f))] = true
	}
	return x
}

// check says what of a whole command is not there.
func (x *existing) check(args []string) error {
	if err := x.named(args); err != nil || !isKasoku(args[0]) {
		return err
	}
	_, err := x.parser.Parse(args[1:])
	return err
}

func isKasoku(program string) bool {
	return program == "kasoku" || program == "bin/kasoku" || program == "$KASOKU"
}

// named says the same of a command that may lack arguments.
func (x *existing) named(args []string) error {
	switch {
	case isKasoku(args[0]):
		return x.kasokuNamed(args[1:])
	case args[0] == "make":
		for _, a := range args[1:] {
			if !strings.Contains(a, "=") && !strings.HasPrefix(a, "-") && a != "…" && !strings.HasSuffix(a, "-…") && !x.targets[a] {
				return fmt.Errorf("the Makefile has no target %s", a)
			}
		}
	case args[0] == "go" && len(args) > 2 && (args[1] == "test" || args[1] == "run"):
		return x.goNamed(args[2:])
	case strings.HasPrefix(args[0], "scripts/"), strings.HasPrefix(args[0], "cases/"):
		_, err := fs.Stat(x.root, args[0])
		return err
	}
	return nil
}

// kasokuNamed walks from command to command and looks for each flag on the way.
func (x *existing) kasokuNamed(args []string) error {
	at := x.kasoku
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			if rest := args[i+1:]; len(rest) > 0 && isKasoku(rest[0]) {
				return x.kasokuNamed(rest[1:])
			}
			return nil
		case strings.HasPrefix(a, "-") && a != "-":
			name, _, joined := strings.Cut(a, "=")
			flag := flagOf(at, name)
			if flag == nil {
				return fmt.Errorf("%s has no flag %s", at.FullPath(), name)
			}
			if !flag.IsBool() && !joined {
				i++
			}
		case len(at.Children) > 0 && a != "…":
			child := childOf(at, a)
			if child == nil && at.DefaultCmd != nil {
				return nil
			}
			if child == nil {
				return fmt.Errorf("%s has no command %s", at.FullPath(), a)
			}
			at = child
		}
	}
	return nil
}

func flagOf(n *kong.Node, name string) *kong.Flag {
	if n.DefaultCmd != nil {
		n = n.DefaultCmd
	}
	for ; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			if "--"+f.Name == name || f.Short != 0 && "-"+string(f.Short) == name || slices.Contains(f.Aliases, strings.TrimPrefix(name, "--")) {
				return f
			}
		}
	}
	return nil
}

func childOf(n *kong.Node, name string) *kong.Node {
	start, some := strings.CutSuffix(name, "…")
	for _, c := range n.Children {
		if c.Name == name || some && strings.HasPrefix(c.Name, start) {
			return c
		}
	}
	return nil
}

// goNamed looks for packages and, behind -run, for tests of them.
func (x *existing) goNamed(args []string) error {
	var tests string
	for i, a := range args {
		folder, isFolder := strings.CutPrefix(strings.TrimSuffix(a, "/..."), "./")
		switch {
		case a == "-args":
			return nil
		case isFolder:
			if !fs.ValidPath(folder) {
				return fmt.Errorf("%s is no folder", a)
			}
			files, err := fs.Glob(x.root, folder+"/*.go")
			if err != nil || len(files) == 0 && !strings.HasSuffix(a, "/...") {
				return fmt.Errorf("%s has no Go file", a)
			}
			for _, f := range files {
				if b, err := fs.ReadFile(x.root, f); err == nil {
					tests += string(b)
				}
			}
		case a == "-run" && i+1 < len(args):
			want, err := regexp.Compile(strings.Split(args[i+1], "/")[0])
			if err != nil {
				return err
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+|Fuzz\w+|Benchmark\w+)\(`).FindAllStringSubmatch(tests, -1) {
				if want.MatchString(m[1]) {
					return nil
				}
			}
			return fmt.Errorf("no test is called %s", args[i+1])
		}
	}
	return nil
}

// simple are the commands of a line of a shell, each as its words: what stands between
// pipes, && and ;, without what comes before a program (sudo, variables) and redirections.
func simple(line string) [][]string {
	var out [][]string
	var args []string
	end := func() {
		for len(args) > 0 && (args[0] == "sudo" || args[0] == "export" || args[0] == "/usr/bin/time" || args[0] == "-v" || args[0] == "time" || assignment.MatchString(args[0])) {
			args = args[1:]
		}
		if len(args) > 0 {
			out = append(out, args)
		}
		args = nil
	}
	words := words(line)
	for i := 0; i < len(words); i++ {
		switch w := words[i]; w {
		case "|", "&&", ";", "(", ")":
			end()
		case ">", "2>", "<":
			i++
		default:
			args = append(args, unquoted(w))
		}
	}
	end()
	return out
}

var (
	assignment = regexp.MustCompile(`^[A-Z_]+=`)
	shellWord  = regexp.MustCompile(`&&|2>|[|;()<>]|(?:'[^']*'|"[^"]*"|\\.|[^\s'"|;()<>&])+`)
)

func words(line string) []string { return shellWord.FindAllString(line, -1) }

func unquoted(w string) string {
	return regexp.MustCompile(`'([^']*)'|"([^"]*)"|\\(.)`).ReplaceAllString(w, "$1$2$3")
}

func TestSimple(t *testing.T) {
	for line, want := range map[string]string{
		`KASOKU_DEBUG=1 kasoku tune 2> debug.log`:                     "kasoku,tune",
		`ssh web zstdcat a.zst | kasoku digest`:                       "ssh,web,zstdcat,a.zst|kasoku,digest",
		`cd ~/app; kasoku patch`:                                      "cd,~/app|kasoku,patch",
		`sudo kasoku load URL --find-max "p99<50ms,errors<0.1%" -c 3`: "kasoku,load,URL,--find-max,p99<50ms,errors<0.1%,-c,3",
		`(head -n 5 a; echo) | /usr/bin/time -v kasoku digest -`:      "head,-n,5,a|echo|kasoku,digest,-",
	} {
		var got []string
		for _, args := range simple(line) {
			got = append(got, strings.Join(args, ","))
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%s: %s, want %s", line, s, want)
		}
	}
}
