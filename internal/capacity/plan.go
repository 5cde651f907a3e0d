package capacity

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"kasoku/internal/stat"
	"kasoku/internal/ui"
)

// Interval at the question's confidence. Open: it has no upper end, and High
// is 0.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Open bool    `json:"open,omitempty"`
}

func interval(r stat.Range) Interval {
	switch {
	case math.IsInf(r.Low, 1):
		return Interval{Open: true}
	case math.IsInf(r.High, 1):
		return Interval{Low: r.Low, Open: true}
	}
	return Interval{Low: r.Low, High: r.High}
}

// Law is the curve that was fitted.
type Law struct {
	stat.Scaling
	LambdaInterval Interval `json:"lambda_interval"`
	SigmaInterval  Interval `json:"sigma_interval"`
	KappaInterval  Interval `json:"kappa_interval"`
	// Measurements of so many different Levels lie Residual off the curve, as a
	// part of it; DF degrees of freedom were left.
	Measurements int     `json:"measurements"`
	Levels       int     `json:"levels"`
	DF           int     `json:"df"`
	Residual     float64 `json:"residual"`
	WithoutKappa bool    `json:"without_kappa,omitempty"`
	// PeakN bring most, PeakPerSecond; 0: there is no peak.
	PeakN         float64 `json:"peak_n,omitempty"`
	PeakPerSecond float64 `json:"peak_per_second,omitempty"`
}

// Operating is how hosts are used of which only the users were varied.
type Operating struct {
	Users     int      `json:"users"`
	PerSecond float64  `json:"per_second"`
	Interval  Interval `json:"interval"`
	// Limit says what more users would break.
	Limit string `json:"limit"`
}

// Need is the answer.
type Need struct {
	// N hosts or workers carry the load; 0: none does. Interval of N.
	N        int      `json:"n"`
	Interval Interval `json:"interval"`
	// PerSecond is what N carry at most, without the headroom.
	PerSecond         float64  `json:"per_second,omitempty"`
	PerSecondInterval Interval `json:"per_second_interval,omitzero"`
}

// Point of the curve.
type Point struct {
	N         int      `json:"n"`
	PerSecond float64  `json:"per_second"`
	Interval  Interval `json:"interval"`
	// Measured is the geometric mean of the levels there; 0: none was measured.
	Measured float64 `json:"measured,omitempty"`
}

// Check is the largest level, as the others predict it.
type Check struct {
	N         int     `json:"n"`
	Predicted float64 `json:"predicted"`
	// Interval of one new measurement.
	Interval Interval `json:"interval"`
	Measured float64  `json:"measured"`
	Held     bool     `json:"held"`
}

// Plan is the answer with what it rests on.
type Plan struct {
	Format   int       `json:"format"` // 1
	Question Question  `json:"question"`
	Axis     Axis      `json:"axis"`
	Hosts    int       `json:"hosts"` // that answered where users or workers were varied
	Levels   []Level   `json:"levels"`
	Dropped  []Dropped `json:"dropped,omitempty"`
	// Law is nil with a single level: then each further host is taken to bring
	// as much.
	Law       *Law       `json:"law,omitempty"`
	Operating *Operating `json:"operating,omitempty"` // with the axis Users
	// Rate that has to be carried, right answers per second; 0: not asked.
	Rate     float64  `json:"rate,omitempty"`
	Need     *Need    `json:"need,omitempty"`
	Check    *Check   `json:"check,omitempty"`
	Curve    []Point  `json:"curve"`
	Costs    []Cost   `json:"costs,omitempty"`
	Warnings []string `json:"warnings,omitempty"`

	curve curve
}

// ErrNotKept is in the error about levels that all break the objective.
var ErrNotKept = errors.New("no level keeps the objective")

// Make answers the question.
func Make(m *Measured, q Question) (*Plan, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	if len(q.Goal.Conditions) > 0 {
		q.Objective = q.Goal.String()
	}
	p := &Plan{Format: 1, Question: q, Axis: m.Axis, Hosts: max(m.Hosts, 1), Levels: slices.Clone(m.Levels), Dropped: slices.Clone(m.Dropped),
		Costs: slices.Clone(m.Costs), Warnings: slices.Clone(m.Warnings)}
	if len(p.Levels) == 0 {
		return nil, errors.New("there is no level to go by")
	}
	if err := p.choose(); err != nil {
		return nil, err
	}
	if err := p.fit(); err != nil {
		return nil, err
	}
	ask := p.askHosts
	if p.Axis == Users {
		ask = p.askUsers
	}
	if err := ask(); err != nil {
		return nil, err
	}
	for i := range p.Costs {
		p.Costs[i].asked(p.Rate, q)
	}
	p.weigh()
	p.predictLargest()
	p.doubt()
	p.draw()
	return p, nil
}

func (p *Plan) warn(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

// choose leaves out what breaks the objective.
func (p *Plan) choose() error {
	goal := p.Question.Goal
	for _, metric := range unmeasured(goal, p.Levels) {
		if metric != "errors" {
			return fmt.Errorf("the levels say nothing of %s; add a column %s, or leave it out of the objective", metric, metric)
		}
		p.warn("whether answers were right is not judged: the levels do not say; add a column errors")
	}
	if p.Axis == Users {
		return nil
	}
	kept, dropped := keep(goal, p.Levels)
	if len(kept) == 0 {
		return fmt.Errorf("%w %s: %s: %s", ErrNotKept, goal, dropped[0].Source, dropped[0].Why)
	}
	p.Levels, p.Dropped = kept, append(p.Dropped, dropped...)
	return nil
}

// fit finds the law, or with a single level what one brings.
func (p *Plan) fit() error {
	f, err := stat.FitScaling(points(p.Levels))
	if errors.Is(err, stat.ErrTooFewLevels) {
		p.curve = curve{one: meanRate(p.Levels) / float64(p.Levels[0].N)}
		return nil
	}
	if err != nil {
		return err
	}
	c := p.Question.Confidence
	p.curve = curve{fit: f, confidence: c}
	p.Law = &Law{Scaling: f.Scaling, LambdaInterval: interval(f.ThroughputRange(1, c)), SigmaInterval: interval(f.SigmaRange(c)),
		KappaInterval: interval(f.KappaRange(c)), Measurements: len(p.Levels), Levels: f.Levels, DF: f.DF, Residual: f.Residual, WithoutKappa: f.WithoutKappa}
	if n := f.Peak(); !math.IsInf(n, 1) {
		p.Law.PeakN, p.Law.PeakPerSecond = n, f.At(n)
	}
	return nil
}

// reach is how far beyond what was measured an answer is looked for.
const reach = 20

// askHosts answers where hosts or workers were varied.
func (p *Plan) askHosts() error {
	q := p.Question
	p.Rate = q.Rate
	if q.Users > 0 {
		each := 0.0 // the most that a user of any level did per second
		for _, l := range p.Levels {
			if l.Users > 0 {
				each = math.Max(each, l.PerSecond/float64(l.Users))
			}
		}
		if each == 0 {
			return errors.New("the levels do not say how many users they had; add a column users, or ask with a rate")
		}
		p.Rate = each * float64(q.Users)
	}
	if p.Rate == 0 {
		return nil
	}
	x := p.Rate / q.usable()
	p.Need = &Need{}
	if n := p.curve.needed(x); n <= maxN {
		p.Need.N = int(math.Ceil(n - rounding))
	}
	most := min(max(reach*slices.Max(numbers(p.Levels)), 2*p.Need.N, 100), maxN)
	p.Need.Interval = p.curve.neededRange(x, most)
	if p.Need.N > 0 {
		p.Need.PerSecond = p.curve.at(float64(p.Need.N))
		p.Need.PerSecondInterval = p.curve.between(float64(p.Need.N))
	}
	return nil
}

// askUsers answers where users were varied on hosts that stayed the same: it
// finds how many users these carry, and takes so many sets of them.
func (p *Plan) askUsers() error {
	q, ns := p.Question, numbers(p.Levels)
	top := float64(ns[len(ns)-1])
	peak := math.Min(p.curve.peak(), top)
	most := p.curve.at(peak)
	users, limit := peak, "more users bring no more"
	if peak == top {
		limit = "more users were not measured"
	}
	if n := p.curve.needed(q.usable() * most); q.Headroom > 0 && n < users {
		users, limit = n, fmt.Sprintf("%s of the %s/s that they do at most is left free", ui.Share(q.Headroom), ui.Count(most))
	}
	if len(q.Goal.Conditions) > 0 {
		n, sure, ok := carries(q.Goal, p.Levels)
		if !ok {
			return fmt.Errorf("%w %s: with %s, the fewest, %s", ErrNotKept, q.Goal, usersText(ns[0]), broke(q.Goal, at(p.Levels, ns[0])[0]))
		}
		if !sure && users == peak {
			p.warn("the objective was kept up to %g users, the most that were measured; measure with more, these hosts may carry more", top)
		}
		if n < users {
			users, limit = n, "more users break "+q.Objective
		}
	}
	n := math.Max(1, math.Floor(users+rounding))
	p.Operating = &Operating{Users: int(n), PerSecond: p.curve.at(n), Interval: p.curve.between(n), Limit: limit}
	op := p.Operating
	if p.Rate = q.Rate; q.Users > 0 {
		p.Rate = float64(q.Users) * op.PerSecond / n
	}
	if p.Rate == 0 {
		return nil
	}
	sets := func(each float64) float64 { return math.Max(1, math.Ceil(p.Rate/each-rounding)) * float64(p.Hosts) }
	p.Need = &Need{N: int(sets(op.PerSecond)), Interval: Interval{Low: float64(p.Hosts), Open: true}}
	if high := op.Interval.High; high > 0 {
		p.Need.Interval.Low = sets(high)
	}
	if low := op.Interval.Low; low > 0 {
		p.Need.Interval.High, p.Need.Interval.Open = sets(low), false
	}
	p.carried()
	return nil
}

// carried fills in what sets of hosts do together, if each brings as much.
func (p *Plan) carried() {
	if p.Operating == nil || p.Need == nil {
		return
	}
	times := float64(p.Need.N / p.Hosts)
	i := p.Operating.Interval
	p.Need.PerSecond = times * p.Operating.PerSecond
	p.Need.PerSecondInterval = Interval{Low: times * i.Low, High: times * i.High, Open: i.Open}
}

// weigh takes more sets of hosts if the utilization law says so.
func (p *Plan) weigh() {
	if p.Operating == nil || p.Need == nil {
		return
	}
	for _, c := range p.Costs {
		if n := c.Needed * p.Hosts; n > p.Need.N {
			p.warn("%s needs %d, though so many users were carried by fewer: by the utilization law %s/s take %s of it", c.name(), c.Needed, ui.Count(p.Rate), ui.Seconds(p.Rate*c.PerRequest))
			p.Need.N = n
			if !p.Need.Interval.Open {
				p.Need.Interval.High = math.Max(p.Need.Interval.High, float64(n))
			}
			p.carried()
		}
	}
}

// name is a cost's host and resource, for people.
func (c Cost) name() string {
	if c.Host == "" {
		return c.Resource
	}
	return strings.TrimSpace(c.Resource + " of " + c.Host)
}
