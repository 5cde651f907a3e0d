// Package apps plans changes of application servers: Go, Node, Ruby, Python, Perl.
package apps

import (
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

const (
	goTest     = "cases/remedies/apps/go_test.go:TestGo"
	serverTest = "cases/remedies/apps/servers_test.go:TestGunicorn"
)

// Remedies of this family, in the order in which they are listed for people.
var Remedies = []planning.Remedy{
	{
		ID: "go.gc", Title: "Go's garbage collector near a memory limit", Measures: []string{"G11"}, Rules: []string{"app.go-gc"},
		Reason: "The collector's work is in proportion to how often it runs. With GOGC=off it runs only when the heap comes near GOMEMLIMIT, which is set from memory that is free beyond the regulation's headroom.",
		Source: "go.dev/doc/gc-guide, \"Memory limit\": GOGC=off with GOMEMLIMIT; package runtime, \"Environment Variables\"",
		Reach:  0.6, Plan: planGoGC,
		Command: "`GOGC=off` and `GOMEMLIMIT=512MiB` in the environment: `systemctl edit app` → `Environment=GOGC=off GOMEMLIMIT=512MiB`, then `systemctl restart app`",
		Undo:    "the file of the environment is put back, the app restarted",
		Test:    goTest,
	},
	{
		ID: "go.maxprocs", Title: "Go's threads under a CPU quota", Measures: []string{"G11"}, Rules: []string{"app.gomaxprocs"},
		Reason: "Before Go 1.25 the runtime takes the machine's CPUs for its own: its threads use the quota up early in each period and are stopped for the rest of it.",
		Source: "Go 1.25 release notes, \"Container-aware GOMAXPROCS\"; runtime/cgroup_linux.go, adjustCgroupGOMAXPROCS",
		Reach:  0.3, Plan: planGoMaxProcs,
		Command: "`GOMAXPROCS=2` in the environment, then a restart",
		Undo:    "the file of the environment is put back, the app restarted",
		Test:    goTest,
	},
	{
		ID: "go.pgo", Title: "Profile-guided build of a Go program", Measures: []string{"G12", "I24"}, Rules: []string{"app.go-build"},
		Reason: "With a CPU profile of the real load the compiler inlines and lays out what is hot.",
		Source: "go.dev/doc/pgo: default.pgo in the main package's folder, 2–14 % as of Go 1.22",
		Reach:  0.5, Plan: planPGO,
		Command: "`curl -o default.pgo 'http://127.0.0.1:6060/debug/pprof/profile?seconds=30' && go build -o app . && systemctl restart app`",
		Undo:    "default.pgo is removed, the program that was saved before is moved back (bytes, mode, time), the app restarted",
		Test:    "cases/remedies/apps/go_test.go:TestGoProfileGuided",
	},
	{
		ID: "go.rebuild", Title: "A Go program built without what finds errors", Measures: []string{"G12"}, Rules: []string{"app.go-flags"},
		Reason: "A program built for the race detector, a sanitizer or a debugger does its work several times over. It is built again by the command that kasoku.yaml names, without these flags.",
		Source: "go.dev/doc/articles/race_detector, \"Runtime Overhead\"; cmd/compile: -N, -l; go help build",
		Reach:  0.8, Plan: planRebuild,
		Command: "`go build -o app . && systemctl restart app` without `-race`, `-asan`, `-msan`, `-gcflags='all=-N -l'`",
		Undo:    "the program that was saved before is moved back (bytes, mode, time), the app restarted",
		Test:    "cases/remedies/apps/go_test.go:TestGoRebuilt",
	},
	{
		ID: "go.interpolate", Title: "Values filled in by Go's MySQL driver", Measures: []string{"I06"}, Rules: []string{"app.interpolate"},
		Reason: "Each statement with values is prepared, executed and closed: two round trips and a parse where one does. Values read into `any` come as text instead of numbers then; answers are compared. Statements that the program prepares itself stay as they are. Where the environment says the parts of the data source name one by one, the name of the database carries the option, with the parameter that the program writes behind it; how it does is read from the source in its folder, and nothing is planned if that starts other programs, names the variable twice, or is built with a driver that escapes the name (FormatDSN from 1.8 on).",
		Source: "github.com/go-sql-driver/mysql, README, \"interpolateParams\", \"charset\"; its dsn.go, FormatDSN",
		Reach:  0.5, Plan: planInterpolate,
		Command: "`?interpolateParams=true` (or `&interpolateParams=true`) at the end of the DSN, or `DB_NAME=\"app?interpolateParams=true&parseTime=true&charset=utf8mb4,\"`, then a restart",
		Undo:    "the settings file is put back, the app restarted",
		Test:    goTest,
	},
	{
		ID: "source.patch", Title: "A change of the source that is shown to answer the same", Measures: []string{"I03", "I04", "I08", "I12", "G04"}, Rules: []string{"app.patch"},
		Reason: "A loop that sends a statement per row costs a round trip and a parse for each; one statement does for all. A compressor or a buffer made in each request is memory cleared and collected; a pool makes it once. Master data that no statement writes is kept for a second, where regulation.allow has staleness. What `kasoku patch` offers, because every precondition can be shown, becomes a commit on a branch of Kasoku's own; the program is built and restarted, and compared with itself as before, answers included. It needs regulation.source; without it the patch is shown and applied by nobody.",
		Source: "docs/how-to/change-the-code-of-a-program.md; MariaDB Server documentation, \"How to Quickly Insert Data Into MariaDB\"",
		Reach:  patchReach, Plan: planPatch,
		Command: "`kasoku patch apply P1-3f2a`, then `git checkout kasoku/P1-3f2a && go build -o app .`, then a restart",
		Undo:    "the branch that was checked out is checked out again, files and program are byte for byte as before, Kasoku's branch is removed, the app restarted",
		Effect:  "+34.7 % (+20.6 to +50.4) on cases/idle in PHP, numbers drawn 20 at a time, tuned by hand before (`cases/idle/case.sh`, docs/measured/idle.md tells the commands); eleven patches of a Go program as one +25.6 % (+14.8 to +37.3) (docs/measured/field.md)",
		Test:    "cases/idle/tuned_test.go:TestPatchTuned",
	},
	{
		ID: "app.workers", Title: "Number of an application server's workers", Measures: []string{"I17", "C18"}, Rules: []string{"app.workers"},
		Reason: "A worker of Gunicorn, Puma, Unicorn, Starman, uWSGI or Uvicorn answers one request at a time (or one per thread); one of a Node program that forks as many as WEB_CONCURRENCY says has one thread for all of its requests. Too few leave CPU idle while requests wait, too many take turns and memory; the best number is found by trying. Where an application runs in threads already and waits for something else than CPU, more threads in each worker are tried in place of more workers: they take less memory.",
		Source: "Gunicorn documentation, \"How Many Workers?\" and \"How Many Threads?\"; Puma README, \"Clustered mode\"; starman(1), --workers; uWSGI, \"Things to know\"; Node.js documentation, \"Cluster\"",
		Reach:  workersReach, Plan: planWorkers,
		Command: "`gunicorn --workers 4`, `workers = 4` in gunicorn.conf.py, `WEB_CONCURRENCY=4` (Gunicorn, Puma, Uvicorn, Node's cluster), `starman --workers 4`, `processes = 4` in uWSGI's ini, `--threads 8` of Gunicorn and uWSGI; then a restart",
		Undo:    "the file that says the number is put back, the app restarted",
		Test:    serverTest,
	},
	{
		ID: "app.wsgi", Title: "Processes of an application in mod_wsgi", Measures: []string{"I17", "C18"}, Rules: []string{"app.wsgi"},
		Reason: "Python runs one thread of a process at a time, so threads of one process take turns on one CPU. Twice as many processes as CPUs fill these also while some wait for the database. Where the application runs within Apache's own processes, it gets a process group of its own (daemon mode), which mod_wsgi's documentation recommends: Apache's processes then only pass requests on.",
		Source: "mod_wsgi documentation, \"Processes And Threading\", \"WSGIDaemonProcess\"; Python documentation, \"Thread State and the Global Interpreter Lock\"",
		Reach:  wsgiReach, Plan: planWSGI,
		Command: "`WSGIDaemonProcess app processes=4 threads=4` and `WSGIScriptAlias / /srv/app/wsgi.py process-group=app` in Apache's configuration, then a restart",
		Undo:    "the file of Apache's configuration is put back, Apache restarted",
		Test:    "cases/remedies/apps/modwsgi_test.go:TestModWSGI",
	},
	{
		ID: "app.pace", Title: "A background loop that pauses between its rounds", Measures: []string{"I17"}, Rules: []string{"app.paced"},
		Reason: "A loop such as `while true; do curl …/tick; sleep 0.5; done` paces whatever waits for its work: half a pause on average, however quick the machine. A fifth of the pause has it look five times as often, which costs CPU. Only loops of sh(1) that pause for a tenth of a second to ten seconds, under a benchmark of one's own (load.command): there the score can wait for that work. A loop that only sends requests to the stack itself is changed; where it starts other programs, its pause is one of the application's own settings, which the regulation must permit (application_settings).",
		Source: "sleep(1); Kleinrock 1975, Queueing Systems I, residual life: who comes at any time waits for half of a constant interval",
		Reach:  0.3, Plan: planPace,
		Command: "`sleep 0.1` instead of `sleep 0.5` in the loop's script, in its unit's `ExecStart=`, or in the variable that says it; then `systemctl restart worker`",
		Undo:    "the script, unit or file of the environment is put back, the loop restarted",
		Test:    "cases/remedies/apps/pace_test.go:TestPace",
	},
	{
		ID: "ruby.yjit", Title: "Ruby's JIT", Measures: []string{"I16"}, Rules: []string{"app.ruby-jit"},
		Reason: "Hot methods run as machine code; it pays where the interpreter itself binds, and takes some memory in each process.",
		Source: "Ruby 3.1 release notes, \"YJIT\"; ruby(1), --yjit, RUBYOPT",
		Reach:  0.3, Plan: planRubyJIT,
		Command: "`RUBYOPT=--yjit` in the environment, then a restart; of what Passenger starts: `SetEnv RUBYOPT \"--yjit\"` in Apache, `passenger_env_var RUBYOPT \"--yjit\";` in nginx",
		Undo:    "the file of the environment is put back, the app restarted",
		Test:    "cases/remedies/apps/servers_test.go:TestPuma",
	},
	{
		ID: "node.env", Title: "Node in production", Measures: []string{"W14"}, Rules: []string{"app.node-env"},
		Reason: "Without NODE_ENV=production Express compiles each view anew at each request, and frameworks check and log more. The variable changes what an application does: clients no longer get the stack traces of errors and some libraries log less, so it is a trade of observability, and it is one of the application's own settings, which the regulation must permit (application_settings). It is refused where files in the program's folder say that it chooses more, such as the database (config/production.json, .env.production, knexfile.js), and where it is set to something else than development. What only the code says is not seen: read it for NODE_ENV before permitting this.",
		Source: "expressjs.com, \"Production best practices: performance and reliability\", \"Set NODE_ENV to 'production'\"; nodejs.org, \"Node.js, the difference between development and production\"",
		Trades: []regulation.Trade{regulation.Observability}, Reach: 0.3, Plan: planNodeEnv,
		Command: "`NODE_ENV=production` in the environment: `systemctl edit app` → `Environment=NODE_ENV=production`, then `systemctl restart app`",
		Undo:    "the file of the environment is put back, the app restarted",
		Test:    "cases/remedies/apps/servers_test.go:TestNodeEnv",
	},
	{
		ID: "node.heap", Title: "Room for Node's new objects", Measures: []string{"G11"}, Rules: []string{"app.node-heap"},
		Reason: "V8 copies what is in use among its new objects whenever 16 MiB of them were made. With a larger semi-space it does so less often, and most of a request's objects are dead by then. It pays where Node's own CPU binds, and takes three times the difference as memory in each process.",
		Source: "Node.js documentation, \"Command-line API\", --max-semi-space-size, NODE_OPTIONS; nodejs/node, issue 42511",
		Reach:  0.5, Plan: planNodeHeap,
		Command: "`NODE_OPTIONS=--max-semi-space-size=64` in the environment: `systemctl edit app` → `Environment=NODE_OPTIONS=--max-semi-space-size=64`, then `systemctl restart app`",
		Undo:    "the file of the environment is put back, the app restarted",
		Test:    "cases/remedies/apps/servers_test.go:TestNodeHeap",
	},
	{
		ID: "app.variant", Title: "Another implementation of the application", Measures: []string{"L02", "L04", "I14", "I21"}, Rules: []string{"app.variant", "db.connect-per-request", "request.connects"},
		Reason: "The same application in another language, under another application server (asynchronous, threaded), or with workers that live longer than a request does the same work with other means. Which is quicker on this machine under this load shows only when they take turns under it. Answers are compared as always.",
		Source: "kasoku.yaml, services[].variants (docs/reference/kasoku-yaml.md): the operator says which there are",
		Reach:  0.3, Plan: planVariant,
		Command: "`systemctl disable --now login-ruby.service && systemctl enable --now login-perl.service`",
		Undo:    "the other one is stopped and the one before started; what systemd starts at boot is as before, link by link",
		Test:    "cases/remedies/apps/variant_test.go:TestVariant",
	},
}
