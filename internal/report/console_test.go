package report

import (
	"bytes"
	"strings"
	"testing"

	"kasoku/internal/diagnose"
	"kasoku/internal/store"
)

// TestDiagnosisText: threads, workers and locks stand in the table, findings
// of one title share a line, and it is said whose numbers they are.
func TestDiagnosisText(t *testing.T) {
	d := &diagnose.Diagnosis{BindsText: "workers", Demands: []diagnose.Demand{{Resource: "cpu", Utilization: 0.4, PerRequest: 0.008, MaxThroughput: 250}},
		Next: []diagnose.Next{{Resource: "workers: php", MaxThroughput: 100, Factor: 1, PerRequest: 0.05, Text: "workers: php allows 100/s"}, {Resource: "cpu", MaxThroughput: 250, Factor: 2.5}}}
	for i := range 16 {
		f := diagnose.Finding{Rule: "r", Title: "alike", Bound: 2}
		if i < wholeFindings || i == 15 {
			f.Title = "other"
		}
		if i == 0 {
			f.Unplanned = "its workers close each connection"
		}
		d.Findings = append(d.Findings, f)
	}
	for _, c := range []struct {
		reference int64
		says      string
	}{{0, "of the diagnosed run itself"}, {7, "of scored run 7"}} {
		d.Reference = c.reference
		var out bytes.Buffer
		if err := DiagnosisText(&out, &store.Run{ID: 8, Diagnosis: d}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"\nworkers: php  100.0 %      50.0 ms", "\n   Nothing is planned for it: its workers close each connection.\n", "\n13–15. alike (at most ×2.00) [r]\n16. other (at most ×2.00) [r]\n", c.says} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, out.String())
			}
		}
	}
}
