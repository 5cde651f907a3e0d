package planning

import "slices"

// Part is one of several plans that are tried as one group. What it changes are
// Count of the group's changes, from First on.
type Part struct {
	ID     string  `json:"id"` // of the plan that it was
	Remedy string  `json:"remedy"`
	Title  string  `json:"title"`
	Why    string  `json:"why"`
	Rule   string  `json:"rule"` // of its own finding
	Bound  float64 `json:"bound"`
	Reach  float64 `json:"reach"`
	// Spares, Service, Spent and Limit are the plan's.
	Spares  float64 `json:"spares,omitempty"`
	Service string  `json:"service,omitempty"`
	Spent   float64 `json:"spent,omitempty"`
	Limit   float64 `json:"limit,omitempty"`
	// Deadlocks is the plan's.
	Deadlocks bool `json:"deadlocks,omitempty"`
	// Small: a plan of a small remedy, or several of them joined; then Of are the
	// IDs of their plans.
	Small bool     `json:"small,omitempty"`
	Of    []string `json:"of,omitempty"`
	// Each of those that were joined, with its own reason; they are taken out together.
	Each  []Part `json:"each,omitempty"`
	First int    `json:"first"`
	Count int    `json:"count"`
	// Tied to another part, because both set the same variable: it cannot be
	// taken out alone.
	Tied bool `json:"tied,omitempty"`
	// LookedAgain is the number (Seq) of the step that compared the service
	// with and without this part at the end, 0 if none did. Gain is what it saw
	// the part bring: 0.05 = 5 % more. LeftOut: it harmed and was taken out.
	LookedAgain int     `json:"looked_again,omitempty"`
	Gain        float64 `json:"gain,omitempty"`
	LeftOut     bool    `json:"left_out,omitempty"`
	// Undone: somebody else took it away while its group was measured, and nothing
	// was found that would make it last. The group says nothing about the others.
	Undone bool `json:"undone,omitempty"`
}

// Worth of the part by itself.
func (p Part) Worth() Worth { return Worth{p.Bound, p.Reach, p.Spares, p.Limit} }

// IDs of the plans that the part stands for.
func (p Part) IDs() []string {
	if len(p.Of) > 0 {
		return p.Of
	}
	return []string{p.ID}
}

// OfSmall reports whether a plan joins small ones and nothing else.
func (p Plan) OfSmall() bool {
	return len(p.Parts) > 0 && !slices.ContainsFunc(p.Parts, func(x Part) bool { return !x.Small })
}

// PlanIDs are the IDs of the plans that a plan stands for.
func (p Plan) PlanIDs() []string {
	if len(p.Parts) == 0 {
		return []string{p.ID}
	}
	var out []string
	for _, part := range p.Parts {
		out = append(out, part.IDs()...)
	}
	return out
}
