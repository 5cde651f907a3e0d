// Package nodeapp knows Node.js: its program, and what forks its workers.
package nodeapp

import (
	"path"
	"regexp"
	"strconv"

	"kasoku/internal/appserver"
)

// Room is the row of internal/kind.
var Room = appserver.Room{Name: "nodeapp", Variables: []string{"WEB_CONCURRENCY", "NODE_ENV", "NODE_OPTIONS"}, Forks: forks, Forked: &cluster}

// Is reports whether a program is Node.js.
func Is(exe string) bool { return path.Base(exe) == "node" || path.Base(exe) == "nodejs" }

// cluster is a Node program that forks its workers itself. Node has no option
// for their number; WEB_CONCURRENCY is what hosts of such programs set and the
// usual packages read (Node.js documentation, "Cluster"; throng's README;
// Heroku Dev Center, "Optimizing Node.js Application Concurrency").
var cluster = appserver.Server{Name: "Node's cluster", Program: regexp.MustCompile(`^node(js)?$`), Env: "WEB_CONCURRENCY", Default: 1, DefaultThreads: 1, Loop: true, Least: 1,
	Worker: &appserver.Worker{Alike: true, Source: "Node.js documentation, \"Cluster\": cluster.settings, exec is process.argv[1]; child_process.fork runs process.execPath"},
	Source: "Node.js documentation, \"Cluster\""}

// forks finds a Node program that takes the number of its workers from
// WEB_CONCURRENCY: it was started with the variable, and has as many child
// processes as that says. nil if that is not so.
func forks(exe string, env map[string]string, children int) *appserver.Server {
	if !Is(exe) {
		return nil
	}
	if n, err := strconv.Atoi(env[cluster.Env]); err != nil || n < 1 || n != children {
		return nil
	}
	return &cluster
}
