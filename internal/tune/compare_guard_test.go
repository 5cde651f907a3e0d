package tune

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/experiment"
)

// compare judges two versions; nothing may be left pending.
func (x *trial) compare(o Compared) *Comparison {
	x.t.Helper()
	c, err := x.tuner.Compare(x.t.Context(), o)
	if err != nil {
		x.t.Fatal(err)
	}
	if n := len(x.tuner.Exec.Pending()); n > 0 {
		x.t.Errorf("%d transactions are pending", n)
	}
	return c
}

// A version that touches its judge is refused, whichever side it is: by its
// files before anything is built, by its build when it has run.
func TestCompareRefusesWhatTouchesTheJudge(t *testing.T) {
	await.SkipShort(t)
	x := newTrial(t)
	x.sh("mv bench.sh app/bench.sh; ln -s app/bench.sh bench.sh; cd app && git add -A && git -c user.name=a -c user.email=a@localhost commit -qm bench")
	x.branch("easier", "echo '# easier' >>bench.sh && echo 200 >speed")
	x.branch("sly", "echo 'cp speed built; echo \"# x\" >>../kasoku.yaml' >build.sh && echo 200 >speed")
	x.branch("loud", "echo 'echo \"# x\" >>../kasoku.yaml; exit 3' >build.sh")
	x.branch("faster", "echo 200 >speed")
	state := func() string {
		return x.sh("cat kasoku.yaml; stat -c '%a %u %g' kasoku.yaml; cd app && git symbolic-ref HEAD && git rev-parse HEAD && git for-each-ref && git status --porcelain && cat built speed")
	}
	before := state()
	for _, row := range []struct{ base, head, says, not string }{
		{"main", "easier", "load.command", "nothing was built"},
		{"easier", "main", "load.command", "nothing was built"},
		{"easier", "easier", "load.command", "nothing was built"}, // it is not what stands there
		{"main", "sly", "sly (", ""},
		{"sly", "faster", "sly (", ""},
		{"main", "loud", "loud (", ""}, // not only a failed build
	} {
		c := x.compare(Compared{Base: row.base, Head: row.head})
		v := c.Verdict
		if v.Outcome != experiment.Tampered || v.Runs > 0 || !strings.Contains(v.Reason, row.says) || !strings.Contains(v.Reason, row.not) {
			t.Errorf("%s against %s: %s, %d runs, %s", row.head, row.base, v.Outcome, v.Runs, v.Reason)
		}
		if row.not == "" && !strings.Contains(fmt.Sprint(v.Warnings), "was put back") {
			t.Errorf("%s against %s: %v", row.head, row.base, v.Warnings)
		}
		if now := state(); now != before {
			t.Fatalf("%s against %s: not as before:\n%s\n%s", row.head, row.base, before, now)
		}
		if step, err := x.tuner.Store.Step(c.Step); err != nil || step.Verdict.Outcome != experiment.Tampered {
			t.Errorf("stored is %+v, %v", step, err)
		}
	}
	if c := x.compare(Compared{Base: "main", Head: "faster"}); c.Verdict.Outcome != experiment.Improved || state() != before {
		t.Errorf("what touches nothing: %s, %s", c.Verdict.Outcome, c.Verdict.Reason)
	}
}

// Two ready builds take turns in the place of the app's products, which come
// back as they were; git is not asked, and what is built is not looked for.
func TestCompareFolders(t *testing.T) {
	await.SkipShort(t)
	x := newTrial(t)
	x.sh("rm -rf app/.git; mkdir base head none; echo 100 >base/built; echo 200 >head/built; echo no >head/speed; touch -d 2011-11-11 app/built")
	state := func() string {
		return x.sh("find app base head -type f -printf '%p %m %u %T@ ' -exec md5sum {} \\; | LC_ALL=C sort")
	}
	before := state()
	dir := func(name string) string { return filepath.Join(x.dir, name) }
	c := x.compare(Compared{BaseDir: dir("base"), HeadDir: dir("head")})
	if v := c.Verdict; v.Outcome != experiment.Improved || v.Effect < 0.5 || c.Head.Name() != dir("head") || c.Services[0] != "app" || c.Head.Build != 0 {
		t.Errorf("%+v", c)
	}
	if c = x.compare(Compared{BaseDir: dir("head"), HeadDir: dir("base")}); c.Verdict.Outcome != experiment.Regressed {
		t.Errorf("the other way round: %s, %s", c.Verdict.Outcome, c.Verdict.Reason)
	}
	x.tuner.Rule.MaxPairs = 3
	if c = x.compare(Compared{BaseDir: dir("app"), HeadDir: dir("app"), Service: "app"}); c.Verdict.Outcome == experiment.Improved || c.Verdict.Runs == 0 {
		t.Errorf("with itself: %s, %s", c.Verdict.Outcome, c.Verdict.Reason)
	}
	if now := state(); now != before {
		t.Errorf("not as before:\n%s\n%s", before, now)
	}
	for says, o := range map[string]Compared{
		"holds none of the products": {BaseDir: dir("base"), HeadDir: dir("none")},
		"go together":                {BaseDir: dir("base")},
		"not both":                   {BaseDir: dir("base"), HeadDir: dir("head"), Base: "main"},
		"web is no app":              {BaseDir: dir("base"), HeadDir: dir("head"), Service: "web"},
	} {
		var wrong *ProposalError
		if _, err := x.tuner.Compare(t.Context(), o); !errors.As(err, &wrong) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	// The scenario's files among the products are the judge's.
	x.sh("mkdir app/data base/data head/data; mv rows.csv app/data/; ln -s app/data/rows.csv rows.csv; touch base/data/x head/data/x")
	x.tuner.Stack.Service("app").Build.Products = []string{"built", "data"}
	before = state()
	if c = x.compare(Compared{BaseDir: dir("base"), HeadDir: dir("head")}); c.Verdict.Outcome != experiment.Tampered || !strings.Contains(c.Verdict.Reason, "load.command") || state() != before {
		t.Errorf("%s, %s", c.Verdict.Outcome, c.Verdict.Reason)
	}
}

// What the judge sees only when the candidate is taken away does not keep it
// from being taken away.
func TestWhatIsRefusedIsTakenAway(t *testing.T) {
	x := newTrial(t)
	j, err := newJudge(x.tuner.Bench, x.tuner.Exec)
	if err != nil {
		t.Fatal(err)
	}
	p := &pretended{}
	sw := &switcher{exec: p, judge: j, intent: change.Intent{Changes: []change.Change{{Kind: change.KindRestart}}}}
	if err := sw.to(t.Context(), experiment.Candidate); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(x.dir, "kasoku.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	var seen *TamperedError
	if err := sw.to(t.Context(), experiment.Baseline); !errors.As(err, &seen) || p.reverted != 1 || sw.tx != 0 {
		t.Errorf("%v, %d times taken away", err, p.reverted)
	}
}
