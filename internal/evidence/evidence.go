// Package evidence is what a run saw: resources per service, statements,
// counters, configuration, each with its source and its health.
//
// In: a Stack and its hosts. Out: an Evidence for one run window, and a
// Snapshot of configuration and schema for planning. Collectors fetch bytes;
// parsers (pure, io.Reader) know their formats and no hosts.
package evidence

import (
	"time"

	"kasoku/internal/digest"
	"kasoku/internal/knownapp"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/tables"
	"kasoku/internal/trace"
)

// Evidence of one run. Everything is for the measured window only.
type Evidence struct {
	Load *load.Result `json:"load"`
	// Asked is the load of the run that Load.Assets and Load.Pages are of, where
	// that is another one: their counts are parts of its requests and of its window.
	Asked *load.Result `json:"-"`
	// System is the front host's (stack.Stack.FrontHost); Hosts are those of the
	// other hosts by name, the machine that makes the load among them. See On.
	System System             `json:"system"`
	Hosts  map[string]*System `json:"hosts,omitempty"`
	// Services by name of the stack's service.
	Services map[string]ServiceUse `json:"services"`
	// Versions by service; only diagnostic runs ask. See Snapshot.Versions.
	Versions   map[string]string `json:"versions,omitempty"`
	Statements []Statement       `json:"statements,omitempty"` // most total time first
	// Tables of the databases, of a diagnostic run.
	Tables   []tables.Table          `json:"tables,omitempty"`
	Counters map[string]CounterDelta `json:"counters,omitempty"` // by service: database status, fpm status
	// Routes of the web servers' access logs, most total time first.
	Routes []digest.Route `json:"routes,omitempty"`
	// Targets that were asked for with GET, most time first, of a diagnostic run with
	// somebody else's benchmark: what Kasoku's own load knows of its requests. They are
	// not stored, as a query may hold a secret.
	Targets []Target `json:"-"`
	// Active is the part of the window in which requests came, by the log of the web
	// server that somebody else's benchmark talks to: the rest is its own set-up and end.
	// 0: not known, or all of it.
	Active time.Duration `json:"active,omitempty"`
	// Preparing is how long the window went on before that benchmark put its load on, by
	// the same log: it sets data back and tries a few requests first. 0: not known, or
	// not at all.
	Preparing time.Duration `json:"preparing,omitempty"`
	// Requests is what single requests did behind the web server.
	Requests *trace.Summary `json:"requests,omitempty"`
	// Profiles of services, taken in diagnostic runs.
	Profiles []Profile `json:"profiles,omitempty"`
	// Logs: what services wrote to their error logs during the window.
	Logs []LogLine `json:"logs,omitempty"`
	// LogsBefore: what Apache wrote between its start and the window, of the
	// messages that it writes once in its life.
	LogsBefore []LogLine `json:"logs_before,omitempty"`
	// Answers of paths that health checks ask for, asked some times more.
	Answers []load.ConstantAnswer `json:"answers,omitempty"`
	// Latencies of one small command to a cache, over the window (C07).
	Latencies []LatencyProbe `json:"latencies,omitempty"`
	// LockWaits: tables whose rows transactions waited for, most first; only
	// diagnostic runs look.
	LockWaits []LockWait `json:"lock_waits,omitempty"`
	Health    []Health   `json:"health"`
}

// Profile says where the time of one service's processes went.
type Profile struct {
	Service string `json:"service"`
	// Tool that took it: "perf", "go pprof", "excimer", "php-fpm slow log".
	Tool string `json:"tool"`
	// Wall: samples of elapsed time, waiting included; else of CPU time.
	Wall    bool          `json:"wall"`
	Samples int64         `json:"samples"`
	Period  time.Duration `json:"period"` // one sample stands for it; 0 if Of is set
	// Of is what is shared out when it is not time: "bytes allocated".
	Of string `json:"of,omitempty"`
	// Top functions, largest self share first; shares of all samples, 0–1. The
	// last ones are there for what they call.
	Top []ProfileFrame `json:"top"`
	// Artifact is the name of the pprof file (gzip) kept with the run.
	Artifact string `json:"artifact,omitempty"`
	// Data is that file until the run is stored.
	Data []byte `json:"-"`
}

// ProfileFrame is one function of a profile.
type ProfileFrame struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"` // "app/user.php:120", as the tool knows it
	// Self is its own share of the samples, Total with what it called. 0–1.
	Self  float64 `json:"self"`
	Total float64 `json:"total"`
	// Waiting: the function waits for others (a socket, a lock, a timer) and
	// uses no CPU meanwhile. Only profiles of elapsed time (Wall) have such.
	Waiting bool `json:"waiting,omitempty"`
}

// LogLine is one kind of message in a service's error log: numbers, addresses
// and quoted values are put together.
type LogLine struct {
	Service string `json:"service"`
	Level   string `json:"level"` // "crit", "error", "warning", "notice", "" unknown
	Text    string `json:"text"`  // the first of its kind, secrets masked
	Count   int64  `json:"count"`
	// Measures that it points to, e.g. C16 for "no free port"; may be empty.
	Measures []string `json:"measures,omitempty"`
}

// LatencyProbe is one series of timed small commands to a cache.
type LatencyProbe struct {
	Service string `json:"service"`
	Command string `json:"command"` // "get", "PING"
	Count   int64  `json:"count"`
	// P50, P99 and Max over the window; First and Last are the medians of its
	// first and last third.
	P50   time.Duration `json:"p50"`
	P99   time.Duration `json:"p99"`
	Max   time.Duration `json:"max"`
	First time.Duration `json:"first"`
	Last  time.Duration `json:"last"`
}

// System is a host's use of resources in the window.
type System struct {
	// Host is its name in kasoku.yaml; "" in runs stored before there were several.
	Host string `json:"host,omitempty"`
	// Release of its kernel, "6.1.0-18-amd64" (/proc/sys/kernel/osrelease).
	Release string `json:"release,omitempty"`
	CPUs    int    `json:"cpus"`
	// CPU seconds by mode over all CPUs in the window; Sys includes interrupts.
	// With Outside they are CPUs × Window (CPUTime), to a tick (10 ms) per CPU.
	// User and Sys of a container are its own, those of a machine leave out
	// containers that are hosts themselves; what is left out is Outside.
	User, Sys, IOWait, Idle, Steal float64
	Outside                        float64 `json:"outside,omitempty"`
	// ServicesCPU is Σ of the stack's services, GeneratorCPU that of Kasoku (of its
	// agent, on another host), of its load and of what it started besides,
	// ForeignCPU what neither explains. CPU seconds.
	ServicesCPU  float64 `json:"services_cpu"`
	GeneratorCPU float64 `json:"generator_cpu"`
	ForeignCPU   float64 `json:"foreign_cpu"`
	// Neighbours is the part of Outside that neither interrupts, other hosts of
	// the stack nor the generator explain, as far as they are on this machine.
	Neighbours float64 `json:"neighbours,omitempty"`

	MemoryTotal     int64 `json:"memory_total"`     // bytes
	MemoryAvailable int64 `json:"memory_available"` // bytes, lowest seen
	// ContextSwitches per second.
	ContextSwitches float64 `json:"context_switches_per_second"`
	RunQueue        float64 `json:"run_queue"` // mean runnable tasks, without the sampler
	DiskBusy        float64 `json:"disk_busy"` // busiest disk's utilization, 0–1
	DiskWrites      float64 `json:"disk_writes_per_second"`
	TimeWait        int     `json:"time_wait"`        // sockets at the end
	ListenOverflows int64   `json:"listen_overflows"` // during the window
	// PSI "some" averages over the window, 0–100; -1 if the kernel has none.
	PressureCPU, PressureIO, PressureMemory float64
	// Interrupts per second, soft ones not counted. SoftIRQ and Guest are CPU
	// seconds that are part of Sys and User.
	Interrupts float64 `json:"interrupts_per_second"`
	SoftIRQ    float64 `json:"softirq"`
	Guest      float64 `json:"guest"`
	// PerCPU is each CPU's utilization, 0–1: one full CPU among idle ones is a
	// serial section.
	PerCPU []float64 `json:"per_cpu,omitempty"`
	// PageCache and Dirty are bytes at the end; SwapUsed too. SwapIn, SwapOut
	// pages per second; MajorFaults per second (a page read from disk).
	PageCache   int64   `json:"page_cache"`
	Dirty       int64   `json:"dirty"`
	SwapUsed    int64   `json:"swap_used"`
	SwapIn      float64 `json:"swap_in_per_second"`
	SwapOut     float64 `json:"swap_out_per_second"`
	MajorFaults float64 `json:"major_faults_per_second"`
	// Disks that were used, Networks that are up (lo too), TCP counters.
	Disks    []DiskUse    `json:"disks,omitempty"`
	Networks []NetworkUse `json:"networks,omitempty"`
	TCP      TCPUse       `json:"tcp"`
	Kernel   KernelUse    `json:"kernel"`
	// OpenFiles and FileMax are the host's (/proc/sys/fs/file-nr).
	OpenFiles int64 `json:"open_files"`
	FileMax   int64 `json:"file_max"`
	// Cgroup limits that hold for this machine or container; nil: none.
	Cgroup *CgroupUse `json:"cgroup,omitempty"`
	// Forks are the processes and threads that were made in the window, by anybody.
	Forks int64 `json:"forks,omitempty"`
	// Others are the processes outside the stack that used most CPU.
	Others []ProcessUse `json:"others,omitempty"`
	// Samples are taken twice a second during the window.
	Samples []SystemSample `json:"samples,omitempty"`
}

// DiskUse is one block device in the window (/proc/diskstats).
type DiskUse struct {
	Name string  `json:"name"`
	Busy float64 `json:"busy"` // 0–1: time with I/O under way
	// Reads and Writes per second, their bytes per second and mean latency.
	Reads, Writes             float64
	ReadBytes, WriteBytes     float64
	ReadLatency, WriteLatency time.Duration
	Queue                     float64 `json:"queue"` // mean requests under way
}

// NetworkUse is one interface in the window (/proc/net/dev).
type NetworkUse struct {
	Name                        string
	ReceiveBytes, SendBytes     float64 // per second
	ReceivePackets, SendPackets float64 // per second
	Dropped, Errors             int64   // in the window, both ways
	SpeedBytes                  float64 // per second each way; 0 unknown
}

// TCPUse is what the host's TCP did in the window.
type TCPUse struct {
	States map[string]int `json:"states,omitempty"` // sockets at the end by state: ESTAB, TIME-WAIT, …
	// PortsUsed of PortRange (ip_local_port_range) by the busiest destination.
	PortsUsed int    `json:"ports_used"`
	PortRange int    `json:"port_range"`
	PortsTo   string `json:"ports_to,omitempty"` // that destination
	// In the window: connections made and taken, segments sent again, refused
	// for a full accept queue (ListenOverflows), SYNs dropped, resets sent,
	// TIME-WAIT sockets that had to be dropped.
	ActiveOpens, PassiveOpens, Retransmits, ListenDrops, Resets, TimeWaitOverflow int64
	Segments                                                                      int64 // sent
	// Queues are the listening sockets with the fullest accept queues.
	Queues []AcceptQueue `json:"queues,omitempty"`
}

// AcceptQueue is one listening socket: the longest queue seen and its limit.
type AcceptQueue struct {
	Listen  string `json:"listen"`
	Service string `json:"service,omitempty"`
	Longest int    `json:"longest"`
	Limit   int    `json:"limit"`
}

// CgroupUse holds limits of a control group and what they did in the window.
type CgroupUse struct {
	CPUs             float64       `json:"cpus"` // quota / period; 0 none
	Throttled        time.Duration `json:"throttled"`
	ThrottledPeriods int64         `json:"throttled_periods"`
	MemoryLimit      int64         `json:"memory_limit"` // bytes; 0 none
	MemoryUsed       int64         `json:"memory_used"`
	OOMKills         int64         `json:"oom_kills"`
	PidsLimit        int64         `json:"pids_limit"` // 0 none
	Pids             int64         `json:"pids"`
}

// ProcessUse is one process's CPU time in the window.
type ProcessUse struct {
	PID     int     `json:"pid"`
	Name    string  `json:"name"`
	Service string  `json:"service,omitempty"`
	CPU     float64 `json:"cpu"` // seconds
	// Unit of systemd that it belongs to, "munin-node.service"; only of those
	// outside the stack.
	Unit string `json:"unit,omitempty"`
}

// SystemSample is the host at one moment of the window.
type SystemSample struct {
	At              time.Duration `json:"at"`               // since the window began
	Busy            float64       `json:"busy"`             // CPU utilization since the sample before, 0–1
	Runnable        int           `json:"runnable"`         // tasks, without the sampler
	MemoryAvailable int64         `json:"memory_available"` // bytes
}

// Statement is one class of SQL statements (a digest).
type Statement = digest.Statement

// CounterDelta holds a service's counters: Delta over the window for those
// that count up, Value at its end for all (as the server prints them).
type CounterDelta struct {
	Delta map[string]float64 `json:"delta,omitempty"`
	Value map[string]string  `json:"value,omitempty"`
}

// Health says what one source covered. OK false is a finding about the run: a
// source that should have told something did not. What was not asked for or
// cannot be known here is OK with a text that begins with "not judged".
type Health struct {
	Source string `json:"source"` // "slow log of db", "system", "generator"…
	OK     bool   `json:"ok"`
	Text   string `json:"text"` // what it covered, or why not
	// Spoils: what was measured cannot be trusted either, because the service
	// or its counters began anew in the window; the run is repeated.
	Spoils bool `json:"spoils,omitempty"`
	// OldConnections is the database most of whose statements were not recorded,
	// because they came by connections that are older than the log; "" if there is
	// none. Who holds them must connect anew.
	OldConnections string `json:"old_connections,omitempty"`
	// Sampled: so many looks at what ran stand for those statements; 0: none do.
	Sampled int `json:"sampled,omitempty"`
}

// Snapshot is the configuration as it is now: what planning works on, so that
// planning itself needs no host.
type Snapshot struct {
	// Files by host name and absolute path: every configuration file of every
	// service, following includes, and the Settings of app services.
	Files map[string]map[string]File `json:"files"`
	// Databases by service name.
	Databases map[string]*Database `json:"databases,omitempty"`
	// PHP by service name, php-fpm or Apache with PHP in it: effective ini values.
	PHP map[string]map[string]string `json:"php,omitempty"`
	// Nginx by service name: version and modules of `nginx -V`.
	Nginx map[string]NginxBuild `json:"nginx,omitempty"`
	// Apps by app service name: its main process.
	Apps map[string]AppProcess `json:"apps,omitempty"`
	// Variants by app service name and implementation: what each does now; only
	// of services that have variants.
	Variants map[string]map[string]stack.VariantState `json:"variants,omitempty"`
	// Fronts by service name: those that may be put in front of another.
	Fronts map[string]stack.FrontState `json:"fronts,omitempty"`
	// Standbys by service name: databases that another one's data may be moved to.
	Standbys map[string]Standby `json:"standbys,omitempty"`
	// GoProfiles by app service name: the latest CPU profile of a Go program,
	// as a pprof file.
	GoProfiles map[string][]byte `json:"-"`
	// Patches of the source of applications that can be shown to answer the same, as the
	// source is now. Only planning needs them.
	Patches []SourcePatch `json:"-"`
	// JoinPatches makes one patch of several of an application, by their IDs, the most
	// useful first; nil where there are none.
	JoinPatches func(service string, ids []string) (JoinedPatch, error) `json:"-"`
	// Unpatched is why the source of applications was not looked at.
	Unpatched []string `json:"-"`
	// Apache by service name.
	Apache map[string]ApacheBuild `json:"apache,omitempty"`
	// HAProxy by app service name: the files that an HAProxy reads, in their order.
	HAProxy map[string][]string `json:"haproxy,omitempty"`
	// Known by app service name: the known application that it is.
	Known map[string]knownapp.Found `json:"known,omitempty"`
	// Users by "host/service": the user and groups its workers run as.
	Users map[string]ProcessUser `json:"users,omitempty"`
	// StaticFiles: files below the application roots whose bytes equal a
	// sampled answer, by URL path.
	StaticFiles map[string]StaticFile `json:"static_files,omitempty"`
	// Root is true when Kasoku acts as root on the front host
	// (stack.Stack.FrontHost); the three after it are that host's too. See On.
	Root   bool  `json:"root"`
	Memory int64 `json:"memory"` // bytes of the host
	CPUs   int   `json:"cpus"`
	// SharedMemory: "/dev/shm" if it is a tmpfs that has room, else "".
	SharedMemory string `json:"shared_memory,omitempty"`
	// Machines are the other hosts that services run on, by name.
	Machines map[string]Machine `json:"machines,omitempty"`
	// Addresses that each host may be called by from others, its name among
	// them; nil with one host.
	Addresses map[string][]string `json:"addresses,omitempty"`
	// Spares by service: what its host has of what it needs.
	Spares map[string]Spare `json:"spares,omitempty"`
	// Kernel settings by host and key ("vm.swappiness", or a path below /sys).
	Kernel map[string]map[string]KernelSetting `json:"kernel,omitempty"`
	// Packages by host that services run from; nil: not asked. Sorted by name.
	Packages map[string][]Package `json:"packages,omitempty"`
	// Boot by host; nil: not asked (ReadBoot).
	Boot   map[string]Boot `json:"boot,omitempty"`
	Health []Health        `json:"health"`
}

// Machine is what a host has and may; the fields are those of Snapshot.
type Machine struct {
	Root         bool   `json:"root"`
	Memory       int64  `json:"memory"`
	CPUs         int    `json:"cpus"`
	SharedMemory string `json:"shared_memory,omitempty"`
}

// File is one configuration file's bytes and attributes.
type File struct {
	Content  []byte    `json:"-"`
	Hash     string    `json:"hash"`
	Mode     uint32    `json:"mode"` // permission bits
	UID      int       `json:"uid"`
	GID      int       `json:"gid"`
	ModTime  time.Time `json:"mtime"`
	Service  string    `json:"service"` // the service that reads it
	Writable bool      `json:"writable"`
}

// NginxBuild is what `nginx -V` tells.
type NginxBuild struct {
	Version string   `json:"version"`
	Modules []string `json:"modules"` // configure arguments
}
