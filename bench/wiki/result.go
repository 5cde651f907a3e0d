package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"kasoku/internal/capacity"
	"kasoku/internal/prove"
)

// Result is all that the page and the bars go by. A step that is not done yet
// has left its field empty.
type Result struct {
	Started  time.Time     `json:"started"`
	Complete bool          `json:"complete"`
	Machine  string        `json:"machine"`
	Tree     string        `json:"tree"` // commit; "": unknown
	Size     string        `json:"size"`
	Budget   time.Duration `json:"budget"`
	Window   time.Duration `json:"window"`
	CPUs     float64       `json:"cpus"`
	UpTook   time.Duration `json:"up_took"`
	Took     time.Duration `json:"took"` // of all steps but bringing the hosts up

	Content  Content        `json:"content"`
	Found    *Measured      `json:"found,omitempty"`
	Session  *Session       `json:"session,omitempty"`
	Tuned    *Measured      `json:"tuned,omitempty"`
	Checks   []prove.Result `json:"checks,omitempty"`
	Levels   []Level        `json:"levels,omitempty"`
	Capacity *Capacity      `json:"capacity,omitempty"`
}

// Content is what the wiki holds.
type Content struct {
	Pages     int `json:"pages"`
	Revisions int `json:"revisions"`
	Longest   int `json:"longest"` // revisions of the page that has most
}

// Measured is the service at one time.
type Measured struct {
	Scores []float64 `json:"scores"` // of the scenario, higher is better
	// Wrong counts answers that were wrong, late or missing in these runs.
	Wrong    int64                    `json:"wrong"`
	Requests int64                    `json:"requests"`
	Routes   map[string]time.Duration `json:"routes"` // mean response time, mean of the runs
	// MainPage is the main page alone, asked for by mainPageUsers at a time:
	// right answers per second, and their mean time.
	MainPage     float64       `json:"main_page"`
	MainPageMean time.Duration `json:"main_page_mean"`
}

// Session is what `kasoku tune` did.
type Session struct {
	Done     bool          `json:"done"`
	Took     time.Duration `json:"took"`
	AsFound  float64       `json:"as_found"`
	Final    float64       `json:"final"`
	Stopped  string        `json:"stopped"`
	Binds    string        `json:"binds"`
	Steps    []Step        `json:"steps"`
	Refusals []string      `json:"refusals,omitempty"`
	// Findings at the end, best first; Hosts are those that speak of other hosts.
	Findings []Finding `json:"findings"`
	Hosts    []string  `json:"hosts,omitempty"`
}

// Step is one experiment.
type Step struct {
	Title   string        `json:"title"`
	Kept    bool          `json:"kept"`
	Outcome string        `json:"outcome"`
	Effect  float64       `json:"effect"` // candidate ÷ baseline − 1
	Low     float64       `json:"low"`
	High    float64       `json:"high"`
	Took    time.Duration `json:"took"`
}

// Finding is what is left at the end.
type Finding struct {
	Title string  `json:"title"`
	Bound float64 `json:"bound"`
}

// Level is one run with so many hosts behind the balancer; 0 hosts: the first
// alone, without one.
type Level struct {
	Hosts     int           `json:"hosts"`
	Users     int           `json:"users"`
	PerSecond float64       `json:"per_second"`
	P95       time.Duration `json:"p95"`
	Wrong     int64         `json:"wrong"`
}

// Capacity is a question about a load that fewer hosts do not carry, the answer
// from their runs, and what was measured then.
type Capacity struct {
	Rate     float64         `json:"rate"`
	Foretold *capacity.Plan  `json:"foretold"` // from 1 to 3 hosts
	Known    *capacity.Plan  `json:"known"`    // from 1 to 4
	Checked  *capacity.Check `json:"checked"`  // the fourth against the others
}

func loadResult(dir string) (*Result, error) {
	text, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		return nil, err
	}
	r := &Result{}
	return r, json.Unmarshal(text, r)
}

func (r *Result) save(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "result.json")
	if err := os.WriteFile(file+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
