package remedy_test

import (
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
)

func packagesWorld() remedy.Input {
	in := remedytest.World(nil)
	in.Stack.Regulation.Install = true
	in.Snapshot.Packages = map[string][]evidence.Package{"local": {
		{Name: "libz1", Source: "zlib", Version: "1", Candidate: "2", Libraries: []string{"db", "web"}},
		{Name: "nginx", Source: "nginx", Version: "1.22", Candidate: "1.26", Programs: []string{"web"}},
		{Name: "libnginx-mod", Source: "nginx", Version: "1.22", Candidate: "1.26", Libraries: []string{"web"}},
		{Name: "libc6", Source: "glibc", Version: "2", Candidate: "2", Libraries: []string{"web"}},
		{Name: "old", Source: "old", Version: "2", Candidate: "", Libraries: []string{"web"}},
	}}
	return in
}

func TestPlanUpgrade(t *testing.T) {
	in, res := remedytest.Plan(t, packagesWorld())
	got := map[string]string{}
	for _, p := range res.Plans {
		if p.Remedy != "packages.upgrade" {
			continue
		}
		for _, c := range p.Changes {
			if c.Kind != change.KindPackage || c.Activate != change.Restart || c.Host != "local" {
				t.Errorf("change %+v", c)
			}
			got[p.ID] += c.Service + " " + c.Package.Name + "=" + c.Package.Version + ";"
		}
	}
	// One package for each source: apt upgrades what belongs together.
	if got["packages.upgrade:web:libz1+nginx"] != "web libz1=2;web nginx=1.26;" || got["packages.upgrade:db:libz1"] != "db libz1=2;" || len(got) != 2 {
		t.Errorf("plans %v", got)
	}
	in.Stack.Regulation.Install = false
	refused := 0
	_, res = remedytest.Plan(t, in)
	for _, r := range res.Refusals {
		if strings.HasPrefix(r.Plan.ID, "packages.upgrade:") && strings.Contains(r.Why, "install: true") {
			refused++
		}
	}
	if refused != 2 {
		t.Errorf("%d plans are refused for installing packages, want 2", refused)
	}
	remedytest.WantNone(t, in, "packages.upgrade", "")
	in.Stack.Regulation.Install, in.Snapshot.Root = true, false
	remedytest.WantNone(t, in, "packages.upgrade", "only be upgraded by root")
	in.Snapshot.Packages = nil
	remedytest.WantNone(t, in, "packages.upgrade", "")
}
