package diagnose

import (
	"fmt"
	"strings"

	"kasoku/internal/stack"
)

// judgeGoFlags: a program that was built for the race detector or for a
// debugger does its work several times over (go.dev/doc/articles/race_detector:
// memory 5–10 times, time 2–20 times; cmd/compile: -N turns optimisation off,
// -l inlining).
func judgeGoFlags(m *model) ([]Finding, string) {
	var out []Finding
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		b := m.in.Snapshot.Apps[svc.Name].Go
		if b == nil {
			continue
		}
		flag := ""
		switch flags := strings.Fields(b.Settings["-gcflags"]); {
		case b.Settings["-race"] == "true":
			flag = "-race"
		case b.Settings["-asan"] == "true":
			flag = "-asan"
		case b.Settings["-msan"] == "true":
			flag = "-msan"
		default:
			for _, f := range flags {
				if _, after, ok := strings.Cut(f, "="); ok && strings.HasPrefix(after, "-") {
					f = after // all=-N
				}
				if f == "-N" || f == "-l" {
					flag = "-gcflags=" + f
				}
			}
		}
		if flag == "" {
			continue
		}
		f := about(svc.Name, fmt.Sprintf("%s was built with %s", svc.Name, flag),
			fmt.Sprintf("%s built %s with %s, which is for finding errors, not for service. Build it without: go build %s", b.Version, svc.Name, flag, b.Main), "build information of "+svc.Name)
		f.Subject = map[string]string{"source": "yes"}
		out = append(out, f.bounded(m.serviceBound(svc.Name)))
	}
	return out, ""
}
