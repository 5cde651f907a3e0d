package appserver

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/args"
)

// Socket is how a server is told to listen on a unix socket beside the ports
// that it has. The servers of the table make it with mode 0777 where nothing
// else is said, so that whoever may enter its folder may connect, as with a
// port of loopback. A full queue makes a TCP client wait, but a client of a unix
// socket fails at once (unix(7), EAGAIN), so the queue is to be long where that
// can be said of one address: 4096, the default of net.core.somaxconn since
// Linux 5.4, which cuts it. Gunicorn's is 2048.
type Socket struct {
	// Option of the command names one address and may be repeated; Value is
	// what it takes for a socket, with %s for the path. Ports are further
	// options that name an address.
	Option, Value string
	Ports         []string
	// Names finds the lines of the configuration file that name addresses. Line
	// is one more of them; where it is "", the last of those lines is all that
	// counts, and Literals say what can be put into it.
	Names    *regexp.Regexp
	Line     string
	Literals []Literal
	// Unless finds, in the command or the configuration, what would give a
	// socket other rights than a port has, or its requests another trust. Class
	// finds what its workers are; Classes are those that do not mind.
	Unless, Class *regexp.Regexp
	Classes       []string
	// NoPeer: requests that come by it have an empty REMOTE_ADDR.
	NoPeer bool
	// Source of all that.
	Source string
}

// Literal is one way to write addresses into a line. Before and More are put
// around the expression's group, with %s in More for the path.
type Literal struct {
	Text         *regexp.Regexp
	Before, More string
}

// activated is what systemd sets where it listens itself (sd_listen_fds(3));
// such a server may leave what it is told aside.
const activated = "LISTEN_FDS"

// ErrNoSocket: a server that cannot be told to listen on a socket as well.
var ErrNoSocket = errors.New("how it is told to listen on a unix socket beside its port is not known here")

// Listens says where the addresses are written that a server listens on, which
// is where a socket has to be added. It fails where a socket cannot be added
// without a change of what reaches the application. The arguments are as of
// Count.
func (s *Server) Listens(command string, quoting args.Quoting, env func(string) (string, bool), config string) (Where, error) {
	k := s.Socket
	if k == nil {
		return Nowhere, fmt.Errorf("%s: %w", s.Name, ErrNoSocket)
	}
	more := ""
	if s.EnvArgs != "" {
		more, _ = env(s.EnvArgs)
	}
	for _, text := range []string{command, more, withoutComments(config)} {
		if what := k.Unless.FindString(text); what != "" {
			return Nowhere, fmt.Errorf("%s: its settings hold %q, by which a socket would be treated otherwise than a port", s.Name, strings.TrimSpace(what))
		}
		if k.Class == nil {
			continue
		}
		if m := k.Class.FindStringSubmatch(text); m != nil && !slices.Contains(k.Classes, m[1]) {
			return Nowhere, fmt.Errorf("%s: what workers of the class %s make of requests that come by a socket is not known here", s.Name, m[1])
		}
	}
	if v, ok := env(activated); ok {
		return Nowhere, fmt.Errorf("%s: systemd listens for it (%s=%s)", s.Name, activated, v)
	}
	if v, ok := env("FORWARDED_ALLOW_IPS"); ok && k.NoPeer {
		return Nowhere, fmt.Errorf("%s: it trusts who comes by a socket, and FORWARDED_ALLOW_IPS=%s says whom to trust", s.Name, v)
	}
	words := args.Parse(command, quoting)
	values := map[int]bool{} // words that are the value of an option: they hold no other
	for _, o := range s.Grammar.Options {
		for _, occ := range words.All(s.Grammar, o.Names[0]) {
			values[occ.Word] = o.Arg
		}
	}
	for i, w := range words.Words {
		if w.Literal || !strings.HasPrefix(w.Value, "$") || values[i] && strings.HasPrefix(w.Value, "${") {
			continue
		}
		return Nowhere, fmt.Errorf("%s: its command takes options from a variable, and where it listens may be one of them", s.Name)
	}
	named := func(l *args.List) bool {
		return slices.ContainsFunc(append([]string{k.Option}, k.Ports...), func(name string) bool {
			_, ok := l.Get(s.Grammar, name)
			return ok
		})
	}
	switch {
	case named(words):
		return InOption, nil
	case more != "" && named(args.Parse(more, args.Shell)):
		return InEnvArgs, nil
	case k.Names.MatchString(config):
		return InConfig, nil
	}
	return Nowhere, fmt.Errorf("%s: neither its command nor its configuration file says where it listens; write the address there, beside which a socket can stand", s.Name)
}

// withoutComments leaves lines out that are comments in Python and Ruby.
func withoutComments(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// SetConfig adds a socket to a configuration file's text that names addresses.
func (k *Socket) SetConfig(config, path string) (string, error) {
	if k.Line != "" {
		if config != "" && !strings.HasSuffix(config, "\n") {
			config += "\n"
		}
		return config + fmt.Sprintf(k.Line, path) + "\n", nil
	}
	all := k.Names.FindAllStringIndex(config, -1)
	if len(all) == 0 {
		return "", fmt.Errorf("no address is named there")
	}
	from, line := all[len(all)-1][0], config[all[len(all)-1][0]:all[len(all)-1][1]]
	for _, l := range k.Literals {
		if m := l.Text.FindStringSubmatchIndex(line); m != nil {
			a, b := from+m[2], from+m[3]
			return config[:a] + l.Before + config[a:b] + fmt.Sprintf(l.More, path) + config[b:], nil
		}
	}
	return "", fmt.Errorf("it computes where it listens (%s); write the address there", strings.TrimSpace(line))
}
