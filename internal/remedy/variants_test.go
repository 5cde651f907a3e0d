package remedy_test

import (
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

// ruby is the site with a login in Ruby, of which there are others.
func ruby(using string, variants ...stack.Variant) remedy.Input {
	in := goAPI(stack.Control{Unit: "login-ruby"}, map[string]string{"/etc/systemd/system/login-ruby.service": "[Service]\nExecStart=/srv/api/api\n"})
	svc := in.Stack.Service("api")
	svc.Variants = variants
	states := map[string]stack.VariantState{}
	for _, name := range svc.Implementations() {
		state := stack.VariantState{State: stack.Stopped}
		if name == using {
			state.State = stack.Running
		}
		if svc.As(name).ControlMethod() == stack.MethodSystemd {
			state.Boot = map[bool]string{true: "enabled", false: "disabled"}[name == using]
		}
		states[name] = state
	}
	in.Snapshot.Variants = map[string]map[string]stack.VariantState{"api": states}
	return in
}

var (
	perl   = stack.Variant{Name: "perl", Control: stack.Control{Unit: "login-perl.service"}}
	golang = stack.Variant{Name: "go", Control: stack.Control{PIDFile: "/run/go.pid", Start: []string{"/srv/go/login", "-p", "9090"}}}
	python = stack.Variant{Name: "python", Control: stack.Control{Program: "py", Config: superPath}}
)

// wantID is the plan of that ID.
func wantID(t *testing.T, in remedy.Input, id string) remedy.Plan {
	t.Helper()
	_, res := remedytest.Plan(t, in)
	for _, p := range res.Plans {
		if p.ID == id {
			return p
		}
	}
	t.Fatalf("%s is not planned, but %s; skipped: %v", id, remedytest.IDs(res.Plans), res.Skipped)
	return remedy.Plan{}
}

func titles(p remedy.Plan) string {
	var out []string
	for _, c := range p.Changes {
		out = append(out, c.Title())
	}
	return strings.Join(out, "; ")
}

// One is stopped, the other started; what boot starts goes with it where both
// are units.
func TestVariantPlans(t *testing.T) {
	in := ruby(stack.Main, perl, golang, python)
	for id, want := range map[string]string{
		"app.variant:api:perl":   "make unit login-ruby.service disabled and inactive; make unit login-perl.service enabled and active",
		"app.variant:api:go":     "make unit login-ruby.service inactive; start implementation go of api",
		"app.variant:api:python": "make unit login-ruby.service inactive; make program py active",
	} {
		p := wantID(t, in, id)
		if titles(p) != want || p.Back != "app.variant:api:main" || len(p.Trades) != 0 {
			t.Errorf("%s: %s, back by %s, trades %v", id, titles(p), p.Back, p.Trades)
		}
	}
	p := wantID(t, ruby("perl", perl, golang), "app.variant:api:main")
	if titles(p) != "make unit login-perl.service disabled and inactive; make unit login-ruby.service enabled and active" {
		t.Errorf("the way back: %s", titles(p))
	}
	do, undo := wantID(t, in, "app.variant:api:go").Changes[1].Shell("blobs")
	if strings.Join(do, "\n") != "/srv/go/login -p 9090 &" || strings.Join(undo, "\n") != `kill "$(cat /run/go.pid)"` {
		t.Errorf("by hand: %q, %q", do, undo)
	}
}

// Under supervisor autostart goes with it, in the same file.
func TestVariantAutostart(t *testing.T) {
	in := ruby(stack.Main, python)
	in.Snapshot.Files["local"][superPath] = evidence.File{Content: []byte("[program:rb]\ncommand=rb ; ours\n[program:py]\ncommand=py\nautostart=false\n"), Mode: 0o644, Service: "api", Writable: true}
	in.Stack.Service("api").Control = stack.Control{Program: "rb", Config: superPath}
	p := wantID(t, in, "app.variant:api:python")
	if titles(p) != "make program rb inactive; make program py active; edit "+superPath || p.Changes[2].Activate != change.None {
		t.Errorf("planned: %s", titles(p))
	}
	if text := remedytest.After(p, superPath); text != "[program:rb]\ncommand=rb ; ours\nautostart=false\n[program:py]\ncommand=py\nautostart=true\n" {
		t.Errorf("it is\n%s", text)
	}
}

// What must not be restarted or touched is not switched, and nothing is planned
// of what nobody looked at or what costs little.
func TestVariantRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(in *remedy.Input)
		says   string
	}{
		"no restart":      {func(in *remedy.Input) { in.Stack.Regulation = regulation.Regulation{NoRestart: []string{"api"}} }, "restart"},
		"no touch":        {func(in *remedy.Input) { in.Stack.Regulation = regulation.Regulation{NoTouch: []string{"api"}} }, "touch"},
		"not seen":        {func(in *remedy.Input) { in.Snapshot.Variants = nil }, ""},
		"both run":        {func(in *remedy.Input) { in.Snapshot.Variants["api"]["perl"] = stack.VariantState{State: stack.Running} }, "both run"},
		"it costs little": {func(in *remedy.Input) { in.Evidence.Services["api"] = evidence.ServiceUse{CPU: 0.1} }, ""},
		"a group of units": {func(in *remedy.Input) {
			in.Stack.Service("api").Variants[0].Control = stack.Control{Program: "g:*", Config: superPath}
		}, "one program"},
	} {
		t.Run(name, func(t *testing.T) {
			in := ruby(stack.Main, perl)
			c.change(&in)
			_, res := remedytest.Plan(t, in)
			for _, p := range res.Plans {
				if p.Remedy == "app.variant" {
					t.Errorf("planned: %s", p.ID)
				}
			}
			said := strings.Join(res.Skipped, "\n")
			for _, r := range res.Refusals {
				said += "\n" + r.Why
			}
			if !strings.Contains(said, c.says) {
				t.Errorf("it says\n%s", said)
			}
		})
	}
}

// A kept variant is looked at again: without it, the one before runs.
func TestWithoutVariant(t *testing.T) {
	p := wantID(t, ruby(stack.Main, perl, golang), "app.variant:api:perl")
	kept := []change.Change{p.Changes[0], p.Changes[1]}
	for i, before := range []change.UnitState{{Enabled: "enabled", Active: "active"}, {Enabled: "disabled", Active: "inactive"}} {
		u := *kept[i].Unit
		u.Before = before
		kept[i].Unit = &u
	}
	got, err := remedy.Without(ruby("perl", perl, golang).Snapshot, kept)
	if err != nil || titles(remedy.Plan{Changes: got}) != "make unit login-perl.service disabled and inactive; make unit login-ruby.service enabled and active" {
		t.Errorf("%s, %v", titles(remedy.Plan{Changes: got}), err)
	}
	if _, err := remedy.Without(ruby("go", perl, golang).Snapshot, kept); err == nil || !strings.Contains(err.Error(), "taken over since") {
		t.Errorf("go runs: %v", err)
	}
	alone := []change.Change{{Kind: change.KindUnit, Unit: &change.Unit{Name: "x.service", After: change.UnitState{Active: "active"}}}}
	if _, err := remedy.Without(&evidence.Snapshot{}, alone); err == nil || !strings.Contains(err.Error(), "undo") {
		t.Errorf("a unit that is no implementation: %v", err)
	}
}
