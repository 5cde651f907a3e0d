// Package rubyapp knows Ruby and the servers of its applications: Puma, Unicorn, and
// Phusion Passenger, which a web server runs.
package rubyapp

import (
	"regexp"

	"kasoku/internal/appserver"
)

// Room is the row of internal/kind.
var Room = appserver.Room{
	Name: "rubyapp", Servers: servers,
	Variables: []string{"WEB_CONCURRENCY", "PUMA_MAX_THREADS", "MAX_THREADS", "RUBYOPT", "RUBY_YJIT_ENABLE", "RAILS_ENV", "RACK_ENV", "APP_ENV"},
}

var servers = []appserver.Server{
	{
		Name: "puma", Program: regexp.MustCompile(`^puma$`), Title: regexp.MustCompile(`^puma(: cluster)? \d`),
		Grammar: appserver.Options([]string{"-w", "--workers"}, []string{"-t", "--threads"}, []string{"-C", "--config"}, []string{"-b", "--bind"}, []string{"-p", "--port"}, []string{"-e", "--environment"}, []string{"-S", "--state"}, []string{"--pidfile"}, []string{"--dir"}),
		Socket:  pumaSocket,
		Option:  "--workers", Threads: "", Env: "WEB_CONCURRENCY", EnvThreads: "PUMA_MAX_THREADS", Default: 0, DefaultThreads: 5,
		ConfigOption: "--config", Configs: []string{"config/puma/%ENV%.rb", "config/puma.rb"},
		Key: regexp.MustCompile(`(?m)^[ \t]*workers[ \t(]+(\d+)\)?[ \t]*(?:#.*)?$`), Computed: regexp.MustCompile(`(?m)^[ \t]*workers[ \t(](.*)$`),
		KeyThreads: regexp.MustCompile(`(?m)^[ \t]*threads[ \t(]+\d+[ \t]*,[ \t]*(\d+)`), Line: "workers %d", Least: 0,
		Idle: appserver.IdleFree, IdleSource: "puma 5.6 lib/puma/dsl.rb, queue_requests (on by default: a reactor thread waits for requests) and persistent_timeout",
		Worker: &appserver.Worker{Title: regexp.MustCompile(`^puma: cluster worker \d+`), Unsure: regexp.MustCompile(`(?m)^[ \t]*fork_worker\b.*$|--fork-worker\S*`),
			Source: "puma 5.6 lib/puma/cluster/worker.rb (title), lib/puma/dsl.rb, fork_worker"},
		Source: "puma 5.6 lib/puma/configuration.rb, puma_default_options (WEB_CONCURRENCY, PUMA_MAX_THREADS, MAX_THREADS) and config_files (config/puma/ENVIRONMENT.rb first); lib/puma/dsl.rb, workers",
	},
	{
		Name: "unicorn", Program: regexp.MustCompile(`^unicorn(_rails)?$`), Title: regexp.MustCompile(`^unicorn(_rails)? master`),
		Grammar: appserver.Options([]string{"-c", "--config-file"}, []string{"-l", "--listen"}, []string{"-p", "--port"}, []string{"-o", "--host"}, []string{"-E", "--env"}),
		Socket:  unicornSocket,
		Default: 1, DefaultThreads: 1, ConfigOption: "--config-file",
		Key: regexp.MustCompile(`(?m)^[ \t]*worker_processes[ \t(]+(\d+)\)?[ \t]*(?:#.*)?$`), Computed: regexp.MustCompile(`(?m)^[ \t]*worker_processes[ \t(](.*)$`),
		Line: "worker_processes %d", Least: 1,
		Idle: appserver.IdleCloses, IdleSource: "Unicorn, PHILOSOPHY (no keep-alive)",
		Worker: &appserver.Worker{Title: regexp.MustCompile(`^unicorn(_rails)? worker\[\d+\]`), Source: "unicorn 6.0 lib/unicorn/http_server.rb, worker_loop"},
		Source: "Unicorn::Configurator#worker_processes; unicorn 6.0 has neither an option nor a variable for it (bin/unicorn, lib/unicorn)",
	},
}
