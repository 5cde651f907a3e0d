package apps

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
)

// planRebuild builds a program again without what is for finding errors. A
// command that does not name those flags built something else, or is told them
// by a variable of its own (GOFLAGS); it is run as it is, and what it makes is
// looked at again.
func planRebuild(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, err := app(in, f)
	if err != nil {
		return nil, err
	}
	if svc.Build == nil {
		return nil, fmt.Errorf("name in kasoku.yaml how %s is built (build: dir, command, products)", svc.Name)
	}
	if len(svc.Build.Products) == 0 {
		return nil, fmt.Errorf("name in kasoku.yaml what the build of %s makes (build.products), so that it can be put back", svc.Name)
	}
	command := withoutDebug(svc.Build.Command)
	return []planning.Plan{{ID: "go.rebuild:" + svc.Name, Title: fmt.Sprintf("Build %s without %s", svc.Name, f.Subject["flag"]),
		Changes: []change.Change{built(svc, command, f.Text)}}}, nil
}

// withoutDebug takes the flags out of a go build that diagnose.DebugFlags names;
// of -gcflags only -N and -l go, and it goes with them if nothing is left.
func withoutDebug(command []string) []string {
	var out []string
	for i := 0; i < len(command); i++ {
		name, value, joined := strings.Cut(command[i], "=")
		name = "-" + strings.TrimLeft(name, "-") // --race is the same flag (package flag)
		switch {
		case !strings.HasPrefix(command[i], "-"):
		case slices.Contains(diagnose.DebugFlags, name) && value != "false":
			continue
		case name == "-gcflags":
			if !joined && i+1 < len(command) {
				i++
				value = command[i]
			}
			if value = optimised(value); value != "" {
				out = append(out, "-gcflags="+value)
			}
			continue
		}
		out = append(out, command[i])
	}
	return out
}

// optimised takes -N and -l out of a value of -gcflags, "pattern=flags" or
// flags (go help build); "" if no flag is left.
func optimised(value string) string {
	pattern, flags := "", value
	if !strings.HasPrefix(value, "-") {
		before, after, ok := strings.Cut(value, "=")
		if !ok {
			return value
		}
		pattern, flags = before+"=", after
	}
	left := slices.DeleteFunc(strings.Fields(flags), func(f string) bool { return f == "-N" || f == "-l" })
	if len(left) == 0 {
		return ""
	}
	return pattern + strings.Join(left, " ")
}
