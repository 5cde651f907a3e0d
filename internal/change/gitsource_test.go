package change

import (
	"context"
	"os"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/stack"
)

// appControl is the application of the checkout: what it runs with is the program that
// lay there when it was started last.
type appControl struct{ lab }

func (c appControl) Check(context.Context) error      { return nil }
func (c appControl) Reload(ctx context.Context) error { return c.Restart(ctx) }

func (c appControl) Restart(context.Context) error {
	program, err := os.ReadFile(c.path("app/build/out"))
	if err != nil {
		return err
	}
	return os.WriteFile(c.path("running"), program, 0o600)
}

func (c appControl) WaitHealthy(context.Context) error { return nil }

func init() {
	setups["gitsource"] = func(l lab, o *Options) {
		o.Stack = &stack.Stack{Dir: l.dir, Services: []stack.Service{{Name: "app", Kind: stack.App}}}
		o.Control = func(string) (Controller, error) { return appControl{l}, nil }
	}
	plans["gitsource"] = func(l lab) []Change {
		c := appPatch(l)
		c.Service, c.Activate = "app", Restart
		c.Git.Products = append(c.Git.Products, "default.pgo")
		return []Change{c}
	}
}

// A patch of source as tune tries it (remedy source.patch): commit, build and restart. A
// kill at any step leaves, after recovery, source, program and what runs as found or as
// kept; so does taking it back. A profile that the build uses is no work of anybody. A third
// of the steps, as of TestGitKilledAtEveryStep.
func TestSourcePatchKilledAtEveryStep(t *testing.T) {
	await.SkipShort(t)
	l := newApp(t)
	l.inApp(t, "echo profile >default.pgo")
	must(t, appControl{l}.Restart(t.Context()))
	seen := func() string {
		running, err := os.ReadFile(l.path("running"))
		must(t, err)
		return l.seenApp(t) + "\nruns " + string(running)
	}
	for _, job := range []string{"gitsource-apply", "gitsource-revert", "gitsource-undo"} {
		t.Run(job, func(t *testing.T) {
			if n := l.matrix(job, seen).thinned(3).killed(t); n < 2 {
				t.Errorf("killed at %d steps", n)
			}
		})
	}
}
