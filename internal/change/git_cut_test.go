package change

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// TestGitIsNotCutOff: an interruption waits for git's end, which leaves no lock,
// and what it did is put back.
func TestGitIsNotCutOff(t *testing.T) {
	await.SkipShort(t)
	l := newApp(t)
	l.inApp(t, `echo 'app.php filter=slow' >.git/info/attributes; git config filter.slow.smudge 'echo begun >>.git/slow; sleep 1; cat; echo ended >>.git/slow'`)
	before := l.seenApp(t)
	x := l.app(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_ = await.Until(func() error { _, err := os.Stat(l.path("app/.git/slow")); return err })
		cancel()
	}()
	if _, err := x.Apply(ctx, Intent{Title: "t", Changes: []Change{appPatch(l)}}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	wantEqual(t, "put back", l.seenApp(t), before)
	told, err := os.ReadFile(l.path("app/.git/slow"))
	if must(t, err); strings.Count(string(told), "begun") != strings.Count(string(told), "ended") {
		t.Errorf("git was cut off: %q", told)
	}
	if locks, _ := filepath.Glob(l.path("app/.git/*.lock")); locks != nil {
		t.Errorf("left behind: %v", locks)
	}
}

// TestGitKilledInCheckout: what git leaves when it is killed in the middle:
// some files of either side, one half written, a lock.
func TestGitKilledInCheckout(t *testing.T) {
	await.SkipShort(t)
	for name, script := range map[string]string{
		"only the lock":                   "",
		"the locks of references":         "touch .git/HEAD.lock .git/packed-refs.lock",
		"the first file":                  "git -c core.hooksPath=/dev/null show $new:app.php >app.php",
		"half of the first file":          "git show $new:app.php | head -c 9 >app.php",
		"all files, not yet HEAD":         "git show $new:app.php >app.php; mkdir -p lib/cache; git show $new:lib/cache/new.php >lib/cache/new.php; rm old.php",
		"a file removed, not yet written": "rm -f app.php old.php",
	} {
		t.Run(name, func(t *testing.T) {
			l := newApp(t)
			before := l.seenApp(t)
			dir := l.project(t)
			x, err := Open(t.Context(), l.options(dir))
			must(t, err)
			tx, err := x.begin(t.Context(), Intent{Title: "t", Changes: []Change{appPatch(l)}})
			must(t, err)
			must(t, x.note(tx, record{Op: opIntent, Change: new(int)}))
			a, err := x.act(tx, 0)
			must(t, err)
			g := a.(*gitAct)
			must(t, g.loadPatch())
			made, err := g.commit(t.Context(), false)
			must(t, err)
			must(t, x.Close())
			l.inApp(t, "touch .git/index.lock; new="+made+"; "+script)
			x, err = Open(t.Context(), l.options(dir))
			must(t, err)
			defer x.Close()
			_, err = x.Recover(t.Context())
			must(t, err)
			wantEqual(t, "recovered", l.seenApp(t), before)
		})
	}
}
