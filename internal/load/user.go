package load

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

const (
	// maxHops of redirects, as common browsers' and curl's order of size.
	maxHops = 10
	// refusedPause keeps a user whom nobody answers from spinning: at most
	// ten errors a second.
	refusedPause = 100 * time.Millisecond
)

// user is one virtual user: it runs session after session on one connection.
// Everything it needs for a request is kept from the one before.
type user struct {
	run    *run
	id     uint64
	shard  *shard // nil in setup and teardown, which are not counted
	rng    *rand.Rand
	vars   [][]byte // by slot
	cursor []uint64 // draws so far, by pool
	spans  []span   // of the session's steps, by index
	jar    jar

	mu    sync.Mutex // guards conn against interrupt
	conn  net.Conn
	wire  wire
	timer *time.Timer

	target, next, body, out []byte // of the present request
	scratch                 []byte
	text                    []byte // the answer's body, decoded
	opaque                  string // why text is not the decoded body
	inflate                 inflater
	print                   fingerprint // of text, if it was needed
	why                     failure     // of the last request that failed

	memory  []memory // recorded values, by set
	statics map[string]*staticCount
}

// span is when a step's request was sent and its answer complete.
type span struct{ sent, done time.Duration }

// memory holds a set's values one after the other: no allocation for each.
type memory struct {
	data []byte
	ends []int
}

func (m *memory) add(value template, vars [][]byte) {
	m.data = value.append(m.data, vars)
	m.ends = append(m.ends, len(m.data))
}

func newUser(r *run, id int, s *shard) *user {
	sc := r.opts.Scenario
	u := &user{run: r, id: uint64(id), shard: s, rng: rand.New(rand.NewPCG(r.opts.Seed, uint64(id))),
		vars: make([][]byte, sc.slots), cursor: make([]uint64, len(sc.pools)), spans: make([]span, sc.longest()),
		memory: make([]memory, len(sc.sets)), statics: map[string]*staticCount{}, timer: time.NewTimer(time.Hour)}
	u.timer.Stop()
	for i := range u.cursor {
		if i < len(r.opts.firstRow) {
			u.cursor[i] = (r.opts.firstRow[i] + r.shares - 1) / r.shares
		}
	}
	return u
}

// longest is the number of steps of the longest session.
func (s *Scenario) longest() int {
	n := max(len(s.setup.steps), len(s.teardown.steps))
	for i := range s.sessions {
		n = max(n, len(s.sessions[i].steps))
	}
	return n
}

// loop runs sessions until the window is over.
func (u *user) loop() {
	defer u.disconnect()
	for !u.run.over() {
		u.session(u.pick())
	}
}

// pick draws a session by weight.
func (u *user) pick() *session {
	sc := u.run.opts.Scenario
	at := u.rng.IntN(sc.weights)
	for i := range sc.sessions {
		if at -= sc.sessions[i].weight; at < 0 {
			return &sc.sessions[i]
		}
	}
	return &sc.sessions[0] // not reached: the weights' sum is above every draw
}

// session does the steps until one fails; it reports whether all were done.
func (u *user) session(s *session) bool {
	u.jar.clear()
	u.draw(s.draws)
	for i := range s.steps {
		st := &s.steps[i]
		for range st.repeat {
			u.draw(st.draws)
			if u.stopped() || !u.perform(s, st) || !u.pause(st.think) {
				return false
			}
		}
	}
	return true
}

// stopped: users stop with the window, setup and teardown only when the run
// is cancelled.
func (u *user) stopped() bool {
	if u.shard == nil {
		return u.run.cancelled.Load()
	}
	return u.run.over()
}

func (u *user) draw(draws []draw) {
	for i := range draws {
		d := &draws[i]
		row := u.row(d.pool)
		for _, f := range d.fields {
			u.vars[f.slot] = d.pool.append(u.vars[f.slot][:0], row, f.field)
		}
	}
}

// row draws from a pool.
func (u *user) row(p *pool) uint64 {
	if p.random {
		return u.rng.Uint64N(p.rows)
	}
	i := u.cursor[p.index]
	u.cursor[p.index]++
	return u.run.perms[p.index].at(p.position(i, u.id, u.run.shares))
}

// pause waits; false if the run stopped meanwhile.
func (u *user) pause(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	u.timer.Reset(d)
	stop := u.run.stop
	if u.shard == nil {
		stop = nil
	}
	select {
	case <-u.timer.C:
		return true
	case <-stop:
	case <-u.run.ctx.Done():
	}
	u.timer.Stop()
	return false
}

// perform does a step: the request, redirects, extractions, records, assets.
func (u *user) perform(s *session, st *step) bool {
	u.body = st.body.append(u.body[:0], u.vars)
	u.target = st.path.append(u.target[:0], u.vars)
	if st.rawPath && !u.cleanTarget() {
		return u.reject(s, st)
	}
	method, route := st.method, st.route
	for hop := 0; ; hop++ {
		if !u.roundTrip(s, st, method, route, hop, -1) {
			return false
		}
		if !st.follow || !isRedirect(u.wire.res.status) {
			break
		}
		if u.stopped() {
			return false
		}
		if status := u.wire.res.status; status != 307 && status != 308 && method != "HEAD" {
			method = "GET"
		}
		u.target = append(u.target[:0], u.next...)
		route = u.onward(st, method)
	}
	for i := range st.record {
		u.memory[st.record[i].set].add(st.record[i].value, u.vars)
	}
	for _, a := range st.assets {
		if u.stopped() || !u.fetch(s, a) {
			return false
		}
	}
	return true
}

// onward is the route of a redirect's target.
func (u *user) onward(st *step, method string) int {
	path, _ := cutByte(u.target, '?')
	u.scratch = append(append(append(u.scratch[:0], method...), ' '), path...)
	if i, ok := u.run.opts.Scenario.routeIndex[string(u.scratch)]; ok {
		return i
	}
	return st.onward
}

// fetch gets an asset of the page before.
func (u *user) fetch(s *session, asset int) bool {
	a := &u.run.opts.Scenario.assets[asset]
	u.body, u.target = u.body[:0], append(u.target[:0], a.target...)
	return u.roundTrip(s, &a.step, "GET", a.route, 0, asset)
}

// reject counts a step that could not be sent, because what an answer gave as
// a link is none.
func (u *user) reject(s *session, st *step) bool {
	u.why = failure{"a link within the target, for example /page", quoteShort(u.target)}
	u.text, u.wire.end = nil, 0
	now := u.run.meter.now()
	u.count(s, st, st.method, st.route, mismatched, span{now, now})
	return false
}

// roundTrip does one request and checks its answer. hop counts redirects
// followed; asset is -1 for a step's own requests.
func (u *user) roundTrip(s *session, st *step, method string, route, hop, asset int) bool {
	u.build(st, method)
	timeout := st.timeout
	if timeout == 0 {
		timeout = u.run.opts.Scenario.Timeout
	}
	at, err := u.exchange(method == "HEAD", timeout)
	u.print, u.text = fingerprint{}, nil
	if err != nil {
		return u.broken(s, st, method, route, at, timeout, err)
	}
	res := &u.wire.res
	for _, c := range res.cookies {
		u.jar.set(c, u.target, time.Now())
	}
	u.text, u.opaque = u.inflate.decode(res)
	if hop == 0 && asset < 0 {
		u.spans[st.index] = at
	}
	o := succeeded
	if !u.judge(s, st, hop, asset) {
		o = mismatched
	}
	counted := u.count(s, st, method, route, o, at)
	if method == "GET" {
		u.observe(u.target, res, u.text, u.print, counted, at.done-at.sent)
	}
	return o == succeeded
}

// broken classifies a request without an answer.
func (u *user) broken(s *session, st *step, method string, route int, at span, timeout time.Duration, err error) bool {
	if u.run.ctx.Err() != nil {
		return false
	}
	o := failed
	u.why = failure{"an answer", err.Error()}
	if isTimeout(err) {
		o, u.why.got = timedOut, fmt.Sprintf("no complete answer within %s", timeout)
	} else if errors.Is(err, io.EOF) {
		u.why.got = string(errNoAnswer)
	}
	if asBroken(err) {
		u.why = failure{"an answer that follows HTTP/1.1", "broken answer: " + err.Error()}
		u.text = u.wire.buf[:u.wire.end]
	}
	u.count(s, st, method, route, o, at)
	if o == failed && u.wire.end == 0 {
		u.pause(refusedPause)
	}
	return false
}

// count records an outcome, and a sample of a failure.
func (u *user) count(s *session, st *step, method string, route int, o outcome, at span) (counted bool) {
	if o != succeeded {
		kind := o
		if u.shard == nil {
			kind = mismatched // setup and teardown only know right and wrong
		}
		u.run.samples.add(kind, s.name, st.name, func() Mismatch { return u.describe(u.why, method, u.target, u.text) })
	}
	if u.shard == nil {
		return false
	}
	bytes := int64(u.wire.end)
	return u.run.meter.record(u.shard, route, o, at.sent, at.done, bytes)
}
