package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kasoku/internal/stack"
)

// Workers is how many worker processes a service has once a change is in force.
// What a file says is not what runs: an option may be one that the server does not
// know, or be overridden elsewhere, and then the change is not in force though the file's
// bytes are right.
type Workers struct {
	// Server is the application server's name (internal/kind), or stack.FPMServer, and
	// Pool the one of PHP-FPM.
	Server string `json:"server"`
	Pool   string `json:"pool,omitempty"`
	// Before is how many the plan takes to run before, Count after. Where others ran
	// before, the count does not show what is set; AnyWorkers: any number may run before.
	Before int `json:"before"`
	Count  int `json:"count"`
}

// AnyWorkers is a number of processes that come and go.
const AnyWorkers = -1

func (w *Workers) of(service string) string {
	if w.Pool != "" {
		return fmt.Sprintf("processes of pool %s in %s", w.Pool, service)
	}
	return fmt.Sprintf("workers of %s in %s", w.Server, service)
}

// workersObject is what Verify looks at besides the change's own object; "" if nothing is.
func (c *Change) workersObject() string {
	if c.Workers == nil {
		return ""
	}
	return c.Service + ":workers:" + c.Workers.Pool
}

// Counter is a Controller that counts a service's worker processes. stack.Controller
// is one. stack.ErrUnseen: they cannot be told.
type Counter interface {
	Workers(ctx context.Context, server, pool string) (int, error)
}

// workersWait is how long workers may take to be as many as they should: one that ends by
// itself (max_requests) is replaced within that time.
const workersWait = 5 * time.Second

// countable asks whether the changes' numbers of workers can be seen, and takes out of t what
// cannot: the number before must be the one that the plan saw.
func (x *Executor) countable(ctx context.Context, t *txn) {
	for i := range t.Changes {
		c := &t.Changes[i]
		if c.Workers == nil {
			continue
		}
		n, err := x.workers(ctx, c, c.Workers.Before)
		if err == nil && (n == c.Workers.Before || c.Workers.Before == AnyWorkers) {
			continue
		}
		why := fmt.Sprintf("%d run where %d are set now", n, c.Workers.Before)
		if err != nil {
			why = err.Error()
		}
		x.say("whether %d %s run then cannot be seen: %s", c.Workers.Count, c.Workers.of(c.Service), why)
		c.Workers = nil
	}
}

// workers counts until as many run as wanted, at most workersWait, and returns the last
// count.
func (x *Executor) workers(ctx context.Context, c *Change, want int) (int, error) {
	control, err := x.control(x.runner(c.Service))
	if err != nil {
		return 0, err
	}
	counter, ok := control.(Counter)
	if !ok {
		return 0, stack.ErrUnseen
	}
	end := time.Now().Add(workersWait)
	for {
		n, err := counter.Workers(ctx, c.Workers.Server, c.Workers.Pool)
		if err != nil || n == want || want == AnyWorkers || time.Now().After(end) {
			return n, err
		}
		select {
		case <-ctx.Done():
			return n, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// counted makes sure that as many workers run as the changes of t say.
func (x *Executor) counted(ctx context.Context, t *txn) error {
	for i := range t.Changes {
		c := &t.Changes[i]
		if c.Workers == nil {
			continue
		}
		x.step(t, "workers%d", i)
		n, err := x.workers(ctx, c, c.Workers.Count)
		switch {
		case errors.Is(err, stack.ErrUnseen):
			x.say("how many %s run cannot be seen", c.Workers.of(c.Service))
		case err != nil:
			return fmt.Errorf("count the %s: %w", c.Workers.of(c.Service), err)
		case n != c.Workers.Count:
			return fmt.Errorf("not in force: %d %s run instead of %d; what was written does not set their number, or something else does, too", n, c.Workers.of(c.Service), c.Workers.Count)
		}
	}
	return nil
}

// countedBack says where other numbers of workers run than before, once a service has taken
// on what was put back: its files may be as they were, and what it runs by not. Of several
// numbers in a row only the first was there before, so then nothing is said.
func (x *Executor) countedBack(ctx context.Context, service string, txs []*txn) {
	var c *Change
	for _, t := range txs {
		for i := range t.Changes {
			if w := t.Changes[i].Workers; w == nil || x.runner(t.Changes[i].Service) != service {
				continue
			}
			if c != nil {
				return
			}
			c = &t.Changes[i]
		}
	}
	if c == nil || c.Workers.Before == AnyWorkers {
		return
	}
	if n, err := x.workers(ctx, c, c.Workers.Before); err == nil && n != c.Workers.Before {
		x.say("put back, but %d %s run where %d ran before: restart it by hand, and look what else sets their number", n, c.Workers.of(c.Service), c.Workers.Before)
	}
}

// workersDrift looks at one change's number of workers; nil if they run, or cannot be seen.
func (x *Executor) workersDrift(ctx context.Context, p pending) (*Drift, error) {
	c := &p.t.Changes[p.i]
	if err := x.reach(c); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Workers.of(c.Service), err)
	}
	n, err := x.workers(ctx, c, c.Workers.Count)
	if errors.Is(err, stack.ErrUnseen) || err == nil && n == c.Workers.Count {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("count the %s: %w", c.Workers.of(c.Service), err)
	}
	return &Drift{Tx: p.t.ID, Change: p.i, Object: "number of " + c.Workers.of(c.Service), Want: fmt.Sprint(c.Workers.Count), Got: fmt.Sprint(n),
		Host: x.hostOf(c), Kind: c.Kind}, nil
}
