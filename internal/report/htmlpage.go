package report

import (
	"bytes"
	"fmt"
	"io"

	"kasoku/internal/ui"
)

// mostPage is the largest page in bytes: what a mail takes without question.
const mostPage = 2_000_000

// pageLimits bound what a page shows of lists without a natural end.
type pageLimits struct {
	DiffLines int  // of one file's diff
	Rows      int  // of one table of what the run saw
	Proofs    bool // pictures of steps that were put back
	Flames    bool // pictures of profiles
}

// pageSizes are tried in this order until the page is small enough; the export
// has whole diffs, and kasoku show all rows.
var pageSizes = []pageLimits{
	{DiffLines: 400, Rows: mostSeen, Proofs: true, Flames: true},
	{DiffLines: 60, Rows: mostSeen, Proofs: true, Flames: true},
	{DiffLines: 40, Rows: 10, Proofs: false, Flames: true},
	{DiffLines: 20, Rows: 5},
}

// pageView is a model with the limits of its page.
type pageView struct {
	*Model
	Limits pageLimits
}

// Sections of what the last diagnostic run saw.
func (v pageView) Sections() []Section { return v.Seen.sections(v.Limits.Rows) }

// Last is the diagnostic run that shows what binds now; nil if there is none.
func (v pageView) Last() *Side {
	if v.After != nil {
		return v.After
	}
	return v.Before
}

// stepView is a step with what its page needs to know of the session.
type stepView struct {
	Step
	Smallest  float64 // effect worth keeping
	DiffLines int
	Proofs    bool
}

func viewStep(v pageView, s Step) stepView {
	return stepView{s, v.Rule.SmallestEffect, v.Limits.DiffLines, s.Kept || v.Limits.Proofs}
}

// HTML writes the report as one file without scripts that loads nothing.
func HTML(w io.Writer, m *Model) error {
	var page string // nothing is written of a page that fails half-way
	for _, l := range pageSizes {
		var b bytes.Buffer
		v := pageView{m, l}
		if !l.Flames {
			bare := *m
			bare.Flames = nil
			v.Model = &bare
		}
		if err := htmlPage.Execute(&b, v); err != nil {
			return fmt.Errorf("report: write HTML: %w", err)
		}
		// Control characters are no HTML; the page's own text has none.
		if page = ui.Clean(b.String()); len(page) <= mostPage {
			break
		}
	}
	if _, err := io.WriteString(w, page); err != nil {
		return fmt.Errorf("report: write HTML: %w", err)
	}
	return nil
}
