package tune

import (
	"errors"
	"fmt"

	"kasoku/internal/experiment"
)

// score prints points per second with three digits.
func score(s float64) string { return fmt.Sprintf("%.4g", s) }

func isCandidate(err error) bool { return errors.Is(err, experiment.ErrCandidate) }
