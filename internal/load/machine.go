package load

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// doing is what a user wants from its driver.
type doing uint8

const (
	sending  doing = iota // u.request shall be sent and its answer read, until u.limit after it
	pausing               // nothing until u.until
	idle                  // open model: nothing until a session is planned for it
	finished              // nothing any more
)

// position is where a user stands in its session.
type position uint8

const (
	atSession position = iota // between two sessions
	atStep                    // the step's next repetition begins
	atAssets                  // the page is there; its assets follow
	atThink                   // the repetition is done but for its pause
	atNext                    // the repetition is done
	atEnd                     // setup or teardown is done
)

// do begins a session, now or as planned. It is for users between sessions.
func (u *user) do(s *session, planned time.Duration, isPlanned bool) {
	u.session, u.step, u.done = s, 0, 0
	u.planned, u.first = planned, isPlanned
	u.jar.clear()
	if s.cache == cacheSession {
		u.cache.clear()
	}
	u.draw(s.draws)
	u.at = atStep
	if len(s.steps) == 0 {
		u.endSession()
	}
}

// arrive begins a planned session. What is random in it follows from the
// seed and the arrival's number, whichever user it falls to.
func (u *user) arrive(a arrival) {
	u.pcg.Seed(u.run.opts.Seed, a.number)
	u.ordinal = a.number
	clear(u.cursor)
	s := &u.run.opts.Scenario.sessions[max(a.session, 0)]
	if a.session < 0 {
		s = u.pick()
	}
	u.do(s, a.at, true)
}

func (u *user) endSession() {
	u.at = atSession
	if u.shard == nil {
		u.at = atEnd
	}
}

// proceed goes on until something has to be sent or waited for.
func (u *user) proceed(now time.Duration) doing {
	for {
		switch u.at {
		case atEnd:
			return finished
		case atSession:
			if u.stopped() {
				return finished
			}
			if u.run.plan != nil {
				return idle
			}
			u.visits.begin(now)
			u.do(u.pick(), 0, false)
		case atStep:
			if u.stopped() {
				return finished
			}
			if st := &u.session.steps[u.step]; u.begin(st, now) {
				return sending
			}
			u.endSession()
		case atAssets:
			if u.nextAsset(now) {
				if u.stopped() {
					return finished
				}
				return sending
			}
			u.at = atThink
		case atThink:
			u.at = atNext
			if think := u.session.steps[u.step].think; think > 0 {
				if u.stopped() {
					return finished
				}
				u.until = now + think
				return pausing
			}
		case atNext:
			u.advance(now)
		}
	}
}

// advance goes to the next repetition or step.
func (u *user) advance(now time.Duration) {
	u.at = atStep
	if u.done++; u.done < u.session.steps[u.step].repeat {
		return
	}
	u.done = 0
	last := u.step == len(u.session.steps)-1
	u.visits.done(&u.session.steps[u.step], last, now)
	if u.step++; u.step == len(u.session.steps) {
		u.endSession()
	}
}

// begin builds a step's request; false if what an answer gave as a link is
// none.
func (u *user) begin(st *step, now time.Duration) bool {
	u.draw(st.draws)
	u.asset, u.link, u.hop, u.asking = -1, -1, 0, nil
	u.method, u.route, u.heavy = st.method, st.route, st.heavy
	u.setLimit(st)
	if f := u.run.fixed[st.serial]; f != nil && len(u.jar.cookies) == 0 {
		u.body, u.target, u.request = u.body[:0], f.target, f.request
		u.stranger = len(st.own.telling) == 0
		return true
	}
	u.body = st.body.append(u.body[:0], u.vars)
	u.path = st.path.append(u.path[:0], u.vars)
	if u.target = u.path; st.rawPath && !u.cleanTarget() {
		u.reject(st, now)
		return false
	}
	u.build(st, st.method)
	return true
}

func (u *user) setLimit(st *step) {
	u.again = false
	if u.limit = st.timeout; u.limit == 0 {
		u.limit = u.run.opts.Scenario.Timeout
	}
}

// keep notes in the user's browser what a right answer says: how long an asset
// may be kept, and what a page or style sheet refers to.
func (u *user) keep(now time.Duration) {
	res, st := &u.wire.res, &u.session.steps[u.step]
	if u.asset >= 0 && u.session.cache != cacheNone {
		u.cache.storeAged(u.target, res.status, res.lookup("Cache-Control"), res.lookup("Expires"), res.lookup("Date"), res.lookup("Age"),
			res.lookup("ETag"), res.lookup("Last-Modified"), res.lookup("Vary"), now)
	}
	switch {
	case st.auto == nil:
	case u.asset < 0:
		u.queue.begin(u.run.opts.Scenario.assets, st.assets)
		if u.opaque == "" && isPage(res.contentType) {
			u.queue.page(u.text, u.target)
		}
	case res.status == 304:
		u.queue.kept(u.target)
	case u.opaque == "" && isStyle(res.contentType):
		u.queue.sheet(u.text, u.target)
	}
}

// nextAsset builds the request of the page's next asset that the browser's
// cache does not have: first the step's own, then those found.
func (u *user) nextAsset(now time.Duration) bool {
	st, sc := &u.session.steps[u.step], u.run.opts.Scenario
	for {
		u.asset++
		how, target := (*step)(nil), []byte(nil)
		if u.asset < len(st.assets) {
			u.link = st.assets[u.asset]
			how, target = &sc.assets[u.link].step, sc.assets[u.link].target
		} else {
			u.link = -1
			if st.auto == nil {
				return false
			}
			var more bool
			if target, more = u.queue.pop(); !more {
				return false
			}
			how = &st.auto.step
		}
		u.asking = nil
		if u.session.cache != cacheNone {
			fresh, ask := u.cache.lookup(target, now)
			if fresh {
				if st.auto != nil {
					u.queue.kept(target)
				}
				continue
			}
			u.asking = ask
		}
		u.method, u.route, u.hop, u.heavy = "GET", how.route, 0, false
		if u.link < 0 {
			path, _ := cutByte(target, '?')
			u.scratch = append(append(u.scratch[:0], "GET "...), path...)
			if i, ok := sc.routeIndex[string(u.scratch)]; ok {
				u.route = i
			}
		}
		u.setLimit(how)
		u.body, u.target = u.body[:0], target
		u.build(how, u.method)
		return true
	}
}

// current is the step whose answer is expected.
func (u *user) current() *step {
	st := &u.session.steps[u.step]
	switch {
	case u.link >= 0:
		return &u.run.opts.Scenario.assets[u.link].step
	case u.asset >= 0:
		return &st.auto.step
	}
	return st
}

// answered takes the answer in u.wire, which was complete at now.
func (u *user) answered(now time.Duration) doing {
	st, res, at := u.current(), &u.wire.res, span{u.began, now}
	u.print, u.text, u.dom, u.reference, u.silent = fingerprint{}, nil, nil, nil, false
	for _, c := range res.cookies {
		u.jar.set(c, u.target, time.Now())
	}
	u.text, u.opaque = u.inflate.decode(res)
	if u.hop == 0 && u.asset < 0 {
		u.spans[st.index] = at
	}
	o := succeeded
	unchanged := u.asking != nil && res.status == 304
	if !unchanged && !u.judge(u.session, st, u.hop, u.link) {
		o = mismatched
	}
	counted := u.count(st, o, at)
	if u.method == "GET" && !unchanged {
		u.observe(u.target, res, u.text, u.print, counted, now-u.began)
	}
	if o == succeeded && u.hop == 0 && u.asset < 0 {
		u.lookOutcome(st)
	}
	if o != succeeded {
		u.fail()
		return u.proceed(now)
	}
	if u.asset < 0 {
		if st.follow && isRedirect(res.status) {
			if u.stopped() {
				return finished
			}
			u.onward(st)
			return sending
		}
		for i := range st.record {
			u.memory[st.record[i].set].add(st.record[i].value, u.vars)
		}
		u.at = atAssets
	}
	u.keep(now)
	return u.proceed(now)
}

// fail ends the session.
func (u *user) fail() {
	u.failed = true
	u.endSession()
}

// onward builds the request to where a redirect led.
func (u *user) onward(st *step) {
	u.hop++
	if status := u.wire.res.status; status != 307 && status != 308 && u.method != "HEAD" {
		u.method = "GET"
	}
	u.path = append(u.path[:0], u.next...)
	u.target = u.path
	path, _ := cutByte(u.target, '?')
	u.scratch = append(append(append(u.scratch[:0], u.method...), ' '), path...)
	u.route = st.onward
	if i, ok := u.run.opts.Scenario.routeIndex[string(u.scratch)]; ok {
		u.route = i
	}
	if u.method == st.method && st.hasBody {
		u.body = st.body.append(u.body[:0], u.vars)
	}
	u.setLimit(st)
	u.build(st, u.method)
}

// reject counts a step that could not be sent.
func (u *user) reject(st *step, now time.Duration) {
	u.why = failure{"a link within the target, for example /page", quoteShort(u.target)}
	u.text, u.wire.end = nil, 0
	u.count(st, mismatched, span{now, now})
	u.failed = true
}

// retry reports whether a request whose kept connection broke shall be sent
// again on a new one: a server may close a connection that was idle too long
// for it, which is no fault (RFC 9112, 9.3.1). Only once, and only if no byte
// of an answer came.
func (u *user) retry(kept bool, err error) bool {
	if u.again || !kept || u.wire.end > 0 || !isClosed(err) {
		return false
	}
	u.again = true
	return true
}

// unanswered takes a request without a right answer's bytes: err says why.
func (u *user) unanswered(err error, now time.Duration) doing {
	u.silent = true
	if u.run.cancelled.Load() {
		return finished
	}
	u.run.trouble(err)
	o := failed
	u.print, u.text, u.reference = fingerprint{}, nil, nil
	u.why = failure{"an answer", err.Error()}
	if isTimeout(err) {
		o, u.why.got = timedOut, fmt.Sprintf("no complete answer within %s", u.limit)
	} else if errors.Is(err, io.EOF) {
		u.why.got = string(errNoAnswer)
	}
	if asBroken(err) {
		u.why = failure{"an answer that follows HTTP/1.1", "broken answer: " + err.Error()}
		u.text = u.wire.buf[:u.wire.end]
	}
	u.count(u.current(), o, span{u.began, now})
	u.fail()
	if o == failed && !u.stopped() {
		u.until = now + refusedPause
		return pausing
	}
	return u.proceed(now)
}

// unasked counts bytes that came while nothing was asked for, as a wrong
// answer to the step before.
func (u *user) unasked(now time.Duration) {
	if u.session == nil {
		return
	}
	u.wire.end = 0 // the answer before has been counted
	u.why, u.text = failure{"nothing, because nothing was asked", string(errUnasked)}, nil
	u.count(&u.session.steps[min(u.step, len(u.session.steps)-1)], mismatched, span{now, now})
}

// count records an outcome, and a sample of a failure.
func (u *user) count(st *step, o outcome, at span) (counted bool) {
	if o != succeeded {
		kind := o
		if u.shard == nil {
			kind = mismatched // setup and teardown only know right and wrong
		}
		u.run.samples.add(kind, u.session.name, st.name, func() Mismatch { return u.describe(u.why, u.method, u.target, u.text) })
	}
	planned := at.sent
	if u.first {
		planned, u.first = u.planned, false
	}
	if u.shard == nil {
		return false
	}
	if o == succeeded && u.visits != nil {
		u.visits.scored(&u.session.steps[u.step], u.run.opts.Scenario.score.weights[u.route])
	}
	return u.shard.record(u.route, o, at, planned, int64(u.wire.end))
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrUnexpectedEOF)
}
