package change

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
)

// Tx is one transaction of the journal: changes that are applied, kept or put
// back together.
type Tx struct {
	ID      int64     `json:"id"`
	Title   string    `json:"title"`
	Plan    string    `json:"plan,omitempty"`    // ID of the remedy's plan
	Session int64     `json:"session,omitempty"` // 0 = none
	State   string    `json:"state"`
	Begun   time.Time `json:"begun"`
	Ended   time.Time `json:"ended,omitzero"`
	// Changes without their bytes; see Executor.Load.
	Changes []Change `json:"changes"`
	// Error is why it was put back, or why it could not be.
	Error string `json:"error,omitempty"`
}

// States of a Tx.
const (
	StateApplying  = "applying"  // begun; how far it came is not certain
	StateApplied   = "applied"   // in effect, not yet decided upon
	StateKept      = "kept"      // in effect for good
	StateReverting = "reverting" // being put back before it was kept
	StateReverted  = "reverted"  // put back; as if it had never been
	StateUndoing   = "undoing"   // being put back after it was kept
	StateUndone    = "undone"    // put back after it had been kept
)

// Pending reports whether the transaction still has to be kept or put back.
func (t Tx) Pending() bool {
	return t.State != StateKept && t.State != StateReverted && t.State != StateUndone
}

// InForce reports whether the transaction was kept and left something on the
// target: a restart of a service leaves nothing.
func (t Tx) InForce() bool {
	return t.State == StateKept && slices.ContainsFunc(t.Changes, func(c Change) bool { return c.Kind != KindRestart })
}

// Intent is what Apply is asked to do.
type Intent struct {
	Title   string
	Plan    string // ID of the remedy's plan, for the record
	Session int64
	Changes []Change
}

// Drift is a place where the target is not as the journal says.
type Drift struct {
	Tx     int64  `json:"tx"`
	Change int    `json:"change"` // index into Tx.Changes
	Object string `json:"object"` // path, variable or index
	Want   string `json:"want"`
	Got    string `json:"got"`
	Host   string `json:"host"`
	Kind   Kind   `json:"kind"`
	// Trace is what can be told about who did it; nil for what leaves none.
	Trace *Trace `json:"trace,omitempty"`
	// Saved is the file that holds the bytes found, Diff how they differ from
	// Kasoku's, with secrets masked.
	Saved string `json:"saved,omitempty"`
	Diff  string `json:"diff,omitempty"`
}

func (d Drift) String() string {
	s := fmt.Sprintf("%s: the journal (tx %d) says %s, found %s", d.Object, d.Tx, d.Want, d.Got)
	if d.Trace != nil {
		s += d.Trace.String()
	} else {
		s += "\n  when and by whom is not known: a value leaves no trace"
	}
	if d.Saved != "" {
		s += "\n  what is there now is saved in " + d.Saved
	}
	if d.Diff != "" {
		s += "\n" + strings.TrimSuffix(d.Diff, "\n")
	}
	return s
}

var (
	// ErrChanged: the target is no longer what the plan saw. Nothing of this
	// change was written.
	ErrChanged = errors.New("the target is not what the plan saw; plan again")
	// ErrBusy: another process has the lease on this .kasoku folder or on a host.
	ErrBusy = errors.New("another kasoku is at work here")
	// ErrPending: an earlier transaction must be put back first.
	ErrPending = errors.New("an earlier change is not finished; recover first")
	// ErrHeld: an index cannot go, or could not come back to its place, because a foreign
	// key holds it; nothing was changed.
	ErrHeld = errors.New("a foreign key holds the index")
	// ErrRefused: the service's own checker does not accept the configuration.
	ErrRefused = errors.New("the service's own check refuses it")
	// ErrUnknown: there is no such transaction, or it is not in the state that
	// the call needs.
	ErrUnknown = errors.New("no such transaction")
)

// ConflictError says that an object is neither as it was before nor as Kasoku
// made it. It was left alone.
type ConflictError struct {
	Tx     int64
	Change int
	Object string
	// Before, After and Got are hashes of a file, or values.
	Before, After, Got string
	// Blob is the file that holds the bytes from before; "" if there are none.
	Blob string
	// Theirs is the file that holds the bytes found, and Diff how they differ
	// from Kasoku's, with secrets masked; "" for what is no file.
	Theirs, Diff string
}

func (e *ConflictError) Error() string {
	s := fmt.Sprintf("%s was changed by someone else, so it was left alone: before tx %d it was %s, tx %d made it %s, now it is %s.",
		e.Object, e.Tx, short(e.Before), e.Tx, short(e.After), short(e.Got))
	if e.Blob != "" {
		s += fmt.Sprintf(" The bytes from before lie in %s.", e.Blob)
	}
	if e.Theirs != "" {
		s += fmt.Sprintf(" What is there now is saved in %s.", e.Theirs)
	}
	if e.Diff != "" {
		s += " It differs from what Kasoku wrote by:\n" + e.Diff
	}
	return s + fmt.Sprintf(" Put it right by hand and recover again, or leave it as it is: kasoku recover --abandon %d.", e.Tx)
}

// short cuts a hash to what a person compares.
func short(s string) string {
	switch {
	case s == "":
		return "absent"
	case len(s) == 64:
		return "sha256 " + s[:12]
	}
	return s
}

// LaterError lists kept transactions that build on the one to be undone.
type LaterError struct {
	Tx    int64
	Later []Tx // newest first
}

func (e *LaterError) Error() string {
	s := fmt.Sprintf("tx %d cannot be undone alone, because later ones changed the same things:", e.Tx)
	for _, t := range e.Later {
		s += fmt.Sprintf(" tx %d (%s);", t.ID, t.Title)
	}
	return s + " undo these too"
}

// hostName of a change, with its default.
func (c *Change) hostName() string {
	if c.Host == "" {
		return "local"
	}
	return c.Host
}

// object names what a change acts on. Changes with the same object overlap;
// "" overlaps with nothing.
func (c *Change) object() string {
	switch c.Kind {
	case KindFile, KindDir, KindLink:
		return c.hostName() + ":" + c.Path
	case KindVariable:
		return c.Service + ":@@" + c.Variable
	case KindSysctl:
		return c.hostName() + ":sysctl:" + strings.ReplaceAll(c.Variable, "/", ".")
	case KindUnit:
		if c.Unit != nil {
			return c.hostName() + ":unit:" + c.Unit.Name
		}
	case KindProcess:
		if c.Process != nil {
			return c.hostName() + ":process:" + c.Service + "/" + c.Process.Name
		}
	case KindPackage:
		if c.Package != nil {
			return c.hostName() + ":package:" + c.Package.Name
		}
	case KindGit:
		if c.Git != nil {
			return c.hostName() + ":git:" + c.Git.Dir
		}
	case KindReady:
		if c.Ready != nil {
			return c.hostName() + ":ready:" + c.Ready.Dir
		}
	case KindIndex:
		if c.Index != nil {
			return c.Service + ":" + c.Index.Schema + "." + c.Index.Table + "." + c.Index.Name
		}
	case KindTable:
		if c.Table != nil {
			return c.Service + ":" + c.Table.Schema + "." + c.Table.Name
		}
	case KindReplica:
		return c.Service + ":replica"
	case KindTurn:
		if c.Turn != nil && c.Turn.Settle { // the turn of the same service is another change
			return c.Service + ":settled"
		}
		return c.Service + ":turn"
	case KindExec, KindRestart: // overlap with nothing
	}
	return ""
}

// Title is one line that names what a change does.
func (c *Change) Title() string {
	switch c.Kind {
	case KindFile:
		if c.Before == nil || c.Before.Hash == "" {
			return "create " + c.Path
		}
		return "edit " + c.Path
	case KindDir:
		return "create directory " + c.Path
	case KindLink:
		return c.Link.title(c.Path)
	case KindVariable, KindIndex, KindTable:
		return c.SQL()
	case KindExec:
		return "run " + commandLine(c.Apply)
	case KindRestart:
		return c.Activate.String() + " " + c.Service
	case KindSysctl:
		if ofSysfs(c.Variable) {
			return setKernel(c.Variable, c.AfterValue)
		}
		return "sysctl " + c.Variable + "=" + commandLine([]string{c.AfterValue})
	case KindUnit:
		return c.Unit.title()
	case KindProcess:
		return c.Process.title(c.Service)
	case KindPackage:
		return c.Package.title()
	case KindGit:
		return c.Git.title()
	case KindReady:
		return c.Ready.title()
	case KindReplica:
		return c.Replica.title(c.Service)
	case KindTurn:
		return c.Turn.title(c.Service)
	}
	return string(c.Kind)
}

func hashOf(s *FileState) host.Hash {
	if s == nil {
		return ""
	}
	return s.Hash
}
