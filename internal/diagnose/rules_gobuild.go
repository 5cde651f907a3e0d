package diagnose

import (
	"fmt"
	"strings"

	"kasoku/internal/stack"
)

// DebugFlags of go build are for finding errors (go help build).
var DebugFlags = []string{"-race", "-asan", "-msan"}

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
		flag := debugFlag(b.Settings)
		if flag == "" {
			continue
		}
		f := about(svc.Name, fmt.Sprintf("%s was built with %s", svc.Name, flag),
			fmt.Sprintf("%s built %s with %s, which is for finding errors, not for service. Build it without: go build %s", b.Version, svc.Name, flag, b.Main), "build information of "+svc.Name)
		f.Subject = map[string]string{"flag": flag}
		if svc.Build == nil { // only whoever builds it can
			f.Subject["source"] = "yes"
		}
		out = append(out, f.bounded(m.serviceBound(svc.Name)))
	}
	return out, ""
}

// debugFlag is the flag of a build that is for finding errors; "" if none is.
func debugFlag(settings map[string]string) string {
	for _, name := range DebugFlags {
		if settings[name] == "true" {
			return name
		}
	}
	flag := ""
	for _, f := range strings.Fields(settings["-gcflags"]) {
		if _, after, ok := strings.Cut(f, "="); ok && strings.HasPrefix(after, "-") {
			f = after // all=-N
		}
		if f == "-N" || f == "-l" {
			flag = "-gcflags=" + f
		}
	}
	return flag
}
