package tune

import (
	"errors"

	"kasoku/internal/experiment"
	"kasoku/internal/ui"
)

// score prints a score as the report does: as many digits as its size calls for.
func score(s float64) string { return ui.Number(s) }

func isCandidate(err error) bool { return errors.Is(err, experiment.ErrCandidate) }
