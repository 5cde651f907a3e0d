package tune

import (
	"testing"
	"time"
)

// What is kept for second looks is at most a sixth of the budget, and nothing where not one
// look fits into that.
func TestTimeKeptForSecondLooks(t *testing.T) {
	for _, c := range []struct {
		run, budget  time.Duration
		behind, weak int
		want         time.Duration
	}{
		{2 * time.Second, 12 * time.Minute, 1, 0, 14 * time.Second},
		{2 * time.Second, 12 * time.Minute, 1, 2, 28 * time.Second},
		{20 * time.Second, 12 * time.Minute, 3, 0, 2 * time.Minute},
		{21 * time.Second, 12 * time.Minute, 3, 0, 0},
		{69 * time.Second, 25 * time.Minute, 1, 0, 0}, // two pairs take 276 s, a sixth is 250 s
		{69 * time.Second, 30 * time.Minute, 1, 0, 5 * time.Minute},
		{2 * time.Second, 12 * time.Minute, 0, 0, 0},
	} {
		s := newSchedule()
		s.behind, s.weak = c.behind, c.weak
		if got := s.secondLook(moment{run: c.run, budget: c.budget}); got != c.want {
			t.Errorf("runs of %v in %v, %d behind, %d weak: %v, want %v", c.run, c.budget, c.behind, c.weak, got, c.want)
		}
	}
}
