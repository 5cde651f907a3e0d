package appserver

import (
	"path"
	"strconv"
)

// cluster is a Node program that forks its workers itself. Node has no option
// for their number; WEB_CONCURRENCY is what hosts of such programs set and the
// usual packages read (Node.js documentation, "Cluster"; throng's README;
// Heroku Dev Center, "Optimizing Node.js Application Concurrency").
var cluster = Server{Name: "Node's cluster", Env: "WEB_CONCURRENCY", Default: 1, DefaultThreads: 1, Loop: true, Least: 1,
	Source: "Node.js documentation, \"Cluster\""}

// TellCluster finds a Node program that takes the number of its workers from
// WEB_CONCURRENCY: it was started with the variable, and has as many child
// processes as that says. nil if that is not so.
func TellCluster(exe string, env map[string]string, children int) *Server {
	if name := path.Base(exe); name != "node" && name != "nodejs" {
		return nil
	}
	if n, err := strconv.Atoi(env[cluster.Env]); err != nil || n < 1 || n != children {
		return nil
	}
	return &cluster
}
