// Package perlapp knows the servers of Perl's applications: Starman.
package perlapp

import (
	"regexp"

	"kasoku/internal/appserver"
)

// Room is the row of internal/kind.
var Room = appserver.Room{
	Name: "perlapp", Servers: servers,
}

var servers = []appserver.Server{
	{
		Name: "starman", Program: regexp.MustCompile(`^starman$`), Launched: regexp.MustCompile(`(?:^| )(?:-s|--server)[ =]Starman(?: |$)`), Title: regexp.MustCompile(`^starman master`),
		Grammar: appserver.Options([]string{"--workers"}, []string{"--backlog"}, []string{"--max-requests"}, []string{"-l", "--listen"}, []string{"-p", "--port"}, []string{"-I"}, []string{"--pid"}, []string{"-E", "--env"}, []string{"--user"}, []string{"--group"}),
		Option:  "--workers", Default: 5, DefaultThreads: 1, Least: 1,
		Idle: appserver.IdleHolds, IdleSource: "starman(1): --keepalive-timeout (one second), --disable-keepalive; a worker reads the next request itself",
		Worker: &appserver.Worker{Title: regexp.MustCompile(`^starman worker`), Source: "Starman 0.4 lib/Starman/Server.pm, child_init_hook"},
		Source: "starman(1): --workers, defaults to 5; plackup(1): -s, --server, \"the rest of the options are passed to the server\"",
	},
}
