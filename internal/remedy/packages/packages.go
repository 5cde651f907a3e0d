package packages

import (
	"errors"
	"fmt"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
)

// planUpgrade installs the newer packages of one service, one change for each
// source package: what is built together is upgraded together by apt. The
// service is restarted, because it runs the old program until then.
func planUpgrade(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	if svc == nil {
		return nil, errors.New("the finding names no service of the stack")
	}
	name := planning.HostOf(svc)
	if !in.Snapshot.On(name).Root {
		return nil, fmt.Errorf("packages of %s can only be upgraded by root", name)
	}
	var cs []change.Change
	var titles []string
	for _, pkg := range strings.Fields(f.Subject["packages"]) {
		for _, p := range in.Snapshot.Packages[name] {
			if p.Name != pkg {
				continue
			}
			cs = append(cs, change.Change{Kind: change.KindPackage, Host: name, Service: svc.Name, Activate: change.Restart,
				Package: &change.Package{Name: p.Name, Version: p.Candidate}, Why: f.Text,
				Command: fmt.Sprintf("apt-get install %s=%s", p.Name, p.Candidate)})
			titles = append(titles, fmt.Sprintf("%s %s → %s", p.Name, p.Version, p.Candidate))
		}
	}
	if len(cs) == 0 {
		return nil, errors.New("none of its packages is newer any more")
	}
	return []planning.Plan{{ID: "packages.upgrade:" + svc.Name + ":" + strings.ReplaceAll(f.Subject["packages"], " ", "+"),
		Title: "Upgrade what " + svc.Name + " runs from: " + strings.Join(titles, ", "), Changes: cs}}, nil
}
