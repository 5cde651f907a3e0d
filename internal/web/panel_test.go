package web

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// TestNothingTwice: messages that say what stands in the panel are left out.
func TestNothingTwice(t *testing.T) {
	l := tune.Live{Doing: "2. More workers", Trying: &tune.Trying{Seq: 2, Title: "More workers", Why: "they are few\nThey wait", Bound: 1.4}}
	said := []tune.Said{{Level: "step", Text: l.Doing}, {Level: "info", Text: "why: they are few"}, {Level: "info", Text: "why: They wait"}, {Level: "info", Text: ui.Bound(1.4)},
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

// TestBindingHost: of two hosts the one is marked that the binding service runs
// on, not the first.
func TestBindingHost(t *testing.T) {
	samples := []evidence.SystemSample{{Busy: 0.3}, {At: time.Second, Busy: 0.4}}
	two := &evidence.Evidence{System: evidence.System{Host: "web1", Samples: samples}, Hosts: map[string]*evidence.System{"db1": {Host: "db1", Samples: samples}}}
	one := &evidence.Evidence{System: evidence.System{Samples: samples}} // stored before hosts had names
	stack := func(service string) string {
		return map[string]string{"db": "db1", "web": "web1", "elsewhere": "gone"}[service]
	}
	fullest := []diagnose.Demand{{Resource: "cpu of web1", Utilization: 0.4}, {Resource: "cpu of db1", Utilization: 0.9}, {Resource: "disk of web1", Utilization: 1}}
	for _, c := range []struct {
		name, binds string
		ev          *evidence.Evidence
		demands     []diagnose.Demand
		want        string
	}{
		{"the service's", "cpu: db", two, nil, "db1"},
		{"the service's, whatever is fuller", "cpu: web", two, fullest, "web1"},
		{"the named one", "cpu: quota of db1", two, nil, "db1"},
		{"a service that the stack no longer has: the fullest", "cpu: gone", two, fullest, "db1"},
		{"a service on a host that was not read", "cpu: elsewhere", two, fullest, "db1"},
		{"the generator: the fullest", "cpu: generator", two, fullest, "db1"},
		{"nothing known: the front", "cpu: gone", two, nil, "web1"},
		{"no CPU", "workers: db", two, fullest, "none"},
		{"one host", "cpu: db", one, nil, ""},
	} {
		got := "none"
		for _, h := range overTime(c.ev, &diagnose.Diagnosis{Binds: c.binds, Demands: c.demands}, stack) {
			if h.Charts[0].Binds {
				if got != "none" {
					t.Errorf("%s: %s is marked, too", c.name, h.Host)
				}
				got = h.Host
			}
		}
		if got != c.want {
			t.Errorf("%s: %q is marked, want %q", c.name, got, c.want)
		}
	}
}
