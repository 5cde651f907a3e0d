package source

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Start is a place where a program starts another one.
type Start struct {
	File     string `json:"file"` // below the folder
	Line     int    `json:"line"` // from 1
	Function string `json:"function,omitempty"`
	Program  string `json:"program"` // its name without a folder
}

// startCalls are the names of what starts programs, by language (the languages' own
// libraries).
var startCalls = map[string]map[string]bool{
	"go":         set("Command CommandContext StartProcess Exec ForkExec"),
	"php":        set("exec shell_exec system passthru popen proc_open"),
	"python":     set("run Popen call check_call check_output getoutput system popen spawn create_subprocess_exec create_subprocess_shell execvp"),
	"ruby":       set("system spawn exec popen popen2 popen3 capture2 capture2e capture3 pipeline"),
	"perl":       set("system exec open qx run capture"),
	"javascript": set("exec execFile spawn fork execSync execFileSync spawnSync execa"),
	"java":       set("exec ProcessBuilder command"),
	"kotlin":     set("exec ProcessBuilder command"),
}

// startTokens is how far behind the call's name the program's stands: brackets, a context,
// a list.
const startTokens = 8

// starts of one file.
func starts(l *lang, toks []token, file string) []Start {
	calls := startCalls[l.name]
	if calls == nil {
		return nil
	}
	in := functions(l, toks)
	var out []Start
	for i, t := range toks {
		if t.kind != word || !calls[t.s] {
			continue
		}
		for _, name := range started(toks[i+1 : min(len(toks), i+1+startTokens)]) {
			out = append(out, Start{File: file, Line: t.line, Function: in[i], Program: name})
		}
	}
	return out
}

// started are the programs that the first text of an argument list names, and what a shell
// is told to run.
func started(toks []token) (out []string) {
	for _, t := range toks {
		if t.kind == sign && t.s == ";" {
			break
		}
		if t.kind != text {
			continue
		}
		more := false // a shell's option, or a shell
		for _, command := range strings.FieldsFunc(t.s, func(r rune) bool { return strings.ContainsRune("|&;\n", r) }) {
			name := programOf(command)
			more = more || name == "" || shells[name]
			if name != "" {
				out = append(out, name)
			}
		}
		if !more {
			break
		}
	}
	return out
}

// shells run what stands in a later argument.
var shells = set("sh bash dash env nice sudo timeout")

// programOf is the program that a text starts: its first word without a folder.
func programOf(s string) string {
	f := strings.Fields(s)
	if len(f) == 0 || strings.HasPrefix(f[0], "-") {
		return ""
	}
	name := path.Base(f[0])
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._+-", r)) {
			return ""
		}
	}
	return name
}

// commLength is how many bytes of a program's name the kernel keeps (proc_pid_comm(5)).
const commLength = 15

// Starts are the places that start a program, by the name that the kernel has of it.
func (x *Index) Starts(program string) []Start {
	var out []Start
	for _, s := range x.starts {
		if name := s.Program; name == program || len(program) == commLength && strings.HasPrefix(name, program) {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Start) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return out
}
