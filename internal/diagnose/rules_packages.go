package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

var packageRules = []Rule{{"version.newer", []string{"C04", "W03", "G09", "I24"}, "versions of packages", judgeNewer}}

// judgeNewer: the system's own sources have newer packages of what a service
// runs from: its program, or libraries that it uses (C04, G09).
func judgeNewer(m *model) ([]Finding, string) {
	if m.in.Snapshot.Packages == nil {
		return nil, "no packages were asked for (the regulation does not allow to install any), or the host has no dpkg"
	}
	var out []Finding
	for _, svc := range m.in.Stack.Services {
		if svc.RunsIn != "" {
			continue
		}
		var text []string
		names := map[string]string{} // by source: its package that names the upgrade
		for _, p := range m.in.Snapshot.Packages[svc.HostName()] {
			program := slices.Contains(p.Programs, svc.Name)
			if p.Candidate == "" || p.Candidate == p.Version || !program && !slices.Contains(p.Libraries, svc.Name) {
				continue
			}
			if _, ok := names[p.Source]; !ok || program {
				names[p.Source] = p.Name
			}
			text = append(text, fmt.Sprintf("%s %s (now %s)", p.Name, p.Candidate, p.Version))
		}
		if len(text) == 0 {
			continue
		}
		f := about(svc.Name, "Newer packages of what "+svc.Name+" runs from can be installed",
			"The host's own sources have "+strings.Join(text, ", ")+".", "dpkg -S, apt-cache policy")
		f.Subject = map[string]string{"packages": strings.Join(slices.Sorted(maps.Values(names)), " ")}
		out = append(out, f.bounded(m.boundBy(svc.Name, m.perReq[svc.Name])))
	}
	return out, ""
}
