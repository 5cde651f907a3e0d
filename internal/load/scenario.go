package load

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Defaults of scenario.yaml; docs/reference/scenario.md shows them.
const (
	defaultWorkload = 8
	defaultWarmup   = AutoWarmup
	defaultDuration = 5 * time.Second
	defaultTimeout  = 5 * time.Second
	defaultSeed     = 1
)

const (
	// maxScenario in bytes. A real one has some kilobytes; data belongs in
	// pool files. The parser needs time that grows with the square of nesting.
	maxScenario = 256 << 10
	// maxWorkload: each virtual user holds a connection and two buffers.
	maxWorkload = 20_000
	// maxWindow bounds a run whatever the file says.
	maxWindow = 24 * time.Hour
	// maxTimeout of one request.
	maxTimeout = 10 * time.Minute
	maxSteps   = 10_000
)

// Scenario is scenario.yaml, checked and compiled. It does not change and may
// be used by several runs, one after the other or at once.
type Scenario struct {
	Name     string
	Path     string // as given to Parse
	Workload int    // virtual users, ≥ 1
	// WorkloadAssumed: the file does not say how many.
	WorkloadAssumed bool
	Warmup          time.Duration // before the window at most, ≥ 0
	Duration        time.Duration // of the measured window, > 0
	Timeout         time.Duration // of a request, unless its step says otherwise
	Seed            uint64
	Arrivals        *Arrivals // open model; nil: closed

	pools    []*pool
	sessions []session
	weights  int      // Σ weight of sessions
	setup    *session // may have no steps
	teardown *session
	sets     []string // what `record` fills
	slots    int      // variables of the session that has most
	globals  int      // slots that setup fills for all

	routes     []string
	routeIndex map[string]int
	assets     []asset // distinct ones
	score      scoring
	files      []string // that it was read from besides Path
	masks      []*regexp.Regexp
	hash       string // SHA-256 of all files, in hexadecimal digits
}

// session is what a virtual user does between picking it and the next.
type session struct {
	name   string
	weight int
	draws  []draw
	steps  []step
	cache  cacheMode
}

// draw takes a row of a pool into slots.
type draw struct {
	pool   *pool
	fields []drawnField
}

type drawnField struct{ field, slot int }

// asset is fetched after pages and must not change within a run.
type asset struct {
	target []byte // path with query
	route  int
	step   step // how it is requested and checked
}

// Routes lists the labels that results use, in the order of the file.
func (s *Scenario) Routes() []string { return slices.Clone(s.routes) }

// Files lists what the scenario was read from: its own file first, then pools,
// golden answers, uploaded files and recorded arrivals. Paths are as the
// scenario's own: relative ones to the working folder.
func (s *Scenario) Files() []string {
	if s.Path == "" {
		return slices.Clone(s.files)
	}
	return append([]string{s.Path}, s.files...)
}

// LoadScenario reads and compiles a scenario file. Pool files are relative to
// its folder. The error lists every problem as file:line:column with what to
// do.
func LoadScenario(path string) (*Scenario, error) { return loadScenario(path, false) }

func loadScenario(path string, recording bool) (*Scenario, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read scenario %s: there is no such file; docs/reference/scenario.md shows how to write one: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxScenario+1))
	if err != nil {
		return nil, fmt.Errorf("read scenario %s: %w", path, err)
	}
	sc, err := parseScenario(path, src, recording)
	if err != nil {
		return nil, err
	}
	sc.hash = hashOf(src, sc.files)
	return sc, nil
}

// hashOf the scenario's text and of the files that it names; "" if one cannot
// be read again.
func hashOf(src []byte, files []string) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%d\n%s", len(src), src)
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return ""
		}
		fmt.Fprintf(sum, "%d\n%s", len(data), data)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Hash names what the scenario's files held when it was loaded; "" if it was
// not loaded from a file.
func (s *Scenario) Hash() string { return s.hash }

// Parse compiles scenario.yaml. name stands in errors, and its folder is what
// pool files are relative to.
func Parse(name string, src []byte) (*Scenario, error) { return parseScenario(name, src, false) }

func parseScenario(name string, src []byte, recording bool) (*Scenario, error) {
	if len(src) > maxScenario {
		return nil, fmt.Errorf("%s:1:1: larger than %d KiB; put data into pool files", name, maxScenario>>10)
	}
	d, root, err := openDocument(name, src)
	if err != nil {
		return nil, err
	}
	c := &compiler{document: d, recording: recording, out: &Scenario{Path: name, routeIndex: map[string]int{}}}
	c.scenario(root)
	if err := d.err(); err != nil {
		return nil, err
	}
	c.out.files = d.files
	c.out.number()
	return c.out, nil
}

// compiler turns the document into a Scenario.
type compiler struct {
	*document
	out     *Scenario
	pools   map[string]*pool
	assets  map[string]int
	follows bool      // some step follows redirects
	cache   cacheMode // of sessions that do not say
	uses    []setUse
	masks   []*regexp.Regexp // of all golden answers
	// recording: golden files need not be there.
	recording bool
}

// setUse is an @set in an expectation, looked up when all records are known.
type setUse struct {
	at   ast.Node
	name string
}

func (c *compiler) scenario(root ast.Node) {
	s := c.out
	o := c.object(root, "scenario", "version", "name", "workload", "warmup", "duration", "timeout", "seed",
		"pools", "sessions", "setup", "teardown", "score", "arrivals", "mask", "cache")
	version := int64(0)
	if c.integer(o["version"], "version", 1, 1, &version); o["version"] == nil {
		c.fail(root, "version is missing; write version: 1")
	}
	if o["name"] == nil {
		c.fail(root, "name is missing; write for example name: shop")
	} else {
		s.Name, _ = c.text(o["name"], "name")
	}
	workload, seed := int64(defaultWorkload), int64(defaultSeed)
	s.Warmup, s.Duration, s.Timeout = defaultWarmup, defaultDuration, defaultTimeout
	c.integer(o["workload"], "workload", 1, maxWorkload, &workload)
	c.integer(o["seed"], "seed", 0, math.MaxInt64, &seed)
	c.readWarmup(o["warmup"])
	c.duration(o["duration"], "duration", time.Millisecond, maxWindow, &s.Duration)
	c.duration(o["timeout"], "timeout", time.Millisecond, maxTimeout, &s.Timeout)
	s.Workload, s.WorkloadAssumed, s.Seed = int(workload), o["workload"] == nil, uint64(seed)

	c.masks = c.readMasks(o["mask"], "scenario")
	s.masks = c.masks
	c.readPools(o["pools"])
	c.assets = map[string]int{}
	global := newScope()
	s.setup = c.once("setup", o["setup"], global)
	s.globals = global.next
	s.slots = global.next
	c.cache = c.readCache(o["cache"], "scenario")
	c.readSessions(root, o["sessions"], global)
	s.teardown = c.once("teardown", o["teardown"], global.child())
	for _, u := range c.uses {
		if !slices.Contains(s.sets, u.name) {
			c.fail(u.at, "@%s is recorded nowhere; %s", u.name, suggest(u.name, s.sets))
		}
	}
	c.readScore(o["score"])
	s.Arrivals = c.readArrivals(o["arrivals"])
}

func (c *compiler) readPools(n ast.Node) {
	c.pools = map[string]*pool{}
	if n == nil {
		return
	}
	for _, p := range c.document.pairs(n, "pools") {
		one := c.readPool(p)
		one.index = len(c.out.pools)
		c.out.pools = append(c.out.pools, one)
		c.pools[p.key] = one
	}
}

// once reads setup or teardown.
func (c *compiler) once(name string, n ast.Node, sc *scope) *session {
	s := &session{name: name}
	sc.teardown = name == "teardown"
	c.readSteps(s, n, sc)
	c.out.slots = max(c.out.slots, sc.next)
	return s
}

func (c *compiler) readSessions(root, n ast.Node, global *scope) {
	if n == nil {
		c.fail(root, "sessions are missing; a scenario needs at least one session with steps")
		return
	}
	names := map[string]bool{}
	list := c.list(n, "sessions")
	for i, e := range list {
		what := fmt.Sprintf("session %d", i+1)
		o := c.object(e, what, "name", "weight", "draw", "steps", "cache")
		s := session{name: what, cache: c.cache}
		if o["name"] != nil {
			if s.name, _ = c.text(o["name"], "name"); names[s.name] {
				c.fail(o["name"], "two sessions are named %q; give each a name of its own", s.name)
			}
			names[s.name] = true
		}
		if o["cache"] != nil {
			s.cache = c.readCache(o["cache"], s.name)
		}
		weight := int64(1)
		c.integer(o["weight"], s.name+": weight", 1, 1_000_000, &weight)
		s.weight = int(weight)
		c.out.weights += s.weight
		sc := global.child()
		s.draws = c.readDraws(o["draw"], s.name, sc)
		if o["steps"] == nil {
			c.fail(e, "%s has no steps", s.name)
		}
		c.readSteps(&s, o["steps"], sc)
		s.keepUsed(sc)
		c.out.slots = max(c.out.slots, sc.next)
		c.out.sessions = append(c.out.sessions, s)
	}
	if len(list) == 0 {
		c.fail(n, "sessions is empty; a scenario needs at least one session with steps")
	}
}

// keepUsed drops drawn fields that nothing refers to: they need not be
// rendered.
func (s *session) keepUsed(sc *scope) {
	keep := func(draws []draw) {
		for i := range draws {
			draws[i].fields = slices.DeleteFunc(draws[i].fields, func(f drawnField) bool { return !sc.used[f.slot] })
		}
	}
	keep(s.draws)
	for i := range s.steps {
		keep(s.steps[i].draws)
	}
}

// route returns a label's index.
func (c *compiler) route(label string) int {
	if i, ok := c.out.routeIndex[label]; ok {
		return i
	}
	i := len(c.out.routes)
	c.out.routes, c.out.routeIndex[label] = append(c.out.routes, label), i
	return i
}
