package evidence

import (
	"fmt"
	"strings"
	"time"
)

// Limits of what else may use the machine before a run says more about that
// than about the service. A background job below a tenth of the CPU changes a
// score by less than the runs differ anyway.
const (
	foreignLimit = 0.10
	stealLimit   = 0.05
)

func systemHealth(name string, sys System, window time.Duration, sampleErr error) Health {
	h := Health{Source: "system of " + name, OK: true}
	all := sys.CPUTime()
	if all <= 0 {
		h.OK, h.Text = false, "the window was too short for CPU times"
		return h
	}
	h.Text = fmt.Sprintf("%.1f s of %d CPUs, %d samples; services %.1f, generator %.1f, others %.1f CPU seconds",
		window.Seconds(), sys.CPUs, len(sys.Samples), sys.ServicesCPU, sys.GeneratorCPU, sys.ForeignCPU)
	if sys.Outside > 0 {
		h.Text += fmt.Sprintf("; it is a container, beside which its machine spent %.1f, %.1f of them for neither hosts of the stack nor the generator", sys.Outside, sys.Neighbours)
	}
	switch {
	case sampleErr != nil:
		h.OK, h.Text = false, h.Text+"; sampling failed: "+sampleErr.Error()
	case sys.ForeignCPU > foreignLimit*all:
		h.OK, h.Text = false, h.Text+fmt.Sprintf(": other processes used %.0f %% of the machine%s; stop them and run again", 100*sys.ForeignCPU/all, whose(sys))
	case sys.ForeignCPU+sys.Neighbours > foreignLimit*all:
		h.OK, h.Text = false, h.Text+fmt.Sprintf(": what runs beside this container used %.0f %% of the machine; stop it and run again", 100*sys.Neighbours/all)
	case sys.Steal > stealLimit*all:
		h.OK, h.Text = false, h.Text+fmt.Sprintf(": the hypervisor took %.0f %% of the CPU for other guests; run again when it is quieter", 100*sys.Steal/all)
	}
	return h
}

// whose names the processes that foreign CPU time belongs to, as far as they
// were there at the end.
func whose(sys System) string {
	var names []string
	for _, p := range sys.Others {
		if p.CPU >= 0.1*sys.ForeignCPU {
			names = append(names, fmt.Sprintf("%s (%d) %.1f s", p.Name, p.PID, p.CPU))
		}
	}
	if len(names) == 0 {
		return " (they began and ended within the run)"
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// notJudged says what this kernel does not tell, and what would have cost too
// much to read.
func notJudged(sys System, unread ...map[string]int) string {
	text := ""
	if sys.PressureCPU < 0 {
		text += "; not judged: pressure, which this kernel does not tell (PSI)"
	}
	many := map[string]int{}
	for _, one := range unread {
		for service, n := range one {
			many[service] = max(many[service], n)
		}
	}
	for _, service := range sortedKeys(many) {
		text += fmt.Sprintf("; not judged: context switches and busiest thread of %s, which has %d threads", service, many[service])
	}
	return text
}
