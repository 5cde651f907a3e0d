package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// A panic ends the tests after it: the package is run again whole, and its second
// verdict counts.
func TestRerunAfterPanic(t *testing.T) {
	await.SkipShort(t)
	for _, c := range []struct {
		panics string // one for each byte
		ok     bool
	}{{"1", true}, {"12", false}} {
		dir := t.TempDir()
		left := filepath.Join(dir, "panics")
		if err := os.WriteFile(left, []byte(c.panics), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("./test.sh", "kasoku/scripts/testdata/panics")
		cmd.Env = append(os.Environ(), "RERUN=1", "PANICS="+left, "EVENTS="+filepath.Join(dir, "events.json"))
		out, err := cmd.CombinedOutput()
		if text := string(out); (err == nil) != c.ok || !strings.Contains(text, "run again whole and alone, as a panic took other tests along: kasoku/scripts/testdata/panics\n") {
			t.Errorf("with %d panics: %v\n%s", len(c.panics), err, text)
		}
		if rest, err := os.ReadFile(left); err != nil || len(rest) != 0 {
			t.Errorf("%d of %d panics were not reached: %v", len(rest), len(c.panics), err)
		}
	}
}
