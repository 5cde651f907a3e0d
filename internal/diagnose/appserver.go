package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/appserver"
	"kasoku/internal/confedit/args"
	"kasoku/internal/confedit/shell"
	"kasoku/internal/evidence"
	"kasoku/internal/kind"
	"kasoku/internal/stack"
)

// AppServer is a service's application server and its number of workers.
type AppServer struct {
	*appserver.Server
	Now appserver.Number
	// Config is the configuration file that it reads, "" if it has none, and
	// Text what stands there.
	Config, Text string
	Start        *AppStart

	command string
	quoting args.Quoting
	runs    string // its command as the process has it, quoted for sh(1)
	hidden  bool   // another program starts it
	script  *startScript
}

// startScript is the script of sh(1) that starts a server, and the number of workers that
// it gives it.
type startScript struct {
	file, text string
	number     *shell.Number
}

// AppServerOf finds it; nil without an error if the service is none of
// those that internal/kind lists.
func AppServerOf(snap *evidence.Snapshot, svc *stack.Service) (*AppServer, error) {
	process, known := snap.Apps[svc.Name]
	if !known || svc.RunsIn != "" {
		return nil, nil
	}
	start, err := StartOf(snap, svc)
	if err != nil {
		return nil, err
	}
	words := start.Words()
	server := kind.Tell(words)
	if server == nil {
		server = kind.Tell(process.Argv)
	}
	if server == nil {
		server = kind.Forks(process.Exe, process.Env, process.Children)
	}
	if server == nil {
		return nil, nil
	}
	command, quoting := start.Command()
	if command == "" {
		if command, err = line(words); err != nil {
			return nil, fmt.Errorf("%s: read its command: %w", svc.Name, err)
		}
	}
	runs, err := line(process.Argv)
	if err != nil {
		runs = "" // a title that it gave itself
	}
	out := &AppServer{Server: server, Start: start, command: command, quoting: quoting, runs: runs, hidden: kind.Tell(words) == nil}
	read, _ := files(snap, svc)
	for _, f := range server.ConfigFiles(command, process.Dir, start.Env) {
		if data, err := read(f); err == nil {
			out.Config, out.Text = f, string(data)
			break
		}
	}
	out.Now = server.Count(command, quoting, start.Env, out.Text)
	if out.hidden {
		out.readScript(snap, svc, process, words)
	}
	return out, nil
}

// Seen reports whether the number of workers that run can be seen; otherwise why not.
func (s *AppServer) Seen() (ok bool, why string) {
	return s.Countable(s.command+"\n"+s.runs, s.Text)
}

// line quotes words for sh(1).
func line(words []string) (string, error) {
	var quoted []string
	for _, w := range words {
		q, err := args.Encode(w, "", args.Shell)
		if err != nil {
			return "", err
		}
		quoted = append(quoted, q)
	}
	return strings.Join(quoted, " "), nil
}

// readScript finds the number of workers in the script that starts the server. What the
// script says counts before the environment and the configuration, so where the process
// was given a number that is in no script, nothing else can change it.
func (s *AppServer) readScript(snap *evidence.Snapshot, svc *stack.Service, process evidence.AppProcess, words []string) {
	if s.Option == "" {
		return
	}
	names := s.Grammar.Names(s.Option)
	runs := func(words []string) bool { return s.Runs(words) }
	if file := evidence.StartScript(words, process.Dir); file != "" {
		text := string(snap.Files[svc.HostName()][file].Content)
		if n := shell.FindOption(text, runs, names, s.Start.Env); n != nil && n.Value == math.Trunc(n.Value) {
			s.script = &startScript{file, text, n}
			s.Now.Workers, s.Now.Where, s.Now.Variable, s.Now.Computed = int(n.Value), appserver.InScript, n.Variable, ""
			if n.Variable != "" {
				s.Now.Where = appserver.InEnv
			}
			return
		}
	}
	given, ok := args.Parse(s.runs, args.Shell).Get(s.Grammar, s.Option)
	if n, err := strconv.Atoi(given.Value); ok && err == nil {
		s.Now.Workers, s.Now.Where, s.Now.Computed = n, appserver.Nowhere, s.Option+" "+given.Value+", which "+strings.Join(words, " ")+" gives it"
	}
}

// SetScript is the file of the script that says the number of workers, and its text with
// another number. Now.Where must be InScript.
func (s *AppServer) SetScript(n int) (file, text string) {
	return s.script.file, s.script.number.Set(s.script.text, float64(n))
}

// ListensIn says where the addresses are written that it listens on, and
// whether a socket's name is among them. It fails where a socket cannot be added
// without a change of what reaches the application.
func (s *AppServer) ListensIn(socket string) (where appserver.Where, there bool, err error) {
	if s.hidden {
		return "", false, fmt.Errorf("%s: another program starts it (%s), which may say itself where it listens", s.Name, strings.Join(s.Start.Words(), " "))
	}
	more := ""
	if s.EnvArgs != "" {
		more, _ = s.Start.Env(s.EnvArgs)
	}
	there = strings.Contains(s.command+"\n"+more+"\n"+s.Text, socket)
	where, err = s.Listens(s.command, s.quoting, s.Start.Env, s.Text)
	return where, there, err
}

// IdleConnections is what the server does with connections that a front keeps.
func (s *AppServer) IdleConnections() appserver.Idle {
	if s.Class == "" {
		return s.Idle
	}
	if s.Now.Threads > 1 {
		return appserver.IdleFree
	}
	if s.class() != s.ClassIs {
		return appserver.IdleFree
	}
	return s.Idle
}

// class is the kind of its workers; ClassIs where nothing says it, "" where it has none.
func (s *AppServer) class() string {
	if s.Class == "" {
		return ""
	}
	class := s.ClassIs
	if m := s.ClassKey.FindStringSubmatch(s.Text); m != nil {
		class = m[1]
	}
	for _, command := range []struct {
		text    string
		quoting args.Quoting
	}{{s.runs, args.Shell}, {s.command, s.quoting}} {
		if o, ok := args.Parse(command.text, command.quoting).Get(s.Grammar, s.Class); ok && o.Literal {
			return o.Value
		}
	}
	return class
}

// Loops reports whether each worker answers all of its requests in one thread that never
// waits, so that they fill it by their CPU time, not by their number.
func (s *AppServer) Loops() bool { return s.Loop || slices.Contains(s.LoopClasses, s.class()) }

// Slots are the requests that its workers can have at once.
func (s *AppServer) Slots() int { return max(s.Now.Workers, 1) * max(s.Now.Threads, 1) }
