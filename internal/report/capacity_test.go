package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"kasoku/internal/capacity"
	"kasoku/internal/stat"
)

func capacityPlan(t *testing.T, q capacity.Question, hosts ...int) *capacity.Plan {
	t.Helper()
	law := stat.Scaling{Lambda: 100, Sigma: 0.05, Kappa: 0.002}
	m := &capacity.Measured{Axis: capacity.Hosts}
	for _, n := range hosts {
		for _, noise := range []float64{0.99, 1.01} {
			m.Levels = append(m.Levels, capacity.Level{N: n, PerSecond: law.At(float64(n)) * noise, Source: "<b>levels & co.csv</b>"})
		}
	}
	q.Confidence = 0.95
	p, err := capacity.Make(m, q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The page is right HTML, shows each measurement in both layouts and every
// warning, and escapes what came from outside.
func TestCapacityPage(t *testing.T) {
	for _, c := range []struct {
		name     string
		plan     *capacity.Plan
		headline string
		dots     int
	}{
		{"within what was measured", capacityPlan(t, capacity.Question{Rate: 300}, 1, 2, 3, 4, 6), "4 hosts for 300/s", 20},
		{"far beyond it", capacityPlan(t, capacity.Question{Rate: 5000, Headroom: 0.3}, 1, 2, 3, 4, 6), "No number of hosts carries 5,000/s", 20},
		{"nothing asked", capacityPlan(t, capacity.Question{}, 1, 2, 4), "What hosts carry", 12},
		{"a single level has no curve", capacityPlan(t, capacity.Question{Rate: 300}, 2), "4 hosts for 300/s", 0},
	} {
		var b bytes.Buffer
		if err := CapacityHTML(&b, c.plan); err != nil {
			t.Fatal(err)
		}
		page, dots := b.String(), 0
		for _, e := range walk(t, page) {
			switch {
			case e.tag == "h1" && e.text != c.headline:
				t.Errorf("%s: headline %q, want %q", c.name, e.text, c.headline)
			case e.tag == "circle" && e.attr["class"] == "dot":
				dots++
			}
		}
		if dots != c.dots {
			t.Errorf("%s: %d dots, want %d", c.name, dots, c.dots)
		}
		if n := strings.Count(page, `class="caveat"`); n != len(c.plan.Warnings) {
			t.Errorf("%s: %d warnings shown of %d", c.name, n, len(c.plan.Warnings))
		}
		if strings.Contains(page, "<b>levels") || strings.Contains(page, "NaN") || strings.Contains(page, "<script") {
			t.Errorf("%s: the page holds what it must not", c.name)
		}
	}
}

// What is left out, an interval without an end and one that is not known are
// told as that.
func TestCapacityText(t *testing.T) {
	for _, c := range []struct {
		in   capacity.Interval
		want string
	}{
		{capacity.Interval{Low: 3, High: 5}, "3 to 5"},
		{capacity.Interval{Low: 3, Open: true}, "3 or more"},
		{capacity.Interval{Open: true}, "not known"},
	} {
		if got := intervalText(c.in); got != c.want {
			t.Errorf("%+v: %q, want %q", c.in, got, c.want)
		}
	}
	p := capacityPlan(t, capacity.Question{Rate: 300}, 1, 2, 3, 4, 6)
	p.Dropped = []capacity.Dropped{{Level: capacity.Level{Source: "run 7"}, Why: "no evidence"}}
	p.Costs = []capacity.Cost{{Host: "db", Resource: "cpu", PerRequest: 0.01, Capacity: 4, Allows: 400, Needed: 2, NeededInterval: capacity.Interval{Low: 2, High: 3}}}
	var b bytes.Buffer
	if err := CapacityText(&b, p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"needed     4 hosts", "left out   run 7: no evidence", "db    cpu", "10.0 ms", "2 (2 to 3)", "checked    without the levels of 6"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not told:\n%s", want, b.String())
		}
	}
	if math.Abs(p.Law.Sigma-0.05) > 0.02 {
		t.Errorf("law %+v", p.Law)
	}
}
