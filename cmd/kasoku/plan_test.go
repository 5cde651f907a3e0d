package main

import (
	"io"
	"strings"
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// A plan that has seen none of a database's statements says so: it has no index for them.
func TestPlanTellsUnseenStatements(t *testing.T) {
	said := func(h evidence.Health) string {
		var out strings.Builder
		warnUnseen(&App{cli: &CLI{}, UI: ui.New(io.Discard, &out, ui.Options{})}, &store.Run{ID: 7, Evidence: &evidence.Evidence{Health: []evidence.Health{h}}})
		return out.String()
	}
	if got := said(evidence.Health{Source: "slow log of db", OldConnections: "db"}); !strings.Contains(got, "statements of db") || !strings.Contains(got, "kasoku show 7") {
		t.Errorf("said %q", got)
	}
	if got := said(evidence.Health{Source: "slow log of db", OldConnections: "db", Sampled: 900}); !strings.Contains(got, "900 looks") || strings.Contains(got, "nothing is planned") {
		t.Errorf("of sampled statements: said %q", got)
	}
	if got := said(evidence.Health{Source: "slow log of db", OK: true}); got != "" {
		t.Errorf("said %q of a log that has all", got)
	}
}
