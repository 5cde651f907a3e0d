package web

import (
	"os"
	"strings"
	"testing"

	"kasoku/internal/report"
	"kasoku/internal/ui"
)

// TestTimeIsTheReports: where a request's time goes is on the pages what the
// report says: the same parts, in its order, with its numbers.
func TestTimeIsTheReports(t *testing.T) {
	p := newSample(t)
	m, err := report.Build(t.Context(), p.store, p.session, report.Options{WithoutLevels: true})
	must(t, err)
	bars := timeBars(m.Times, "As found", "At the end")
	if len(bars) != 2 || len(m.Times) < 3 {
		t.Fatalf("%d bars of %d parts", len(bars), len(m.Times))
	}
	for i, b := range bars {
		total, at := 0.0, 0
		for _, x := range m.Times {
			v := []float64{x.Before, x.After}[i]
			if v == 0 {
				continue
			}
			if got := b.Parts[at]; got.Name != x.Name || got.Value != ui.Seconds(v) {
				t.Errorf("%s: part %d is %+v, in the report %+v", b.Label, at, got, x)
			}
			total, at = total+v, at+1
		}
		if b.Total != ui.Seconds(total) || at != len(b.Parts) {
			t.Errorf("%s: %s, %d parts, in the report %s, %d", b.Label, b.Total, len(b.Parts), ui.Seconds(total), at)
		}
	}
}

// TestColoursMeanOneThing: services and statements share none, a part has the
// same one in each bar, and the style sheet knows them all.
func TestColoursMeanOneThing(t *testing.T) {
	p := newSample(t)
	run, err := p.store.Run(p.after)
	must(t, err)
	css, err := os.ReadFile("static/app.css")
	must(t, err)
	m, err := report.Build(t.Context(), p.store, p.session, report.Options{WithoutLevels: true})
	must(t, err)
	named := map[string]string{} // by colour
	for _, b := range append(timeBars(m.Times, "As found", "At the end"), whereTime(run, m.Times, m.CPU)...) {
		for _, x := range b.Parts {
			if name, known := named[x.Class]; known && name != x.Name {
				t.Errorf("%s is %q and %q", x.Class, name, x.Name)
			}
			named[x.Class] = x.Name
			if x.Code != strings.HasPrefix(x.Class, "seg-q") {
				t.Errorf("%q has colour %s", x.Name, x.Class)
			}
		}
	}
	for i := range colours {
		named["seg-"+string(rune('0'+i))], named["seg-q"+string(rune('0'+i))] = "", ""
	}
	for class := range named {
		if !strings.Contains(string(css), "svg ."+class+" {") {
			t.Errorf("no colour for %s", class)
		}
	}
	if len(named) < 2*colours+1 {
		t.Errorf("%d colours", len(named))
	}
}

// TestManyParts: what is small is joined, in a colour that is nobody else's.
func TestManyParts(t *testing.T) {
	b := bar{Label: "x"}
	for i := range 12 {
		b.Parts = append(b.Parts, part{Name: string(rune('a' + i)), Class: "seg-0", seconds: float64(12 - i)})
	}
	b.thin("seg-7")
	got := placed([]bar{b, {Label: "nothing"}})
	if len(got) != 1 || len(got[0].Parts) != mostParts+1 || got[0].Parts[mostParts].Name != "5 others" || got[0].Parts[mostParts].Class != "seg-7" || got[0].Parts[0].X != "0.000%" {
		t.Errorf("%+v", got)
	}
}
