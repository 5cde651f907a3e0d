package change

import (
	"context"
	"fmt"

	"kasoku/internal/host"
)

// act is what a kind of change can do. Undo looks at what is there instead of
// trusting what was done, so that it can be repeated and killed anywhere.
type act interface {
	// prepare checks, before anything is journaled, that the change makes
	// sense and that the target is what the plan saw. It completes the change
	// with what undo needs, and returns bytes to be saved.
	prepare(ctx context.Context) (blobs [][]byte, err error)
	// look tells where the target stands. It changes nothing, except that it
	// ends what a killed Kasoku left running in a database.
	look(ctx context.Context) (sight, error)
	// write applies the change and returns what the server reports.
	write(ctx context.Context) (reported string, err error)
	// restore goes from after to before.
	restore(ctx context.Context) error
	// conflict describes what look found when it is neither.
	conflict(s sight) *ConflictError
}

// looksTwice reports whether a change of this kind looks again right before it
// writes: its write cannot be told what it must find there, as that of a file
// can. Milliseconds remain. A checkout looks again by itself, once its commit is
// made; build products are the build's.
func (k Kind) looksTwice() bool {
	switch k {
	case KindLink, KindVariable, KindSysctl, KindUnit, KindProcess, KindPackage, KindIndex, KindTable:
		return true
	case KindFile, KindDir, KindExec, KindRestart, KindGit, KindReady, KindReplica, KindTurn:
	}
	return false
}

// ofData reports whether a kind is done by statements and leaves alone what a
// service reads from disk.
func (k Kind) ofData() bool {
	return k == KindVariable || k == KindIndex || k == KindTable || k == KindReplica || k == KindTurn
}

// sight is what look found.
type sight struct {
	// before and after are both true if the change makes no difference, and
	// both false if someone else was there.
	before, after bool
	// blind: this kind of change cannot be seen (exec, restart).
	blind bool
	got   string
	// attrs says how mode or owner differ from what they should be, or why one
	// database does not get what the other does; "" if there is nothing to say.
	attrs string
}

// claimer is an act that can tell, when look found neither before nor after,
// whether Kasoku itself made what is there and was killed before it could say
// so. Only putting back asks. It makes after true if so, and may tidy up.
type claimer interface {
	claim(ctx context.Context, s sight) (sight, error)
}

// sweeper is an act that leaves debris when it is killed. Putting back sweeps
// before it looks.
type sweeper interface {
	sweep(ctx context.Context) error
}

// work is one change under way, with what every kind needs.
type work struct {
	x *Executor
	t *txn
	i int
	c *Change
	h host.Host
}

// act returns the actor for change i of t.
func (x *Executor) act(t *txn, i int) (act, error) {
	c := &t.Changes[i]
	w := work{x: x, t: t, i: i, c: c}
	switch c.Kind {
	case KindVariable:
		return &variableAct{w}, nil
	case KindIndex:
		return &indexAct{w}, nil
	case KindTable:
		return &tableAct{w}, nil
	case KindRestart:
		return &restartAct{w}, nil
	case KindReplica:
		return &replicaAct{w}, nil
	case KindTurn:
		return &turnAct{w}, nil
	default: // is carried out on a host: below
	}
	h, ok := x.hosts[c.hostName()]
	if !ok {
		return nil, fmt.Errorf("%s: host %q is not in the stack", c.Title(), c.hostName())
	}
	w.h = h
	switch c.Kind {
	case KindFile:
		return &fileAct{w}, nil
	case KindDir:
		return &dirAct{w}, nil
	case KindLink:
		return &linkAct{w}, nil
	case KindExec:
		return &execAct{w}, nil
	case KindSysctl:
		return &sysctlAct{w}, nil
	case KindUnit:
		return &unitAct{w}, nil
	case KindProcess:
		return &processAct{w}, nil
	case KindPackage:
		return &packageAct{w}, nil
	case KindGit:
		return &gitAct{w}, nil
	case KindReady:
		return &readyAct{w}, nil
	default: // unknown: below
	}
	return nil, fmt.Errorf("kind of change %q is not known; it is file, dir, link, variable, index, table, exec, restart, sysctl, unit, process, package, git, ready, replica or turn", c.Kind)
}

// differs is a conflict with the parts that every kind has.
func (w *work) differs(before, after, got string) *ConflictError {
	return &ConflictError{Tx: w.t.ID, Change: w.i, Object: w.subject(), Before: before, After: after, Got: got}
}

// subject names the object for people.
func (w *work) subject() string {
	switch w.c.Kind {
	case KindFile, KindDir, KindLink:
		return w.onHost(w.c.Path)
	case KindSysctl:
		return w.onHost("kernel setting " + w.c.Variable)
	case KindUnit:
		return w.onHost(w.c.Unit.what() + " " + w.c.Unit.Name)
	case KindProcess:
		return w.onHost(w.c.Process.what(w.c.Service))
	case KindPackage:
		return w.onHost("package " + w.c.Package.Name)
	case KindGit:
		return w.onHost("checkout " + w.c.Git.Dir)
	case KindReady:
		return w.onHost("build products in " + w.c.Ready.Dir)
	case KindReplica:
		return "the copy of the data in " + w.c.Service
	case KindTurn:
		return "which database is written to"
	case KindVariable:
		return w.c.Service + "'s variable " + w.c.Variable
	case KindIndex:
		return w.c.Service + "'s index " + indexName(w.c.Index)
	case KindTable:
		if w.c.Table != nil {
			return w.c.Service + "'s table " + w.c.Table.Schema + "." + w.c.Table.Name
		}
	case KindExec, KindRestart: // have no object but the service: below
	}
	return w.c.Title()
}

// onHost names a thing with its host, if that is not the local one.
func (w *work) onHost(name string) string {
	if w.c.hostName() == "local" {
		return name
	}
	return w.c.hostName() + ":" + name
}
