package load

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Arrivals plan when sessions begin: the open model. Times count from the
// begin of the window; in the warm-up the first stage's first rate holds.
type Arrivals struct {
	// Stages follow each other; the last one's final rate holds to the end.
	Stages []Stage
	// Random arrivals are a Poisson process (exponential gaps, from the seed);
	// else they are evenly spaced.
	Random bool
	// Recorded are offsets from the begin of the window, sorted; then Stages
	// is empty and nothing is sent in the warm-up.
	Recorded []Recorded
	// Slack is how long a planned time may be missed so that several sessions
	// begin with one wake-up; 0: 1 ms, negative: none. docs/reference/scenario.md tells
	// what that costs.
	Slack time.Duration
}

// Stage of a rate: From to To sessions per second, linearly, over For.
type Stage struct {
	From, To float64
	For      time.Duration
}

// Recorded is one planned session.
type Recorded struct {
	At      time.Duration
	Session int // index in the scenario; -1: by weight
}

const (
	// defaultSlack: at 5,000 sessions per second five begin with one wake-up;
	// below 1,000 each begins at its own time.
	defaultSlack = time.Millisecond
	maxSlack     = time.Second
	// maxRecorded arrivals; they are held in memory.
	maxRecorded = 20_000_000
)

// ConstantRate plans perSecond sessions each second.
func ConstantRate(perSecond float64) *Arrivals {
	return &Arrivals{Stages: []Stage{{From: perSecond, To: perSecond}}}
}

func (a *Arrivals) slack() time.Duration {
	switch {
	case a.Slack == 0:
		return defaultSlack
	case a.Slack < 0:
		return 0
	}
	return a.Slack
}

// check what came from outside; a may be nil.
func (a *Arrivals) check(sessions int) error {
	if a == nil {
		return nil
	}
	if len(a.Stages) == 0 && len(a.Recorded) == 0 {
		return errors.New("arrivals have neither stages nor recorded times")
	}
	some := len(a.Recorded) > 0
	for i, s := range a.Stages {
		for _, r := range []float64{s.From, s.To} {
			if math.IsNaN(r) || r < 0 || r > maxRate {
				return fmt.Errorf("arrivals: a rate of %g sessions per second; write a number from 0 to %g", r, maxRate)
			}
			some = some || r > 0
		}
		if s.For < 0 || s.For == 0 && (i < len(a.Stages)-1 || s.From != s.To) {
			return fmt.Errorf("arrivals: stage %d has no length; write for how long its rate holds", i+1)
		}
	}
	if !some {
		return errors.New("arrivals: every rate is 0, so nothing would be sent")
	}
	for i, r := range a.Recorded {
		if r.At < 0 || i > 0 && r.At < a.Recorded[i-1].At || r.Session < -1 || r.Session >= sessions {
			return fmt.Errorf("arrivals: recorded arrival %d is before the one before it, or of no session", i+1)
		}
	}
	return nil
}

// readArrivals reads the key of that name.
func (c *compiler) readArrivals(n ast.Node) *Arrivals {
	if n == nil {
		return nil
	}
	a := &Arrivals{}
	o := c.object(n, "arrivals", "rate", "stages", "recorded", "speed", "random", "slack")
	given := 0
	for _, key := range []string{"rate", "stages", "recorded"} {
		if o[key] != nil {
			given++
		}
	}
	if given != 1 {
		c.fail(n, "arrivals needs one of rate (sessions per second), stages and recorded; it has %d of them", given)
		return nil
	}
	c.boolean(o["random"], "arrivals: random", &a.Random)
	if o["slack"] != nil {
		c.duration(o["slack"], "arrivals: slack", 0, maxSlack, &a.Slack)
		if a.Slack == 0 {
			a.Slack = -1
		}
	}
	if o["recorded"] == nil && o["speed"] != nil {
		c.fail(o["speed"], "arrivals: speed is for recorded arrivals; change the rate instead")
	}
	switch {
	case o["rate"] != nil:
		rate := 0.0
		c.number(o["rate"], "arrivals: rate", 0, maxRate, &rate)
		a.Stages = []Stage{{From: rate, To: rate}}
		if rate == 0 {
			c.fail(o["rate"], "arrivals: rate is 0, so nothing would be sent; write sessions per second")
		}
	case o["stages"] != nil:
		c.readStages(a, o["stages"])
	default:
		c.readRecorded(a, o)
	}
	return a
}

func (c *compiler) readStages(a *Arrivals, n ast.Node) {
	for i, e := range c.list(n, "arrivals: stages") {
		what := fmt.Sprintf("arrivals: stage %d", i+1)
		o := c.object(e, what, "rate", "from", "to", "for")
		var s Stage
		if o["rate"] != nil && (o["from"] != nil || o["to"] != nil) || o["rate"] == nil && (o["from"] == nil || o["to"] == nil) {
			c.fail(e, "%s needs rate, or from and to, in sessions per second", what)
		}
		if o["for"] == nil {
			c.fail(e, "%s needs for: how long it lasts, for example 10s", what)
		}
		c.number(o["from"], what+": from", 0, maxRate, &s.From)
		c.number(o["to"], what+": to", 0, maxRate, &s.To)
		if o["rate"] != nil {
			c.number(o["rate"], what+": rate", 0, maxRate, &s.From)
			s.To = s.From
		}
		c.duration(o["for"], what+": for", time.Millisecond, maxWindow, &s.For)
		a.Stages = append(a.Stages, s)
	}
	if !slices.ContainsFunc(a.Stages, func(s Stage) bool { return s.From > 0 || s.To > 0 }) {
		c.fail(n, "arrivals: stages have no rate above 0, so nothing would be sent")
	}
}

// readRecorded reads a CSV file of planned times: its column at holds seconds
// since the begin, its column session (which may be missing) a session's name.
func (c *compiler) readRecorded(a *Arrivals, o map[string]ast.Node) {
	n := o["recorded"]
	speed := 1.0
	c.number(o["speed"], "arrivals: speed", 0.001, 1e6, &speed)
	path, ok := c.text(n, "arrivals: recorded")
	if !ok {
		return
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(c.name), path)
	}
	c.reads(path)
	f, err := os.Open(path)
	if err != nil {
		c.fail(n, "arrivals: recorded: %v; its path is relative to the scenario's folder", err)
		return
	}
	defer f.Close()
	names := map[string]int{}
	for i := range c.out.sessions {
		names[c.out.sessions[i].name] = i
	}
	if a.Recorded, err = readArrivalTimes(f, speed, names); err != nil {
		c.fail(n, "arrivals: recorded: %s: %v", path, err)
	}
}

func readArrivalTimes(r io.Reader, speed float64, sessions map[string]int) ([]Recorded, error) {
	in := csv.NewReader(io.LimitReader(r, maxPoolFile))
	in.ReuseRecord = true
	head, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("read the header line: %w; write at,session", err)
	}
	atColumn, sessionColumn := slices.Index(head, "at"), slices.Index(head, "session")
	if atColumn < 0 {
		return nil, errors.New("the header line has no column at; write at,session")
	}
	var out []Recorded
	for line := 2; ; line++ {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		at, err := strconv.ParseFloat(row[atColumn], 64)
		if err != nil || at < 0 || at > maxWindow.Seconds()*1e3 || math.IsNaN(at) {
			return nil, fmt.Errorf("line %d: at is %q; write seconds since the begin, for example 12.5", line, shorten(row[atColumn], 40))
		}
		rec := Recorded{At: time.Duration(at / speed * float64(time.Second)), Session: -1}
		if sessionColumn >= 0 {
			i, ok := sessions[row[sessionColumn]]
			if !ok {
				return nil, fmt.Errorf("line %d: there is no session %q in the scenario", line, shorten(row[sessionColumn], 40))
			}
			rec.Session = i
		}
		if out = append(out, rec); len(out) > maxRecorded {
			return nil, fmt.Errorf("has more than %d rows", maxRecorded)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("has no rows")
	}
	slices.SortStableFunc(out, func(a, b Recorded) int { return int(a.At - b.At) })
	return out, nil
}
