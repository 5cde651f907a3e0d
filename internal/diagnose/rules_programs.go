package diagnose

import (
	"fmt"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// programRules are about programs that applications start while they answer.
var programRules = []Rule{
	{"app.programs", []string{"W14"}, needSystem, judgePrograms},
}

// programsShare of a request's CPU that programs take from which on they are told: half of
// it is what a run can show.
const programsShare = 0.05

// judgePrograms finds applications that start programs for requests: each is a fork, an
// exec, its libraries linked, and its work.
func judgePrograms(m *model) ([]Finding, string) {
	var out []Finding
	for _, svc := range m.in.Stack.OfKind(stack.App, stack.PHPFPM) {
		use := m.in.Evidence.Services[svc.Name]
		each := use.ProgramsCPU / float64(m.in.Evidence.Load.Succeeded)
		k := m.machineOf(svc.Name)
		if k == nil || k.allCPU <= 0 || each < programsShare*k.allCPU {
			continue
		}
		names := programNames(use.Programs)
		title := svc.Name + " starts programs for its requests"
		if len(names) > 0 {
			title += ": " + strings.Join(names, ", ")
		}
		text := fmt.Sprintf("Programs that %s starts and waits for take %s of the CPU per request (%s of %s). %s%s Do what they do within the program (a library), keep one running and talk to it, keep its result, or give it options for less work.",
			svc.Name, ui.Share(each/k.allCPU), seconds(each), seconds(k.allCPU), m.programCount(k, use.Programs), seenAt(use.Programs))
		f := about(svc.Name, title, text, "CPU time of children that "+svc.Name+" waited for (/proc/PID/stat, cutime and cstime)")
		f.Subject = map[string]string{"source": "yes", "programs": strings.Join(names, " ")}
		out = append(out, f.bounded(m.boundBy(svc.Name, each)))
	}
	return out, ""
}

// programCount says how many are started for an answer: at least what was seen, at most
// what anybody on the machine started.
func (m *model) programCount(k *machine, programs []evidence.ProgramUse) string {
	ok := float64(m.in.Evidence.Load.Succeeded)
	least := 0.0
	for _, p := range programs {
		least += float64(p.Processes)
	}
	switch {
	case k.sys.Forks <= 0:
		return ""
	case least > 0:
		return fmt.Sprintf("At least %.2g and at most %.2g are started per request.", least/ok, float64(k.sys.Forks)/ok)
	}
	return fmt.Sprintf("At most %.2g are started per request.", float64(k.sys.Forks)/ok)
}

// seenAt says which of them were at work at how many moments.
func seenAt(programs []evidence.ProgramUse) string {
	var parts []string
	for _, p := range programs {
		parts = append(parts, fmt.Sprintf("%s at %d", p.Name, p.Seen))
	}
	if len(parts) == 0 {
		return " Which they are a diagnostic run on the machine itself tells."
	}
	return " Seen at work, of 50 moments a second: " + strings.Join(parts, ", ") + "."
}

func programNames(programs []evidence.ProgramUse) []string {
	var out []string
	for _, p := range programs {
		out = append(out, p.Name)
	}
	return out
}
