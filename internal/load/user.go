package load

import (
	"math/rand/v2"
	"time"

	"golang.org/x/net/html"
)

const (
	// maxHops of redirects, as common browsers' and curl's order of size.
	maxHops = 10
	// refusedPause keeps a user who gets no right answer from spinning, and the
	// machine from running out of ports: at most ten errors a second.
	refusedPause = 100 * time.Millisecond
)

// user is one virtual user: it runs session after session on one connection.
// Everything it needs for a request is kept from the one before.
//
// It does no input or output itself. A driver asks it to proceed, sends what
// it built, hands it the answer or the reason why there is none, and so on:
// the same user runs on every engine.
type user struct {
	run   *run
	id    uint64
	shard *shard // nil in setup and teardown, which are not counted
	pcg   *rand.PCG
	rng   *rand.Rand // of pcg
	// ordinal is the number of the planned session (open model).
	ordinal uint64
	round   uint64   // sessions that the user has picked (closed model)
	aligned bool     // the window has begun, and the user with it
	vars    [][]byte // by slot
	cursor  []uint64 // draws so far, by pool
	spans   []span   // of the session's steps, by index
	jar     jar
	cache   browserCache
	queue   assetQueue // assets found in the page

	at      position
	session *session
	step    int
	done    int    // repetitions of the step that are done
	hop     int    // redirects followed; 0 is the step's own request
	asset   int    // in the step's assets; -1 in a page's request
	link    int    // the present asset in Scenario.assets; -1: none
	asking  []byte // validators of the present request; nil: none
	method  string
	route   int
	heavy   bool // checking the answer takes long enough to look at the clock again
	failed  bool // setup and teardown: a step failed
	again   bool // the present request was sent once more on a new connection
	silent  bool // the last request got no complete answer

	planned time.Duration // open model: when the session should have begun
	first   bool          // the present request is the first of a planned session
	until   time.Duration // end of a pause
	began   time.Duration // when the present request was sent
	limit   time.Duration // its time-out

	wire wire

	target                []byte // of the present request; may be shared
	request               []byte // what is sent; may be shared
	path, next, body, out []byte
	scratch               []byte
	base                  []byte     // the page that values were last taken of: what links in it are relative to
	text                  []byte     // the answer's body, decoded
	refusals              []Refusal  // by route; nil: no answer was looked at
	dom                   *html.Node // of text, if it was asked for
	masked                []byte
	reference             []byte // the golden answer that text is not
	opaque                string // why text is not the decoded body
	inflate               inflater
	print                 fingerprint // of text, if it was needed
	why                   failure     // of the last request that failed

	memory  []memory // recorded values, by set
	visits  *visits  // nil: planned sessions, or those of one request
	statics map[string]*staticCount
	pages   map[string]*pageCount
	// stranger: the present request tells nothing of who asks.
	stranger bool
	// The last Content-Type seen, and whether it is a file's.
	lastType   []byte
	lastIsFile bool
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
	pcg := rand.NewPCG(r.opts.Seed, uint64(id))
	u := &user{run: r, id: uint64(id), shard: s, pcg: pcg, rng: rand.New(pcg), aligned: r.opts.Warmup <= 0,
		vars: make([][]byte, sc.slots), cursor: make([]uint64, len(sc.pools)), spans: make([]span, sc.longest()),
		memory: make([]memory, len(sc.sets)), asset: -1, link: -1, queue: assetQueue{memory: r.found}}
	if s != nil && r.plan == nil && !sc.single() {
		u.visits = newVisits(r)
	}
	if len(u.vars) > baseSlot {
		u.vars[baseSlot] = []byte(r.target.origin)
	}
	for i := range u.cursor {
		u.cursor[i] = (r.firstRow(i) + r.shares - 1) / r.shares
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

// pick is the session that is next by weight: the planned one's of its number, or
// the user's of its round.
func (u *user) pick() *session {
	sc := u.run.opts.Scenario
	if !u.aligned && u.run.plan == nil && u.shard != nil {
		u.align()
	}
	if len(sc.sessions) == 1 {
		return &sc.sessions[0]
	}
	n := u.ordinal
	if u.run.plan == nil {
		n = u.run.mix.turn(u.round, u.id)
		u.round++
	}
	if i, ok := u.run.mix.at(n); ok {
		return &sc.sessions[i]
	}
	at := u.rng.IntN(sc.weights)
	for i := range sc.sessions {
		if at -= sc.sessions[i].weight; at < 0 {
			return &sc.sessions[i]
		}
	}
	return &sc.sessions[0] // not reached: the weights' sum is above every draw
}

// alignedRound is where a user goes on in the mix when the window has begun: further
// than any warm-up comes.
const alignedRound = 1 << 40

// align lets what is random in a window be the same in every run, however far the users
// came in the warm-up: two runs of a service whose requests differ a hundredfold in cost
// would else differ by what each happened to be asked for (common random numbers, Law,
// Simulation Modeling and Analysis, 11.2). Unique rows go on: none is drawn twice.
func (u *user) align() {
	if _, _, begun := u.run.meter.bounds(); !begun {
		return
	}
	u.aligned, u.round = true, alignedRound
	u.pcg.Seed(scramble(u.run.opts.Seed), u.id)
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
	switch p.order {
	case randomOrder:
		return u.rng.Uint64N(p.rows)
	case sequentialOrder:
		return (u.run.sequence[p.index].Add(1) - 1) % p.rows
	}
	i := u.cursor[p.index]
	u.cursor[p.index]++
	if u.run.plan != nil && u.shard != nil {
		// Each planned session has rows of its own, as many as it may draw.
		return u.run.perms[p.index].at((u.run.firstRow(p.index) + u.ordinal*u.run.draws[p.index] + i) % p.rows)
	}
	return u.run.perms[p.index].at(p.position(i, u.id, u.run.shares))
}
