package history

import (
	"math"
	"time"
)

// Point is one measurement: the runs of one occasion taken together, so that
// runs which shared a busy minute do not count as many witnesses.
type Point struct {
	Time time.Time `json:"time"` // of its first run
	// Score is the geometric mean of its runs; above 0.
	Score float64 `json:"score"`
	Runs  int     `json:"runs"`
	// First and Last are IDs of its runs.
	First int64 `json:"first_run"`
	Last  int64 `json:"last_run"`
	// Config is the hash of the configuration; "" if nobody looked.
	Config string `json:"config,omitempty"`
	// Outlier: alone so far from its neighbours that it was not counted.
	Outlier bool `json:"outlier,omitempty"`
}

// Add takes a further run into the measurement.
func (p *Point) Add(score float64, run int64, config string) {
	n := float64(p.Runs)
	p.Score = math.Exp((n*math.Log(p.Score) + math.Log(score)) / (n + 1))
	p.Runs, p.Last = p.Runs+1, run
	if config != "" {
		p.Config = config
	}
}

// Level is a stretch of measurements that differ by noise only.
type Level struct {
	From  int     `json:"from"` // index of its first point
	To    int     `json:"to"`   // index after its last one
	Score float64 `json:"score"`
	// Noise is the standard deviation of its points as a fraction of the score.
	Noise float64 `json:"noise"`
}

// Change is where one level ends and another begins.
type Change struct {
	At   int       `json:"at"`   // index of the first point of the new level
	Time time.Time `json:"time"` // of that point
	// Since is the time of the last point of the old level: it happened after.
	Since  time.Time `json:"since"`
	Before float64   `json:"before"` // score of the old level
	After  float64   `json:"after"`
	// Effect is After / Before − 1, Low and High its 95 % interval.
	Effect float64 `json:"effect"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	// Between is what happened from Since to Time, as far as Kasoku knows.
	Between []string `json:"between"`
}

// Series is all about one scenario and workload.
type Series struct {
	Scenario string   `json:"scenario"`
	Workload int      `json:"workload"` // users
	Points   []Point  `json:"points"`
	Levels   []Level  `json:"levels"`
	Changes  []Change `json:"changes"`
}

// Find fills levels and changes from the points, which are in the order of
// time and have scores above 0. smallest is the least change worth telling, as
// a fraction: 0.01 = 1 %.
func (s *Series) Find(smallest float64) {
	logs := logsOf(s.Points)
	clean, outlier := withoutOutliers(logs)
	for i := range s.Points {
		s.Points[i].Outlier = outlier[i]
	}
	d := newDetector(clean, smallest)
	s.Levels, s.Changes = nil, nil
	from := 0
	for _, at := range append(d.changes(), len(clean)) {
		if at > from {
			s.Levels = append(s.Levels, d.level(from, at))
		}
		from = at
	}
	for i := 1; i < len(s.Levels); i++ {
		s.Changes = append(s.Changes, d.change(s.Points, s.Levels[i-1], s.Levels[i]))
	}
}

// Configs are the last configuration known of the level before change i, and
// the first of that after it; "" if nobody looked.
func (s *Series) Configs(i int) (before, after string) {
	old, new := s.Levels[i], s.Levels[i+1]
	for j := old.To - 1; j >= old.From && before == ""; j-- {
		before = s.Points[j].Config
	}
	for j := new.From; j < new.To && after == ""; j++ {
		after = s.Points[j].Config
	}
	return before, after
}
