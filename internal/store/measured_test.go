package store

import (
	"database/sql"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
)

// measuredRun is one of a scenario.
func measuredRun(second int, score float64, edit func(*Run)) *Run {
	r := &Run{Kind: Scored, Label: "run", Started: at(second), Score: score, ConfigHash: "h",
		Evidence: &evidence.Evidence{Load: &load.Result{Scenario: "shop", Workload: 4}}}
	if edit != nil {
		edit(r)
	}
	return r
}

// TestMeasured: the runs of what was in place, and no others.
func TestMeasured(t *testing.T) {
	s := open(t)
	compare := &Session{Command: "compare", Started: at(0)}
	if err := s.SaveSession(compare); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Run{
		measuredRun(9, 9, nil),
		measuredRun(1, 1, func(r *Run) { r.Side, r.Session, r.Step = experiment.Baseline, 7, 3 }),
		measuredRun(2, 2, func(r *Run) { r.Side = experiment.Candidate }),
		measuredRun(3, 3, func(r *Run) { r.Kind = Diagnostic }),
		measuredRun(4, 4, func(r *Run) { r.Unfit = "foreign load" }),
		measuredRun(5, 0, nil),
		measuredRun(6, 6, func(r *Run) { r.Session, r.Side = compare.ID, experiment.Baseline }),
		measuredRun(7, 7, func(r *Run) { r.Evidence.Load.Workload = 2 }),
		measuredRun(8, 8, func(r *Run) { r.Evidence.Load.Scenario = "" }),
	} {
		if err := s.SaveRun(r); err != nil {
			t.Fatal(err)
		}
	}
	want := []Measured{
		{ID: 9, Started: at(8), Score: 8, Scenario: "load", Workload: 4, ConfigHash: "h"},
		{ID: 8, Started: at(7), Score: 7, Scenario: "shop", Workload: 2, ConfigHash: "h"},
		{ID: 2, Session: 7, Step: 3, Started: at(1), Score: 1, Scenario: "shop", Workload: 4, ConfigHash: "h"},
		{ID: 1, Started: at(9), Score: 9, Scenario: "shop", Workload: 4, ConfigHash: "h"},
	}
	got, err := s.Measured()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

// TestMeasuredOfAnOlderStore: what the column lacks is read from the evidence,
// once.
func TestMeasuredOfAnOlderStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".kasoku")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SaveRun(measuredRun(1, 5, nil)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", dsn(filepath.Join(dir, FileName)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`DROP INDEX runs_measured; ALTER TABLE runs DROP COLUMN scenario; ALTER TABLE runs DROP COLUMN workload; DELETE FROM migrations WHERE version > 3`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		got, err := s.Measured()
		if err != nil || len(got) != 1 || got[0].Scenario != "shop" || got[0].Workload != 4 {
			t.Fatalf("%+v, %v", got, err)
		}
	}
}

func BenchmarkMeasured10000(b *testing.B) {
	s, err := Open(filepath.Join(b.TempDir(), ".kasoku"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	tx, err := s.db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	evidence := make([]byte, 20_000) // as large as a real one's
	for i := range 10_000 {
		if _, err := tx.Exec(`INSERT INTO runs (session, step, kind, side, label, started, score, unfit, config_hash, evidence, scenario, workload)
			VALUES (0, 0, 'scored', '', 'run', ?, ?, '', 'h', ?, 'shop', 4)`, stamp(at(0).Add(time.Duration(i)*time.Minute)), 100+i%7, evidence); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if got, err := s.Measured(); err != nil || len(got) != 10_000 {
			b.Fatalf("%d runs, %v", len(got), err)
		}
	}
}
