package report

import (
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/store"
)

// What a benchmark says when it passes is no wrong answer.
func TestWhatTheBenchmarkSaid(t *testing.T) {
	res := &load.Result{Samples: []load.Mismatch{{Step: "load.command", Expected: "a run without complaint", Got: "Load Level: 3"}}}
	run := &store.Run{Evidence: &evidence.Evidence{Load: res}}
	if s := failures(run); s.Bad || s.Title != "What the benchmark said" || len(s.Rows) != 1 || s.Rows[0][0] != "Load Level: 3" {
		t.Errorf("it passed: %+v", s)
	}
	res.Timeouts = 1
	if s := failures(run); !s.Bad || s.Title != "Wrong answers" {
		t.Errorf("with a time-out: %+v", s)
	}
}
