package apps

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// patchBuild is about what a build and a restart of a program take whose packages but one
// are in the compiler's cache.
const patchBuild = 5 * time.Second

// patchReach is the part of a statement's demand that usually goes where the run does not
// tell how often a request makes it.
const patchReach = 0.6

// mostJoined keeps what several patches together are expected to bring finite.
const mostJoined = 0.9

// planPatch commits a patch of the source on a branch of Kasoku's own, builds and
// restarts. With the first finding of a program that has several come all of them as one
// commit: a run may take minutes, and each was shown to answer the same.
func planPatch(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	p := patchOf(in, f)
	if p == nil {
		return nil, fmt.Errorf("the source has changed since %s was found", f.Subject["patch"])
	}
	svc := in.Stack.Service(p.Service)
	if svc == nil {
		return nil, fmt.Errorf("there is no service %s", p.Service)
	}
	if age := in.Stack.Regulation.MaxAge(); age > 0 && p.Staleness > age {
		return nil, fmt.Errorf("regulation.staleness is %s, and what it keeps may be %s old", age, p.Staleness)
	}
	plans := []planning.Plan{{ID: "source.patch:" + p.Service + ":" + p.ID, Title: p.Title, EditsSource: true, Trades: tradesOf(*p), Alone: true, Build: buildTime(*p), Reach: planning.SaidReach(f),
		Changes: []change.Change{commitOf(svc, *p, p.Diff, p.Message, f.Text)}}}
	if all := patchFindings(in, f); len(all) > 1 && all[0].Subject["patch"] == p.ID {
		if joint, ok := planJoined(in, svc, *p, all); ok {
			plans = append(plans, joint)
		}
	}
	return plans, nil
}

// tradesOf a patch: what it keeps may be older than the last write.
func tradesOf(p evidence.SourcePatch) []regulation.Trade {
	if p.Staleness > 0 {
		return []regulation.Trade{regulation.Staleness}
	}
	return nil
}

// patchOf is the patch that a finding is about, nil if it is offered no more.
func patchOf(in planning.Input, f diagnose.Finding) *evidence.SourcePatch {
	for i, p := range in.Snapshot.Patches {
		if p.ID == f.Subject["patch"] && p.Service == f.Service {
			return &in.Snapshot.Patches[i]
		}
	}
	return nil
}

// patchFindings are those about patches of the same program as one finding, in the order
// of the diagnosis.
func patchFindings(in planning.Input, like diagnose.Finding) []diagnose.Finding {
	var out []diagnose.Finding
	if in.Diagnosis == nil {
		return nil
	}
	for _, f := range in.Diagnosis.Findings {
		if f.Rule != like.Rule || f.Service != like.Service {
			continue
		}
		if p := patchOf(in, f); p != nil && p.Staleness <= in.Stack.Regulation.MaxAge() {
			out = append(out, f)
		}
	}
	return out
}

// buildTime of a patch: PHP has none.
func buildTime(p evidence.SourcePatch) time.Duration {
	if len(p.Build) == 0 {
		return 0
	}
	return patchBuild
}

func commitOf(svc *stack.Service, p evidence.SourcePatch, diff []byte, message, why string) change.Change {
	act := change.Restart
	if svc.RunsIn != "" {
		act = change.Reload // what runs it: PHP keeps compiled files until then, if it does not look
	}
	return change.Change{Kind: change.KindGit, Host: planning.HostOf(svc), Service: svc.Name, Activate: act, Why: why,
		Git: &change.Git{Dir: p.Dir, Patch: diff, Message: message, Build: p.Build, Products: p.Products}}
}

// planJoined is all patches of a program as one commit; false if they cannot be one.
func planJoined(in planning.Input, svc *stack.Service, like evidence.SourcePatch, all []diagnose.Finding) (planning.Plan, bool) {
	if in.Snapshot.JoinPatches == nil {
		return planning.Plan{}, false
	}
	var ids []string
	for _, f := range all {
		ids = append(ids, f.Subject["patch"])
	}
	joined, err := in.Snapshot.JoinPatches(svc.Name, ids)
	if err != nil || len(joined.IDs) < 2 {
		return planning.Plan{}, false
	}
	var titles, whys []string
	var trades []regulation.Trade
	best := map[string]planning.Part{} // of the patches of one statement: each is said to save all of it
	bound := 1.0
	for _, f := range all {
		p := patchOf(in, f)
		if !slices.Contains(joined.IDs, p.ID) {
			continue
		}
		if trades == nil {
			trades = tradesOf(*p)
		}
		titles, whys = append(titles, p.Title), append(whys, p.Title+": "+f.Text)
		part := planning.Part{Bound: f.Bound, Reach: planning.SaidReach(f), Spares: f.Spares}
		if part.Reach == 0 {
			part.Reach = patchReach
		}
		of := p.Statement
		if of == "" {
			of = p.ID
		}
		if part.Worth().Expected() > best[of].Worth().Expected() {
			best[of] = part
		}
		bound = max(bound, f.Bound)
	}
	var parts []planning.Part
	most := 0.0 // the share that goes at most
	for _, part := range best {
		parts, most = append(parts, part), most+1-1/max(part.Bound, 1)
	}
	worth := planning.Joint(max(bound, 1/(1-min(most, mostJoined))), mostJoined, parts)
	sorted := slices.Sorted(slices.Values(joined.IDs))
	title := fmt.Sprintf("%d changes of the source together: %s", len(titles), strings.Join(titles, "; "))
	return planning.Plan{ID: "source.patch:" + svc.Name + ":" + strings.Join(sorted, "+"), Title: title, Why: strings.Join(whys, "\n"), EditsSource: true, Alone: true, Trades: trades,
		Build: buildTime(like), Bound: worth.Bound, Reach: worth.Reach, Spares: worth.Spares,
		Changes: []change.Change{commitOf(svc, like, joined.Diff, joined.Message, title)}}, true
}
