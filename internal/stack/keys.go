package stack

import (
	"fmt"
	"reflect"

	"kasoku/internal/foreign"
	"kasoku/internal/regulation"
	"kasoku/internal/stat"
)

func oneOf(words ...string) map[string]any { return map[string]any{"enum": words} }

func atLeast(low any) map[string]any { return map[string]any{"minimum": low} }

func between(low, high any) map[string]any { return map[string]any{"minimum": low, "maximum": high} }

// nameForm is that of a name of a service, of a host or of an implementation.
func nameForm() map[string]any { return map[string]any{"pattern": serviceName.String()} }

func kindNames() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, string(k))
	}
	return out
}

func tradeNames() []string {
	var out []string
	for _, t := range regulation.Trades {
		out = append(out, string(t.Trade))
	}
	return out
}

// places are all that kasoku.yaml may hold; the first one is the whole file. The
// schema and docs/reference/kasoku-yaml-keys.md are made from this table, and the tests
// compare it with the fields that Load reads.
var places = []placeSpec{
	{"stack", "What Kasoku may measure and tune.", reflect.TypeFor[Stack](), []keySpec{
		{name: "version", meaning: "The version of this format.", required: true, limits: between(1, 1)},
		{name: "name", meaning: "What to call the stack.", fallback: "the folder's name"},
		{name: "hosts", meaning: "Other machines, by a name of yours. This machine is `local`.", fallback: "only this machine"},
		{name: "services", meaning: "What runs and can be tuned.", required: true},
		{name: "load", meaning: "What drives the stack while it is measured.", required: true},
		{name: "regulation", meaning: "What may be given up for speed, and what may not be touched.", fallback: "strict: nothing is traded"},
		{name: "checks", meaning: "How the regulation is proved, and what may be harmed for it."},
		{name: "evidence", meaning: "What a run looks at besides what Kasoku finds itself."},
		{name: "tune", meaning: "What decides how long experiments go on and what is kept."},
	}},
	{"host", "Another machine, reached by ssh with your own configuration.", reflect.TypeFor[HostConfig](), []keySpec{
		{name: "ssh", meaning: "The destination as you type it after `ssh`: `root@db1`, or a `Host` of your own configuration."},
		{name: "ssh_config", meaning: "The configuration file that ssh reads instead of your own."},
		{name: "sudo", meaning: "Run Kasoku's helper there by `sudo -n`.", fallback: "false"},
	}},
	{"service", "A server or an application. Paths are on its host, and absolute on another than `local`; addresses are as seen from there.", reflect.TypeFor[Service](), []keySpec{
		{name: "name", meaning: "What to call it.", required: true, limits: nameForm()},
		{name: "kind", meaning: "What it is; anything else, as HAProxy or a program of yours, is an app.", required: true, limits: oneOf(kindNames()...)},
		{name: "host", meaning: "The machine that it runs on.", fallback: "`local`"},
		{name: "binary", meaning: "Its program.", fallback: "the kind's own"},
		{name: "config", meaning: "Its main configuration file; includes are followed. Needed for nginx, apache, php-fpm, mariadb and mysql."},
		{name: "prefix", meaning: "What relative paths in `config` are relative to.", fallback: "the program's own"},
		{name: "php_ini", meaning: "The `php.ini` of a php-fpm service, or of the PHP that is a module of an Apache.", fallback: "Apache: what `PHPIniDir` says, else Debian's"},
		{name: "root", meaning: "An application's folder."},
		{name: "settings", meaning: "An application's files that may name addresses of other services."},
		{name: "runs_in", meaning: "The service in whose processes an application runs (PHP in php-fpm)."},
		{name: "spare_for", meaning: "The service of another host whose work this one can do as well ([ADR 14](../adr/0014-topology.md)); of a mariadb: the one whose data may move here ([a database apart](../explanation/database-apart.md))."},
		{name: "front_for", meaning: "The Apache of the same host that this nginx may be put in front of ([nginx in front of Apache](../explanation/apache-front.md))."},
		{name: "listen", meaning: "Its endpoints: `127.0.0.1:8080`, `unix:/run/php.sock`."},
		{name: "talks_to", meaning: "The services that it calls."},
		{name: "control", meaning: "How it is started, stopped and told to read its configuration again ([control](control.md)).", fallback: "found by `kasoku init`"},
		{name: "health", meaning: "How to know that it answers.", fallback: "a connection to the first of `listen`"},
		{name: "login", meaning: "How to log in to a database or to Redis."},
		{name: "status", meaning: "URL of its own status: nginx's `stub_status`, a page that prints `opcache_get_status(false)` as JSON.", fallback: "found in the configuration, or [added for diagnostic runs](evidence.md#status-pages)"},
		{name: "pprof", meaning: "Base URL of a Go program's profiles (kind app): `http://127.0.0.1:6060/debug/pprof/`."},
		{name: "build", meaning: "How an app's program is made (kind app)."},
		{name: "access_log", meaning: "Its access log. HAProxy's goes to syslog: write its file.", fallback: "found in the configuration"},
		{name: "logs", meaning: "Its error logs.", fallback: "found in the configuration"},
		{name: "variants", meaning: "Other implementations of an app, one of which runs at a time ([variants](kasoku-yaml.md#variants-of-an-application))."},
	}},
	{"control", "How a service is started, stopped and told to read its configuration again.", reflect.TypeFor[Control](), []keySpec{
		{name: "method", meaning: "Who controls it.", fallback: "systemd with `unit`, supervisor with `program`, else process", limits: oneOf(MethodSystemd, MethodSupervisor, MethodProcess, MethodCommand)},
		{name: "unit", meaning: "The unit of systemd."},
		{name: "program", meaning: "The program of supervisor: a name, `group:name`, or `group:*`."},
		{name: "config", meaning: "The `supervisord.conf` that names supervisord's socket.", fallback: "supervisorctl's own search"},
		{name: "pid_file", meaning: "Where a process writes its number (method process)."},
		{name: "env_file", meaning: "`NAME=value` lines that a process gets as its environment, instead of the one it had (method process)."},
		{name: "start", meaning: "Command that starts it; without a shell, as all of these."},
		{name: "stop", meaning: "Command that stops it (method command)."},
		{name: "reload", meaning: "Command that makes it read its configuration again."},
		{name: "check", meaning: "Command that validates the configuration without touching the service.", fallback: "the kind's own, such as `nginx -t`"},
		{name: "drain", meaning: "Command that returns when its workers have finished what they do; runs before a stop."},
		{name: "drain_timeout", meaning: "How long `drain` may take, and how long old workers of nginx are waited for.", fallback: "1m; 10s"},
	}},
	{"health", "How to know that a service answers.", reflect.TypeFor[Health](), []keySpec{
		{name: "url", meaning: "An URL that answers with a status below 400.", fallback: "a connection is enough"},
		{name: "timeout", meaning: "How long it may take; up to ten times as long while its processes compute, as those of a virtual machine do when they start.", fallback: DefaultHealthTimeout.String()},
	}},
	{"login", "How to log in. The password itself is never written in kasoku.yaml.", reflect.TypeFor[Login](), []keySpec{
		{name: "user", meaning: "The user."},
		{name: "password_file", meaning: "The file that holds the password."},
		{name: "password_env", meaning: "The environment variable that holds it."},
		{name: "defaults_file", meaning: "A file whose `[client]` section holds it (databases)."},
		{name: "ask", meaning: "Ask for it on the terminal.", fallback: "false"},
		{name: "socket", meaning: "The socket to log in through.", fallback: "the first of `listen`"},
		{name: "address", meaning: "The address to log in through.", fallback: "the first of `listen`"},
	}},
	{"build", "How an app's program is made from its source.", reflect.TypeFor[Build](), []keySpec{
		{name: "dir", meaning: "The folder of the main package, where `command` runs."},
		{name: "command", meaning: "The command: `[go, build, -o, app, .]`."},
		{name: "products", meaning: "The files that it makes or replaces, relative to `dir`."},
	}},
	{"variant", "Another implementation of an app, which answers the same requests at the same address.", reflect.TypeFor[Variant](), []keySpec{
		{name: "name", meaning: "What to call it; not `main`, which is the service as its own keys say.", required: true},
		{name: "control", meaning: "How this one is started and stopped; methods process and command need `pid_file`.", required: true},
		{name: "binary", meaning: "Its program."},
		{name: "root", meaning: "Its folder.", fallback: "the service's"},
		{name: "settings", meaning: "Its settings.", fallback: "the service's"},
		{name: "pprof", meaning: "Base URL of its profiles."},
		{name: "build", meaning: "How its program is made."},
	}},
	{"load", "What drives the stack: a scenario, or a benchmark of yours.", reflect.TypeFor[LoadConfig](), []keySpec{
		{name: "scenario", meaning: "The [scenario](scenario.md)'s file. It or `command` is needed."},
		{name: "command", meaning: "A benchmark that puts the load on instead ([use your own benchmark](../how-to/use-your-own-benchmark.md))."},
		{name: "url", meaning: "Base URL of the front door.", required: true},
		{name: "workload", meaning: "Number of virtual users.", fallback: "the scenario's", limits: atLeast(0)},
		{name: "reset", meaning: "A command that brings the data back before each run, or `snapshot`: Kasoku does it ([how](../how-to/have-the-same-data-before-each-run.md))."},
		{name: "snapshot", meaning: "What `reset: snapshot` keeps and puts back."},
		{name: "allow", meaning: "Addresses or networks (CIDR) besides this machine that load may be sent to."},
		{name: "skip_tls_verify", meaning: "Take any certificate of `url`, as a self-signed or an old one. On this machine any is taken.", fallback: "false"},
	}},
	{"snapshot", "What reset: snapshot keeps and puts back before each run.", reflect.TypeFor[Snapshot](), []keySpec{
		{name: "databases", meaning: "Databases by name.", fallback: "all but the server's own"},
		{name: "except", meaning: "Tables whose rows stay as they are: `TABLE` or `DATABASE.TABLE`."},
		{name: "folders", meaning: "Folders with all that is in them, absolute; `HOST:/PATH` on another host."},
		{name: "shared", meaning: "Others write to these databases, too, and may lose what they write.", fallback: "false"},
	}},
	{"command", "A benchmark of yours.", reflect.TypeFor[foreign.Command](), []keySpec{
		{name: "argv", meaning: "The command, without a shell, in kasoku.yaml's folder.", required: true},
		{name: "format", meaning: "What its output is ([what is read of each](load-generators.md)).", fallback: "told by the output", limits: oneOf(foreign.Formats()...)},
		{name: "score", meaning: "Where the score stands.", fallback: "the format's"},
		{name: "errors", meaning: "Where the number of errors stands.", fallback: "the format's"},
		{name: "requests", meaning: "Where the number of requests stands.", fallback: "the format's"},
		{name: "latency", meaning: "Where latencies stand.", fallback: "the format's"},
		{name: "fail_if", meaning: "A match means that the benchmark found the service wrong."},
		{name: "timeout", meaning: "When it is ended with all that it started.", fallback: foreign.DefaultTimeout.String()},
		{name: "environment", meaning: "Variables added to Kasoku's own."},
		{name: "warmup", meaning: "How long after its start it begins to score.", fallback: "learnt from the access log in the first run"},
	}},
	{"value", "Where a number stands in the output of a benchmark: one of the two.", reflect.TypeFor[foreign.Value](), []keySpec{
		{name: "regexp", meaning: "A regular expression (RE2); its first group, of the last match."},
		{name: "json", meaning: "A path into the last JSON object that has it: `$.score`."},
	}},
	{"pattern", "What to look for in the output of a benchmark.", reflect.TypeFor[foreign.Pattern](), []keySpec{
		{name: "regexp", meaning: "A regular expression (RE2).", required: true},
	}},
	{"latency", "Where latencies stand in the output of a benchmark.", reflect.TypeFor[foreign.Latency](), []keySpec{
		{name: "unit", meaning: "Of numbers without one.", fallback: "ms", limits: oneOf("ns", "us", "ms", "s")},
		{name: "mean", meaning: "Where the mean stands."},
		{name: "p50", meaning: "Where the median stands."},
		{name: "p90", meaning: "Where the 90th percentile stands."},
		{name: "p95", meaning: "Where the 95th percentile stands."},
		{name: "p99", meaning: "Where the 99th percentile stands."},
		{name: "max", meaning: "Where the longest stands."},
	}},
	{"regulation", "What may be given up for speed. Without it nothing is.", reflect.TypeFor[regulation.Regulation](), []keySpec{
		{name: "allow", meaning: "Trades that may be made.", fallback: "none", limits: oneOf(tradeNames()...)},
		{name: "staleness", meaning: "How old an answer may be where staleness is allowed ([caches of whole pages](../explanation/page-cache.md)).", fallback: regulation.DefaultStaleness.String()},
		{name: "memory_headroom_percent", meaning: "Memory of a host that stays free.", fallback: fmt.Sprint(regulation.DefaultMemoryHeadroomPercent), limits: between(0, 90)},
		{name: "no_restart", meaning: "Services that may be reloaded but never restarted."},
		{name: "no_touch", meaning: "Services that may not be changed; `kernel` keeps the hosts' kernel settings."},
		{name: "application_settings", meaning: "An application's own settings may be changed in the files that `settings` names ([known applications](applications.md)).", fallback: "false: only addresses of services are"},
		{name: "install", meaning: "Packages may be installed and upgraded; undo takes them away again ([packages](changes.md#packages)).", fallback: "false"},
		{name: "source", meaning: "Patches of the source of applications may be committed on a branch of Kasoku's own, built and tried ([patches](../how-to/change-the-code-of-a-program.md#let-tune-try-them)).", fallback: "false: they are only shown"},
		{name: "production", meaning: "People use this system: `load.reset: snapshot` is refused.", fallback: "false"},
	}},
	{"checks", "How the regulation is proved ([regulation checks](checks.md)).", reflect.TypeFor[Checks](), []keySpec{
		{name: "scenario", meaning: "A scenario whose setup is a write and whose sessions are its readers."},
		{name: "writes", meaning: "Writes that staleness is checked with.", fallback: "5", limits: between(0, maxCheckWrites)},
		{name: "visible_within", meaning: "How long after a write readers may be given the old state.", fallback: "`regulation.staleness` where that trade is allowed, else 0"},
		{name: "kill", meaning: "Databases that may be killed with SIGKILL at any time.", fallback: "none"},
		{name: "reboot", meaning: "Hosts that may be rebooted at any time; never this machine.", fallback: "none"},
		{name: "back_within", meaning: "How long a service may take to answer again.", fallback: defaultBackWithin.String()},
	}},
	{"evidence", "What a run looks at besides what Kasoku finds itself ([evidence](evidence.md)).", reflect.TypeFor[EvidenceConfig](), []keySpec{
		{name: "otlp", meaning: "Loopback address at which diagnostic runs receive OpenTelemetry spans over HTTP: `127.0.0.1:4318`."},
		{name: "otlp_grpc", meaning: "The same over gRPC: `127.0.0.1:4317`."},
		{name: "routes", meaning: "Names of routes that come before the learnt ones: `/users/:name/*`, or a regular expression that begins with `^`."},
		{name: "log_format", meaning: "The format of access logs whose server does not tell it: `combined`, `ltsv`, `json`, or the text of a `log_format`.", fallback: "recognised"},
		{name: "profile", meaning: "Whether profiles are taken, in the first and last diagnostic run of a session.", fallback: ProfileAuto, limits: oneOf(ProfileAuto, ProfileOff)},
	}},
	{"tune", "What decides how long experiments go on and what is kept.", reflect.TypeFor[Tune](), []keySpec{
		{name: "smallest_effect", meaning: "The smallest effect worth keeping, as a fraction.", fallback: fmt.Sprint(DefaultSmallestEffect), limits: map[string]any{"minimum": 0, "exclusiveMaximum": 1}},
		{name: "alpha", meaning: fmt.Sprintf("False-positive rate of one experiment, from %v to %v; a session has five times that.", stat.MinAlpha, stat.MaxAlpha), fallback: fmt.Sprint(DefaultAlpha), limits: between(0, stat.MaxAlpha)},
		{name: "max_pairs", meaning: fmt.Sprintf("Pairs of runs that an experiment may take, from %d.", stat.FirstLook), fallback: fmt.Sprint(DefaultMaxPairs), limits: between(0, stat.LastLook)},
		{name: "max_foreign_cpu", meaning: "Share of each machine that other processes, or other virtual machines, may use in a run before it is no evidence.", fallback: fmt.Sprintf("%v, and steal that stays", DefaultMaxForeignCPU), limits: between(0, 1)},
		{name: "revert_after", meaning: "How long a host waits for a silent Kasoku before it puts itself back ([journal](../explanation/journal.md)); at least 1s.", fallback: "60s"},
	}},
}
