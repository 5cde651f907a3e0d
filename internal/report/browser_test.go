package report

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/store"
	"kasoku/internal/ui"
	"kasoku/internal/ui/webtest"
)

// TestBrowserReport: in a real browser the report opens from a file without a
// network, says nothing on the console, passes axe in light and dark, fits a
// phone, prints, and says what the store says.
func TestBrowserReport(t *testing.T) {
	await.SkipShort(t)
	b := webtest.New(t)
	st, id := sampleStore(t)
	m, err := Build(t.Context(), st, id, Options{Now: start.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	m.Seen.Evidence = fullEvidence("")
	m.Work = sampleWork()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(render(t, HTML, m)), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := st.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := st.Runs(store.RunFilter{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"as-found": points(s.AsFound, s.Unit()), "final": points(s.Final, s.Unit()), "factor": ui.Factor(s.Final / s.AsFound), "runs": fmt.Sprint(len(runs))}
	for _, step := range m.Steps {
		if step.Verdict.Pairs > 0 {
			want[fmt.Sprintf("effect-%d", step.Seq)] = Effect(step.Verdict)
		}
	}
	if len(want) < 8 {
		t.Fatalf("only %v is compared", want)
	}
	b.Report("report", path, want)
}
