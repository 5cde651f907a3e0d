package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/capacity"
	"kasoku/internal/load"
	"kasoku/internal/prove"
	"kasoku/internal/ui"
)

// played is a result in which every bar is met.
func played() *Result {
	var checks []prove.Result
	for _, name := range []string{prove.Equality, prove.Staleness, prove.Durability, prove.Restart} {
		checks = append(checks, prove.Result{Check: name, Outcome: prove.Held, Text: "seen"})
	}
	r := &Result{Size: "full", Machine: "2 CPUs", Tree: "1234567", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Content: Content{480, 20348, 3000},
		Found:   &Measured{Scores: []float64{2, 2}, Requests: 100, MainPage: 5, Routes: map[string]time.Duration{"history": time.Second}},
		Tuned:   &Measured{Scores: []float64{16, 16}, Requests: 900, MainPage: 50, Routes: map[string]time.Duration{"history": 100 * time.Millisecond}},
		Session: &Session{Done: true, Took: 20 * time.Minute, Stopped: "nothing is left", Binds: "CPU", Steps: []Step{{Title: "OPcache | on", Kept: true, Effect: 3, Low: 2, High: 4}, {Title: "other", Outcome: "no difference"}}},
		Checks:  checks,
		Capacity: &Capacity{Rate: 17.6, Foretold: &capacity.Plan{Need: &capacity.Need{N: 4}, Law: &capacity.Law{}},
			Known:   &capacity.Plan{Need: &capacity.Need{N: 4, Interval: capacity.Interval{Low: 4, High: 5}}},
			Checked: &capacity.Check{N: 4, Predicted: 20, Measured: 19, Held: true}}}
	for hosts, rate := range []float64{6.5, 6, 11, 16, 19} {
		r.Levels = append(r.Levels, Level{Hosts: hosts, Users: 3, PerSecond: rate}, Level{Hosts: hosts, Users: 3, PerSecond: rate})
	}
	return r
}

// short lists the figures that fall short.
func short(r *Result) string {
	var out []string
	for _, f := range judge(r) {
		if f.Short {
			out = append(out, f.Name)
		}
	}
	return strings.Join(out, "; ")
}

// Each bar is met by the result above, and not by one that is worse in one thing.
func TestBars(t *testing.T) {
	if s := short(played()); s != "" {
		t.Fatalf("short although all is met: %s", s)
	}
	for want, spoil := range map[string]func(r *Result){
		"main page":              func(r *Result) { r.Tuned.MainPage = 49.9 },
		"wrong answers after":    func(r *Result) { r.Tuned.Wrong = 1 },
		"regulation checks":      func(r *Result) { r.Checks[2].Outcome = prove.NotJudged },
		"wrong answers on":       func(r *Result) { r.Levels[4].Wrong = 1 },
		"the fourth host":        func(r *Result) { r.Capacity.Checked.Held = false },
		"from one to three":      func(r *Result) { r.Capacity.Foretold.Need.N = 5 },
		"from one to four":       func(r *Result) { r.Capacity.Known.Need.Interval = capacity.Interval{Low: 4, Open: true} },
		"regulation checks that": func(r *Result) { r.Checks = r.Checks[:3] },
	} {
		r := played()
		spoil(r)
		if s := short(r); !strings.Contains(s, want) || strings.Contains(s, ";") {
			t.Errorf("%s: short are %q", want, s)
		}
	}
	none := played()
	none.Capacity.Checked = nil
	if s := short(none); !strings.Contains(s, "the fourth host") {
		t.Errorf("no check of the prediction: short are %q", s)
	}
}

// That no number of hosts carries the load is right where four do not; a closed
// interval must have the number that does, and beside an open one the number
// itself counts.
func TestForetold(t *testing.T) {
	for _, c := range []struct {
		need     int
		interval capacity.Interval
		four     float64
		want     bool
	}{
		{need: 4, four: 20, want: true}, {need: 4, four: 17}, {need: 3, four: 20},
		{need: 0, four: 17, want: true}, {need: 0, four: 20},
		{need: 6, four: 17, want: true}, {need: 6, four: 20},
		{5, capacity.Interval{Low: 4, High: 7}, 20, true}, {5, capacity.Interval{Low: 5, High: 7}, 20, false},
		{4, capacity.Interval{Low: 3, High: 5}, 17, true}, {3, capacity.Interval{Low: 3, High: 4}, 17, false},
		{3, capacity.Interval{Low: 3, High: 4}, 20, true}, {3, capacity.Interval{Low: 2, High: 3}, 20, false},
		{4, capacity.Interval{Low: 4, Open: true}, 17, false}, {5, capacity.Interval{Low: 3, Open: true}, 20, false}, {4, capacity.Interval{Low: 3, Open: true}, 20, true},
	} {
		r := played()
		r.Capacity.Foretold.Need.N, r.Capacity.Foretold.Need.Interval = c.need, c.interval
		for i := range r.Levels {
			if r.Levels[i].Hosts == hostCount {
				r.Levels[i].PerSecond = c.four
			}
		}
		if text, ok := foretold(r, r.Capacity.Foretold); ok != c.want {
			t.Errorf("%+v: %v: %s", c, ok, text)
		}
	}
}

// The page holds what was measured, and a result that ended early has one, too.
func TestPage(t *testing.T) {
	text := page(played(), judge(played()))
	for _, want := range []string{"| main page, tuned ÷ as found | ×10.0 (5.0/s → 50.0/s) | ≥ 10 | ok |", "| history | " + ui.Duration(time.Second) + " | " + ui.Duration(100*time.Millisecond) + " | ×10.0 |",
		`| OPcache \| on | kept | ` + ui.Percent(3) + " (" + ui.Percent(2) + " to " + ui.Percent(4) + ") |", "| equality | held | seen |", "| 1, no balancer | 6.50 |", "| 4 | 19.00 |", "480 pages, 20348 revisions, 3000 of one page", "Tree: 1234567."} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	early := &Result{Found: played().Found}
	if text := page(early, judge(early)); !strings.Contains(text, "0 of 0") {
		t.Errorf("a result that ended early:\n%s", text)
	}
}

// The readers' scenario is the case's own without those who write.
func TestReaders(t *testing.T) {
	c := &wholeCase{options: options{HostDir: t.TempDir()}}
	for _, name := range []string{"scenario.yaml", "articles.csv"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "cases", "wiki", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.HostDir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := c.readers()
	if err != nil {
		t.Fatal(err)
	}
	all, err := load.LoadForRecording(filepath.Join(c.HostDir, "scenario.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	only, err := load.LoadForRecording(file)
	if err != nil {
		t.Fatal(err)
	}
	had, has := strings.Join(all.Routes(), "\n"), strings.Join(only.Routes(), "\n")
	if !strings.Contains(had, "save") || strings.Contains(has, "save") || !strings.Contains(has, "contributions") {
		t.Errorf("routes %q of %q", has, had)
	}
}

// What is kept is what is read again; a file of an interrupted write is none.
func TestResultIsKept(t *testing.T) {
	dir := t.TempDir()
	if _, err := loadResult(dir); err == nil {
		t.Error("a result where there is none")
	}
	r := played()
	if err := r.save(dir); err != nil {
		t.Fatal(err)
	}
	got, err := loadResult(dir)
	if err != nil || short(got) != "" || got.Session.Steps[0].Title != r.Session.Steps[0].Title {
		t.Errorf("%+v, %v", got, err)
	}
}
