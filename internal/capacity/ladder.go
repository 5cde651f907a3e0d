package capacity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"kasoku/internal/load"
)

// Rung is one measured number of users.
type Rung struct {
	Level
	// Unfit says why it is no evidence: the generator was the limit, others used
	// the machine. "" if fit.
	Unfit string
	// Stop: more users than this make no sense, whatever it measured.
	Stop bool
}

// Runner measures so many users.
type Runner func(ctx context.Context, users int) (Rung, error)

// LadderOptions bound a ladder.
type LadderOptions struct {
	// Budget is how long it may take in all. A rung is begun only if it can end
	// by then, going by the longest before; at least two are.
	Budget time.Duration
	// Most users; 0: 256.
	Most int
	// Goal: two numbers of users that break it are enough.
	Goal load.Objective
	// Clock tells the time; nil: time.Now.
	Clock func() time.Time
	// Note is told each rung; may be nil.
	Note func(Rung)
}

const (
	defaultMost = 256
	// growth of the users from one rung to the next: the law's bend shows over
	// factors, and 1 to 256 takes nine rungs.
	growth = 2
	// overTop: throughput below this part of the best is behind the peak; two
	// such rungs show how it falls.
	overTop = 0.9
	// leastRungs show more than one number of users, whatever the budget.
	leastRungs = 2
)

// ladder is one Ladder under way.
type ladder struct {
	ctx     context.Context
	run     Runner
	o       LadderOptions
	begun   time.Time
	longest time.Duration
	m       *Measured
	made    int
}

// Ladder measures 1, 2, 4, … users until throughput falls, the objective breaks,
// the generator is the limit or half of the budget is used. With the rest it
// goes down again, so that each is measured twice and what drifts does not look
// like scaling, and measures between the last rung that keeps the objective and
// the first that does not. On an error what was measured so far is returned, too.
func Ladder(ctx context.Context, run Runner, o LadderOptions) (*Measured, error) {
	if o.Most == 0 {
		o.Most = defaultMost
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Note == nil {
		o.Note = func(Rung) {}
	}
	if o.Most < 1 || o.Budget <= 0 {
		return nil, errors.New("drive a ladder of loads: its budget and its most users must be above 0")
	}
	l := &ladder{ctx: ctx, run: run, o: o, begun: o.Clock(), m: &Measured{Axis: Users}}
	climbed, err := l.climb()
	if err == nil {
		err = l.descend(climbed)
	}
	if err == nil && len(l.m.Levels) == 0 {
		err = fmt.Errorf("drive a ladder of loads: no number of users could be measured: %s", l.m.reasons())
	}
	return l.m, err
}

// climb goes up and returns the numbers that it measured.
func (l *ladder) climb() ([]int, error) {
	var climbed []int
	best, behind := 0.0, 0
	for users := 1; users <= l.o.Most; users *= growth {
		// Half of the time is for the way down.
		if l.made >= leastRungs && (l.spent()+l.longest > l.o.Budget/2) {
			l.m.Warnings = append(l.m.Warnings, fmt.Sprintf("the ladder ended at %s, because half of its %s were used: give it more time", usersText(users/growth), l.o.Budget))
			return climbed, nil
		}
		r, err := l.measure(users)
		if err != nil {
			return climbed, err
		}
		if r.Unfit == "" {
			climbed = append(climbed, users)
			best = math.Max(best, r.PerSecond)
		}
		if r.PerSecond < overTop*best || broke(l.o.Goal, r.Level) != "" {
			behind++
		}
		if r.Stop || behind >= 2 {
			return climbed, nil
		}
	}
	return climbed, nil
}

// descend measures again, from the most users to the fewest, and between.
func (l *ladder) descend(climbed []int) error {
	down := slices.Clone(climbed)
	if n := l.between(climbed); n > 0 {
		down = append(down, n)
		slices.Sort(down)
	}
	for _, users := range slices.Backward(down) {
		if l.spent()+l.longest > l.o.Budget {
			return nil
		}
		if _, err := l.measure(users); err != nil {
			return err
		}
	}
	return nil
}

// between is a number of users between the last that keeps the objective and
// the first that breaks it; 0 if there is none.
func (l *ladder) between(climbed []int) int {
	for i, n := range climbed {
		if i == 0 || broke(l.o.Goal, at(l.m.Levels, n)[0]) == "" {
			continue
		}
		if m := int(math.Sqrt(float64(n) * float64(climbed[i-1]))); m > climbed[i-1] {
			return m
		}
		return 0
	}
	return 0
}

func (l *ladder) measure(users int) (Rung, error) {
	begin := l.o.Clock()
	r, err := l.run(l.ctx, users)
	if err != nil {
		return r, fmt.Errorf("measure %s: %w", usersText(users), err)
	}
	l.made++
	l.longest = max(l.longest, l.o.Clock().Sub(begin))
	switch why := failing(r.Figures); {
	case r.Unfit != "":
	case why != "":
		r.Unfit, r.Stop = why, true
	case !(r.PerSecond > 0):
		r.Unfit, r.Stop = "nothing was answered", true
	}
	if r.Unfit != "" {
		l.m.Dropped = append(l.m.Dropped, Dropped{r.Level, r.Unfit})
	} else {
		l.m.Levels = append(l.m.Levels, r.Level)
	}
	l.o.Note(r)
	return r, nil
}

func (l *ladder) spent() time.Duration { return l.o.Clock().Sub(l.begun) }
