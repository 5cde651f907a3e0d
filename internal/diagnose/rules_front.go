package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/stack"
)

// What a finding of apache.front is about (Subject "about").
const (
	FrontForWorkers = "workers"
	FrontForPages   = "pages"
	FrontForHosts   = "hosts"
)

// judgeFront: an Apache that clients talk to itself, where something in front
// would take work off it: slow and idle connections of processes that are all in
// use (W02), pages that are the same for all strangers (W10), or requests that
// another host could answer (W12).
func judgeFront(m *model) ([]Finding, string) {
	if len(m.in.Stack.OfKind(stack.Nginx, stack.Varnish)) > 0 {
		return nil, "" // there is something in front, which has rules of its own
	}
	unknown := ""
	out, why := m.eachApache(func(svc *stack.Service, conf *apache.Config) []Finding {
		front := ""
		for name, f := range m.in.Snapshot.Fronts {
			if f.Service.FrontFor == svc.Name {
				front = name
			}
		}
		var out []Finding
		if f, ok := m.frontForWorkers(svc, conf); ok {
			out = append(out, f)
		}
		if f, ok := m.frontForPages(svc); ok {
			out = append(out, f)
		}
		hosts, no := m.frontForHosts(svc, front)
		unknown, out = cmp.Or(unknown, no), append(out, hosts...)
		for i := range out {
			out[i].Subject["front"] = front
		}
		return out
	})
	return out, cmp.Or(why, unknown)
}

func (m *model) frontForWorkers(svc *stack.Service, conf *apache.Config) (Finding, bool) {
	now, err := strconv.Atoi(setting(conf, "MaxRequestWorkers"))
	if err != nil || conf.MPM() != "prefork" {
		return Finding{}, false // threads of other MPMs hold little
	}
	said := m.workersFull(svc, now)
	if said == "" {
		return Finding{}, false
	}
	f := about(svc.Name, svc.Name+" holds a process for each client's connection, and all are in use",
		fmt.Sprintf("Of %d processes none was idle (%s). A client that is slow, or keeps its connection for the next request, occupies one for as long. nginx in front keeps clients' connections for little and asks Apache only for what is to be done.", now, cut(said, 200)),
		svc.Config, "error log of "+svc.Name)
	f.Subject = map[string]string{"about": FrontForWorkers}
	return f.bounded(m.boundWait()), true
}

func (m *model) frontForPages(svc *stack.Service) (Finding, bool) {
	if m.answersUnknown() != "" {
		return Finding{}, false
	}
	age := MaxAge(m.in.Stack.Regulation)
	all, files, changed := m.cacheable(age, func(string) bool { return true })
	share := all.share(m)
	if len(all.urls) == 0 || share < leastSpared {
		return Finding{}, false
	}
	slices.Sort(all.urls)
	f := about(svc.Name, fmt.Sprintf("%s makes %d answers anew each time although they are the same for everybody", svc.Name, len(all.urls)),
		fmt.Sprintf("Of %s strangers all got the same bytes, whatever their client; in %.0f s they changed %d times. Nothing stands in front that could keep them: an nginx that keeps each for %s would answer %.0f of %d requests without Apache; an answer may then be that old.",
			strings.Join(all.urls[:min(len(all.urls), 5)], ", "), m.asked.Window.Seconds(), changed, age, all.requests, m.asked.Requests), all.urls...)
	f.Subject = map[string]string{"about": FrontForPages, "files": strings.Join(files, "\n")}
	return f.bounded(m.bound(m.allCPU * share)), true
}
