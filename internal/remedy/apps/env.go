package apps

import (
	"fmt"
	"maps"
	"slices"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/host"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// fileChanges are the changes of an app's files, sorted by path. One that is
// not there yet is made: a drop-in of its unit, its configuration.
func fileChanges(in planning.Input, svc *stack.Service, changed map[string][]byte, why string) ([]change.Change, error) {
	var out []change.Change
	for _, p := range slices.Sorted(maps.Keys(changed)) {
		if _, known := in.Snapshot.Files[planning.HostOf(svc)][p]; !known {
			out = append(out, change.Change{Kind: change.KindFile, Host: planning.HostOf(svc), Service: svc.Name, Activate: change.Restart, Path: p, Why: why,
				Before: &change.FileState{}, After: &change.FileState{Hash: host.HashOf(changed[p]), Content: changed[p], Mode: 0o644, UID: -1, GID: -1}})
			continue
		}
		c, err := planning.FileChange(in.Snapshot, svc, p, changed[p], change.Restart, why)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// setEnv plans variables of an app's environment. A process reads them when it
// starts, so the app is restarted.
func setEnv(in planning.Input, svc *stack.Service, why string, values ...[2]string) ([]change.Change, error) {
	start, err := diagnose.StartOf(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	for _, kv := range values {
		if err := start.SetEnv(kv[0], kv[1]); err != nil {
			return nil, err
		}
	}
	return fileChanges(in, svc, start.Changed(), why)
}

func app(in planning.Input, f diagnose.Finding) (*stack.Service, error) {
	svc := in.Stack.Service(f.Service)
	if svc == nil {
		return nil, fmt.Errorf("%q is no service of the stack", f.Service)
	}
	return svc, nil
}

// planGoGC turns Go's own target off and sets a limit in its place.
func planGoGC(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, err := app(in, f)
	if err != nil {
		return nil, err
	}
	limit := f.Subject["limit"] + "MiB"
	changes, err := setEnv(in, svc, f.Text, [2]string{"GOGC", "off"}, [2]string{"GOMEMLIMIT", limit})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "go.gc:" + svc.Name, Title: fmt.Sprintf("Let %s collect garbage only near %s", svc.Name, limit), Changes: changes}}, nil
}

// planGoMaxProcs has Go run as many threads as the quota has CPUs.
func planGoMaxProcs(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, err := app(in, f)
	if err != nil {
		return nil, err
	}
	changes, err := setEnv(in, svc, f.Text, [2]string{"GOMAXPROCS", f.Subject["procs"]})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "go.maxprocs:" + svc.Name, Title: fmt.Sprintf("Run Go in %s on %s threads, as its CPU quota has", svc.Name, f.Subject["procs"]), Changes: changes}}, nil
}

// planRubyJIT turns YJIT on.
func planRubyJIT(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, err := app(in, f)
	if err != nil {
		return nil, err
	}
	if len(f.Settings) == 0 {
		return nil, fmt.Errorf("%s: the finding names no options of Ruby", svc.Name)
	}
	changes, err := setEnv(in, svc, f.Text, [2]string{"RUBYOPT", f.Settings[0].To})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "ruby.yjit:" + svc.Name, Title: "Compile hot Ruby code of " + svc.Name + " to machine code (YJIT)", Changes: changes}}, nil
}

// planInterpolate has Go's driver fill values into statements itself.
func planInterpolate(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, err := app(in, f)
	if err != nil {
		return nil, err
	}
	file := f.Subject["file"]
	text, n := diagnose.Interpolate(in.Snapshot.Files[planning.HostOf(svc)][file].Content)
	if n == 0 {
		return nil, fmt.Errorf("%s names no database that Go's driver could fill values in for", file)
	}
	changes, err := fileChanges(in, svc, map[string][]byte{file: text}, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "go.interpolate:" + svc.Name + ":" + file, Title: "Send statements of " + svc.Name + " with their values in one round trip", Changes: changes}}, nil
}
