package web

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// TestNothingTwice: messages that say what stands in the panel are left out.
func TestNothingTwice(t *testing.T) {
	l := tune.Live{Doing: "2. More workers", Trying: &tune.Trying{Seq: 2, Title: "More workers", Why: "they are few", Bound: 1.4}}
	said := []tune.Said{{Level: "step", Text: l.Doing}, {Level: "info", Text: "why: they are few"}, {Level: "info", Text: ui.Bound(1.4)},
		{Level: "info", Text: "pair 1: +3.0 %"}, {Level: "step", Text: "1. What was before"}, {Level: "info", Text: "why: of the step before"}}
	var got []string
	for _, s := range show(l, said, time.Now()).Said {
		got = append(got, s.Text)
	}
	if strings.Join(got, "|") != "pair 1: +3.0 %|1. What was before|why: of the step before" {
		t.Errorf("%q", got)
	}
}

// TestFullestFirst: resources in their order, whatever they are.
func TestFullestFirst(t *testing.T) {
	d := &diagnose.Diagnosis{Binds: "workers: php", Demands: []diagnose.Demand{{Resource: "cpu", Utilization: 0.6}, {Resource: "disk", Utilization: 0.2}},
		Next: []diagnose.Next{{Resource: "workers: php", Factor: 1}, {Resource: "thread: db", Factor: 2.5}, {Resource: "cpu", Factor: 1.7}}}
	var got []string
	for _, r := range resources(d) {
		if r.Binds {
			r.Name += "!"
		}
		got = append(got, r.Name)
	}
	if strings.Join(got, ", ") != "workers: php!, cpu, thread: db, disk" {
		t.Errorf("%q", got)
	}
}

// TestLineFillsItsWidth: the first sample tells of the time before it.
func TestLineFillsItsWidth(t *testing.T) {
	c := line("x", []time.Duration{time.Second, 2 * time.Second}, []float64{0.25, 0.75}, 1, ui.Share, false)
	if c.Points != "0.00,75.00 50.00,75.00 100.00,25.00" {
		t.Error(c.Points)
	}
}
