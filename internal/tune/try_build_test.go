package tune

import (
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/stack"
)

const faster = "--- a/speed\n+++ b/speed\n@@ -1 +1 @@\n-100\n+200\n"

// A patch of an application that is built is judged by what its build makes, not by the
// program that was there before; and goes back with it.
func TestPatchIsBuilt(t *testing.T) {
	await.SkipShort(t)
	x := newTrial(t)
	x.write("faster.diff", faster)
	head := x.sh("cd app && git rev-parse HEAD")
	step, err := x.tuner.Try(t.Context(), Proposal{Patch: x.dir + "/faster.diff", Dir: x.dir + "/app"})
	if err != nil {
		t.Fatal(err)
	}
	if step.Verdict.Outcome != experiment.Improved || step.Verdict.Effect < 0.8 {
		t.Errorf("%s, %+.2f: %s", step.Verdict.Outcome, step.Verdict.Effect, step.Verdict.Reason)
	}
	if x.read("app/speed") != "100\n" || x.read("app/built") != "100\n" || x.sh("cd app && git rev-parse HEAD && git status --porcelain") != head {
		t.Error("the checkout is not as it was")
	}
	var text strings.Builder
	for _, d := range step.Diffs {
		text.WriteString(d.Text)
	}
	if !strings.Contains(text.String(), "+200") {
		t.Errorf("the step does not show the patch: %+v", step.Diffs)
	}
	if step, err = x.tuner.Try(t.Context(), Proposal{Diff: []byte(faster), Dir: x.dir + "/app", Keep: true}); err != nil || !step.Kept || x.read("app/built") != "200\n" {
		t.Errorf("%v; kept %v, built %q", err, step.Kept, x.read("app/built"))
	}
}

// Where the old program would be judged, a patch is refused.
func TestPatchThatNothingBuilds(t *testing.T) {
	await.SkipShort(t)
	x := newTrial(t)
	goPatch := Proposal{Diff: []byte("--- a/main.go\n+++ b/main.go\n@@ -1 +1,2 @@\n package main\n+// faster\n"), Dir: x.dir + "/app"}
	for _, c := range []struct {
		about string
		with  func(app *stack.Service)
		p     Proposal
		want  string // "" it is tried
	}{
		{"no build is known", func(app *stack.Service) { app.Build = nil }, goPatch, "write build: {dir: "},
		{"git does not track it", func(*stack.Service) {
			x.write("app/.gitignore", "built\nmain.go\n")
			x.sh("cd app && git add -A && git -c user.name=a -c user.email=a@localhost commit -qm ignore")
		}, goPatch, "git does not track it"},
		{"no checkout to take it back from", func(*stack.Service) { x.sh("mv app/.git app/.elsewhere") }, Proposal{Diff: []byte(faster), Dir: x.dir + "/app"}, "lies in no git checkout"},
		{"its own commands build it", func(app *stack.Service) { app.Build = nil }, Proposal{Diff: goPatch.Diff, Dir: goPatch.Dir, Apply: "true", Undo: "true"}, ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			x.write("app/main.go", "package main\n")
			app := x.tuner.Stack.Service("app")
			was := *app
			defer func() { *app = was }()
			c.with(app)
			_, err := x.tuner.plan(t.Context(), c.p)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// What an interpreter holds in its memory is read anew: the application is restarted,
// or what runs it is told; a proposal that says so itself is left alone.
func TestPatchIsTold(t *testing.T) {
	await.SkipShort(t)
	x := newTrial(t)
	app := x.tuner.Stack.Service("app")
	app.Build = nil
	x.write("app/page.rb", "a\n")
	p := Proposal{Diff: []byte("--- a/page.rb\n+++ b/page.rb\n@@ -1 +1 @@\n-a\n+b\n"), Dir: x.dir + "/app"}
	told := func(p Proposal) (out []string) {
		t.Helper()
		plan, err := x.tuner.plan(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range plan.Changes {
			out = append(out, string(c.Kind)+" "+c.Service+" "+strings.TrimPrefix(c.Activate.String(), "none"))
		}
		return out
	}
	file, restart := string(change.KindFile)+"  ", string(change.KindRestart)+" app restart"
	if got := strings.Join(told(p), "|"); got != file+"|"+restart {
		t.Errorf("changes %q", got)
	}
	p.Restart = []string{"app"}
	if got := strings.Join(told(p), "|"); got != file+"|"+restart {
		t.Errorf("told twice: %q", got)
	}
	// A setting beside the sources of what is built is written as a file, and told.
	x.write("app/.gitignore", "built\nsettings.ini\n")
	x.sh("cd app && git add -A && git -c user.name=a -c user.email=a@localhost commit -qm settings")
	x.write("app/settings.ini", "a\n")
	app.Build = &stack.Build{Dir: x.dir + "/app", Command: []string{"sh", "build.sh"}, Products: []string{"built"}}
	p = Proposal{Diff: []byte("--- a/settings.ini\n+++ b/settings.ini\n@@ -1 +1 @@\n-a\n+b\n"), Dir: x.dir + "/app"}
	if got := strings.Join(told(p), "|"); got != file+"|"+restart {
		t.Errorf("a setting: %q", got)
	}
}
