package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/patch"
	"kasoku/internal/redact"
	"kasoku/internal/source"
	"kasoku/internal/trace"
	"kasoku/internal/ui"
)

// Patches are the places of applications that patches are offered for, or refused.
type Patches struct {
	Folders []string     `json:"folders"`
	Run     int64        `json:"run,omitempty"` // that the times are of
	Offered []PatchPlace `json:"offered"`       // the most time first
	Refused []PatchPlace `json:"refused"`
	// Skipped are packages that could not be type-checked.
	Skipped []string `json:"skipped,omitempty"`

	places []*patch.Place
}

// PatchPlace is one place with what a run tells of its statement.
type PatchPlace struct {
	patch.Place
	Folder string        `json:"folder"`
	Count  int64         `json:"count,omitempty"` // runs of its statement
	Total  time.Duration `json:"total,omitempty"` // nanoseconds
	// Calls of the statement per request, of the routes that make it.
	Calls []RouteShare `json:"calls,omitempty"`
}

// RouteShare is how often a request of a route makes a statement.
type RouteShare struct {
	Route      string  `json:"route"`
	PerRequest float64 `json:"per_request"`
}

// FindPatches looks for places in folders of this machine. A run, if there is one, tells
// what the tables are, and what the statements of the places took.
func FindPatches(ctx context.Context, folders []string, run *evidence.Evidence) (*Patches, error) {
	out := &Patches{Folders: folders, Offered: []PatchPlace{}, Refused: []PatchPlace{}}
	if run == nil {
		run = &evidence.Evidence{}
	}
	statements, calls := run.Statements, run.Requests
	for _, folder := range folders {
		p, err := patch.Load(ctx, folder, run.Tables...)
		if err != nil {
			return nil, err
		}
		out.Skipped = append(out.Skipped, p.Skipped...)
		var sources Sources
		if len(statements) > 0 {
			if sources, err = ReadSources(ctx, []string{folder}); err != nil {
				return nil, err
			}
		}
		for _, at := range p.Find() {
			one := PatchPlace{Place: *at, Folder: folder}
			one.Statement = redact.Text(at.Statement)
			one.join(sources, statements, calls)
			out.places = append(out.places, at)
			if at.Refused != nil {
				out.Refused = append(out.Refused, one)
			} else {
				out.Offered = append(out.Offered, one)
			}
		}
	}
	for _, list := range [][]PatchPlace{out.Offered, out.Refused} {
		slices.SortStableFunc(list, func(a, b PatchPlace) int { return cmp.Compare(b.Total, a.Total) })
	}
	return out, nil
}

// join adds what a run knows of the statement whose text stands at the place.
func (p *PatchPlace) join(sources Sources, statements []evidence.Statement, calls *trace.Summary) {
	if p.Statement == "" {
		return
	}
	for _, s := range statements {
		if !slices.ContainsFunc(sources.Places(s.Fingerprint), func(at source.Place) bool {
			rel, err := filepath.Rel(p.Folder, at.File)
			return at.Sure && err == nil && p.Holds(rel, at.Line)
		}) {
			continue
		}
		p.Count, p.Total = p.Count+s.Count, p.Total+s.Total
		if calls == nil {
			continue
		}
		for _, r := range calls.Routes {
			for _, c := range r.Calls {
				if c.What == s.Fingerprint {
					p.Calls = append(p.Calls, RouteShare{r.Method + " " + r.Route, c.PerRequest})
				}
			}
		}
	}
}

// Choose returns the places that make the patches of IDs, in their order, each once. An
// error names an ID that is not there, is there twice, or is refused.
func (p *Patches) Choose(ids []string) ([]*patch.Place, error) {
	var out []*patch.Place
	for _, id := range ids {
		var found []*patch.Place
		for _, at := range p.places {
			if strings.EqualFold(at.ID, id) {
				found = append(found, at)
			}
		}
		switch {
		case len(found) == 0:
			return nil, fmt.Errorf("there is no patch %s", id)
		case len(found) > 1:
			return nil, fmt.Errorf("%s names %d places of several folders", id, len(found))
		case found[0].Refused != nil:
			return nil, fmt.Errorf("%s is refused: %s: %s", id, found[0].Refused.Need, found[0].Refused.Reason)
		case slices.Contains(out, found[0]):
			return nil, fmt.Errorf("%s is named twice", id)
		}
		out = append(out, found[0])
	}
	return patch.Leads(out), nil
}

// All are the places that make the patches which are offered.
func (p *Patches) All() []*patch.Place {
	return patch.Leads(slices.DeleteFunc(slices.Clone(p.places), func(at *patch.Place) bool { return at.Refused != nil }))
}

// PatchesText writes the places for people; refused ones too if all.
func PatchesText(w io.Writer, p *Patches, width int, all bool) error {
	b := &strings.Builder{}
	for _, one := range p.Offered {
		one.text(b, width)
	}
	if all {
		for _, one := range p.Refused {
			one.text(b, width)
			fmt.Fprintf(b, "    refused: %s: %s\n", one.Refused.Need, ui.Clean(one.Refused.Reason))
		}
	}
	if len(p.Offered)+len(p.Refused) > 0 {
		fmt.Fprintln(b)
	}
	fmt.Fprintf(b, "%s offered, %d refused", ui.Plural(len(p.Offered), "patch", "patches"), len(p.Refused))
	if len(p.Refused) > 0 && !all {
		fmt.Fprint(b, " (--all shows why)")
	}
	fmt.Fprintln(b, ".")
	if n := len(p.Skipped); n > 0 {
		fmt.Fprintf(b, "Not looked at, because it does not compile: %s", ui.Clean(p.Skipped[0]))
		if n > 1 {
			fmt.Fprintf(b, " and %d more", n-1)
		}
		fmt.Fprintln(b, ".")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *PatchPlace) text(b *strings.Builder, width int) {
	fmt.Fprintf(b, "%-9s %s:%d", p.ID, ui.Clean(p.File), p.Line)
	if p.Function != "" {
		fmt.Fprintf(b, "  %s", ui.Clean(p.Function))
	}
	fmt.Fprintf(b, "\n    %s", p.What)
	if p.With != "" {
		fmt.Fprintf(b, ", one patch with %s", p.With)
	}
	if p.Total > 0 {
		fmt.Fprintf(b, ", %s in %s", ui.Duration(p.Total), ui.Plural(int(p.Count), "run", "runs"))
	}
	for i, c := range p.Calls {
		if i == mostWhereRoutes {
			break
		}
		fmt.Fprintf(b, "; %.3g per %s", c.PerRequest, ui.Clean(c.Route))
	}
	fmt.Fprintln(b)
	if p.Statement != "" {
		fmt.Fprintf(b, "    %s\n", shorten(ui.Clean(strings.Join(strings.Fields(p.Statement), " ")), max(width-4, leastStatement)))
	}
}
