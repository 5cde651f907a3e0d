package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Witness tells what becomes of single writes. Its scenario's setup is a write:
// what leads to it, and as its last step the request whose right answer
// acknowledges it. Each session is a reader: all its steps are right if, and
// only if, it sees the write. Weights, workload and score mean nothing here.
type Witness struct {
	opts    Options
	readers []string
	mu      sync.Mutex
	rows    Rows
	perDeed []uint64 // rows of each pool that one write may draw
	begun   uint64
}

// NewWitness checks that the scenario is one of a write and its readers.
// opts.Rows, if not nil, is where unique pools begin, and gets what is drawn.
func NewWitness(opts Options) (*Witness, error) {
	opts.Workload, opts.Arrivals, opts.Warmup = 1, nil, -1
	if opts.Engine != EngineHTTP2 {
		opts.Engine = EngineNet
	}
	opts, err := opts.complete()
	if err != nil {
		return nil, err
	}
	sc := opts.Scenario
	n := len(sc.setup.steps)
	switch {
	case n == 0:
		return nil, fmt.Errorf("scenario %s has no setup; write the steps of one write there, the request that acknowledges it last", sc.Name)
	case sc.setup.steps[n-1].repeat != 1:
		return nil, fmt.Errorf("scenario %s: setup: %s is the write and has repeat; a write is acknowledged once", sc.Name, sc.setup.steps[n-1].name)
	case sc.Arrivals != nil:
		return nil, fmt.Errorf("scenario %s has arrivals; one of a write and its readers plans none", sc.Name)
	}
	w := &Witness{opts: opts, rows: opts.Rows, perDeed: make([]uint64, len(sc.pools))}
	if w.rows == nil {
		w.rows = Rows{}
	}
	w.opts.Rows = nil
	for i := range sc.sessions {
		w.readers = append(w.readers, sc.sessions[i].name)
	}
	shares := 1 + sc.extraShares()
	for _, s := range append([]session{*sc.setup}, sc.sessions...) {
		for _, d := range s.draws {
			w.perDeed[d.pool.index] += shares
		}
		for i := range s.steps {
			for _, d := range s.steps[i].draws {
				w.perDeed[d.pool.index] += shares * uint64(s.steps[i].repeat)
			}
		}
	}
	return w, nil
}

// Readers are the names of the scenario's sessions, in their order.
func (w *Witness) Readers() []string { return slices.Clone(w.readers) }

// Deed is one write with its own values. It is not safe for use by several
// goroutines; several deeds may be under way at once.
type Deed struct {
	w      *Witness
	r      *run
	setup  session // without a pause after the write
	opts   Options // of r, with perms and, when it is closed, the write's values
	perms  []permutation
	values [][]byte
	sent   bool
	// Begun is when the write was sent, Acked when its right answer was there;
	// zero if there was none.
	Begun, Acked time.Time
}

// Sight is what one reader saw.
type Sight struct {
	Reader string    `json:"reader"`
	Step   string    `json:"step"` // the last one that was asked
	Right  bool      `json:"right"`
	Status int       `json:"status"` // of the last answer; 0: none
	Sent   time.Time `json:"sent"`   // when the last request was sent
	Done   time.Time `json:"done"`
	// Expected and Got say what was wrong; secrets are masked.
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
	// Head are the last answer's header lines, for telling who gave it.
	Head string `json:"-"`
	// Request is the last one as it was sent; it may hold secrets.
	Request []byte `json:"-"`
}

// Answered reports whether the service itself said something: no error of a
// gateway or of a service that starts (RFC 9110, 15.6.3 to 15.6.5).
func (s Sight) Answered() bool {
	return s.Status != 0 && s.Status != 502 && s.Status != 503 && s.Status != 504
}

// Begin draws the values of a write and does all that leads to it.
func (w *Witness) Begin(ctx context.Context) (*Deed, error) {
	sc := w.opts.Scenario
	opts := w.opts
	w.mu.Lock()
	opts.firstRow = make([]uint64, len(sc.pools))
	for i, p := range sc.pools {
		opts.firstRow[i] = w.rows[p.name]
		if p.order == uniqueOrder {
			w.rows[p.name] += w.perDeed[i]
		}
	}
	// What is random differs from one write to the next.
	opts.Seed += w.begun
	w.begun++
	w.mu.Unlock()
	r, err := newRun(ctx, opts)
	if err != nil {
		return nil, err
	}
	// A unique pool is permuted by the seed: all writes must share one order.
	for i, p := range sc.pools {
		r.perms[i] = newPermutation(p.rows, w.opts.Seed+uint64(p.index)<<32)
	}
	d := &Deed{w: w, r: r, setup: *sc.setup, opts: opts, perms: r.perms}
	d.setup.steps = slices.Clone(sc.setup.steps)
	last := &d.setup.steps[len(d.setup.steps)-1]
	draws := last.draws
	last.think, last.assets, last.auto, last.draws = 0, nil, nil, nil
	first := d.setup
	first.steps = d.setup.steps[:len(d.setup.steps)-1]
	defer context.AfterFunc(ctx, r.interrupt)()
	if !r.setup.once(&first) {
		err := r.setupError(r.setup.user)
		d.Close()
		return nil, err
	}
	r.setup.user.draw(draws) // so that readers who look before the write ask for it
	return d, nil
}

// Do sends the write. An error means that it was not acknowledged: it may be
// there or not.
func (d *Deed) Do(ctx context.Context) error {
	if d.r == nil {
		return errClosed
	}
	d.sent = true
	defer context.AfterFunc(ctx, d.r.interrupt)()
	b := d.r.setup
	u := b.user
	u.session, u.step, u.done, u.failed, u.at = &d.setup, len(d.setup.steps)-1, 0, false, atStep
	begun := time.Now()
	b.work()
	done := time.Now()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.Begun = begun
	if u.at != atEnd || u.failed {
		return fmt.Errorf("the write %q was not acknowledged: expected %s, got %s", d.setup.steps[u.step].name, u.why.expected, u.why.got)
	}
	d.Acked = done
	return nil
}

// Look lets reader i ask once, by a connection of its own and without anything
// it was told before.
func (d *Deed) Look(ctx context.Context, i int) (Sight, error) { return d.look(ctx, i) }

// LookAt is Look at another base URL than the scenario's, with the Host header
// of that: a server behind the front door. It must be where load may go. headers
// are further lines, without their ends, that the front door would add.
func (d *Deed) LookAt(ctx context.Context, i int, url string, headers ...string) (Sight, error) {
	if d.r == nil {
		return Sight{}, errClosed
	}
	t, err := newTarget(ctx, url, d.w.opts.Allow, d.w.opts.SkipTLSVerify)
	if err != nil {
		return Sight{}, err
	}
	front, fixed, added := d.r.target, d.r.fixed, d.r.added
	defer func() { d.r.target, d.r.fixed, d.r.added = front, fixed, added }()
	d.r.target = t
	if len(headers) > 0 {
		d.r.fixed = make([]*fixedRequest, len(fixed)) // each is built with them
		d.r.added = []byte(strings.Join(headers, "\r\n") + "\r\n")
	}
	return d.look(ctx, i)
}

func (d *Deed) look(ctx context.Context, i int) (Sight, error) {
	sc, r := d.w.opts.Scenario, d.r
	switch {
	case r == nil:
		return Sight{}, errClosed
	case i < 0 || i >= len(sc.sessions):
		return Sight{}, errors.New("there is no such reader")
	}
	defer context.AfterFunc(ctx, r.interrupt)()
	u := r.users[0]
	u.shard, u.failed, u.why, u.silent = nil, false, failure{}, true // until something is answered
	for slot := range sc.globals {
		u.vars[slot] = append(u.vars[slot][:0], r.setup.user.vars[slot]...)
	}
	b := r.goroutine[0] // it drives that user
	b.disconnect()
	defer b.disconnect()
	right := b.once(&sc.sessions[i])
	if ctx.Err() != nil {
		return Sight{}, ctx.Err()
	}
	s := Sight{Reader: sc.sessions[i].name, Right: right, Sent: r.meter.base.Add(u.began), Done: time.Now(), Request: slices.Clone(u.request)}
	if u.session != nil && len(u.session.steps) > 0 {
		s.Step = u.session.steps[min(u.step, len(u.session.steps)-1)].name
	}
	if !right {
		s.Expected, s.Got = readable(maskSecrets(u.why.expected), maxText), readable(maskSecrets(u.why.got), maxText)
	}
	if !u.silent {
		s.Status, s.Head = u.wire.res.status, string(u.wire.res.head)
	}
	return s, nil
}

// TakeBack does the scenario's teardown with the write's values, if the write was
// sent. It may be called after Close, and when the context of the write has ended.
func (d *Deed) TakeBack(ctx context.Context) error {
	sc := d.w.opts.Scenario
	if len(sc.teardown.steps) == 0 || !d.sent {
		return nil
	}
	r, err := newRun(ctx, d.opts)
	if err != nil {
		return fmt.Errorf("take the write back: %w", err)
	}
	defer r.close()
	defer r.teardown.disconnect()
	defer context.AfterFunc(ctx, r.interrupt)()
	r.perms = d.perms
	u := r.teardown.user
	values := d.values
	if d.r != nil {
		values = d.r.setup.user.vars
	}
	for slot := range sc.globals {
		u.vars[slot] = append(u.vars[slot][:0], values[slot]...)
	}
	if !r.teardown.once(sc.teardown) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("take the write back: %q: expected %s, got %s", u.session.steps[min(u.step, len(u.session.steps)-1)].name, u.why.expected, u.why.got)
	}
	return nil
}

// Close ends the deed's connections; only TakeBack may follow.
func (d *Deed) Close() {
	if d.r == nil {
		return
	}
	d.r.setup.disconnect()
	d.r.close()
	d.values, d.r = d.r.setup.user.vars, nil
}

var errClosed = errors.New("the write is closed")
