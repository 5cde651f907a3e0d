package apps

import (
	"fmt"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
)

// patchBuild is about what a build and a restart of a program take whose packages but one
// are in the compiler's cache.
const patchBuild = 5 * time.Second

// planPatch commits a patch of the source on a branch of Kasoku's own, builds and
// restarts.
func planPatch(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	for _, p := range in.Snapshot.Patches {
		if p.ID != f.Subject["patch"] || p.Service != f.Service {
			continue
		}
		svc := in.Stack.Service(p.Service)
		if svc == nil {
			return nil, fmt.Errorf("there is no service %s", p.Service)
		}
		return []planning.Plan{{ID: "source.patch:" + p.Service + ":" + p.ID, Title: p.Title, EditsSource: true, Alone: true, Build: patchBuild, Reach: planning.SaidReach(f),
			Changes: []change.Change{{Kind: change.KindGit, Host: planning.HostOf(svc), Service: svc.Name, Activate: change.Restart, Why: f.Text,
				Git: &change.Git{Dir: p.Dir, Patch: p.Diff, Message: p.Message, Build: p.Build, Products: p.Products}}}}}, nil
	}
	return nil, fmt.Errorf("the source has changed since %s was found", f.Subject["patch"])
}
