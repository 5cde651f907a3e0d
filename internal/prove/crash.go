package prove

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// CrashOptions say how Crash goes.
type CrashOptions struct {
	// Writers at once. Default 4: enough that some write is acknowledged at any
	// moment.
	Writers int
	// For is how long they write before the kill. Default 2 s: longer than
	// the second that a database waits at most between two syncs when it does
	// not sync at each commit (innodb_flush_log_at_timeout).
	For time.Duration
	// Least is how many writes must have been acknowledged. Default 20; For is
	// prolonged for them, by MostFor at most (default 60 s).
	Least   int
	MostFor time.Duration
	// Back is how long the service may take to answer again.
	Back time.Duration
	// Again is how long after the service is back a write may not be seen yet:
	// until then a page cache may have the state before it. Default: 2 s more
	// than readers may be given the old state.
	Again time.Duration
	// newest acknowledged writes are asked for after the crash: what is lost is
	// what came last. Tests set it; default 200.
	newest int
}

func (o CrashOptions) complete(st *stack.Stack) CrashOptions {
	if o.Writers == 0 {
		o.Writers = 4
	}
	if o.For == 0 {
		o.For = 2 * time.Second
	}
	if o.Least == 0 {
		o.Least = 20
	}
	if o.MostFor == 0 {
		o.MostFor = time.Minute
	}
	if o.Back == 0 {
		o.Back = 2 * time.Minute
	}
	if o.Again == 0 {
		o.Again = st.VisibleWithin() + 2*time.Second
	}
	if o.newest == 0 {
		o.newest = 200
	}
	return o
}

// Crash lets writers write, kills the database server with SIGKILL amid their
// work, has it started again, and asks every reader for every write that had
// been acknowledged. It also looks at what a killed process cannot show: the
// kernel lives on and writes what it was given, which a power loss prevents
// (settingsOf). The service must be named in checks.kill.
func Crash(ctx context.Context, st *stack.Stack, h host.Host, svc *stack.Service, w *load.Witness, o CrashOptions) (Result, error) {
	o = o.complete(st)
	r := begin(Durability)
	c, err := stack.NewController(h, st, svc)
	if err != nil {
		return *r, err
	}
	problems, notes, err := settingsOf(ctx, h, st, svc)
	if err != nil {
		return *r, fmt.Errorf("check durability: %w", err)
	}
	for _, p := range problems {
		r.fail(svc.Name, "%s", p)
	}
	r.Notes = append(r.Notes, notes...)
	err = (&crash{server: c, name: svc.Name, w: w, o: o, r: r, within: max(o.Back, seenWithin(st))}).run(ctx)
	return *r.end(), err
}

// seenWithin is by when a write must be seen without a crash or reboot.
func seenWithin(st *stack.Stack) time.Duration { return st.VisibleWithin() + 10*time.Second }

// killable is what is killed and started again: a stack.Controller.
type killable interface {
	Kill(ctx context.Context) error
	Start(ctx context.Context) error
}

// crash is one Crash under way.
type crash struct {
	server killable
	name   string
	w      *load.Witness
	o      CrashOptions
	r      *Result
	within time.Duration // by when a write must be seen without a crash
}

func (c *crash) run(ctx context.Context) error {
	r := c.r
	why, err := visible(ctx, c.w, c.within)
	if err != nil {
		return err
	}
	if why != "" {
		r.notJudged("%s", why)
		return nil
	}
	ws := &writers{w: c.w, keep: c.o.newest, stopped: make(chan struct{})}
	defer ws.close(ctx, r)
	if err := ws.write(ctx, c.o); err != nil {
		return err
	}
	killed := c.server.Kill(ctx)
	gone := time.Now()
	ws.stop()
	// Before the writers have ended: they may wait for the database. What a kill
	// that failed has done by then must not stay so either.
	started := c.server.Start(context.WithoutCancel(ctx))
	ws.end()
	switch {
	case killed != nil:
		return errors.Join(fmt.Errorf("check durability: %w", killed), started)
	case started != nil:
		r.fail(c.name, "it does not run again after the kill: %v", started)
		r.Text = fmt.Sprintf("%s was killed and does not run again", c.name)
		return ctx.Err()
	case ctx.Err() != nil:
		return ctx.Err()
	}
	l := &lookup{w: c.w, r: r, o: c.o, since: gone}
	if err := l.all(ctx, ws.newest()); err != nil {
		return fmt.Errorf("check durability: %w", err)
	}
	r.Writes = ws.acked
	r.Text = fmt.Sprintf("%s killed amid the work of %s: of %s, the newest %d were asked for, %d lost; answered again after %s",
		c.name, count(c.o.Writers, "writer", "writers"), count(ws.acked, "acknowledged write", "acknowledged writes"), len(ws.newest()), l.lost, ui.Duration(r.BackAfter))
	return nil
}

// Settings is the part of Crash that harms nothing, for a database that may not
// be killed.
func Settings(ctx context.Context, st *stack.Stack, h host.Host, svc *stack.Service) (Result, error) {
	r := begin(Durability)
	problems, notes, err := settingsOf(ctx, h, st, svc)
	if err != nil {
		return *r, fmt.Errorf("check durability: %w", err)
	}
	for _, p := range problems {
		r.fail(svc.Name, "%s", p)
	}
	r.Notes = append(r.Notes, notes...)
	if r.Outcome == Failed {
		r.Text = fmt.Sprintf("%s cannot keep acknowledged writes through a power loss", svc.Name)
		return *r.end(), nil
	}
	return *r.notJudged("%s may not be killed (checks.kill in kasoku.yaml); its settings and the places of its files tell of no loss", svc.Name).end(), nil
}

// visible makes one write that all readers see and did not see before: else a
// lost write could not be told from one that is there. why is "" if it is so.
func visible(ctx context.Context, w *load.Witness, within time.Duration) (why string, err error) {
	r, err := Stale(ctx, w, StaleOptions{Limit: within, Writes: 1, Settle: time.Millisecond})
	switch {
	case err != nil:
		return "", fmt.Errorf("check durability: %w", err)
	case r.Outcome == NotJudged:
		return r.Text, nil
	case r.Outcome == Failed:
		return fmt.Sprintf("a write is not seen %s after its acknowledgement even without a crash: %s", ui.Duration(within), r.Problems[0].What), nil
	}
	return "", nil
}

// writers write until they are told to end.
type writers struct {
	w       *load.Witness
	keep    int // how many of the newest, at least
	mu      sync.Mutex
	deeds   []*load.Deed // acknowledged, oldest first
	others  []*load.Deed // closed: older ones, and those not acknowledged
	acked   int
	failed  error // the first write that was not acknowledged
	stopped chan struct{}
	done    sync.WaitGroup
	once    sync.Once
}

// write begins the writers and returns while they go on, when enough was
// acknowledged. An error means that they could not write at all.
func (ws *writers) write(ctx context.Context, o CrashOptions) error {
	for range o.Writers {
		ws.done.Go(func() { ws.one(ctx) })
	}
	for begun := time.Now(); ; {
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			ws.end()
			return err
		}
		acked, failed := ws.sofar()
		if failed != nil {
			ws.end()
			return fmt.Errorf("check durability: before the kill: %w", failed)
		}
		took := time.Since(begun)
		if took >= o.For && acked >= o.Least {
			return nil
		}
		if took >= max(o.For, o.MostFor) {
			if acked == 0 {
				ws.end()
				return fmt.Errorf("check durability: no write was acknowledged within %s", took.Round(time.Second))
			}
			return nil // few, but what they tell is told
		}
	}
}

func (ws *writers) sofar() (acked int, failed error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.acked, ws.failed
}

// one writer.
func (ws *writers) one(ctx context.Context) {
	for {
		select {
		case <-ws.stopped:
			return
		default:
		}
		d, err := ws.w.Begin(ctx)
		if err == nil {
			if err = d.Do(ctx); err != nil {
				d.Close()
			}
		}
		ws.mu.Lock()
		if err != nil {
			if d != nil {
				ws.others = append(ws.others, d)
			}
			ws.failed = errors.Join(ws.failed, err)
			ws.mu.Unlock()
			return
		}
		ws.acked++
		ws.deeds = append(ws.deeds, d)
		if len(ws.deeds) > 2*ws.keep {
			for _, old := range ws.deeds[:ws.keep] {
				old.Close()
			}
			ws.others = append(ws.others, ws.deeds[:ws.keep]...)
			ws.deeds = append([]*load.Deed(nil), ws.deeds[ws.keep:]...)
		}
		ws.mu.Unlock()
	}
}

// stop lets no writer begin another write.
func (ws *writers) stop() { ws.once.Do(func() { close(ws.stopped) }) }

// end waits until no writer writes any more.
func (ws *writers) end() {
	ws.stop()
	ws.done.Wait()
}

func (ws *writers) newest() []*load.Deed { return ws.deeds[max(0, len(ws.deeds)-ws.keep):] }

// close takes all writes back, when nobody writes any more.
func (ws *writers) close(ctx context.Context, r *Result) {
	ws.end()
	takeBack(ctx, r, append(ws.deeds, ws.others...))
}
