package appserver

import (
	"regexp"

	"kasoku/internal/confedit/args"
)

// Room is what is known of the application servers of one runtime. Each has a folder
// of internal/kind, which lists them.
type Room struct {
	// Name is the folder's.
	Name    string
	Servers []Server
	// Variables of the environment say how the runtime performs, what it runs for and
	// whom it trusts; none holds a secret.
	Variables []string
	// Forks finds a program that forks its workers itself by its file, its environment
	// and the number of its child processes; nil if that is not so, or cannot be.
	Forks func(exe string, env map[string]string, children int) *Server
	// Forked is what Forks finds; nil without it.
	Forked *Server
}

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
	// LoopClasses are those of Class whose workers are such a loop.
	LoopClasses []string
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
	// Worker tells its workers among the processes; nil: that is not known.
	Worker *Worker
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

// Options are those of a program that take a value, each by all of its names.
func Options(names ...[]string) args.Grammar {
	var g args.Grammar
	for _, n := range names {
		g.Options = append(g.Options, args.Option{Names: n, Arg: true})
	}
	return g
}
