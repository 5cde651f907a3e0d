// Package evidence is what a run saw: resources per service, statements,
// counters, configuration, each with its source and its health.
//
// In: a Stack and its hosts. Out: an Evidence for one run window, and a
// Snapshot of configuration and schema for planning. Collectors fetch bytes;
// parsers (pure, io.Reader) know their formats and no hosts.
package evidence

import (
	"time"

	"kasoku/internal/load"
)

// Evidence of one run. Everything is for the measured window only.
type Evidence struct {
	Load   *load.Result `json:"load"`
	System System       `json:"system"`
	// Services by name of the stack's service.
	Services   map[string]ServiceUse   `json:"services"`
	Statements []Statement             `json:"statements,omitempty"` // most total time first
	Counters   map[string]CounterDelta `json:"counters,omitempty"`   // by service: database status, fpm status
	Health     []Health                `json:"health"`
}

// System is the host's use of resources in the window.
type System struct {
	CPUs int `json:"cpus"`
	// CPU seconds by mode over all CPUs in the window; Sys includes interrupts.
	// User+Sys+Idle+IOWait+Steal is CPUs × Window, to a tick (10 ms) per CPU.
	User, Sys, IOWait, Idle, Steal float64
	// ServicesCPU is Σ of the stack's services, GeneratorCPU the load
	// generator's, ForeignCPU what neither explains. CPU seconds.
	ServicesCPU  float64 `json:"services_cpu"`
	GeneratorCPU float64 `json:"generator_cpu"`
	ForeignCPU   float64 `json:"foreign_cpu"`

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
	// Samples are taken twice a second during the window.
	Samples []SystemSample `json:"samples,omitempty"`
}

// SystemSample is the host at one moment of the window.
type SystemSample struct {
	At              time.Duration `json:"at"`               // since the window began
	Busy            float64       `json:"busy"`             // CPU utilization since the sample before, 0–1
	Runnable        int           `json:"runnable"`         // tasks, without the sampler
	MemoryAvailable int64         `json:"memory_available"` // bytes
}

// ServiceUse is what one service's processes used in the window.
type ServiceUse struct {
	CPU       float64 `json:"cpu"` // seconds, user + system, of all its processes
	Processes int     `json:"processes"`
	RSS       int64   `json:"rss"` // bytes, summed proportional set size at the end (RSS if PSS is unreadable)
	// OpenFiles and FileLimit (soft) are of the process closest to its limit,
	// at the end.
	OpenFiles int `json:"open_files"`
	FileLimit int `json:"file_limit"`
}

// Statement is one class of SQL statements (a digest).
type Statement struct {
	Service      string        `json:"service"`
	Schema       string        `json:"schema"`
	Fingerprint  string        `json:"fingerprint"` // literals replaced by ?
	Example      string        `json:"example"`     // one real statement; values of password-like columns masked
	Count        int64         `json:"count"`
	Total        time.Duration `json:"total"`
	LockTime     time.Duration `json:"lock_time"`
	RowsExamined int64         `json:"rows_examined"`
	RowsSent     int64         `json:"rows_sent"`
	FullScans    int64         `json:"full_scans"`
	TmpTables    int64         `json:"tmp_tables"`
	TmpDisk      int64         `json:"tmp_disk_tables"`
	Filesorts    int64         `json:"filesorts"`
	// Explain of Example as JSON, "" if it could not be taken.
	Explain string `json:"explain,omitempty"`
}

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
}

// Snapshot is the configuration as it is now: what planning works on, so that
// planning itself needs no host.
type Snapshot struct {
	// Files by host name and absolute path: every configuration file of every
	// service, following includes, and the Settings of app services.
	Files map[string]map[string]File `json:"files"`
	// Databases by service name.
	Databases map[string]*Database `json:"databases,omitempty"`
	// PHP by php-fpm service name: effective ini values.
	PHP map[string]map[string]string `json:"php,omitempty"`
	// Nginx by service name: version and modules of `nginx -V`.
	Nginx map[string]NginxBuild `json:"nginx,omitempty"`
	// Users by "host/service": the user and groups its workers run as.
	Users map[string]ProcessUser `json:"users,omitempty"`
	// StaticFiles: files below the application roots whose bytes equal a
	// sampled answer, by URL path.
	StaticFiles map[string]StaticFile `json:"static_files,omitempty"`
	// Root is true when Kasoku acts as root on the host.
	Root   bool  `json:"root"`
	Memory int64 `json:"memory"` // bytes of the host
	CPUs   int   `json:"cpus"`
	// SharedMemory: "/dev/shm" if it is a tmpfs that has room, else "".
	SharedMemory string   `json:"shared_memory,omitempty"`
	Health       []Health `json:"health"`
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

// StaticFile is a file that an answer was found to be a copy of.
type StaticFile struct {
	Path        string `json:"path"` // on the host
	ContentType string `json:"content_type"`
	Readable    bool   `json:"readable"` // by the web server's workers
}

// ProcessUser is whom a service's workers run as.
type ProcessUser struct {
	UID    int    `json:"uid"`
	GID    int    `json:"gid"`
	Groups []int  `json:"groups"`
	Name   string `json:"name"`
	Group  string `json:"group"`
}

// NginxBuild is what `nginx -V` tells.
type NginxBuild struct {
	Version string   `json:"version"`
	Modules []string `json:"modules"` // configure arguments
}

// Database is a database server as it is configured and what it holds.
type Database struct {
	Version   string            `json:"version"` // SELECT VERSION()
	MariaDB   bool              `json:"mariadb"`
	Variables map[string]string `json:"variables"`  // SHOW GLOBAL VARIABLES
	Tables    []Table           `json:"tables"`     // of user schemas
	DataBytes int64             `json:"data_bytes"` // InnoDB data + indexes
}

// Table of a user schema.
type Table struct {
	Schema, Name, Engine string
	Rows                 int64 // estimate
	DataBytes            int64
	IndexBytes           int64
	Columns              []Column
	Indexes              []TableIndex
}

// Column of a table.
type Column struct {
	Name, Type string // Type as in SHOW COLUMNS: varchar(255)
	Nullable   bool
	// Distinct values estimated from a bounded sample of rows; 0 unknown.
	Distinct int64
}

// TableIndex is one index as SHOW INDEX tells it.
type TableIndex struct {
	Name    string
	Unique  bool
	Columns []string // in order; "col(10)" for a prefix
	Type    string   // BTREE, HASH, FULLTEXT, SPATIAL, RTREE
}
