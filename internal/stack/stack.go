// Package stack is what Kasoku is pointed at: hosts, services, who talks to
// whom, the load and the regulation, as written in kasoku.yaml.
//
// In: kasoku.yaml, or a running machine for discovery (`kasoku init`).
// Out: a validated Stack, and Control to start, stop, reload and probe its
// services.
package stack

import (
	"time"

	"kasoku/internal/foreign"
	"kasoku/internal/regulation"
)

// Kind of a service decides which collectors and remedies know it.
type Kind string

const (
	Nginx     Kind = "nginx"
	Apache    Kind = "apache"
	PHPFPM    Kind = "php-fpm"
	MariaDB   Kind = "mariadb"
	MySQL     Kind = "mysql"
	Memcached Kind = "memcached"
	Redis     Kind = "redis"
	Varnish   Kind = "varnish"
	App       Kind = "app" // anything else: an application server or its code
)

// Stack is kasoku.yaml, validated, with relative paths made absolute.
type Stack struct {
	// Path of the kasoku.yaml it came from; Dir is its folder. State lives in
	// Dir/.kasoku.
	Path string `yaml:"-" json:"path"`
	Dir  string `yaml:"-" json:"dir"`

	Version    int                   `yaml:"version" json:"version"` // 1
	Name       string                `yaml:"name" json:"name"`
	Hosts      map[string]HostConfig `yaml:"hosts,omitempty" json:"hosts,omitempty"`
	Services   []Service             `yaml:"services" json:"services"`
	Load       LoadConfig            `yaml:"load" json:"load"`
	Regulation regulation.Regulation `yaml:"regulation,omitempty" json:"regulation"`
	Checks     Checks                `yaml:"checks,omitempty" json:"checks,omitzero"`
	Evidence   EvidenceConfig        `yaml:"evidence,omitempty" json:"evidence"`
	Tune       Tune                  `yaml:"tune,omitempty" json:"tune"`

	// Followers are databases that only follow another one of the stack; see
	// WithStandbys, which puts them there.
	Followers []Service `yaml:"-" json:"followers,omitempty"`
}

// HostConfig is one machine. The one named "local" is this one, whether it is
// listed or not.
type HostConfig struct {
	// SSH is the destination as ssh(1) takes it: user@name, or a Host of the
	// user's own configuration, which also says port, key and jump hosts.
	SSH string `yaml:"ssh,omitempty" json:"ssh,omitempty"`
	// SSHConfig is the configuration file that ssh reads instead of the user's
	// own (ssh -F); relative to kasoku.yaml's folder.
	SSHConfig string `yaml:"ssh_config,omitempty" json:"ssh_config,omitempty"`
	// Sudo runs Kasoku's helper there by "sudo -n", for users other than root.
	Sudo bool `yaml:"sudo,omitempty" json:"sudo,omitempty"`
}

// Service is something that runs on a host and can be tuned.
type Service struct {
	Name string `yaml:"name" json:"name"`
	Kind Kind   `yaml:"kind" json:"kind"`
	// Host it runs on, default "local". All paths of the service, those of its
	// login too, are on that host, and must be absolute on another than local.
	Host string `yaml:"host,omitempty" json:"host,omitempty"`
	// Version as the program told discovery, e.g. "1.22.1". Not written as a
	// key, because an upgrade would make it wrong.
	Version string `yaml:"-" json:"version,omitempty"`
	// Binary is the program's path, e.g. /usr/sbin/nginx.
	Binary string `yaml:"binary,omitempty" json:"binary,omitempty"`
	// Config is the main configuration file; includes are followed from it.
	Config string `yaml:"config,omitempty" json:"config,omitempty"`
	// Prefix is what relative paths in Config are relative to (nginx -p).
	Prefix string `yaml:"prefix,omitempty" json:"prefix,omitempty"`
	// PHPIni is the php.ini of a php-fpm service, or of the PHP that is a module
	// of an Apache.
	PHPIni string `yaml:"php_ini,omitempty" json:"php_ini,omitempty"`
	// Root is the application's folder (kind app), Settings its files that
	// may name addresses of other services.
	Root     string   `yaml:"root,omitempty" json:"root,omitempty"`
	Settings []string `yaml:"settings,omitempty,flow" json:"settings,omitempty"`
	// RunsIn names the service in whose processes an app runs (PHP in php-fpm);
	// such an app has no Control of its own and is restarted with it.
	RunsIn string `yaml:"runs_in,omitempty" json:"runs_in,omitempty"`
	// SpareFor names the service of another host whose work this one can do as
	// well, with the same code at the same paths (php-fpm, app). Kasoku may put
	// there what is missing, let nginx pass requests to it, and says which share
	// pays. For a MariaDB it is the one whose data may move there: see
	// WithStandbys.
	SpareFor string `yaml:"spare_for,omitempty" json:"spare_for,omitempty"`
	// FrontFor names the Apache of the same host that this nginx may be put in
	// front of. It need not be installed. While it serves nothing, it is as if it
	// were not in the stack; see FrontState.
	FrontFor string `yaml:"front_for,omitempty" json:"front_for,omitempty"`
	// Behind is the service that may be put in front of this one; derived from
	// FrontFor.
	Behind string `yaml:"-" json:"behind,omitempty"`
	// Listen are its endpoints: "127.0.0.1:8080" or "unix:/run/php.sock".
	Listen []string `yaml:"listen,omitempty,flow" json:"listen,omitempty"`
	// TalksTo names the services it calls.
	TalksTo []string `yaml:"talks_to,omitempty,flow" json:"talks_to,omitempty"`
	Control Control  `yaml:"control,omitempty" json:"control"`
	Health  Health   `yaml:"health,omitempty" json:"health"`
	// Login to a database service, or to Redis.
	Login *Login `yaml:"login,omitempty" json:"login,omitempty"`
	// Status is the URL of the service's own status page: nginx stub_status,
	// PHP's opcache_get_status as JSON (php-fpm, Apache with PHP, app). Empty: found in the
	// configuration where that says it.
	Status string `yaml:"status,omitempty" json:"status,omitempty"`
	// PProf is the base URL of a Go program's profiles, e.g.
	// http://127.0.0.1:6060/debug/pprof/ (kind app).
	PProf string `yaml:"pprof,omitempty" json:"pprof,omitempty"`
	// Build says how a compiled app's program is made (kind app).
	Build *Build `yaml:"build,omitempty" json:"build,omitempty"`
	// AccessLog is the file that the service writes a line to for each request.
	// Empty: read from the configuration (nginx, Apache).
	AccessLog string `yaml:"access_log,omitempty" json:"access_log,omitempty"`
	// Logs are its error logs. Empty: read from the configuration.
	Logs []string `yaml:"logs,omitempty,flow" json:"logs,omitempty"`
	// Variants are other implementations of an app; one of all runs at a time.
	Variants []Variant `yaml:"variants,omitempty" json:"variants,omitempty"`

	using string   // the implementation that it stands for, see As
	main  *Service // as in kasoku.yaml, where using is set
}

// Build says how an app's program is made from its source.
type Build struct {
	// Dir is the folder of the main package, where Command runs.
	Dir     string       `yaml:"dir" json:"dir"`
	Command foreign.Argv `yaml:"command,flow" json:"command"` // [go, build, -o, app, .]
	// Products are the files that Command makes or replaces, relative to Dir.
	Products []string `yaml:"products,flow" json:"products"`
}

// Control says how a service is started, stopped and told to re-read its
// configuration. Commands run without a shell, in kasoku.yaml's folder (an app
// with Root: there; on another host: in /).
type Control struct {
	// Method: "systemd" (Unit), "supervisor" (Program, Config), "process"
	// (PIDFile and Start, signals otherwise), "command" (Start, Stop, Reload).
	// Default: systemd if Unit is given, supervisor if Program is, else process.
	// A process may leave out PIDFile (the service is then found by its binary,
	// configuration and listen address) and, for nginx, php-fpm and databases,
	// Start (binary and config say it).
	Method string `yaml:"method,omitempty" json:"method,omitempty"`
	Unit   string `yaml:"unit,omitempty" json:"unit,omitempty"`
	// Program of supervisor: a name, group:name, or group:* for all of a group.
	Program string `yaml:"program,omitempty" json:"program,omitempty"`
	// Config is the supervisord.conf that names supervisord's socket. Empty:
	// supervisorctl's own search.
	Config  string `yaml:"config,omitempty" json:"config,omitempty"`
	PIDFile string `yaml:"pid_file,omitempty" json:"pid_file,omitempty"`
	// EnvFile holds NAME=value lines, as systemd's EnvironmentFile= has them,
	// that a process gets as its environment when Kasoku starts it (method
	// process). With it, nothing else of the environment before is kept.
	EnvFile string       `yaml:"env_file,omitempty" json:"env_file,omitempty"`
	Start   foreign.Argv `yaml:"start,omitempty,flow" json:"start,omitempty"`
	Stop    foreign.Argv `yaml:"stop,omitempty,flow" json:"stop,omitempty"`
	Reload  foreign.Argv `yaml:"reload,omitempty,flow" json:"reload,omitempty"`
	// Check validates the configuration without touching the service. Empty:
	// the kind's own (nginx -t, php-fpm -t, mariadbd --help --verbose,
	// haproxy -c).
	Check foreign.Argv `yaml:"check,omitempty,flow" json:"check,omitempty"`
	// Drain runs before the service is stopped or restarted and returns when
	// its workers have finished what they do (a queue worker's "quit when
	// idle"). If it fails or takes longer than DrainTimeout (default one
	// minute), the service is not stopped. DrainTimeout also bounds the wait for
	// old workers of nginx after a reload (default 10s), which go on afterwards.
	Drain        foreign.Argv  `yaml:"drain,omitempty,flow" json:"drain,omitempty"`
	DrainTimeout time.Duration `yaml:"drain_timeout,omitempty" json:"drain_timeout,omitempty"`
}

// Health is how to know that a service answers. Empty: connect to Listen[0].
type Health struct {
	URL     string        `yaml:"url,omitempty" json:"url,omitempty"`
	Timeout time.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"` // default 30s
}

// Login to a database. The password itself is never written in kasoku.yaml:
// it comes from PasswordFile, from the environment variable PasswordEnv, from
// the [client] section of DefaultsFile, or, with Ask, from whoever sits at the
// terminal.
type Login struct {
	User         string `yaml:"user,omitempty" json:"user,omitempty"`
	PasswordFile string `yaml:"password_file,omitempty" json:"password_file,omitempty"`
	PasswordEnv  string `yaml:"password_env,omitempty" json:"password_env,omitempty"`
	DefaultsFile string `yaml:"defaults_file,omitempty" json:"defaults_file,omitempty"`
	// Ask for the password on the terminal, without echo.
	Ask   bool   `yaml:"ask,omitempty" json:"ask,omitempty"`
	asked secret // what was answered
	// Socket or Address to log in through; empty: the service's Listen[0].
	Socket  string `yaml:"socket,omitempty" json:"socket,omitempty"`
	Address string `yaml:"address,omitempty" json:"address,omitempty"`

	given *credentials // by Give
}

// LoadConfig says what drives the stack: a scenario or somebody else's
// benchmark.
type LoadConfig struct {
	Scenario string `yaml:"scenario,omitempty" json:"scenario,omitempty"` // scenario.yaml
	// Command is a benchmark that puts the load on instead of a scenario.
	Command *foreign.Command `yaml:"command,omitempty" json:"command,omitempty"`
	URL     string           `yaml:"url" json:"url"` // base URL of the front door
	// Workload overrides the scenario's number of virtual users; 0: as there.
	Workload int `yaml:"workload,omitempty" json:"workload,omitempty"`
	// Reset brings the data back to the state every run starts from: a command, or
	// "snapshot", and Kasoku does it itself.
	Reset Reset `yaml:"reset,omitempty,flow" json:"reset,omitempty"`
	// Snapshot narrows or widens what Reset's "snapshot" keeps.
	Snapshot Snapshot `yaml:"snapshot,omitempty" json:"snapshot,omitzero"`
	// Allow lists addresses (CIDR) besides this machine's own that load may be
	// sent to. Without it Kasoku refuses to send load elsewhere.
	Allow []string `yaml:"allow,omitempty,flow" json:"allow,omitempty"`
	// SkipTLSVerify takes any certificate of a front door elsewhere.
	SkipTLSVerify bool `yaml:"skip_tls_verify,omitempty" json:"skip_tls_verify,omitempty"`
}

// Snapshot says what load.reset: snapshot keeps and puts back before each run: by
// default the rows of all databases with a login and the keys of every Redis;
// memcached is emptied.
type Snapshot struct {
	// Databases by name; empty: all but the server's own.
	Databases []string `yaml:"databases,omitempty,flow" json:"databases,omitempty"`
	// Except lists tables, NAME or DATABASE.NAME, whose rows stay as they are.
	Except []string `yaml:"except,omitempty,flow" json:"except,omitempty"`
	// Folders with everything in them, absolute; HOST:PATH on another host.
	Folders []string `yaml:"folders,omitempty,flow" json:"folders,omitempty"`
	// Shared: others write to these databases, too, and may lose what they write.
	Shared bool `yaml:"shared,omitempty" json:"shared,omitempty"`
}

// EvidenceConfig says what a run looks at besides what Kasoku finds itself.
type EvidenceConfig struct {
	// OTLP is the address that diagnostic runs receive OpenTelemetry spans at
	// (HTTP), e.g. 127.0.0.1:4318; OTLPGRPC the same for gRPC, e.g.
	// 127.0.0.1:4317. Empty: no receiver.
	OTLP     string `yaml:"otlp,omitempty" json:"otlp,omitempty"`
	OTLPGRPC string `yaml:"otlp_grpc,omitempty" json:"otlp_grpc,omitempty"`
	// Routes name requests before the learnt ones do: "/users/:name/*".
	Routes []string `yaml:"routes,omitempty,flow" json:"routes,omitempty"`
	// LogFormat of access logs whose server's configuration does not tell it:
	// combined, ltsv, json, or the text of a log_format.
	LogFormat string `yaml:"log_format,omitempty" json:"log_format,omitempty"`
	// Profile: "auto" (default) takes profiles in the first diagnostic run,
	// "off" never.
	Profile string `yaml:"profile,omitempty" json:"profile,omitempty"`
}

// Tune holds the loop's own knobs.
type Tune struct {
	// SmallestEffect worth keeping, as a fraction. Default 0.01.
	SmallestEffect float64 `yaml:"smallest_effect,omitempty" json:"smallest_effect,omitempty"`
	// Alpha is the false-keep rate of one experiment, from 0.00001 to 0.1.
	// Default 0.01. A session of tune keeps anything in vain with at most five
	// times that.
	Alpha float64 `yaml:"alpha,omitempty" json:"alpha,omitempty"`
	// MaxPairs of runs per experiment. Default and most 400; at least 3.
	MaxPairs int `yaml:"max_pairs,omitempty" json:"max_pairs,omitempty"`
	// MaxForeignCPU is the share of the machine that processes outside the
	// stack, or other virtual machines, may use in a run before it is no
	// evidence. Default 0.10, and what other virtual machines take as a rule.
	MaxForeignCPU float64 `yaml:"max_foreign_cpu,omitempty" json:"max_foreign_cpu,omitempty"`
	// RevertAfter is how long a host waits for a silent Kasoku before it puts
	// itself back. Default 60s; at least 1s.
	RevertAfter time.Duration `yaml:"revert_after,omitempty" json:"revert_after,omitempty"`
}

// Service returns the service of that name, nil if there is none.
func (s *Stack) Service(name string) *Service {
	for i := range s.Services {
		if s.Services[i].Name == name {
			return &s.Services[i]
		}
	}
	return nil
}

// OfKind returns the services of these kinds in file order.
func (s *Stack) OfKind(kinds ...Kind) []*Service {
	var out []*Service
	for i := range s.Services {
		for _, k := range kinds {
			if s.Services[i].Kind == k {
				out = append(out, &s.Services[i])
			}
		}
	}
	return out
}
