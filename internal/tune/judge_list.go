package tune

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// guardedFiles lists what judges a proposal on this machine: kasoku.yaml, the
// scenarios of load and checks with all that they are read from, the commands of load.command and
// load.reset with the files that they name, and Kasoku itself.
func guardedFiles(b *Bench) []guarded {
	l := lister{dir: b.Stack.Dir, configs: tunable(b.Stack)}
	if b.Stack.Path != "" {
		l.add(guarded{what: "kasoku.yaml", path: b.Stack.Path})
	}
	if b.Scenario != nil {
		for i, p := range b.Scenario.Files() {
			what := "a file of the scenario"
			if i == 0 {
				what = "the scenario"
			}
			l.add(guarded{what: what, path: p})
		}
	}
	if p := b.Stack.Checks.Scenario; p != "" {
		files := []string{p}
		if sc, err := load.LoadScenario(p); err == nil {
			files = sc.Files()
		}
		for _, p := range files {
			l.add(guarded{what: "a file of the regulation checks", path: p})
		}
	}
	if c := b.Stack.Load.Command; c != nil {
		l.command("load.command", c.Argv)
	}
	l.command("load.reset", b.Stack.Load.Reset.Command())
	if self, err := os.Executable(); err == nil {
		l.add(guarded{what: "Kasoku itself", path: self})
	}
	return l.files
}

// tunable are the files that tuning is about and the programs that are built, resolved.
func tunable(st *stack.Stack) map[string]bool {
	out := map[string]bool{}
	for i := range st.Services {
		s := &st.Services[i]
		for _, p := range append([]string{s.Config, s.PHPIni}, s.Settings...) {
			out[resolved(p)] = true
		}
		if s.Build == nil {
			continue
		}
		for _, p := range s.Build.Products {
			out[resolved(filepath.Join(s.Build.Dir, p))] = true
		}
	}
	return out
}

// lister collects guarded files, each once.
type lister struct {
	dir     string          // kasoku.yaml's, where the load's commands run
	configs map[string]bool // see tunable
	files   []guarded
}

func (l *lister) add(f guarded) {
	if !filepath.IsAbs(f.path) {
		f.path = absolute(f.path)
	}
	if !slices.ContainsFunc(l.files, func(o guarded) bool { return o.path == f.path }) {
		l.files = append(l.files, f)
	}
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// command adds a command's program, the files that its arguments name, and
// those that a script among them names in turn.
func (l *lister) command(what string, argv []string) {
	if len(argv) == 0 {
		return
	}
	program := argv[0]
	switch {
	case !strings.Contains(program, "/"):
		if found, err := exec.LookPath(program); err == nil {
			program = found
		}
	case !filepath.IsAbs(program):
		program = filepath.Join(l.dir, program)
	}
	l.add(guarded{what: "the program of " + what, path: program, rerun: true})
	scripts := []string{program}
	for _, arg := range argv[1:] {
		for _, path := range named(arg, l.dir) {
			if l.configs[resolved(path)] {
				continue
			}
			l.add(guarded{what: "a file of " + what, path: path, loose: true})
			scripts = append(scripts, path)
		}
	}
	for _, script := range scripts {
		for _, path := range scriptFiles(script, l.dir) {
			if !l.configs[resolved(path)] {
				l.add(guarded{what: "a file that a script of " + what + " names", path: path, loose: true})
			}
		}
	}
}

// scriptSize bounds the scripts that are read for names of files, in bytes.
const scriptSize = 64 << 10

// scriptFiles are the files that a script names, relative to the folder that it
// runs in or to its own.
func scriptFiles(script, dir string) []string {
	info, err := os.Stat(script)
	if err != nil || !info.Mode().IsRegular() || info.Size() > scriptSize {
		return nil
	}
	text, err := os.ReadFile(script)
	if err != nil || !strings.HasPrefix(string(text), "#!") {
		return nil
	}
	return named(string(text), dir, filepath.Dir(script))
}

// named are the files that the words of a text name, relative to any of dirs.
// $VARIABLE/ at the beginning of a word may be any of them, too.
func named(text string, dirs ...string) []string {
	var out []string
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\r'\"`=;|&<>(),@", r) })
	for _, w := range words {
		if len(w) < 2 || strings.Contains(w, "://") {
			continue
		}
		tries := []string{w}
		if _, rest, ok := strings.Cut(w, "/"); ok && (w[0] == '$' || w[0] == '/') {
			tries = append(tries, rest) // "$dir/dump.sql", "$(dirname "$0")/dump.sql"
		}
		for _, try := range tries {
			for _, dir := range dirs {
				out = append(out, regular(try, dir)...)
			}
		}
	}
	return out
}

// globbed bounds the files that one pattern stands for.
const globbed = 100

func regular(name, dir string) []string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	found := []string{name}
	if strings.ContainsAny(name, "*?[") {
		found, _ = filepath.Glob(name) // a bad pattern names nothing
		found = found[:min(len(found), globbed)]
	}
	return slices.DeleteFunc(found, func(p string) bool {
		info, err := os.Stat(p)
		return err != nil || !info.Mode().IsRegular()
	})
}

// onThisMachine reports whether a change's host is where the judge is.
func onThisMachine(hostName string) bool { return hostName == "" || hostName == stack.LocalHost }
