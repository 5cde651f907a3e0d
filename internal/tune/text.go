package tune

import (
	"errors"
	"fmt"

	"kasoku/internal/experiment"
)

// score prints points per second with three digits.
func score(s float64) string { return fmt.Sprintf("%.4g", s) }

// percent prints an effect: +4.2 %.
func percent(e float64) string {
	if e >= 1 {
		return factor(1 + e)
	}
	return fmt.Sprintf("%+.1f %%", 100*e)
}

// factor prints a multiple: ×1.23.
func factor(f float64) string { return fmt.Sprintf("×%.3g", f) }

func isCandidate(err error) bool { return errors.Is(err, experiment.ErrCandidate) }
