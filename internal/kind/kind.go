// Package kind lists the kinds of programs that Kasoku knows. Each has a folder of its
// own below this one, and is a line of the table here: whoever adds one needs no other
// place to make it known.
//
// Here so far are the runtimes of applications and their servers; the other kinds stand
// where they stood (docs/explanation/architecture.md).
package kind

import (
	"path"
	"slices"

	"kasoku/internal/appserver"
	"kasoku/internal/kind/goapp"
	"kasoku/internal/kind/nodeapp"
	"kasoku/internal/kind/perlapp"
	"kasoku/internal/kind/pythonapp"
	"kasoku/internal/kind/rubyapp"
)

// Apps are the runtimes of applications.
var Apps = []appserver.Room{goapp.Room, nodeapp.Room, perlapp.Room, pythonapp.Room, rubyapp.Room}

var servers = allServers()

func allServers() []*appserver.Server {
	var out []*appserver.Server
	for i := range Apps {
		for j := range Apps[i].Servers {
			out = append(out, &Apps[i].Servers[j])
		}
	}
	return out
}

// Tell finds the application server that a command runs or that a main process calls
// itself; nil if none is known.
func Tell(words []string) *appserver.Server {
	for _, s := range servers {
		if s.Runs(words) {
			return s
		}
	}
	return nil
}

// Named is the application server of that name; nil if there is none.
func Named(name string) *appserver.Server {
	for _, a := range Apps {
		if a.Forked != nil && a.Forked.Name == name {
			return a.Forked
		}
	}
	if i := slices.IndexFunc(servers, func(s *appserver.Server) bool { return s.Name == name }); i >= 0 {
		return servers[i]
	}
	return nil
}

// Forks finds what a program is that forks its workers itself; nil if it is not known.
func Forks(exe string, env map[string]string, children int) *appserver.Server {
	for _, a := range Apps {
		if a.Forks == nil {
			continue
		}
		if s := a.Forks(exe, env, children); s != nil {
			return s
		}
	}
	return nil
}

// Variables of the environment that the runtimes say matter to them, and LISTEN_FDS, by
// which systemd hands sockets to any of them (sd_listen_fds(3)); sorted, each once.
func Variables() []string {
	out := []string{"LISTEN_FDS"}
	for _, a := range Apps {
		out = append(out, a.Variables...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// JustInTime reports whether a program compiles what it runs while it runs it, so that it
// is slower in its first seconds: V8's and JavaScriptCore's tiers, HotSpot's, RyuJIT's and
// PyPy's.
func JustInTime(exe string) bool {
	return slices.Contains([]string{"node", "nodejs", "bun", "deno", "java", "dotnet", "pypy", "pypy3"}, path.Base(exe))
}
