package apps

import (
	"fmt"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// setEnv plans variables of an app's environment. A process reads them when it
// starts, so the app is restarted, or the web server that it runs in.
func setEnv(in planning.Input, svc *stack.Service, why string, values ...[2]string) ([]change.Change, error) {
	start, by, err := diagnose.EnvironmentOf(in.Stack, in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	for _, kv := range values {
		if err := start.SetEnv(kv[0], kv[1]); err != nil {
			return nil, err
		}
	}
	return planning.StartChanges(in, by, start.Changed(), why)
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

// planNodeEnv tells Node's libraries that they run in production. Where the
// variable chooses more than that, or somebody has chosen another, it is left.
func planNodeEnv(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, err := app(in, f)
	if err != nil {
		return nil, err
	}
	if files := in.Snapshot.Apps[svc.Name].ByNodeEnv; len(files) > 0 {
		return nil, fmt.Errorf("%s: NODE_ENV also chooses what is in %s, which may be another database; set it yourself", svc.Name, files[0])
	}
	start, err := diagnose.StartOf(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	if now, _ := start.Env("NODE_ENV"); now != "" && now != "development" && now != "production" {
		return nil, fmt.Errorf("%s: somebody has chosen NODE_ENV=%s, which may stand for more than how fast it is; set it yourself", svc.Name, now)
	}
	changes, err := setEnv(in, svc, f.Text, [2]string{"NODE_ENV", "production"})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "node.env:" + svc.Name, EditsSettings: true, Title: "Run " + svc.Name + " with NODE_ENV=production", Changes: changes}}, nil
}

// planNodeHeap gives V8 more room for new objects.
func planNodeHeap(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, err := app(in, f)
	if err != nil {
		return nil, err
	}
	if len(f.Settings) == 0 {
		return nil, fmt.Errorf("%s: the finding names no options of Node", svc.Name)
	}
	changes, err := setEnv(in, svc, f.Text, [2]string{"NODE_OPTIONS", f.Settings[0].To})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "node.heap:" + svc.Name, Title: "Let " + svc.Name + " collect new objects less often (Node's semi-space)", Changes: changes}}, nil
}

// planInterpolate has Go's driver fill values into statements itself.
func planInterpolate(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, err := app(in, f)
	if err != nil {
		return nil, err
	}
	title := "Send statements of " + svc.Name + " with their values in one round trip"
	if variable := f.Subject["variable"]; variable != "" {
		changes, err := setEnv(in, svc, f.Text, [2]string{variable, f.Subject["value"]})
		if err != nil {
			return nil, err
		}
		return []planning.Plan{{ID: "go.interpolate:" + svc.Name + ":" + variable, Title: title, Changes: changes}}, nil
	}
	file := f.Subject["file"]
	text, n := diagnose.Interpolate(in.Snapshot.Files[planning.HostOf(svc)][file].Content)
	if n == 0 {
		return nil, fmt.Errorf("%s names no database that Go's driver could fill values in for", file)
	}
	changes, err := planning.StartChanges(in, svc, map[string][]byte{file: text}, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "go.interpolate:" + svc.Name + ":" + file, Title: title, Changes: changes}}, nil
}
