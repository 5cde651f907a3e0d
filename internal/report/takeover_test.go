package report

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"kasoku/internal/store"
)

// built of a session at one time, with what Like takes over.
func built(t *testing.T, st *store.Store, session int64, like *Model) (*Model, string) {
	t.Helper()
	m, err := Build(t.Context(), st, session, Options{Now: start.Add(time.Hour), Like: like})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return m, string(text)
}

// TestTakeOver: a Model made from an earlier one says the same as one that was
// read as a whole, also of a step that came meanwhile, and leaves the earlier
// one as it was.
func TestTakeOver(t *testing.T) {
	st, session := sampleStore(t)
	first, firstText := built(t, st, session, nil)
	steps, err := st.Steps(session)
	if err != nil {
		t.Fatal(err)
	}
	more := steps[0]
	more.ID, more.Seq, more.Plan.Title = 0, 99, "Came meanwhile, password=hunter2hunter2"
	if err := st.SaveStep(&more); err != nil {
		t.Fatal(err)
	}
	_, whole := built(t, st, session, nil)
	m, taken := built(t, st, session, first)
	if m.Seen != first.Seen || len(m.Flames) != len(first.Flames) {
		t.Error("nothing was taken over")
	}
	if taken != whole || taken == firstText {
		t.Errorf("taken over:\n%s\nread:\n%s", taken, whole)
	}
	if strings.Contains(taken, "hunter2") || !strings.Contains(taken, "Came meanwhile") {
		t.Error("the new step is not masked")
	}
	if again, err := json.Marshal(first); err != nil || string(again) != firstText {
		t.Error("the earlier one was changed")
	}
}

// TestTakeOverNewRun: another diagnostic run, and another session, are read.
func TestTakeOverNewRun(t *testing.T) {
	st, session := sampleStore(t)
	first, _ := built(t, st, session, nil)
	if err := st.SaveRun(&store.Run{Session: session, Kind: store.Diagnostic, Started: start}); err != nil {
		t.Fatal(err)
	}
	if m, _ := built(t, st, session, first); m.Seen == first.Seen {
		t.Error("a new diagnostic run was passed over")
	}
	other := first.Session
	other.ID = 0
	if err := st.SaveSession(&other); err != nil {
		t.Fatal(err)
	}
	if m, _ := built(t, st, other.ID, first); m.Seen == first.Seen {
		t.Error("another session took them over")
	}
}
