package stack

import (
	"context"
	"fmt"
	"time"

	"kasoku/internal/kind"
)

// stopStep is one signal and how long to wait for its effect.
type stopStep struct {
	signal string
	wait   time.Duration
}

// stopPlan says how to end a kind of service, from the gentlest signal on.
type stopPlan struct {
	steps []stopStep
	// mayKill permits SIGKILL at the end: the service keeps nothing that it
	// would lose.
	mayKill bool
}

func (p stopPlan) total() time.Duration {
	var d time.Duration
	for _, s := range p.steps {
		d += s.wait
	}
	return d
}

// stopPlans by kind. SIGQUIT is graceful for nginx and php-fpm (requests under
// way are finished), SIGWINCH for Apache. A database writes its dirty pages on
// SIGTERM, which takes minutes with a large buffer pool; Redis saves its data.
var stopPlans = map[Kind]stopPlan{
	Nginx:     {steps: []stopStep{{"QUIT", 10 * time.Second}, {"TERM", 5 * time.Second}}, mayKill: true},
	Apache:    {steps: []stopStep{{"WINCH", 10 * time.Second}, {"TERM", 5 * time.Second}}, mayKill: true},
	PHPFPM:    {steps: []stopStep{{"QUIT", 10 * time.Second}, {"TERM", 5 * time.Second}}, mayKill: true},
	MariaDB:   {steps: []stopStep{{"TERM", 10 * time.Minute}}},
	MySQL:     {steps: []stopStep{{"TERM", 10 * time.Minute}}},
	Redis:     {steps: []stopStep{{"TERM", 2 * time.Minute}}},
	Memcached: {steps: []stopStep{{"TERM", 10 * time.Second}}, mayKill: true},
	Varnish:   {steps: []stopStep{{"TERM", 10 * time.Second}}, mayKill: true},
	App:       {steps: []stopStep{{"TERM", 20 * time.Second}}, mayKill: true},
}

// stopPlan is that of the kind, with an application server's own signal.
func (c *Controller) stopPlan(ctx context.Context, master identity) stopPlan {
	plan := stopPlans[c.svc.Kind]
	if c.svc.Kind != App {
		return plan
	}
	p, err := readProcess(ctx, c.h, master.pid)
	if err != nil {
		return plan // it ended meanwhile
	}
	if s := kind.Tell(p.cmdline); s != nil && s.Stop != "" {
		plan.steps = []stopStep{{s.Stop, plan.total()}}
	}
	return plan
}

// stopBySignal ends the family whose first member is the main process.
func (c *Controller) stopBySignal(ctx context.Context, family []identity, plan stopPlan) error {
	left := family
	for _, step := range plan.steps {
		if err := left[0].signal(ctx, c.h, step.signal); err != nil {
			return err
		}
		var err error
		if left, err = waitGone(ctx, c.h, left, step.wait); err != nil || len(left) == 0 {
			return err
		}
	}
	if !plan.mayKill {
		return fmt.Errorf("process %d still shuts down %s after SIGTERM; it was not killed, because that could lose data: wait for it, then try again%s",
			left[0].pid, plan.total(), c.logTail(ctx))
	}
	for _, id := range left {
		if err := id.signal(ctx, c.h, "KILL"); err != nil {
			return err
		}
	}
	left, err := waitGone(ctx, c.h, left, 5*time.Second)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("process %d does not even end on SIGKILL (it waits for a device)", left[0].pid)
	}
	return err
}
