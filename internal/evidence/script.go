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

// script reads the script that a service's shell runs.
func (t *taker) script(svc *stack.Service, p AppProcess, r *fileReader) {
	file := ScriptOf(p)
	if file == "" {
		return
	}
	info, err := follow(t.ctx, r.h, file)
	if err != nil || info.Size > largestScript {
		return // it is gone, or no script
	}
	if _, err := r.read(file); err != nil {
		t.bad("script of "+svc.Name, err)
	}
}
