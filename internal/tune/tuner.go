package tune

import (
	"context"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/prove"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// Reporter is where the loop tells what it does.
type Reporter interface {
	Step(title string)
	Info(text string)
	Warn(problem, hint string)
}

// Options are what the operator asks of a session.
type Options struct {
	// Budget of wall-clock time for the whole session; 0 = until nothing pays.
	Budget time.Duration
	// Target is how many times as fast as found the service is to become; no
	// step is begun once it is, and what was kept is not looked at again. 0 = none.
	Target float64
	// Fresh starts a new session even if an interrupted one could go on.
	Fresh bool
	// NoRestart leaves out the restart of every service at the end.
	NoRestart bool
}

// Tuner runs one session.
type Tuner struct {
	Stack *stack.Stack
	Store *store.Store
	Exec  *change.Executor
	Bench *Bench
	Rule  experiment.Rule
	UI    Reporter
	// Watch is told what is to be seen of the session, as Bench.Watch says; may
	// be nil. Where UI is a Drawer, what an experiment shows goes there only.
	Watch   func(Live)
	Options Options
	// Rights of the user who runs Kasoku; plans that need others are left out.
	// nil: nobody asked.
	Rights *stack.Rights

	schedule schedule
	session  *store.Session
	course   course
	seen     seen
	judging  judging
	standIns standIns
}

// course is how far a session has come.
type course struct {
	deadline time.Time // zero: none
	seq      int       // of the last step
	workload int       // of its runs, now
	// narrowed are the caches of pages that are tried again without some; lookAgain: what
	// may be kept is less now.
	narrowed  int
	lookAgain bool
	orderTold bool // the order in which plans come was told
}

// seen is what the last diagnostic run showed, and whether single requests were followed
// in one of them.
type seen struct {
	evidence *evidence.Evidence
	snapshot *evidence.Snapshot
	diag     *diagnose.Diagnosis
	walked   bool
}

// judging is how something is judged that somebody else proposes (Try, Compare).
type judging struct {
	putBack bool   // an improved candidate is put back all the same
	judge   *judge // watches what a proposal must leave alone
}

// standIns take the place of stages in tests; nil: the stage itself.
type standIns struct {
	// proves is in the place of the regulation checks, colds of what is planned against
	// cold caches, shares of share and lookShare.
	proves func(ctx context.Context) ([]prove.Result, error)
	colds  func(*diagnose.Reboot) []remedy.Plan
	shares func(now, end time.Time) time.Time
	// observes is in the place of Observe; the last look is left out.
	observes func(ctx context.Context, label string) (*store.Run, *evidence.Snapshot, error)
}
