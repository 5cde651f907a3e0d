package store

import (
	"errors"
	"testing"

	"kasoku/internal/experiment"
)

// What a journal's entry brought is found by its number.
func TestStepOfTx(t *testing.T) {
	s, _ := artifactStore(t)
	for _, tx := range []int64{0, 4, 5} {
		if err := s.SaveStep(&Step{Session: 1, Tx: tx, Verdict: experiment.Verdict{Shifts: []experiment.Shift{{Metric: "p99", Effect: float64(tx)}}}}); err != nil {
			t.Fatal(err)
		}
	}
	st, err := s.StepOfTx(5)
	if err != nil || st.Tx != 5 || len(st.Verdict.Shifts) != 1 || st.Verdict.Shifts[0].Effect != 5 {
		t.Errorf("%+v %v", st, err)
	}
	for _, tx := range []int64{0, 9} { // 0 means that nothing was kept
		if _, err := s.StepOfTx(tx); !errors.Is(err, ErrNotFound) {
			t.Errorf("tx %d: %v", tx, err)
		}
	}
}
