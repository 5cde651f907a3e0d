package idle_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/cases/lib/played"
	"kasoku/internal/await"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/patch"
	"kasoku/internal/report"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// sh runs a script in the source and returns what it prints.
func (g *game) sh(script string) string {
	g.T.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = filepath.Join(g.Dir, "app")
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.T.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// sources is what a trial of a branch must leave as it was: commits, files and program.
func (g *game) sources() string {
	g.T.Helper()
	return g.sh("git status --porcelain; git for-each-ref; git symbolic-ref HEAD; git ls-files | xargs stat -c '%a %u %Y %n'; git ls-files | xargs sha256sum; [ ! -d bin ] || stat -c '%a %u %Y' bin/*; [ ! -d bin ] || sha256sum bin/*")
}

// homes is the scenario with mostly players who look at their gear.
func (g *game) homes() *load.Scenario {
	g.T.Helper()
	text, err := os.ReadFile("scenario.yaml")
	if err != nil {
		g.T.Fatal(err)
	}
	const idlers = "  - name: idler\n    weight: "
	head, rest, ok := strings.Cut(string(text), idlers+"4\n")
	if !ok {
		g.T.Fatal("the scenario has no idlers of weight 4")
	}
	file := filepath.Join(g.Dir, "homes.yaml")
	if err := os.WriteFile(file, []byte(head+idlers+"100\n"+rest), 0o644); err != nil {
		g.T.Fatal(err)
	}
	scenario, err := load.LoadScenario(file)
	if err != nil {
		g.T.Fatal(err)
	}
	scenario.Timeout = await.Limit
	return scenario
}

// A patch becomes a branch, the branch is built, the game restarted with it and compared
// with itself as found, and all is put back, byte for byte; every answer is right on
// both sides.
func TestBranch(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	g := up(t, "go")
	g.checkCheckout()
	ctx := t.Context()
	found, err := report.FindPatches(ctx, []string{filepath.Join(g.Dir, "app")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	deck := found.All()
	if len(deck) == 0 || deck[0].Function != "server.deckOf" {
		t.Fatalf("offered: %+v", found.Offered)
	}
	repo, err := patch.OpenRepo(ctx, deck[0].Program())
	if err != nil {
		t.Fatal(err)
	}
	commit, err := repo.Commits(ctx, deck[:1])
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.Branch(ctx, "kasoku/deck", commit); err != nil {
		t.Fatal(err)
	}
	before := g.sources()
	tuner := g.tuner()
	step, err := tuner.Try(ctx, tune.Proposal{Rev: "kasoku/deck"})
	if err != nil {
		t.Fatal(err)
	}
	switch v := step.Verdict; v.Outcome {
	case experiment.Improved, experiment.NoDifference, experiment.Regressed, experiment.Inconclusive: // this machine may be busy
	default:
		t.Errorf("%s: %s", v.Outcome, v.Reason)
	}
	if step.Kept || g.sources() != before || len(tuner.Exec.Pending()) > 0 {
		t.Errorf("kept %v, pending %v; the source is not as before:\n%s\nbefore:\n%s", step.Kept, tuner.Exec.Pending(), g.sources(), before)
	}
	sides := map[experiment.Side]int{}
	for _, s := range step.Verdict.Samples {
		sides[s.Side]++
		if s.Mismatches+s.Failures > 0 {
			t.Errorf("%s of pair %d: %d wrong answers, %d failures", s.Side, s.Pair, s.Mismatches, s.Failures)
		}
	}
	if sides[experiment.Candidate] == 0 || sides[experiment.Baseline] == 0 {
		t.Errorf("runs of each side: %v", sides)
	}
	// Work that is not committed is nobody's to move.
	g.sh("echo '// mine' >>home.go")
	if step, err = tuner.Try(ctx, tune.Proposal{Rev: "kasoku/deck"}); err != nil {
		t.Fatal(err)
	}
	if v := step.Verdict; v.Outcome != experiment.Failed || slices.ContainsFunc(v.Samples, func(s experiment.Sample) bool { return s.Side == experiment.Candidate }) || !strings.Contains(v.Reason, "home.go") {
		t.Errorf("over uncommitted work: %s, %s", v.Outcome, v.Reason)
	}
	if err := repo.Clean(ctx, deck[0].Program()); err == nil || !strings.Contains(err.Error(), "home.go") {
		t.Errorf("patches over uncommitted work: %v", err)
	}
}

// tuner is one for the game as it runs, with short runs and few pairs.
func (g *game) tuner() *tune.Tuner {
	g.T.Helper()
	g.Stack.Evidence.Profile = stack.ProfileOff
	g.Stack.Tune.MaxForeignCPU = 1 // verdicts are not looked at
	dir := filepath.Join(g.Dir, ".kasoku")
	hosts := map[string]host.Host{stack.LocalHost: host.NewLocal()}
	db, err := store.Open(dir)
	if err != nil {
		g.T.Fatal(err)
	}
	g.T.Cleanup(func() { db.Close() })
	x, err := tune.OpenExecutor(context.WithoutCancel(g.T.Context()), dir, g.Stack, hosts)
	if err != nil {
		g.T.Fatal(err)
	}
	g.T.Cleanup(func() { x.Close() })
	rule := experiment.DefaultRule()
	rule.MaxPairs, rule.MaxRepeats = 3, 3
	b := &tune.Bench{Stack: g.Stack, Hosts: hosts, Store: db, Scenario: g.homes(), Window: window, Warmup: 200 * time.Millisecond, Instruments: tune.Instruments{Plain: true}}
	return &tune.Tuner{Stack: g.Stack, Store: db, Exec: x, Bench: b, Rule: rule, UI: played.Reporter{T: g.T}}
}

// checkCheckout: the source that the case hands out is what cases/idle/go holds, without
// its settings.
func (g *game) checkCheckout() {
	g.T.Helper()
	if out := g.sh("git ls-files"); strings.Contains(out, "app.ini") || strings.Contains(out, "bin/") {
		g.T.Errorf("committed: %s", out)
	}
	files, err := filepath.Glob("go/*.go")
	if err != nil || len(files) == 0 {
		g.T.Fatal(err)
	}
	for _, f := range files {
		want, err := os.ReadFile(f)
		if err != nil {
			g.T.Fatal(err)
		}
		if g.sh("git show HEAD:"+filepath.Base(f)) != strings.TrimSpace(string(want)) {
			g.T.Errorf("%s differs", f)
		}
	}
}
