// Package pythonapp knows the servers of Python's applications: Gunicorn, uWSGI and
// Uvicorn.
package pythonapp

import (
	"regexp"

	"kasoku/internal/appserver"
)

// Room is the row of internal/kind.
var Room = appserver.Room{
	Name: "pythonapp", Servers: servers,
	Variables: []string{"WEB_CONCURRENCY", "GUNICORN_CMD_ARGS", "FORWARDED_ALLOW_IPS", "UWSGI_PROCESSES", "UWSGI_WORKERS", "UWSGI_THREADS", "UWSGI_INI", "UVICORN_WORKERS"},
}

var servers = []appserver.Server{
	{
		Name: "gunicorn", Program: regexp.MustCompile(`^gunicorn3?$`), Title: regexp.MustCompile(`^gunicorn: `),
		Grammar: appserver.Options([]string{"-w", "--workers"}, []string{"--threads"}, []string{"-c", "--config"}, []string{"-b", "--bind"}, []string{"-k", "--worker-class"}, []string{"-t", "--timeout"}, []string{"-n", "--name"}, []string{"-e", "--env"}, []string{"-p", "--pid"}, []string{"--log-level"}, []string{"--chdir"}),
		Socket:  gunicornSocket,
		Option:  "--workers", Threads: "--threads", EnvArgs: "GUNICORN_CMD_ARGS", Env: "WEB_CONCURRENCY", Default: 1, DefaultThreads: 1,
		ConfigOption: "--config", Configs: []string{"gunicorn.conf.py"},
		Key: regexp.MustCompile(`(?m)^workers[ \t]*=[ \t]*(\d+)[ \t]*(?:#.*)?$`), Computed: regexp.MustCompile(`(?m)^[ \t]*workers[ \t]*=(.*)$`),
		KeyThreads: regexp.MustCompile(`(?m)^threads[ \t]*=[ \t]*(\d+)`), Line: "workers = %d", Least: 1,
		Idle: appserver.IdleCloses, IdleSource: "Gunicorn documentation, \"Settings\": keepalive (sync workers do not support persistent connections and ignore it); worker_class; threads (more than one makes it gthread)",
		Class: "--worker-class", ClassKey: regexp.MustCompile(`(?m)^[ \t]*worker_class[ \t]*=[ \t]*["']?([\w.]+)`), ClassIs: "sync",
		LoopClasses: []string{"gevent", "eventlet", "tornado", "uvicorn.workers.UvicornWorker", "uvicorn.workers.UvicornH11Worker", "uvicorn_worker.UvicornWorker", "aiohttp.worker.GunicornWebWorker", "aiohttp.GunicornWebWorker"},
		Worker: &appserver.Worker{Title: regexp.MustCompile(`^gunicorn: worker`), Alike: true,
			Source: "gunicorn/arbiter.py, spawn_worker (the main process forks each itself); gunicorn/util.py, _setproctitle (where setproctitle is installed)"},
		Source: "Gunicorn documentation, \"Configuration Overview\" (order of the five places) and \"Settings\": workers, GUNICORN_CMD_ARGS; gunicorn/config.py 20.1, class Workers",
	},
	{
		Name: "uwsgi", Program: regexp.MustCompile(`^uwsgi(-core)?$`), Title: regexp.MustCompile(`^uWSGI master`),
		Grammar: appserver.Options([]string{"-p", "--processes", "--workers"}, []string{"--threads"}, []string{"--ini"}, []string{"-s", "--socket"}, []string{"--http"}, []string{"--http-socket"}, []string{"--module", "-w"}, []string{"--wsgi-file"}, []string{"--pidfile"}, []string{"--plugin", "--plugins"}),
		Option:  "--processes", Threads: "--threads", Env: "UWSGI_PROCESSES", EnvFirst: "UWSGI_WORKERS", EnvThreads: "UWSGI_THREADS", Default: 1, DefaultThreads: 1,
		ConfigOption: "--ini", ConfigWord: regexp.MustCompile(`^[^-].*\.ini$`), ConfigEnv: "UWSGI_INI", ConfigLast: true, Section: "[uwsgi]",
		Key: regexp.MustCompile(`(?m)^[ \t]*(?:processes|workers)[ \t]*=[ \t]*(\d+)[ \t]*$`), Computed: regexp.MustCompile(`(?m)^[ \t]*(?:processes|workers)[ \t]*=(.*)$`),
		KeyThreads: regexp.MustCompile(`(?m)^[ \t]*threads[ \t]*=[ \t]*(\d+)`), Line: "processes = %d", Least: 1, Stop: "INT",
		Idle: appserver.IdleCloses, IdleSource: "uWSGI documentation, \"Native HTTP support\": --http-socket speaks no keep-alive",
		Worker: &appserver.Worker{Title: regexp.MustCompile(`uWSGI worker \d+`), Alike: true,
			Needs:  regexp.MustCompile(`(?m)^[ \t]*master[ \t]*=[ \t]*(?:true|1|yes|on)\b|(?:^| )(?:--master|-M)(?: |$)`),
			Unsure: regexp.MustCompile(`(?m)^[ \t]*(?:https?|http-router|http-to|https2|fastrouter|sslrouter|rawrouter|mules?|farm|spooler|emperor|vassals?|zerg|cheap|cheaper)[ \t]*=.*$|(?:^| )--(?:https?|http-router|https2|fastrouter|sslrouter|rawrouter|mules?|farm|spooler|emperor|zerg|cheap|cheaper)[= ]\S*`),
			Source: "uwsgi 2.0.21 core/uwsgi.c (with a master, it forks all workers; without, it is the first), core/utils.c (auto-procname)"},
		Source: "uWSGI documentation, \"Configuring uWSGI\" (UWSGI_ variables, a file by its suffix, [uwsgi]) and \"Options\": processes, workers; uwsgi 2.0.21 takes options one after the other, a file's where it is named, and those of the environment first (core/uwsgi.c); \"Managing the uWSGI server\": TERM reloads it, or with die-on-term QUIT does, and INT always ends it",
	},
	{
		Name: "uvicorn", Program: regexp.MustCompile(`^uvicorn$`),
		Grammar: appserver.Options([]string{"--workers"}, []string{"--host"}, []string{"--port"}, []string{"--uds"}, []string{"--log-level"}, []string{"--loop"}, []string{"--http"}, []string{"--app-dir"}, []string{"--env-file"}),
		Option:  "--workers", Env: "WEB_CONCURRENCY", EnvFirst: "UVICORN_WORKERS", Default: 1, DefaultThreads: 1, Loop: true, Least: 1,
		Idle: appserver.IdleFree, IdleSource: "Uvicorn documentation, \"Settings\": --timeout-keep-alive; one event loop holds all connections",
		Worker: &appserver.Worker{Title: regexp.MustCompile(`multiprocessing\.spawn import spawn_main`), Lone: true,
			Source: "uvicorn 0.17 main.py (one worker: Server.run), _subprocess.py (spawn); Python's multiprocessing/spawn.py, get_command_line"},
		Source: "Uvicorn documentation, \"Settings\": --workers defaults to $WEB_CONCURRENCY, or 1; uvicorn 0.17 main.py, auto_envvar_prefix (UVICORN_WORKERS is --workers); server.py, Server.run (one event loop)",
	},
}
