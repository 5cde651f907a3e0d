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

// Beside a process that has ended, the race detector begins the first package only, the
// one with most changed lines, and tells what it left out.
func TestRaceBesideAProcess(t *testing.T) {
	dir := t.TempDir()
	in(t, "..", `mkdir "$TO/scripts" "$TO/bin"; cp scripts/race.sh "$TO/scripts/"`, "TO="+dir)
	in(t, dir, `git init -q; git commit -q --allow-empty -m base; for p in a b; do mkdir $p; echo "package $p" >$p/${p}_test.go; done; echo "// more" >>b/b_test.go; git add a b; git commit -qm two`)
	if err := os.WriteFile(filepath.Join(dir, "bin/go"), []byte("#!/bin/sh\nfor p; do :; done; echo \"ok  $p\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ process, want string }{
		{`$$`, "race.sh: 2 packages\nok  ./b\nok  ./a"},
		{`$(sh -c 'echo $$')`, "race.sh: 2 packages\nok  ./b\nrace.sh: not begun in time (make race has them all): ./a"},
	} {
		got := in(t, dir, `WHILE=`+c.process+` scripts/race.sh changed`, "BASE=HEAD~1", "PATH="+dir+"/bin:"+os.Getenv("PATH"))
		if got != c.want {
			t.Errorf("beside %s:\n%s\nwant\n%s", c.process, got, c.want)
		}
	}
}
