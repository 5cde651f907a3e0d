package load

import (
	"errors"
	"math"
	"os"
	"runtime"

	"syscall"
	"time"
)

const (
	// sharedBuffer is what answers are read into that come in one piece; with
	// the usual socket buffers one read gives at most some hundred kilobytes.
	sharedBuffer = 256 << 10
	// maxEvents taken with one wake-up.
	maxEvents = 512
	// maxDials under way at once: below the backlog of common servers (nginx
	// 511, Apache 511, Go 4096), whose overflow costs a second each.
	maxDials = 128
	// busyRetry is when a unix socket with a full backlog is tried again; the
	// kernel says nothing when it has room (connect(2), EAGAIN).
	busyRetry = time.Millisecond
	// gatherFew answers at once are few; see gather.
	gatherFew  = 8
	gatherRest = 30 * time.Microsecond
	// timerSlack of the loop's thread instead of the usual 50 µs (prctl(2),
	// PR_SET_TIMERSLACK): short rests must be short.
	timerSlack = 5 * time.Microsecond
	// beginSeen is how soon the begin of the window is seen by a loop that
	// waits for its first planned session.
	beginSeen = 50 * time.Millisecond
)

// loop drives users on one thread with raw sockets and epoll(7). It is the
// engine of choice: docs/adr/0006 has the measurement.
type loop struct {
	run     *run
	shard   *shard
	address address
	epfd    int
	wakefd  int // eventfd: the window is over, or the run is cancelled
	slots   []slot
	left    int // users that are not finished
	buf     []byte
	events  []syscall.EpollEvent

	timers  timers
	scanAt  time.Duration // the earliest deadline of a request, or earlier
	idle    ring          // open model: users without a session, longest first
	queue   []*slot       // users that wait for a place to dial
	busy    []*slot       // users whose unix socket had a full backlog
	dialing int
	most    int // sessions under way at once
	drained bool
	kernel  caller
	now     time.Duration // the last look at the clock
	came    int           // events of the last wake-up

	// batched: answers are read together, at most slack after they came; their
	// times are the kernel's.
	batched bool
	under   int // requests under way
	stamps  *stamped
	offset  int64 // real-time clock minus the meter's, when last looked at

	ready  chan struct{} // closed when thread is known
	thread int           // the thread's number
	err    error
}

// link is the state of a slot's connection.
type link uint8

const (
	unlinked link = iota
	dialing
	linked
)

// slot is a user with its connection.
type slot struct {
	user     *user
	index    int // in the loop's slots
	fd       int
	turn     int32 // counts connections, so that late events are told apart
	link     link
	waiting  bool // a request is under way
	queued   bool // it waits for a place to dial
	kept     bool // the connection served a request before
	sent     int  // bytes of the request
	deadline time.Duration
	freeAt   time.Duration
}

const never = time.Duration(math.MaxInt64)

func newLoop(r *run, users []*user, s *shard) (*loop, error) {
	l := &loop{run: r, shard: s, epfd: -1, wakefd: -1, slots: make([]slot, len(users)), left: len(users),
		buf: make([]byte, sharedBuffer), events: make([]syscall.EpollEvent, maxEvents), scanAt: never, ready: make(chan struct{})}
	var err error
	if l.address, err = newAddress(r.target.network, r.target.address); err != nil {
		return nil, err
	}
	if r.plan != nil && r.slack > 0 && l.address.family != syscall.AF_UNIX && r.opts.Scenario.single() {
		l.batched, l.stamps = true, new(stamped)
	}
	if r.plan != nil {
		l.idle.slots = make([]*slot, len(users))
	}
	for i, u := range users {
		l.slots[i] = slot{user: u, index: i, fd: -1}
	}
	if l.epfd, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	fd, _, errno := syscall.Syscall(syscall.SYS_EVENTFD2, 0, syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if errno != 0 {
		l.close()
		return nil, os.NewSyscallError("eventfd2", errno)
	}
	l.wakefd = int(fd)
	event := syscall.EpollEvent{Events: edgeEvents, Fd: -1}
	if err := syscall.EpollCtl(l.epfd, syscall.EPOLL_CTL_ADD, l.wakefd, &event); err != nil {
		l.close()
		return nil, os.NewSyscallError("epoll_ctl", err)
	}
	return l, nil
}

// wake makes the loop look at the run's state. It may be called from any
// goroutine until close.
func (l *loop) wake() {
	one := [8]byte{1} // any value but 0 wakes
	_, _ = syscall.Write(l.wakefd, one[:])
}

func (l *loop) close() {
	for i := range l.slots {
		if fd := l.slots[i].fd; fd >= 0 {
			syscall.Close(fd)
			l.slots[i].fd = -1
		}
	}
	for _, fd := range []int{l.epfd, l.wakefd} {
		if fd >= 0 {
			syscall.Close(fd)
		}
	}
}

// work drives the users until all are finished or the run is cancelled.
func (l *loop) work() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l.shard.held = true
	l.thread = syscall.Gettid()
	setTimerSlack(int64(timerSlack))
	loops.Add(1)
	defer loops.Add(-1)
	close(l.ready)
	l.shard.mu.Lock()
	for i := range l.slots {
		s := &l.slots[i]
		l.now = l.run.meter.now()
		l.act(s, s.user.proceed(l.now), l.now)
	}
	for l.left > 0 && !l.run.cancelled.Load() && l.err == nil {
		l.shard.mu.Unlock()
		n, errno := l.wait()
		l.shard.mu.Lock()
		if errno != 0 && errno != syscall.EINTR {
			l.err = os.NewSyscallError("epoll_wait", errno)
			break
		}
		l.look()
		l.came = n
		for i := range max(n, 0) {
			if e := &l.events[i]; e.Fd >= 0 {
				l.event(&l.slots[e.Fd], e)
			}
		}
		l.turn()
	}
	l.shard.mu.Unlock()
}

// look at the clock.
func (l *loop) look() {
	if l.stamps == nil {
		l.now = l.run.meter.now()
		return
	}
	t := time.Now()
	l.now = t.Sub(l.run.meter.base)
	l.offset = t.UnixNano() - int64(l.now)
}

// wait for events, until the next thing that is due.
func (l *loop) wait() (int, syscall.Errno) {
	if !l.kernel.look() { // waiting is dear: first look what is there
		if n, errno := l.kernel.poll(l.epfd, l.events); n > 0 || errno != 0 {
			return n, errno
		}
	}
	at := l.scanAt
	if first, ok := l.timers.first(); ok {
		at = min(at, first)
	}
	if p := l.run.plan; p != nil && !l.run.over() {
		if l.idle.count > 0 {
			if next, ok := p.wake(l.run.slack); ok {
				at = min(at, next)
			}
		}
		// The window's begin is seen by looking.
		at = min(at, l.now+beginSeen)
	}
	if at == never {
		return l.kernel.await(l.epfd, l.events, -1)
	}
	if at <= l.now {
		return l.kernel.poll(l.epfd, l.events)
	}
	if l.batched && l.under > 0 {
		l.kernel.rest(int64(min(at-l.now, l.run.slack)))
		return l.kernel.poll(l.epfd, l.events)
	}
	l.gather(at)
	return l.kernel.await(l.epfd, l.events, int64(at-l.now))
}

// gather rests a little when few answers came at once though many are under
// way. A wake-up for each of them costs the machine more than the answer
// itself, and how many come at once otherwise depends on where the scheduler
// put the target (measured: 1.5 to 8, and 5.5 to 4.3 µs of CPU for a request).
// Answers are read up to gatherRest later for it.
func (l *loop) gather(at time.Duration) {
	if l.kernel.hold && l.came > 0 && l.came < gatherFew && l.under >= 2*gatherFew && at > l.now+2*gatherRest {
		l.kernel.rest(int64(gatherRest))
	}
}

// turn does what is due beside events.
func (l *loop) turn() {
	now := l.now
	if l.run.over() && !l.drained {
		l.drain(now)
	}
	for {
		first, ok := l.timers.first()
		if !ok || first > now {
			break
		}
		s := l.timers.pop()
		l.act(s, s.user.proceed(now), now)
	}
	if l.run.plan != nil {
		l.arrivals(now)
	}
	if l.scanAt <= now {
		l.scan(now)
	}
}

// drain lets users go that have nothing under way.
func (l *loop) drain(now time.Duration) {
	l.drained = true
	for len(l.timers) > 0 {
		s := l.timers.pop()
		l.act(s, finished, now)
	}
	for l.idle.count > 0 {
		l.act(l.idle.pop(), finished, now)
	}
}

// arrivals begins the planned sessions whose time has come.
func (l *loop) arrivals(now time.Duration) {
	for l.idle.count > 0 {
		a, ok := l.run.plan.due(now)
		if !ok {
			return
		}
		if now-a.at > l.run.patience {
			l.run.plan.drop(a)
			continue
		}
		s := l.idle.pop()
		l.shard.started(a.at, now-max(a.at, s.freeAt))
		l.most = max(l.most, l.left-l.idle.count)
		s.user.arrive(a)
		l.act(s, s.user.proceed(now), now)
		now = l.run.meter.now()
	}
}

// act does what a user wants.
func (l *loop) act(s *slot, d doing, now time.Duration) {
	switch d {
	case sending:
		if s.user.heavy {
			now = l.run.meter.now()
		}
		s.user.began = now
		l.request(s)
	case pausing:
		s.waiting = false
		l.timers.push(s)
	case idle:
		s.waiting, s.freeAt = false, now
		l.idle.push(s)
	case finished:
		s.waiting = false
		l.disconnect(s)
		l.left--
	}
}

// request sends the user's request, on a new connection if it has none.
func (l *loop) request(s *slot) {
	u := s.user
	u.wire.begin(u.method == "HEAD")
	s.waiting, s.sent = true, 0
	l.under++
	s.deadline = u.began + u.limit
	l.scanAt = min(l.scanAt, s.deadline)
	if s.link == linked {
		l.push(s)
		return
	}
	l.dial(s)
}

// dial begins a connection, or waits for its turn to.
func (l *loop) dial(s *slot) {
	if l.dialing >= maxDials {
		s.queued = true
		l.queue = append(l.queue, s)
		return
	}
	now := l.run.meter.now()
	if s.queued {
		// It could not dial before its turn, which is not the service's time.
		s.queued, s.user.began, s.deadline = false, now, now+s.user.limit
	}
	fd, pending, err := l.address.dial()
	if err != nil {
		if l.address.family == syscall.AF_UNIX && errors.Is(err, syscall.EAGAIN) && now < s.deadline {
			l.busy = append(l.busy, s)
			l.scanAt = min(l.scanAt, now+busyRetry)
			return
		}
		l.lost(s, err)
		return
	}
	s.fd, s.link, s.kept = fd, dialing, false
	s.turn++
	l.dialing++
	event := syscall.EpollEvent{Events: edgeEvents, Fd: int32(s.index), Pad: s.turn}
	if l.batched && stampTimes(fd) != nil {
		l.batched = false // this kernel does not: read at once
	}
	if err := syscall.EpollCtl(l.epfd, syscall.EPOLL_CTL_ADD, fd, &event); err != nil {
		l.lost(s, os.NewSyscallError("epoll_ctl", err))
		return
	}
	if !pending {
		l.connected(s)
	}
}

// connected: the connection is there; the request follows.
func (l *loop) connected(s *slot) {
	s.link = linked
	l.dialing--
	l.shard.connected(l.run.meter.now())
	l.push(s)
	l.nextDial()
}

func (l *loop) nextDial() {
	for len(l.queue) > 0 && l.dialing < maxDials {
		s := l.queue[0]
		l.queue = l.queue[1:]
		if s.waiting && s.link == unlinked {
			l.dial(s)
		}
	}
}

// push sends what is left of the request.
func (l *loop) push(s *slot) {
	request := s.user.request
	for s.sent < len(request) {
		n, errno := l.kernel.send(s.fd, request[s.sent:])
		switch {
		case errno == 0:
			s.sent += n
		case errno == syscall.EINTR:
		case errno == syscall.EAGAIN:
			return
		default:
			l.lost(s, os.NewSyscallError("send", errno))
			return
		}
	}
}

// event takes what epoll told about a slot's connection.
func (l *loop) event(s *slot, e *syscall.EpollEvent) {
	if e.Pad != s.turn || s.link == unlinked {
		return // of an earlier connection
	}
	if s.link == dialing {
		if err := connected(s.fd); err != nil {
			l.lost(s, err)
			return
		}
		if e.Events&(syscall.EPOLLOUT|syscall.EPOLLIN) == 0 {
			return
		}
		l.connected(s)
		if e.Events&(syscall.EPOLLIN|syscall.EPOLLRDHUP) == 0 || s.link != linked {
			return
		}
	}
	if !s.waiting {
		l.disturbed(s)
		return
	}
	if s.sent < len(s.user.request) && e.Events&syscall.EPOLLOUT != 0 {
		turn := s.turn
		l.push(s)
		if s.turn != turn || !s.waiting {
			return
		}
	}
	if e.Events&^uint32(syscall.EPOLLOUT) != 0 {
		l.pull(s, e.Events&(syscall.EPOLLRDHUP|syscall.EPOLLHUP|syscall.EPOLLERR) != 0)
	}
}

// disturbed: something came from a connection that nobody waits for. The
// server closed it, or sent what nobody asked for.
func (l *loop) disturbed(s *slot) {
	n, errno := l.kernel.receive(s.fd, l.buf)
	if errno == syscall.EAGAIN || errno == syscall.EINTR {
		return
	}
	if n > 0 && errno == 0 {
		s.user.unasked(l.run.meter.now())
	}
	l.disconnect(s)
}

// pull reads the answer. ending: the peer has closed, so it is read to the end.
func (l *loop) pull(s *slot, ending bool) {
	w := &s.user.wire
	came := int64(0)
	for {
		room := w.room(l.buf)
		var n int
		var errno syscall.Errno
		if l.stamps != nil {
			n, came, errno = l.stamps.receive(&l.kernel, s.fd, room)
		} else {
			n, errno = l.kernel.receive(s.fd, room)
		}
		var done bool
		var err error
		switch {
		case errno == syscall.EAGAIN:
			w.park()
			return
		case errno == syscall.EINTR:
			continue
		case errno != 0:
			err = os.NewSyscallError("recv", errno)
		case n == 0:
			done, err = w.closed()
		default:
			done, err = w.took(n)
		}
		if err != nil {
			l.lost(s, err)
			return
		}
		if done {
			l.complete(s, ending, came)
			return
		}
		if n < len(room) && !ending {
			w.park() // edge: the rest will be told
			return
		}
	}
}

// complete: the answer is there. came is the kernel's time for it; 0: now.
func (l *loop) complete(s *slot, ending bool, came int64) {
	now := l.run.meter.now()
	l.now = now
	done := now
	if came > 0 {
		done = min(max(time.Duration(came-l.offset), s.user.began), now)
	}
	if s.user.wire.res.close || ending || s.sent < len(s.user.request) {
		l.disconnect(s)
	}
	s.kept, s.waiting = true, false
	l.under--
	l.act(s, s.user.answered(done), now)
}

// lost: the connection broke, or none could be made.
func (l *loop) lost(s *slot, err error) {
	kept := s.kept && s.link == linked
	l.disconnect(s)
	if s.user.retry(kept, err) {
		s.sent = 0
		s.user.wire.begin(s.user.method == "HEAD")
		l.dial(s)
		return
	}
	s.waiting = false
	l.under--
	now := l.run.meter.now()
	l.act(s, s.user.unanswered(err, now), now)
}

func (l *loop) disconnect(s *slot) {
	if s.fd < 0 {
		return
	}
	syscall.Close(s.fd)
	if s.link == dialing {
		l.dialing--
		defer l.nextDial()
	}
	s.fd, s.link, s.kept = -1, unlinked, false
	s.turn++
}

// scan ends the requests whose time is over and finds the next deadline.
// Deadlines only move later while requests follow each other, so this happens
// about once for each time-out, not for each request.
func (l *loop) scan(now time.Duration) {
	l.scanAt = never
	l.queue = append(l.queue, l.busy...)
	l.busy = l.busy[:0]
	l.nextDial()
	for i := range l.slots {
		s := &l.slots[i]
		if !s.waiting {
			continue
		}
		if s.deadline <= now {
			l.lost(s, os.ErrDeadlineExceeded)
			continue
		}
		l.scanAt = min(l.scanAt, s.deadline)
	}
	if len(l.busy) > 0 {
		l.scanAt = min(l.scanAt, now+busyRetry)
	}
}
