package appserver

import (
	"regexp"

	"kasoku/internal/confedit/args"
)

// Server is one program that runs an application in several workers.
type Server struct {
	Name string
	// Program is a word of the command, without its folder, that tells it.
	Program *regexp.Regexp
	// Launched tells it in the command of another program that starts it and hands its
	// options on (plackup -s Starman); nil: none does.
	Launched *regexp.Regexp
	// Title is what its main process calls itself, "" if it keeps its command.
	Title *regexp.Regexp
	// Grammar lists its options that take a value; Option is the one that
	// takes the number of workers, Threads the one for requests that a worker
	// answers at once. "" if it has none.
	Grammar         args.Grammar
	Option, Threads string
	// EnvArgs is an environment variable that holds more options; Env one that
	// holds the number, EnvFirst another that counts before Env, EnvThreads one
	// for threads.
	EnvArgs, Env, EnvFirst, EnvThreads string
	// Default is the number of workers where nothing says it, DefaultThreads
	// of threads.
	Default, DefaultThreads int
	// ConfigOption names the configuration file in the command; Configs are
	// those that it reads from its folder without that, the first that is there;
	// %ENV% in them is what the server runs for ("production"). ConfigWord tells
	// a word that names one without the option, ConfigEnv is a variable that
	// does; where ConfigLast is true the file counts before options in front of it.
	ConfigOption string
	Configs      []string
	ConfigWord   *regexp.Regexp
	ConfigEnv    string
	ConfigLast   bool
	// Section of the file that is the server's, "[uwsgi]"; "" for all of it.
	Section string
	// Key finds the number in the configuration file (first group); Computed
	// the key with anything else behind it. Line sets it.
	Key, Computed, KeyThreads *regexp.Regexp
	Line                      string // "workers = %d"
	// Loop: a worker answers any number of requests in one thread, so it is at
	// work when that thread is.
	Loop bool
	// Idle is what it does with a connection that a front keeps open while nothing is
	// asked; IdleSource says where that is written.
	Idle       Idle
	IdleSource string
	// Class is the option, and ClassKey the line of its configuration, that name another
	// kind of worker than the one that Idle is about, whose name is ClassIs; such workers,
	// and those with threads, hold idle connections at no cost. "" if there is one kind.
	Class    string
	ClassKey *regexp.Regexp
	ClassIs  string
	// Least workers; puma has 0 for a single process that forks none.
	Least int
	// Stop is the signal that ends it, where that is not TERM.
	Stop string
	// Socket is how it is told to listen on a unix socket beside the ports that
	// it has; nil if it cannot be, or if that is not known.
	Socket *Socket
	// Source of all that but Socket, which has its own.
	Source string
}

// Idle is what an application server does with a connection on which nothing is
// asked.
type Idle string

const (
	// IdleHolds: it holds the worker that answered last until it is closed.
	IdleHolds Idle = "holds a worker"
	// IdleCloses: the server closes it after each answer, so none is kept.
	IdleCloses Idle = "is closed"
	// IdleFree: it waits beside the workers.
	IdleFree Idle = "costs nothing"
)

func options(names ...[]string) args.Grammar {
	var g args.Grammar
	for _, n := range names {
		g.Options = append(g.Options, args.Option{Names: n, Arg: true})
	}
	return g
}

// Servers is the table. Where two of a row's places say the number, the order
// is: option, EnvArgs, configuration file, Env, Default.
var Servers = []Server{
	{
		Name: "gunicorn", Program: regexp.MustCompile(`^gunicorn3?$`), Title: regexp.MustCompile(`^gunicorn: `),
		Grammar: options([]string{"-w", "--workers"}, []string{"--threads"}, []string{"-c", "--config"}, []string{"-b", "--bind"}, []string{"-k", "--worker-class"}, []string{"-t", "--timeout"}, []string{"-n", "--name"}, []string{"-e", "--env"}, []string{"-p", "--pid"}, []string{"--log-level"}, []string{"--chdir"}),
		Socket:  gunicornSocket,
		Option:  "--workers", Threads: "--threads", EnvArgs: "GUNICORN_CMD_ARGS", Env: "WEB_CONCURRENCY", Default: 1, DefaultThreads: 1,
		ConfigOption: "--config", Configs: []string{"gunicorn.conf.py"},
		Key: regexp.MustCompile(`(?m)^workers[ \t]*=[ \t]*(\d+)[ \t]*(?:#.*)?$`), Computed: regexp.MustCompile(`(?m)^[ \t]*workers[ \t]*=(.*)$`),
		KeyThreads: regexp.MustCompile(`(?m)^threads[ \t]*=[ \t]*(\d+)`), Line: "workers = %d", Least: 1,
		Idle: IdleCloses, IdleSource: "Gunicorn documentation, \"Settings\": keepalive (sync workers do not support persistent connections and ignore it); worker_class; threads (more than one makes it gthread)",
		Class: "--worker-class", ClassKey: regexp.MustCompile(`(?m)^[ \t]*worker_class[ \t]*=[ \t]*["']?([\w.]+)`), ClassIs: "sync",
		Source: "Gunicorn documentation, \"Configuration Overview\" (order of the five places) and \"Settings\": workers, GUNICORN_CMD_ARGS; gunicorn/config.py 20.1, class Workers",
	},
	{
		Name: "puma", Program: regexp.MustCompile(`^puma$`), Title: regexp.MustCompile(`^puma(: cluster)? \d`),
		Grammar: options([]string{"-w", "--workers"}, []string{"-t", "--threads"}, []string{"-C", "--config"}, []string{"-b", "--bind"}, []string{"-p", "--port"}, []string{"-e", "--environment"}, []string{"-S", "--state"}, []string{"--pidfile"}, []string{"--dir"}),
		Socket:  pumaSocket,
		Option:  "--workers", Threads: "", Env: "WEB_CONCURRENCY", EnvThreads: "PUMA_MAX_THREADS", Default: 0, DefaultThreads: 5,
		ConfigOption: "--config", Configs: []string{"config/puma/%ENV%.rb", "config/puma.rb"},
		Key: regexp.MustCompile(`(?m)^[ \t]*workers[ \t(]+(\d+)\)?[ \t]*(?:#.*)?$`), Computed: regexp.MustCompile(`(?m)^[ \t]*workers[ \t(](.*)$`),
		KeyThreads: regexp.MustCompile(`(?m)^[ \t]*threads[ \t(]+\d+[ \t]*,[ \t]*(\d+)`), Line: "workers %d", Least: 0,
		Idle: IdleFree, IdleSource: "puma 5.6 lib/puma/dsl.rb, queue_requests (on by default: a reactor thread waits for requests) and persistent_timeout",
		Source: "puma 5.6 lib/puma/configuration.rb, puma_default_options (WEB_CONCURRENCY, PUMA_MAX_THREADS, MAX_THREADS) and config_files (config/puma/ENVIRONMENT.rb first); lib/puma/dsl.rb, workers",
	},
	{
		Name: "unicorn", Program: regexp.MustCompile(`^unicorn(_rails)?$`), Title: regexp.MustCompile(`^unicorn(_rails)? master`),
		Grammar: options([]string{"-c", "--config-file"}, []string{"-l", "--listen"}, []string{"-p", "--port"}, []string{"-o", "--host"}, []string{"-E", "--env"}),
		Socket:  unicornSocket,
		Default: 1, DefaultThreads: 1, ConfigOption: "--config-file",
		Key: regexp.MustCompile(`(?m)^[ \t]*worker_processes[ \t(]+(\d+)\)?[ \t]*(?:#.*)?$`), Computed: regexp.MustCompile(`(?m)^[ \t]*worker_processes[ \t(](.*)$`),
		Line: "worker_processes %d", Least: 1,
		Idle: IdleCloses, IdleSource: "Unicorn, PHILOSOPHY (no keep-alive)",
		Source: "Unicorn::Configurator#worker_processes; unicorn 6.0 has neither an option nor a variable for it (bin/unicorn, lib/unicorn)",
	},
	{
		Name: "starman", Program: regexp.MustCompile(`^starman$`), Launched: regexp.MustCompile(`(?:^| )(?:-s|--server)[ =]Starman(?: |$)`), Title: regexp.MustCompile(`^starman master`),
		Grammar: options([]string{"--workers"}, []string{"--backlog"}, []string{"--max-requests"}, []string{"-l", "--listen"}, []string{"-p", "--port"}, []string{"-I"}, []string{"--pid"}, []string{"-E", "--env"}, []string{"--user"}, []string{"--group"}),
		Option:  "--workers", Default: 5, DefaultThreads: 1, Least: 1,
		Idle: IdleHolds, IdleSource: "starman(1): --keepalive-timeout (one second), --disable-keepalive; a worker reads the next request itself",
		Source: "starman(1): --workers, defaults to 5; plackup(1): -s, --server, \"the rest of the options are passed to the server\"",
	},
	{
		Name: "uwsgi", Program: regexp.MustCompile(`^uwsgi(-core)?$`),
		Grammar: options([]string{"-p", "--processes", "--workers"}, []string{"--threads"}, []string{"--ini"}, []string{"-s", "--socket"}, []string{"--http"}, []string{"--http-socket"}, []string{"--module", "-w"}, []string{"--wsgi-file"}, []string{"--pidfile"}, []string{"--plugin", "--plugins"}),
		Option:  "--processes", Threads: "--threads", Env: "UWSGI_PROCESSES", EnvFirst: "UWSGI_WORKERS", EnvThreads: "UWSGI_THREADS", Default: 1, DefaultThreads: 1,
		ConfigOption: "--ini", ConfigWord: regexp.MustCompile(`^[^-].*\.ini$`), ConfigEnv: "UWSGI_INI", ConfigLast: true, Section: "[uwsgi]",
		Key: regexp.MustCompile(`(?m)^[ \t]*(?:processes|workers)[ \t]*=[ \t]*(\d+)[ \t]*$`), Computed: regexp.MustCompile(`(?m)^[ \t]*(?:processes|workers)[ \t]*=(.*)$`),
		KeyThreads: regexp.MustCompile(`(?m)^[ \t]*threads[ \t]*=[ \t]*(\d+)`), Line: "processes = %d", Least: 1, Stop: "INT",
		Idle: IdleCloses, IdleSource: "uWSGI documentation, \"Native HTTP support\": --http-socket speaks no keep-alive",
		Source: "uWSGI documentation, \"Configuring uWSGI\" (UWSGI_ variables, a file by its suffix, [uwsgi]) and \"Options\": processes, workers; uwsgi 2.0.21 takes options one after the other, a file's where it is named, and those of the environment first (core/uwsgi.c); \"Managing the uWSGI server\": TERM reloads it, or with die-on-term QUIT does, and INT always ends it",
	},
	{
		Name: "uvicorn", Program: regexp.MustCompile(`^uvicorn$`),
		Grammar: options([]string{"--workers"}, []string{"--host"}, []string{"--port"}, []string{"--uds"}, []string{"--log-level"}, []string{"--loop"}, []string{"--http"}, []string{"--app-dir"}, []string{"--env-file"}),
		Option:  "--workers", Env: "WEB_CONCURRENCY", EnvFirst: "UVICORN_WORKERS", Default: 1, DefaultThreads: 1, Loop: true, Least: 1,
		Idle: IdleFree, IdleSource: "Uvicorn documentation, \"Settings\": --timeout-keep-alive; one event loop holds all connections",
		Source: "Uvicorn documentation, \"Settings\": --workers defaults to $WEB_CONCURRENCY, or 1; uvicorn 0.17 main.py, auto_envvar_prefix (UVICORN_WORKERS is --workers); server.py, Server.run (one event loop)",
	},
}
