package diagnose

import "fmt"

func judgeWorkload(m *model) ([]Finding, string) {
	if m.busy >= saturatedCPU {
		return nil, ""
	}
	f := Finding{Title: "The load may be too small to show what the service can do",
		Text: fmt.Sprintf("%.0f users keep CPU only %.0f %% busy. A larger workload may raise the score without any change to the service.",
			m.n, 100*m.busy),
		Evidence: []string{"system counters", "load result"}}
	f.Bound, f.Formula = m.boundWait()
	return []Finding{f}, ""
}

// generatorShare of all CPU above which the load itself is the main cost.
const generatorShare = 0.4

func judgeGenerator(m *model) ([]Finding, string) {
	if m.allCPU == 0 || m.genCPU/m.allCPU < generatorShare {
		return nil, ""
	}
	f := Finding{Title: "The load generator uses much of the machine",
		Text: fmt.Sprintf("It takes %s of the %s of CPU per request (%.0f %%); what is left of the service cannot gain more than the rest. Drive the load from another machine to see further.",
			seconds(m.genCPU), seconds(m.allCPU), 100*m.genCPU/m.allCPU),
		Evidence: []string{"generator's own CPU time"}}
	f.Bound, f.Formula = m.bound(m.genCPU)
	return []Finding{f}, ""
}

func judgeUnsaturated(m *model) ([]Finding, string) {
	name, text := m.binds()
	if name != "nothing" {
		return nil, ""
	}
	f := Finding{Title: "No resource is saturated",
		Text:     text + ". Look at worker and connection limits, lock waits, and at work that is done one thing after another.",
		Evidence: []string{"system counters"}}
	f.Bound, f.Formula = m.boundWait()
	return []Finding{f}, ""
}
