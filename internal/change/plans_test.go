package change

import (
	"context"
	"strings"
)

// Plans of further kinds that victim carries out, by the first word of its job,
// and what they need of the options.
var (
	plans  = map[string]func(l lab) []Change{}
	setups = map[string]func(l lab, o *Options){}
	// jobs of several transactions.
	jobs = map[string]func(ctx context.Context, x *Executor, l lab, fail func(error), count func()){}
)

// victimOf does the second word of a job: apply (and keep), or revert. It is
// killed at a step of that.
func victimOf(ctx context.Context, x *Executor, job string, plan []Change, fail func(error), count func()) {
	act := strings.SplitN(job, "-", 2)[1]
	if act == "apply" {
		count()
	}
	tx, err := x.Apply(ctx, Intent{Title: job, Changes: plan})
	fail(err)
	if act == "apply" {
		fail(x.Keep(ctx, tx.ID))
		return
	}
	count()
	fail(x.Revert(ctx, tx.ID))
}

// optionsOf are those of a job on the lab, with the .kasoku folder dir.
func (l lab) optionsOf(job, dir string) Options {
	o := l.options(dir)
	if setup := setups[strings.Split(job, "-")[0]]; setup != nil {
		setup(l, &o)
	}
	return o
}
