package change

import (
	"os"
	"testing"
	"time"

	"kasoku/internal/await"
)

// TestSameTime: a file that is written again has the time that it had, so that
// caches kept by it hold for both sides. What is put back has its own anyway.
func TestSameTime(t *testing.T) {
	for _, c := range []struct {
		name           string
		same, otherNow bool
	}{{"the same bytes", true, false}, {"other bytes", true, true}, {"not asked for", false, false}} {
		f := newFixture(t)
		path := f.file("settings", "a")
		timeOf := func() time.Time {
			info, err := os.Stat(path)
			must(t, err)
			return info.ModTime()
		}
		write := func(content string) time.Time {
			e := edit1(path, "a", content, "shop", Reload)
			e.SameTime = c.same
			tx, err := f.apply(e)
			must(t, err)
			then := timeOf()
			must(t, f.x.Revert(t.Context(), tx.ID))
			if !timeOf().Equal(long) {
				t.Errorf("%s: put back with the time %s", c.name, timeOf())
			}
			return then
		}
		first, again := write("b"), "b"
		if c.otherNow {
			again = "c"
		}
		await.For(t, "the clock to move on", func() bool { return !write("z").Equal(first) })
		if second := write(again); second.Equal(first) != (c.same && !c.otherNow) || first.Equal(long) {
			t.Errorf("%s: %s, then %s", c.name, first, second)
		}
		f.x.Close()
	}
}
