package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// initLine is what GODEBUG=inittrace=1 prints of a package (runtime's own
// documentation): init PACKAGE @… ms, … ms clock, … bytes, … allocs.
var initLine = regexp.MustCompile(`(?m)^init (\S+) @.* clock, (\d+) bytes, \d+ allocs$`)

// What every start of the program allocates before main counts in the cost of
// a short load. The bound is what it is now with a margin for another version
// of Go; templates that most commands never show were once 1.6 MB of it.
func TestStartAllocatesLittle(t *testing.T) {
	const most = 4 << 20
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sum, found := 0, 0
	for _, m := range initLine.FindAllStringSubmatch(string(out), -1) {
		if !strings.HasPrefix(m[1], "kasoku/") {
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		found++
		sum += n
		if n > 256<<10 {
			t.Logf("%s: %d KiB", m[1], n>>10)
		}
	}
	if found < 10 || sum > most {
		t.Errorf("%d packages allocate %d KiB before main, want %d at most", found, sum>>10, most>>10)
	}
}
