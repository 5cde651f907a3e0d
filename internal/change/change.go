// Package change is the only writer: it applies planned changes to hosts,
// journals them first, activates and checks them, and puts them back.
//
// In: []Change, planned by internal/remedy or given by `kasoku try`.
// Out: a target that is either as it was or as planned, and a journal that
// says which, whatever happened in between.
package change

import (
	"io/fs"
	"time"

	"kasoku/internal/host"
)

// Kind of a change.
type Kind string

const (
	KindFile     Kind = "file"     // create or replace one file
	KindDir      Kind = "dir"      // create one directory of Kasoku's own, or of a unit's drop-ins
	KindLink     Kind = "link"     // make or remove one symbolic link
	KindVariable Kind = "variable" // a server variable at run time (SET GLOBAL)
	KindIndex    Kind = "index"    // create or drop one index
	KindTable    Kind = "table"    // the storage engine of one table, small or meant for InnoDB
	KindExec     Kind = "exec"     // a pair of commands, apply and undo
	KindRestart  Kind = "restart"  // activate a service though no file changed
	KindSysctl   Kind = "sysctl"   // a kernel setting at run time
	KindUnit     Kind = "unit"     // enable, disable, mask, start or stop a unit or a supervisor's program
	KindProcess  Kind = "process"  // start or stop one implementation of a service that is no unit
	KindPackage  Kind = "package"  // install, upgrade, downgrade or remove a Debian package
	KindGit      Kind = "git"      // a commit in an application's checkout, with its build
	KindReady    Kind = "ready"    // what a build made before, put in place of an application's
	KindReplica  Kind = "replica"  // a database has another one's data and follows it
	KindTurn     Kind = "turn"     // which of two such databases is written to
)

// Activation is how a service takes a change on, from the least disturbing.
type Activation int

const (
	None    Activation = iota // read at each use, or set at run time
	Reload                    // graceful: no connection is lost
	Restart                   // stop and start
)

func (a Activation) String() string { return [...]string{"none", "reload", "restart"}[a] }

// FileState is one side of a file change. The bytes themselves are in
// Content; the journal keeps them in its blob folder by hash.
type FileState struct {
	Hash    host.Hash   `json:"hash"` // "" = the file does not exist
	Mode    fs.FileMode `json:"mode,omitempty"`
	UID     int         `json:"uid"`
	GID     int         `json:"gid"`
	ModTime time.Time   `json:"mtime,omitzero"`
	Content []byte      `json:"-"`
}

// Index names one secondary index.
type Index struct {
	Schema  string   `json:"schema"`
	Table   string   `json:"table"`
	Name    string   `json:"name"`
	Columns []string `json:"columns"` // "col", "col(10)" for a prefix, "col DESC", in order
}

// Change is one reversible act on a host. It is plain data: it can be stored,
// printed and replayed. Which fields count depends on Kind.
type Change struct {
	Kind Kind   `json:"kind"`
	Host string `json:"host,omitempty"` // default "local"
	// Service that must take the change on, and how.
	Service  string     `json:"service,omitempty"`
	Activate Activation `json:"activate"`
	// Phase orders changes within a transaction, from 0: all of a phase are
	// written, in effect and healthy before the next begins, and they are put
	// back in the reverse order. The changes of a plan stand in this order.
	Phase int `json:"phase,omitempty"`
	// Accepts is a unix socket's path at which the service must take connections
	// once it has taken the change on, before the next phase begins; it may be
	// none of the endpoints that the service is known by. "" = nothing more.
	Accepts string `json:"accepts,omitempty"`
	// Workers must run once the service has taken the change on; nil: nobody asks.
	Workers *Workers `json:"workers,omitempty"`
	// Why, in one sentence, and Command, what a person would type to redo it.
	Why     string `json:"why,omitempty"`
	Command string `json:"command,omitempty"`

	// KindFile, KindDir and KindLink.
	Path   string     `json:"path,omitempty"`
	Before *FileState `json:"before,omitempty"` // what the plan saw
	After  *FileState `json:"after,omitempty"`
	// SameTime: written again with the same bytes, a KindFile has the time that
	// it had before it was put back, as what is put back has its own. It is for
	// a file whose time is what an application keeps its caches by: each side of
	// an experiment then finds them as it left them. Of settings that change no
	// answer only, since what was kept meanwhile counts.
	SameTime bool `json:"same_time,omitempty"`

	// KindVariable: Service is the database. Values as the server prints them
	// in SHOW GLOBAL VARIABLES. KindSysctl: Variable is the key as sysctl(8)
	// takes it, or a path below /sys; values as /proc/sys has them; Also are further keys that the
	// kernel changes with it, as they were before (the executor fills it in).
	// An empty BeforeValue means that the plan did not look; the executor then
	// takes what it finds.
	Variable    string `json:"variable,omitempty"`
	BeforeValue string `json:"before_value,omitempty"`
	AfterValue  string `json:"after_value,omitempty"`

	Also map[string]string `json:"also,omitempty"`

	// KindIndex: Service is the database.
	Index *Index `json:"index,omitempty"`
	// Drop makes a KindIndex change drop Index instead of creating it.
	Drop bool `json:"drop,omitempty"`
	// IndexDef is the definition of a dropped index as SHOW CREATE TABLE had
	// it. The executor fills it in.
	IndexDef string `json:"index_def,omitempty"`
	// IndexAfter are the definitions of the keys of its sort that stood after it
	// there: undo makes these anew behind it, so that the order is as found. The
	// executor fills it in.
	IndexAfter []string `json:"index_after,omitempty"`
	// IndexKeys are the definitions of the table's plain keys in their order, before an
	// index is created that covers one of them where the table has foreign keys: the
	// server takes away a key that it made for such a one by itself as soon as another
	// serves it, without a word, and then the new index cannot be dropped before that
	// key is there again. The executor fills it in.
	IndexKeys []string `json:"index_keys,omitempty"`
	Table     *Table   `json:"table,omitempty"` // KindTable: Service is the database
	// Reported is what the server told after a KindVariable or KindIndex change
	// was applied, which may differ from what was asked: MariaDB rounds some
	// values. For KindSysctl it is what the kernel made of the value, for
	// KindGit the new commit. The executor fills it in.
	Reported string `json:"reported,omitempty"`

	// KindExec: both commands run on Host, in Dir; each must be idempotent.
	Apply []string `json:"apply,omitempty"`
	Undo  []string `json:"undo,omitempty"`
	Dir   string   `json:"dir,omitempty"`

	Link    *Link    `json:"link,omitempty"`    // KindLink
	Unit    *Unit    `json:"unit,omitempty"`    // KindUnit
	Process *Process `json:"process,omitempty"` // KindProcess
	Package *Package `json:"package,omitempty"` // KindPackage
	Git     *Git     `json:"git,omitempty"`     // KindGit
	Ready   *Ready   `json:"ready,omitempty"`   // KindReady
	Replica *Replica `json:"replica,omitempty"` // KindReplica: Service is the one that follows
	Turn    *Turn    `json:"turn,omitempty"`    // KindTurn: Service is the one that is left
}
