package prove

import (
	"errors"
	"strings"
	"testing"
)

// An error ends a check without a judgement, unless something failed before.
func TestEnded(t *testing.T) {
	broken := errors.New("no answer")
	if r := begin(Durability).Ended(nil); r.Outcome != Held || r.Text != "" {
		t.Errorf("%+v", r)
	}
	if r := begin(Durability).Ended(broken); r.Outcome != NotJudged || r.Text != "it could not be made: no answer" {
		t.Errorf("%+v", r)
	}
	failed := begin(Durability)
	failed.fail("db", "a write is lost")
	r := failed.Ended(broken)
	if r.Outcome != Failed || r.Text == "" || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "no answer") || len(Broken([]Result{r})) != 1 {
		t.Errorf("%+v", r)
	}
	if r := Join([]Result{r, Result{}.Ended(broken)}); r.Outcome != Failed || !strings.Contains(r.Text, "no answer") {
		t.Errorf("another service's error: %+v", r)
	}
}
