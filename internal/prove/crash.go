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
	// Again is how long a single write is asked for that is not seen at once,
	// when others are. Default 2 s.
	Again time.Duration
}

func (o CrashOptions) complete() CrashOptions {
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
		o.Again = 2 * time.Second
	}
	return o
}

// newest acknowledged writes are asked for after a crash: what is lost is what
// came last.
const newest = 200

// Crash lets writers write, kills the database server with SIGKILL amid their
// work, has it started again, and asks every reader for every write that had
// been acknowledged. It also looks at what a killed process cannot show: the
// kernel lives on and writes what it was given, which a power loss prevents
// (settingsOf). The service must be named in checks.kill.
func Crash(ctx context.Context, st *stack.Stack, h host.Host, svc *stack.Service, w *load.Witness, o CrashOptions) (Result, error) {
	o = o.complete()
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
	why, err := visible(ctx, w, o)
	if err != nil {
		return *r, err
	}
	if why != "" {
		return *r.notJudged("%s", why).end(), nil
	}
	ws := &writers{w: w}
	defer ws.close()
	if err := ws.write(ctx, o); err != nil {
		return *r, err
	}
	if err := c.Kill(ctx); err != nil {
		ws.end()
		// What the kill has done by then must not stay so.
		return *r, errors.Join(fmt.Errorf("check durability: %w", err), c.Start(context.WithoutCancel(ctx)))
	}
	gone := time.Now()
	ws.end()
	if err := c.Start(context.WithoutCancel(ctx)); err != nil {
		r.fail(svc.Name, "it does not run again after the kill: %v", err)
		r.Text = fmt.Sprintf("%s was killed and does not run again", svc.Name)
		return *r.end(), ctx.Err()
	}
	if ctx.Err() != nil {
		return *r, ctx.Err()
	}
	l := &lookup{w: w, r: r, o: o, since: gone}
	if err := l.all(ctx, ws.newest()); err != nil {
		return *r, err
	}
	r.Writes = ws.acked
	r.Text = fmt.Sprintf("%s killed amid the work of %s: of %s, the newest %d were asked for, %d lost; answered again after %s",
		svc.Name, count(o.Writers, "writer", "writers"), count(ws.acked, "acknowledged write", "acknowledged writes"), len(ws.newest()), l.lost, ui.Duration(r.BackAfter))
	return *r.end(), nil
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
func visible(ctx context.Context, w *load.Witness, o CrashOptions) (why string, err error) {
	r, err := Stale(ctx, w, StaleOptions{Limit: o.Back, Writes: 1, Settle: time.Millisecond})
	switch {
	case err != nil:
		return "", fmt.Errorf("check durability: %w", err)
	case r.Outcome == NotJudged:
		return r.Text, nil
	case r.Outcome == Failed:
		return fmt.Sprintf("a write is not seen %s after its acknowledgement even without a crash: %s", ui.Duration(o.Back), r.Problems[0].What), nil
	}
	return "", nil
}

// writers write until they are told to end.
type writers struct {
	w       *load.Witness
	mu      sync.Mutex
	deeds   []*load.Deed // acknowledged, oldest first
	acked   int
	failed  error // the first write that was not acknowledged
	stopped chan struct{}
	done    sync.WaitGroup
	once    sync.Once
}

// write begins the writers and returns while they go on, when enough was
// acknowledged. An error means that they could not write at all.
func (ws *writers) write(ctx context.Context, o CrashOptions) error {
	ws.stopped = make(chan struct{})
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
			ws.failed = errors.Join(ws.failed, err)
			ws.mu.Unlock()
			return
		}
		ws.acked++
		ws.deeds = append(ws.deeds, d)
		if len(ws.deeds) > 2*newest {
			for _, old := range ws.deeds[:newest] {
				old.Close()
			}
			ws.deeds = append([]*load.Deed(nil), ws.deeds[newest:]...)
		}
		ws.mu.Unlock()
	}
}

// end waits until no writer writes any more.
func (ws *writers) end() {
	ws.once.Do(func() { close(ws.stopped) })
	ws.done.Wait()
}

func (ws *writers) newest() []*load.Deed { return ws.deeds[max(0, len(ws.deeds)-newest):] }

func (ws *writers) close() {
	for _, d := range ws.deeds {
		d.Close()
	}
}

// lookup asks for acknowledged writes after a crash.
type lookup struct {
	w     *load.Witness
	r     *Result
	o     CrashOptions
	since time.Time // when the server was gone
	lost  int
	back  bool // some reader was answered since
}

// all asks every reader for every write, the newest first.
func (l *lookup) all(ctx context.Context, deeds []*load.Deed) error {
	for n := len(deeds) - 1; n >= 0; n-- {
		d, gone := deeds[n], false
		for i := range l.w.Readers() {
			sight, err := l.find(ctx, d, i)
			if err != nil {
				return fmt.Errorf("check durability: %w", err)
			}
			if !l.back {
				l.r.fail("", "nothing was answered within %s, so that no write could be asked for: %s", ui.Duration(l.o.Back), saw(sight))
				return nil
			}
			l.r.Reads++
			if sight.Right {
				continue
			}
			gone = true
			l.r.problem(Problem{What: fmt.Sprintf("a write acknowledged %s before the end is lost: reader %q: %s", ui.Duration(max(0, l.since.Sub(d.Acked))), sight.Reader, saw(sight))})
		}
		if gone {
			l.lost++
		}
	}
	return nil
}

// find lets a reader ask until it sees the write: first until the service is
// back at all, then for a moment only.
func (l *lookup) find(ctx context.Context, d *load.Deed, i int) (load.Sight, error) {
	until := time.Now()
	switch {
	case !l.back:
		until = l.since.Add(l.o.Back)
	case l.lost < 3: // when several are lost, waiting for more tells nothing
		until = until.Add(l.o.Again)
	}
	for {
		sight, err := d.Look(ctx, i)
		if err != nil {
			return sight, err
		}
		if !l.back && (sight.Right || sight.Answered() && sight.Status < 500) {
			l.back = true
			if l.r.Check == Durability { // after a reboot the service itself was asked
				l.r.BackAfter = time.Since(l.since)
			}
			until = time.Now().Add(l.o.Again)
		}
		if sight.Right || time.Now().After(until) {
			return sight, nil
		}
		if err := pause(ctx, stalePause); err != nil {
			return sight, err
		}
	}
}
