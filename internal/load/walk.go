package load

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"
)

// WalkOptions say how Walk goes. The zero value has the defaults.
type WalkOptions struct {
	// Rounds through every session of the scenario; 0: 3. The first opens
	// connections and fills caches, and each draws other values.
	Rounds int
	// Most requests in all; 0: 300.
	Most int
	// Limit of the whole walk; 0: 30 s.
	Limit time.Duration
	// Before is called before request n (from 0) is sent; its error ends the
	// walk. May be nil.
	Before func(ctx context.Context, n int) error
	// Saw is told every answer; may be nil. What it is given holds until it
	// returns.
	Saw func(Visit, Answer)
}

// Answer is what Walk got for one request.
type Answer struct {
	Request  []byte // as it was sent; may hold secrets
	Head     []byte // header lines
	Type     string // Content-Type
	Location string
	Cookies  []string // names of those that it sets
	// Body is decoded and masked as golden answers are; Opaque says why it could
	// not be decoded, "" if it was.
	Body   []byte
	Opaque string
	// Stranger: the request told nothing of who asks. Asset: a file that
	// belongs to a page. Hop: how many redirects led there.
	Stranger, Asset bool
	Hop             int
}

// Visit is one request of a Walk and what came of it.
type Visit struct {
	Session string        `json:"session"`
	Step    string        `json:"step"`
	Round   int           `json:"round"` // from 0
	Method  string        `json:"method"`
	Target  string        `json:"-"` // path and query as sent; may hold secrets
	Route   string        `json:"route"`
	Status  int           `json:"status"` // 0: no answer
	Took    time.Duration `json:"took"`
	Right   bool          `json:"right"` // the answer was as expected
}

const (
	walkRounds = 3
	walkMost   = 300
	walkLimit  = 30 * time.Second
)

// Walk sends the scenario's sessions one request at a time by one user without
// its pauses, so that what happens behind the web server between two calls of
// Before belongs to one request. Wrong answers are no error: their session ends
// and the walk goes on. It returns what was visited, also with an error.
func Walk(ctx context.Context, opts Options, w WalkOptions) ([]Visit, error) {
	if w.Rounds == 0 {
		w.Rounds = walkRounds
	}
	if w.Most == 0 {
		w.Most = walkMost
	}
	if w.Limit == 0 {
		w.Limit = walkLimit
	}
	opts.Workload = 1
	if opts.Engine != EngineHTTP2 {
		opts.Engine = EngineNet
	}
	ctx, cancel := context.WithTimeout(ctx, w.Limit)
	defer cancel()
	r, err := newRun(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer r.close()
	defer context.AfterFunc(ctx, r.interrupt)()
	if !r.setup.once(r.opts.Scenario.setup) {
		return nil, r.setupError(r.setup.user)
	}
	u := r.users[0]
	u.shard = nil // a session's end is the end: the next one is begun here
	for slot := range r.opts.Scenario.globals {
		u.vars[slot] = append([]byte(nil), r.setup.user.vars[slot]...)
	}
	walk := &walk{ctx: ctx, r: r, b: r.newBlocking(u), o: w}
	defer walk.b.disconnect()
	err = walk.rounds()
	if opts.Rows != nil {
		opts.Rows.note(r.opts.Scenario, r.rowsUsed())
	}
	for slot := range r.opts.Scenario.globals {
		r.teardown.user.vars[slot] = r.setup.user.vars[slot]
	}
	r.teardown.once(r.opts.Scenario.teardown)
	return walk.visits, err
}

// walk is one Walk under way.
type walk struct {
	ctx    context.Context
	r      *run
	b      *blocking
	o      WalkOptions
	visits []Visit
}

func (w *walk) rounds() error {
	sessions := w.r.opts.Scenario.sessions
	for round := range w.o.Rounds {
		for i := range sessions {
			// A session that is never drawn is not part of the mix.
			if sessions[i].weight == 0 && len(sessions) > 1 {
				continue
			}
			if err := w.session(&sessions[i], round); err != nil {
				return err
			}
			// Users end their session at once when the run is interrupted.
			if len(w.visits) < w.o.Most && w.ctx.Err() != nil {
				return w.stopped()
			}
			if len(w.visits) >= w.o.Most {
				return nil
			}
		}
	}
	return nil
}

func (w *walk) stopped() error {
	return fmt.Errorf("walk through scenario %s stopped after %d requests: %w", w.r.opts.Scenario.Name, len(w.visits), w.ctx.Err())
}

// session sends one session's requests.
func (w *walk) session(s *session, round int) error {
	u, m := w.b.user, w.r.meter
	u.do(s, 0, false)
	for d := u.proceed(m.now()); d != finished && len(w.visits) < w.o.Most; {
		if d == pausing {
			d = u.proceed(m.now())
			continue
		}
		if w.ctx.Err() != nil {
			return w.stopped()
		}
		if w.o.Before != nil {
			if err := w.o.Before(w.ctx, len(w.visits)); err != nil {
				return fmt.Errorf("walk through scenario %s: %w", w.r.opts.Scenario.Name, err)
			}
		}
		v := Visit{Session: s.name, Step: u.session.steps[u.step].name, Round: round, Method: u.method, Target: string(u.target)}
		if u.route >= 0 && u.route < len(w.r.opts.Scenario.routes) {
			v.Route = unmethoded(w.r.opts.Scenario.routes[u.route])
		}
		u.failed = false
		a := w.asked()
		began := m.now()
		d = w.b.send()
		v.Took, v.Right = m.now()-began, !u.failed
		if u.wire.end > 0 {
			v.Status = u.wire.res.status
		}
		w.visits = append(w.visits, v)
		if w.o.Saw != nil && !u.silent {
			w.saw(v, a)
		}
	}
	// A session that was cut short begins anew the next time.
	u.at = atEnd
	return nil
}

// asked notes what is about to be sent.
func (w *walk) asked() Answer {
	u := w.b.user
	if w.o.Saw == nil {
		return Answer{}
	}
	return Answer{Request: bytes.Clone(u.request), Stranger: u.stranger, Asset: u.asset >= 0, Hop: u.hop}
}

// saw tells the answer to what was asked.
func (w *walk) saw(v Visit, a Answer) {
	u := w.b.user
	res := &u.wire.res
	a.Head, a.Type, a.Location, a.Opaque = res.head, string(res.contentType), string(res.location), u.opaque
	for _, c := range res.cookies {
		name, _ := cutByte(c, '=')
		a.Cookies = append(a.Cookies, string(bytes.TrimSpace(name)))
	}
	if u.opaque == "" {
		a.Body = w.r.opts.Scenario.Mask(u.text)
	}
	w.o.Saw(v, a)
}

// unmethoded is a route without the method that it begins with, if it does: a name of
// the scenario's own may be several words.
func unmethoded(route string) string {
	method, rest, ok := strings.Cut(route, " ")
	if ok && rest != "" && method == strings.ToUpper(method) {
		return rest
	}
	return route
}
