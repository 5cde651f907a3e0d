package diagnose

import (
	"fmt"
	"strings"

	"kasoku/internal/appserver"
	"kasoku/internal/confedit/args"
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
	hidden  bool // another program starts it
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
		var quoted []string
		for _, w := range words {
			q, err := args.Encode(w, "", args.Shell)
			if err != nil {
				return nil, fmt.Errorf("%s: read its command: %w", svc.Name, err)
			}
			quoted = append(quoted, q)
		}
		command = strings.Join(quoted, " ")
	}
	out := &AppServer{Server: server, Start: start, command: command, quoting: quoting, hidden: kind.Tell(words) == nil}
	read, _ := files(snap, svc)
	for _, f := range server.ConfigFiles(command, process.Dir, start.Env) {
		if data, err := read(f); err == nil {
			out.Config, out.Text = f, string(data)
			break
		}
	}
	out.Now = server.Count(command, quoting, start.Env, out.Text)
	return out, nil
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
	class := s.ClassIs
	if m := s.ClassKey.FindStringSubmatch(s.Text); m != nil {
		class = m[1]
	}
	if o, ok := args.Parse(s.command, s.quoting).Get(s.Grammar, s.Class); ok {
		class = o.Value
	}
	if class != s.ClassIs {
		return appserver.IdleFree
	}
	return s.Idle
}

// Slots are the requests that its workers can have at once.
func (s *AppServer) Slots() int { return max(s.Now.Workers, 1) * max(s.Now.Threads, 1) }
