package screen

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

var update = flag.Bool("update", false, "write the golden screens anew")

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// wave is a curve of n points.
func wave(n int, top float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = top * float64(i%8+1) / 8
	}
	return out
}

// moments of a session.
func moments() map[string]tune.Live {
	base := tune.Live{At: began.Add(90 * time.Second), Session: 3, Started: began, Deadline: began.Add(30 * time.Minute), Doing: "Measure the service as found",
		Curves: tune.Curves{CPU: map[string][]float64{"local": wave(90, 0.96)}, Rates: wave(90, 1234.5)}}
	first := base
	first.Label, first.Load = "as found", &load.Progress{Phase: load.PhaseWarmup, Elapsed: 1600 * time.Millisecond, Length: 3 * time.Second,
		RequestsPerSecond: 321, P50: 3210 * time.Microsecond, P99: 45 * time.Millisecond}

	trying := first
	trying.AsFound, trying.Score = 121.5, 281.7
	trying.Trying = &tune.Trying{Seq: 3, Plan: "index:users", Title: "Create an index on users(login)", Bound: 1.46, MostPairs: 40, NextLook: 3, Side: experiment.Candidate,
		Why: "SELECT * FROM users WHERE login = ? reads 200,000 rows for each one that it returns; it takes 63 % of the database's time."}
	trying.Load = &load.Progress{Phase: load.PhaseMeasure, Elapsed: 2300 * time.Millisecond, Length: 3 * time.Second, P50: 2 * time.Millisecond, P99: 12 * time.Millisecond, Failed: 12}

	shown := trying
	withEffect := *trying.Trying
	withEffect.Verdict = experiment.Verdict{Pairs: 5, Effect: 0.1234, Low: 0.041, High: 0.215, BaselineScore: 281.7, CandidateScore: 316.4}
	withEffect.Looks, withEffect.NextLook, withEffect.Side = 3, 6, ""
	shown.Trying, shown.Load, shown.Label = &withEffect, nil, ""

	hosts := trying
	japanese := *trying.Trying
	japanese.Title, japanese.Why = "「ログイン」テーブルに索引を作る", "ログイン履歴の検索が全行を読んでいます。一回あたり 200,000 行、データベースの時間の 63 % です。"
	hosts.Trying = &japanese
	hosts.CPU = map[string][]float64{"local": wave(60, 0.2), "web": wave(60, 0.95), "データベース一号機": wave(60, 0.5)}

	ending := shown
	ending.Ending = true

	compare := shown
	compare.AsFound, compare.Score, compare.Deadline = 0, 0, time.Time{}

	over := shown
	over.At = over.Deadline.Add(time.Second)

	run := tune.Live{At: began, Started: began, Doing: "run", Label: "run", Load: &load.Progress{Phase: load.PhaseSetup}}
	foreign := tune.Live{At: began, Started: began, Doing: "run", Label: "run", Curves: tune.Curves{CPU: map[string][]float64{"local": {0.5}}, Rates: []float64{0, 0}},
		Load: &load.Progress{Phase: load.PhaseMeasure, Elapsed: 12 * time.Second}}
	warm := tune.Live{At: began, Started: began, Doing: "run", Label: "run", Curves: tune.Curves{CPU: map[string][]float64{"local": {0.5}}, Rates: []float64{100, 200}},
		Load: &load.Progress{Phase: load.PhaseWarmup, Elapsed: 2 * time.Second, Length: 30 * time.Second, Window: 10 * time.Second}}
	measured := warm
	measured.Load = &load.Progress{Phase: load.PhaseMeasure, Elapsed: 2600 * time.Millisecond, Length: 10 * time.Second, Window: 10 * time.Second}
	return map[string]tune.Live{"warm": warm, "measured": measured, "first": first, "trying": trying, "effect": shown, "hosts": hosts, "ending": ending, "compare": compare, "over": over, "run": run, "foreign": foreign,
		"nothing": {}}
}

// TestScreens compares every moment, at 80 and 40 columns, with a file that was
// looked at.
func TestScreens(t *testing.T) {
	for name, l := range moments() {
		for _, columns := range []string{"80", "40"} {
			width := map[string]int{"80": 76, "40": 36}[columns]
			lines := Lines(l, width)
			if len(lines) > 8 {
				t.Errorf("%s: %d lines are not calm", name, len(lines))
			}
			for _, line := range lines {
				if ui.Width(line) > width || strings.TrimSpace(line) == "" {
					t.Errorf("%s, %s columns: %d columns: %q", name, columns, ui.Width(line), line)
				}
			}
			got, file := strings.Join(lines, "\n")+"\n", filepath.Join("testdata", name+"."+columns)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s, %s columns:\n%swant\n%s", name, columns, got, want)
			}
		}
	}
}

// TestAnyWidth: no width makes a line too long, or a panic.
func TestAnyWidth(t *testing.T) {
	for name, l := range moments() {
		for width := 1; width < 200; width++ {
			for _, line := range Lines(l, width) {
				if ui.Width(line) > width {
					t.Fatalf("%s in %d columns: %q", name, width, line)
				}
			}
		}
	}
}
