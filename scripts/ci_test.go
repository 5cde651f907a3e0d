package scripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What runs on every submission: each part fails it, tests are run whatever a check
// says that runs beside them, and what they say comes last.
func TestCI(t *testing.T) {
	for _, c := range []struct {
		fails string // a target of make
		said  string // the last lines
		ok    bool
	}{
		{"", "made race-changed\nmade test", true},
		{"test", "made race-changed\nmade test", false},
		{"static-tools", "made race-changed\na static check or the race detector failed; see above\nmade test", false},
		{"race-changed", "made race-changed\na static check or the race detector failed; see above\nmade test", false},
		{"static", "made static", false}, // the tests are not begun
	} {
		dir := t.TempDir()
		in(t, "..", `mkdir "$TO/.ci" "$TO/bin"; cp .ci/run "$TO/.ci/"`, "TO="+dir)
		// For make: it tells its target and ends; the tests take until all else was made.
		make := `#!/bin/bash
for target; do case $target in --*|*=*) continue ;; esac
    if [ "$target" = test ]; then until grep -q race "$MADE"; do read -rt 0.02 <> <(:) || true; done; fi
    echo "$target" >>"$MADE"
    echo "made $target"
    [ "$target" != "$FAILS" ] || exit 2
done
`
		if err := os.WriteFile(filepath.Join(dir, "bin/make"), []byte(make), 0o755); err != nil {
			t.Fatal(err)
		}
		out, err := tried(dir, ".ci/run", "FAILS="+c.fails, "MADE="+dir+"/made", "PATH="+dir+"/bin:"+os.Getenv("PATH"))
		if (err == nil) != c.ok || !strings.HasSuffix("\n"+out, "\n"+c.said) {
			t.Errorf("where %q fails: %v\n%s", c.fails, err, out)
		}
	}
}
