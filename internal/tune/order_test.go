package tune

import (
	"strings"
	"testing"
	"time"
)

// Before the first step a session says what comes in which order, and what the time left
// is not enough for.
func TestOrderIsTold(t *testing.T) {
	knobs := []knob{{name: "d", factor: 1, bound: 1.004, reach: 0.5}}
	for _, name := range strings.Split("abcefghijklm", "") { // more than one group has
		knobs = append(knobs, good(name, 20))
	}
	for _, c := range []struct {
		budget time.Duration
		want   string
	}{
		{time.Hour, "in this order, unless what is kept changes it: 1. "},
		{0, ""},
	} {
		v := newVirtual(t, knobs...)
		tu, told := v.tuner(), &drawing{}
		tu.UI, tu.Options.Budget = told, c.budget
		if _, err := tu.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, line := range told.lines {
			if strings.Contains(line, "in this order") {
				found += line + "\n"
			}
		}
		if (found == "") != (c.want == "") || !strings.Contains(found, c.want) || strings.Count(found, "\n") > 1 || strings.Contains(found, "Turn on d") {
			t.Errorf("budget %s: told %q", c.budget, found)
		}
	}
}

// What is left when there is only time for a look or a step is not begun.
func TestNoTimeForAnother(t *testing.T) {
	tu := newVirtual(t).tuner()
	if err := tu.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	tu.Bench.Window, tu.Bench.pace = 90*time.Second, nil
	tu.course.deadline = time.Now().Add(tu.moment().stepTime() + tu.reserve() + time.Minute)
	if tu.noTimeForAnother() {
		t.Error("a step fits")
	}
	tu.course.deadline = time.Now().Add(tu.moment().stepTime() + tu.reserve() - time.Minute)
	if !tu.noTimeForAnother() {
		t.Error("no step fits")
	}
	tu.Bench.Window = 10 * time.Second // short runs: the plans themselves are asked whether a step fits
	tu.course.deadline = time.Now().Add(tu.reserve() + tu.Bench.runTime() + 5*time.Second)
	if tu.noTimeForAnother() {
		t.Error("runs are short, and a look fits")
	}
	tu.course.deadline = time.Now().Add(tu.reserve() + tu.Bench.runTime() - 5*time.Second)
	if !tu.noTimeForAnother() {
		t.Error("a look takes of the time for the end")
	}
}
