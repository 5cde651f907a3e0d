package idle_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/cases/lib/played"
	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/remedy"
	"kasoku/internal/report"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// Where the regulation permits it, a session tries a patch of the source by itself: from
// the evidence of a run, as a commit of Kasoku's own that is built, restarted, measured
// against the game as found, and kept or put back. What is kept goes out as a series that
// git am takes; undo leaves source and program as found.
func TestPatchTuned(t *testing.T) {
	await.SkipShort(t)
	for variant, deck := range map[string]string{"go": "server.deckOf", "php": "deck_of"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			patchTuned(t, up(t, variant), deck)
		})
	}
}

// patchTuned plays it; function is the one that reads the pieces of gear one by one.
func patchTuned(t *testing.T, g *game, function string) {
	t.Helper()
	g.Must("hand") // settings and indexes bring nothing more: the session has only the source
	g.Reload()
	ctx := t.Context()
	before := g.sources()
	tuner := g.tuner()
	hosts := map[string]host.Host{stack.LocalHost: host.NewLocal()}
	target := g.Target(hosts)
	g.Stack.Regulation.NoTouch = []string{"web", "db", "php", "kernel"}
	run, snap, err := tune.Observe(ctx, tuner.Exec, tuner.Bench, 4, "as found", played.Reporter{T: t})
	if err != nil {
		t.Fatal(err)
	}
	in := remedy.Input{Stack: g.Stack, Evidence: run.Evidence, Snapshot: snap, Diagnosis: run.Diagnosis}
	deck := func(plans []remedy.Plan) *remedy.Plan {
		i := slices.IndexFunc(plans, func(p remedy.Plan) bool {
			return p.Remedy == "source.patch" && strings.Contains(p.Changes[0].Why, function)
		})
		if i < 0 {
			return nil
		}
		return &plans[i]
	}
	res := remedy.PlanAll(in)
	if deck(res.Plans) != nil || !slices.ContainsFunc(res.Refusals, func(r remedy.Refusal) bool {
		return r.Plan.Remedy == "source.patch" && strings.Contains(r.Why, "source: true")
	}) {
		t.Fatalf("not permitted, the patch is to be shown and not planned: %+v", res.Refusals)
	}
	g.Stack.Regulation.Source = true
	plan := deck(remedy.PlanAll(in).Plans)
	if plan == nil {
		t.Fatalf("no plan; findings: %+v", run.Diagnosis.Findings)
	}
	t.Logf("%s (%s): %s; expected %.2f", plan.Title, plan.ID, plan.Why, plan.Worth().Expected())

	// The session: which it tries first, and what comes of it, depends on this machine; that
	// it tries one does not.
	tuner.Options.Budget, tuner.Options.NoRestart, tuner.Rule.SmallestEffect = 2*time.Minute, true, 0.0001
	session, err := tuner.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := tuner.Store.Steps(session.ID)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(steps, func(s store.Step) bool { return s.Plan.Remedy == plan.Remedy })
	if i < 0 {
		t.Fatalf("the session tried no patch: %s; %+v", session.Stopped, steps)
	}
	step := steps[i]
	t.Logf("%s: %s: %s; kept %v", step.Plan.Title, step.Verdict.Outcome, step.Verdict.Reason, step.Kept)
	if len(step.Verdict.Samples) == 0 || len(step.Diffs) == 0 || !strings.Contains(step.Diffs[0].Text, "+") {
		t.Errorf("nothing was measured, or its diff is not told: %+v", step)
	}
	for _, s := range step.Verdict.Samples {
		if s.Mismatches+s.Failures > 0 {
			t.Errorf("%s of pair %d: %d wrong answers, %d failures", s.Side, s.Pair, s.Mismatches, s.Failures)
		}
	}
	if err := tuner.Exec.UndoAll(ctx); err != nil {
		t.Fatal(err)
	}
	g.Must("reset")
	if now := g.sources(); now != before || g.Target(hosts) != target {
		t.Errorf("after the session and undo:\n%s\nbefore:\n%s", now, before)
	}
	checkKept(t, g, tuner, *plan, function, run.Evidence)
	if err := tuner.Exec.UndoAll(ctx); err != nil {
		t.Fatal(err)
	}
	if now := g.sources(); now != before {
		t.Errorf("after undo:\n%s\nbefore:\n%s", now, before)
	}
}

// checkKept: what was kept is one commit on a branch of its own, serves every answer
// right, and goes out as a series that makes the same tree of the source as found.
func checkKept(t *testing.T, g *game, tuner *tune.Tuner, plan remedy.Plan, function string, seen *evidence.Evidence) {
	t.Helper()
	tx, err := tuner.Exec.Apply(t.Context(), change.Intent{Title: plan.Title, Plan: plan.ID, Changes: plan.Changes})
	if err != nil {
		t.Fatal(err)
	}
	if err := tuner.Exec.Keep(t.Context(), tx.ID); err != nil {
		t.Fatal(err)
	}
	subject, _, _ := strings.Cut(plan.Changes[0].Git.Message, "\n")
	if got := g.sh("git log --format=%s"); got != subject+"\nThe game as found" {
		t.Errorf("history: %q", got)
	}
	if branch := g.sh("git symbolic-ref --short HEAD"); !strings.HasPrefix(branch, "kasoku/") {
		t.Errorf("on %s", branch)
	}
	g.play()
	again := tune.SourcePatches(t.Context(), g.Stack, map[string]host.Host{stack.LocalHost: host.NewLocal()}, seen, nil)
	if slices.ContainsFunc(again.Offered, func(p evidence.SourcePatch) bool { return p.Function == function && p.Shape == "P1" }) {
		t.Errorf("what is in force is offered again: %v", again.Looked)
	}
	dir := t.TempDir()
	files, err := report.Export(filepath.Join(dir, "out"), tuner.Exec.Kept(), tuner.Exec, report.ExportOptions{Stack: g.Stack})
	if err != nil {
		t.Fatal(err)
	}
	series := slices.DeleteFunc(files, func(f string) bool { return !strings.HasPrefix(f, "series/0001-") })
	if len(series) != 1 {
		t.Fatalf("files %v", files)
	}
	g.sh("git -c safe.directory='*' clone -q -b main . " + dir + "/clone")
	out, err := exec.Command("git", "-C", dir+"/clone", "-c", "user.name=a", "-c", "user.email=a@localhost", "am", "-q", filepath.Join(dir, "out", series[0])).CombinedOutput()
	if err != nil {
		t.Fatalf("git am: %v\n%s", err, out)
	}
	tree, err := exec.Command("git", "-C", dir+"/clone", "log", "-1", "--format=%T %B").Output()
	if want := g.sh("git log -1 --format='%T %B'"); err != nil || strings.TrimSpace(string(tree)) != want {
		t.Errorf("%v: of the series %q, kept %q", err, tree, want)
	}
}
