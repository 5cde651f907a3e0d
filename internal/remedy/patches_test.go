package remedy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

// patchedWorld is a program with three patches, of which two are about one statement and
// the third changes lines of the second.
func patchedWorld() remedy.Input {
	in := remedytest.World(nil)
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "shop", Kind: stack.App})
	in.Stack.Regulation.Source = true
	in.Snapshot.JoinPatches = func(_ string, ids []string) (evidence.JoinedPatch, error) {
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "P5-c" })
		return evidence.JoinedPatch{IDs: ids, Diff: []byte(strings.Join(ids, " ")), Message: "all"}, nil
	}
	in.Diagnosis = &diagnose.Diagnosis{}
	for _, p := range []struct {
		id, statement string
		spares        float64
	}{{"P1-a", "SELECT 1", 0.3}, {"P1-b", "SELECT 1", 0.3}, {"P5-c", "", 0.4}, {"P19-d", "", 0.2}} {
		in.Snapshot.Patches = append(in.Snapshot.Patches, evidence.SourcePatch{Service: "shop", ID: p.id, Title: "Do " + p.id, Statement: p.statement, Dir: "/srv/shop", Diff: []byte(p.id), Build: []string{"true"}, Products: []string{"shop"}})
		in.Diagnosis.Findings = append(in.Diagnosis.Findings, diagnose.Finding{Rule: "app.patch", Service: "shop", Subject: map[string]string{"patch": p.id}, Bound: 1 / (1 - p.spares), Spares: p.spares, Text: "why " + p.id})
	}
	return in
}

// Patches of one program are offered one by one, and once all together, which is expected
// to bring what each does, but a statement's time only once.
func TestPatchesTogether(t *testing.T) {
	in := patchedWorld()
	plans := remedy.PlanAll(in).Plans
	if len(plans) != 5 {
		t.Fatalf("%d plans, want four patches and all of them: %+v", len(plans), plans)
	}
	p := plans[0]
	if p.ID != "source.patch:shop:P1-a+P1-b+P19-d" || len(p.Changes) != 1 || string(p.Changes[0].Git.Patch) != "P1-a P1-b P19-d" || p.Changes[0].Git.Message != "all" || !p.EditsSource {
		t.Fatalf("%+v", p)
	}
	remedytest.Has(t, p.Title, "3 changes of the source together", "Do P1-b")
	remedytest.Has(t, p.Why, "Do P19-d: why P19-d")
	if strings.Contains(p.Title+p.Why, "P5-c") {
		t.Error("it tells of what it leaves out")
	}
	one := remedy.Plan{Bound: 1 / (1 - 0.3), Reach: 0.6, Spares: 0.3}.Worth().Expected()
	both := remedy.Plan{Bound: 2, Reach: 0.6, Spares: 0.5}.Worth().Expected()
	if got := p.Worth().Expected(); got <= one || got > both+1e-9 {
		t.Errorf("×%.3f is expected, want more than ×%.3f of one and at most ×%.3f", got, one, both)
	}
	in.Snapshot.Patches = in.Snapshot.Patches[:1]
	if plans := remedy.PlanAll(in).Plans; len(plans) != 1 {
		t.Errorf("a single patch: %+v", plans)
	}
	in = patchedWorld()
	in.Stack.Regulation.Source = false
	if res := remedy.PlanAll(in); len(res.Plans) > 0 || len(res.Refusals) != 5 {
		t.Errorf("without permission: %+v", res)
	}
}

// What may be older than the last write needs the trade staleness, by itself and together
// with others, which are planned without it where it is not allowed.
func TestPatchesThatKeep(t *testing.T) {
	ids := func(plans []remedy.Plan) (out []string) {
		for _, p := range plans {
			out = append(out, strings.TrimPrefix(p.ID, "source.patch:shop:"))
		}
		slices.Sort(out)
		return out
	}
	keeping := func(age time.Duration, allow ...regulation.Trade) remedy.Input {
		in := patchedWorld()
		in.Snapshot.Patches[3].Staleness = time.Second
		in.Stack.Regulation.Allow, in.Stack.Regulation.Staleness = allow, age
		return in
	}
	if got := ids(remedy.PlanAll(keeping(0)).Plans); !slices.Equal(got, []string{"P1-a", "P1-a+P1-b", "P1-b", "P5-c"}) {
		t.Errorf("not allowed: %v", got)
	}
	res := remedy.PlanAll(keeping(0, regulation.Staleness))
	if got := ids(res.Plans); !slices.Equal(got, []string{"P1-a", "P1-a+P1-b+P19-d", "P1-b", "P19-d", "P5-c"}) {
		t.Errorf("allowed: %v", got)
	}
	for _, p := range res.Plans {
		if want := strings.Contains(p.ID, "P19-d"); slices.Contains(p.Trades, regulation.Staleness) != want {
			t.Errorf("%s trades %v", p.ID, p.Trades)
		}
	}
	if got := ids(remedy.PlanAll(keeping(time.Second/2, regulation.Staleness)).Plans); slices.ContainsFunc(got, func(id string) bool { return strings.Contains(id, "P19-d") }) {
		t.Errorf("for half a second: %v", got)
	}
}
