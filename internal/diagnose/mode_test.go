package diagnose

import (
	"strings"
	"testing"
)

// Waiting can end only where requests waited for processes to be started.
func TestBoundOfMode(t *testing.T) {
	for _, c := range []struct {
		name               string
		processes, started int // the main process and eight others serve ten requests
		children           string
		waits              bool
	}{
		{"some began in the run", 9, 3, "8", true},
		{"fewer than requests, and more are allowed", 9, 0, "16", true},
		{"all that are allowed were there", 9, 0, "8", false},
		{"one for each request was there", 13, 0, "16", false},
	} {
		in := healthy()
		both(idle, config("/f", "pm = static\npm.max_children = 16", "pm = ondemand\npm.max_children = "+c.children))(&in)
		use := in.Evidence.Services["php"]
		use.Processes, use.Started = c.processes, c.started
		in.Evidence.Services["php"] = use
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range d.Findings {
			if f.Rule != "php.mode" {
				continue
			}
			found = true
			if waits := strings.Contains(f.Formula, "on full CPUs"); waits != c.waits || f.Bound < 1 {
				t.Errorf("%s: bound %g by %s", c.name, f.Bound, f.Formula)
			}
		}
		if !found {
			t.Errorf("%s: not found", c.name)
		}
	}
}
