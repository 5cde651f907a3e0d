package remedy

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/ui"
)

// Effect is what a plan brought to the small stack of a test that begins with the
// sign (cases/remedies), mostly in answers per second. `make bench-effects` measures
// them all.
type Effect struct {
	Remedy string `json:"remedy"`
	Plan   string `json:"plan"`
	// Test that made the stack and the load.
	Test   string        `json:"test"`
	Pairs  int           `json:"pairs"`  // runs of each side
	Window time.Duration `json:"window"` // of each run; 0 where it ended by itself
	// Unit of Baseline and Candidate, which are geometric means: more is better.
	Unit      string  `json:"unit"`
	Baseline  float64 `json:"baseline"`
	Candidate float64 `json:"candidate"`
	// Effect is the mean of the pairs, as a fraction, and Low to High its 95 %
	// interval.
	Effect float64 `json:"effect"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// Shown reports whether the effect is one: its interval does not hold zero. A number
// that noise alone may have made is not told.
func (e Effect) Shown() bool { return e.Low > 0 || e.High < 0 }

// String tells an effect with its interval.
func (e Effect) String() string {
	return fmt.Sprintf("%s (%s to %s), %s → %s %s", ui.Percent(e.Effect), ui.Percent(e.Low), ui.Percent(e.High), ui.Count(e.Baseline), ui.Count(e.Candidate), e.Unit)
}

//go:embed effects.json
var effectsJSON []byte

// Effects are the recorded ones, by remedy and plan.
func Effects() ([]Effect, error) {
	var out []Effect
	if err := json.Unmarshal(effectsJSON, &out); err != nil {
		return nil, fmt.Errorf("internal/remedy/effects.json: %w; `make bench-effects ARGS=-write` makes it anew", err)
	}
	return out, nil
}

// measured is what was measured of a remedy: on a case, and on the small stacks
// of its tests; "" if nothing was.
func measured(r Remedy, effects []Effect) string {
	var out []string
	if r.Effect != "" {
		out = append(out, r.Effect)
	}
	var without []string
	for _, e := range effects {
		switch {
		case e.Remedy != r.ID:
		case e.Shown():
			out = append(out, fmt.Sprintf("%s in %s, `%s`", e, e.Test, e.Plan))
		case !slices.Contains(without, e.Test):
			without = append(without, e.Test)
		}
	}
	if len(without) > 0 {
		out = append(out, "no effect shown on the small stack of "+strings.Join(without, ", "))
	}
	return strings.Join(out, "; ")
}
