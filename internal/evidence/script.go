package evidence

import (
	"path"
	"slices"
	"strings"

	"kasoku/internal/stack"
)

// largestScript that is read, bytes: what a person writes for a service to run is short.
const largestScript = 64 << 10

// shells run scripts of sh(1).
var shells = []string{"sh", "dash", "bash", "ash", "ksh", "busybox"}

// IsShell reports whether a program runs scripts of sh(1).
func IsShell(program string) bool { return slices.Contains(shells, path.Base(program)) }

// ScriptOf is the file of the script that a process runs, absolute; "" if it is no shell,
// or has its script from the command line.
func ScriptOf(p AppProcess) string {
	if !IsShell(p.Exe) || len(p.Argv) < 2 || !IsShell(p.Argv[0]) {
		return ""
	}
	for _, w := range p.Argv[1:] {
		switch {
		case strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "c"):
			return ""
		case strings.HasPrefix(w, "-"):
		case path.IsAbs(w):
			return path.Clean(w)
		case p.Dir != "":
			return path.Join(p.Dir, w)
		default:
			return ""
		}
	}
	return ""
}

// StartScript is the script that a command is, absolute; "" if it names none, or has it
// from the command line. Whether the file is one of sh(1) its content tells (IsScript).
func StartScript(words []string, dir string) string {
	if len(words) > 0 && IsShell(words[0]) {
		return ScriptOf(AppProcess{Exe: words[0], Argv: words, Dir: dir})
	}
	if len(words) > 0 && path.IsAbs(words[0]) {
		return path.Clean(words[0])
	}
	return ""
}

// IsScript reports whether a file is a script of sh(1), by its first line.
func IsScript(content []byte) bool {
	first, _, _ := strings.Cut(string(content[:min(len(content), 200)]), "\n")
	words := strings.Fields(strings.TrimPrefix(first, "#!"))
	return strings.HasPrefix(first, "#!") && slices.ContainsFunc(words, IsShell)
}

// script reads the script that a service's shell runs, or that started it and gave way to it.
func (t *taker) script(svc *stack.Service, p AppProcess, command []string, r *fileReader) {
	for _, file := range []string{ScriptOf(p), StartScript(command, p.Dir)} {
		if file == "" {
			continue
		}
		info, err := follow(t.ctx, r.h, file)
		if err != nil || info.Size > largestScript {
			continue // it is gone, or a program
		}
		data, err := r.h.ReadFile(t.ctx, file)
		if err == nil && (file == ScriptOf(p) || IsScript(data)) {
			_, err = r.read(file)
		}
		if err != nil {
			t.bad("script of "+svc.Name, err)
		}
	}
}
