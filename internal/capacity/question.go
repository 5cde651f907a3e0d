package capacity

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"kasoku/internal/load"
	"kasoku/internal/ui"
)

// Question is what is asked. Without Rate and Users only the curve is told.
type Question struct {
	// Rate is right answers per second that have to be carried; 0: not asked.
	Rate float64 `json:"rate,omitempty"`
	// Users is how many users like those of the load have to be carried; 0: not
	// asked.
	Users int `json:"users,omitempty"`
	// Goal must be kept; without conditions there is none.
	Goal load.Objective `json:"-"`
	// Objective is Goal as text.
	Objective string `json:"objective,omitempty"`
	// Headroom is the part of what hosts can carry that is left free, 0 to 0.95.
	Headroom float64 `json:"headroom"`
	// Confidence of the intervals, 0.5 to 0.999.
	Confidence float64 `json:"confidence"`
}

const (
	// DefaultHeadroom: at 70 % of what it can do a server with random arrivals
	// answers in 1/(1 − 0.7) = 3.3 times its service time (M/M/1), above that the
	// time grows fast; the usual threshold of capacity management (Ley 2009,
	// CMG MeasureIT, June: where it comes from).
	DefaultHeadroom = 0.30
	// DefaultConfidence of the intervals.
	DefaultConfidence = 0.95
	maxHeadroom       = 0.95
)

func (q Question) check() error {
	switch {
	case !(q.Rate >= 0) || math.IsInf(q.Rate, 0) || q.Users < 0:
		return errors.New("the load is below 0 or no number; write requests per second or users above 0")
	case q.Rate > 0 && q.Users > 0:
		return errors.New("a rate and a number of users both say the load; keep one")
	case !(q.Headroom >= 0 && q.Headroom <= maxHeadroom):
		return fmt.Errorf("the headroom is %s; write a part from 0%% to %s", ui.Share(q.Headroom), ui.Share(maxHeadroom))
	case !(q.Confidence >= 0.5 && q.Confidence <= 0.999):
		return fmt.Errorf("the confidence is %s; write a part from 50%% to 99.9%%", ui.Share(q.Confidence))
	}
	return nil
}

// usable is the part of what hosts can carry that is planned with.
func (q Question) usable() float64 { return 1 - q.Headroom }

// figureText writes a figure for people.
func figureText(metric string, v float64) string {
	switch metric {
	case "errors":
		return strconv.FormatFloat(v, 'g', 3, 64) + " %"
	case "apdex", "dropped":
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return ui.Duration(time.Duration(v))
}

// usersText is a number of users, for people.
func usersText(n int) string {
	if n == 1 {
		return "1 user"
	}
	return strconv.Itoa(n) + " users"
}
