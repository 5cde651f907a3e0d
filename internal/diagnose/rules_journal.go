package diagnose

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// logKeepers are units that take what services print, and write it down.
var logKeepers = []string{"systemd-journald.service", "rsyslog.service", "syslog-ng.service"}

// judgeJournal: what services print goes through systemd's journal line by line, each with
// some twenty fields looked up and written (systemd-journald.service(8)).
func judgeJournal(m *model) ([]Finding, string) {
	return m.eachHost(m.journalOn), ""
}

func (m *model) journalOn(s *evidence.System) []Finding {
	var cpu float64
	var names []string
	for _, p := range s.Others {
		if slices.Contains(logKeepers, p.Unit) {
			cpu += p.CPU
			if name, _, _ := strings.Cut(p.Unit, "."); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	share := cpu / (float64(s.CPUs) * m.window)
	if s.CPUs <= 0 || share < visibleAgent {
		return nil
	}
	writers, files := m.printers(m.nameOf(s))
	if len(writers) == 0 {
		return nil // who prints is no service of the stack
	}
	bound, formula := m.boundAt(map[string]float64{m.nameOf(s): cpu / (m.x * m.window)})
	return []Finding{about("", "What services print takes a visible share of the CPU to be written down",
		fmt.Sprintf("%s used %.2f s of CPU in %.0f s, %s of the host's. To the journal print %s. A higher log level in the application prints less; StandardOutput=append:FILE in %s (systemd 240) writes the lines to a file without the journal, and StandardOutput=null to none. Who reads them there misses them then, which trades observability.",
			strings.Join(names, " and "), cpu, m.window, percent(share), strings.Join(writers, ", "), strings.Join(files, ", ")),
		"/proc/PID/stat, /proc/PID/cgroup", "the services' units and what they logged").bounded(bound, formula)}
}

// printers are a machine's services whose unit sends what they print to the journal, with
// what they logged in the window, the most first, and the drop-ins that would change it.
func (m *model) printers(host string) (writers, files []string) {
	lines := map[string]int64{}
	for _, l := range m.in.Evidence.Logs {
		lines[l.Service] += l.Count
	}
	var found []*stack.Service
	for i := range m.in.Stack.Services {
		svc := &m.in.Stack.Services[i]
		if svc.Kind != stack.App || m.hostOf(svc.Name) != host || svc.ControlMethod() != stack.MethodSystemd {
			continue
		}
		if start, err := StartOf(m.in.Snapshot, svc); err == nil && start.printsToJournal() {
			found = append(found, svc)
		}
	}
	slices.SortStableFunc(found, func(a, b *stack.Service) int { return int(lines[b.Name] - lines[a.Name]) })
	for _, svc := range found {
		text := svc.Name
		if n := lines[svc.Name]; n > 0 {
			text += fmt.Sprintf(" (%.0f lines/s, %.2g per request)", float64(n)/m.window, float64(n)/(m.x*m.window))
		}
		writers = append(writers, text)
		files = append(files, path.Join("/etc/systemd/system", evidence.UnitName(svc.Control.Unit)+".d", "output.conf"))
	}
	return writers, files
}

// printsToJournal reports whether its unit sends standard output there: it does unless it
// says otherwise (systemd.exec(5), "StandardOutput=").
func (s *AppStart) printsToJournal() bool {
	if s.unit == nil {
		return false
	}
	to := ""
	for _, v := range s.unit.List("Service", "StandardOutput") {
		to = v.Text
	}
	return to == "" || strings.HasPrefix(to, "journal") || to == "inherit"
}
