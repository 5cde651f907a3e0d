package report

import (
	"slices"
	"strings"

	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/ui"
)

// Part is one of several changes that a step made together.
type Part struct {
	Title string `json:"title"`
	// Reason is the first sentence of why it was tried; Why is all of it.
	Reason string `json:"reason"`
	Why    string `json:"why"`
	// Predicted is the factor that was expected of it alone; 0 if nothing was.
	Predicted float64 `json:"predicted,omitempty"`
	// Measured is what the service with it scored against without it, when it was taken
	// out alone; nil if nobody did.
	Measured *experiment.Verdict `json:"measured,omitempty"`
	LeftOut  bool                `json:"left_out,omitempty"` // it was taken out again
}

// parts are the changes of a step of several; nil of any other.
func (m *Model) parts(s Step) []Part {
	var out []Part
	for _, p := range s.Plan.Parts {
		each := p.Each
		if len(each) == 0 {
			each = []remedy.Part{p}
		}
		for _, one := range each {
			part := Part{Title: one.Title, Reason: ui.Sentence(one.Why), Why: one.Why, LeftOut: p.LeftOut}
			if x := one.Worth().Expected(); x > 1 {
				part.Predicted = x
			}
			if len(each) == 1 {
				part.Measured = m.tookOut(p)
			}
			out = append(out, part)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// tookOut is the verdict on the service with a part against without it, nil if there
// is none.
func (m *Model) tookOut(p remedy.Part) *experiment.Verdict {
	i := slices.IndexFunc(m.Steps, func(again Step) bool { return p.LookedAgain != 0 && again.Seq == p.LookedAgain })
	if i < 0 {
		return nil
	}
	return &m.Steps[i].Verdict
}

// PredictedText is what was expected, "–" if nothing that rounds to more than ×1.00.
func (p Part) PredictedText() string {
	if p.Predicted < 1.005 {
		return "–"
	}
	return ui.Factor(p.Predicted)
}

// MeasuredText is what a part brought by itself: an effect only where its interval
// excludes zero.
func (p Part) MeasuredText() string {
	text := "only with the others"
	switch v := p.Measured; {
	case v == nil:
	case !hasInterval(*v) || v.Low <= 0 && v.High >= 0:
		text = "no effect shown"
	default:
		text = Effect(*v)
	}
	if p.LeftOut {
		text += "; taken out"
	}
	return text
}

// Title of a step; of several changes only how many they are, since they are listed.
func (s Step) Title() string {
	if len(s.Parts) == 0 {
		return s.Plan.Title
	}
	head, _, ok := strings.Cut(s.Plan.Title, ": ")
	if !ok {
		return s.Plan.Title
	}
	return head
}
