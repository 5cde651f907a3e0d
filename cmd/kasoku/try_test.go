package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/report"
	"kasoku/internal/ui"
)

// TestTryRefusesWhatTouchesTheJudge: exit code 14 with the whole result, and
// everything as it was.
func TestTryRefusesWhatTouchesTheJudge(t *testing.T) {
	c := startForeign(t)
	c.bench("echo score: $((10000 + $(od -An -N1 -tu1 /dev/urandom)))\n")
	file := filepath.Join(c.dir, "kasoku.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c.write("more.diff", 0o644, "--- a/kasoku.yaml\n+++ b/kasoku.yaml\n"+replaceDiff(t, file, "max_pairs: 6", "max_pairs: 20"))
	for _, x := range []struct {
		args []string
		says string
	}{
		{[]string{"--patch", filepath.Join(c.dir, "more.diff")}, "nothing was applied"},
		{[]string{"--apply", "echo '# easier' >>kasoku.yaml", "--undo", "true", "--keep"}, "kasoku.yaml"},
		{[]string{"--set", "web.keepalive_requests=2000", "--apply", "sed -i s/10000/20000/ bench.sh", "--undo", "true"}, "load.command"},
	} {
		out, _ := c.want([]int{ui.Refused}, append([]string{"try", "--json", "--dir", c.dir}, x.args...)...)
		fits(t, "try", out)
		r := decode[report.TryResult](t, out)
		if r.Format != report.TryFormat || r.Outcome != "refused" || r.ExitCode != ui.Refused || r.Kept || !strings.Contains(r.Reason, x.says) || len(r.Diffs) == 0 || r.Next == "" {
			t.Errorf("%v: %s", x.args, out)
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != string(text) {
			t.Errorf("%v: kasoku.yaml is not as it was: %v", x.args, err)
		}
		if b, err := os.ReadFile(filepath.Join(c.dir, "bench.sh")); err != nil || strings.Contains(string(b), "20000") {
			t.Errorf("%v: bench.sh is not as it was: %v", x.args, err)
		}
		if b, err := os.ReadFile(filepath.Join(c.dir, "nginx.conf")); err != nil || strings.Contains(string(b), "2000;") {
			t.Errorf("%v: nginx.conf is not as it was: %v", x.args, err)
		}
	}
	_, errs := c.want([]int{ui.BadInput}, "try", "--commit", "HEAD")
	if !strings.Contains(errs, "--dir") {
		t.Errorf("it does not say how to name the checkout: %s", errs)
	}
	out, _ := c.want([]int{ui.OK}, "history")
	if strings.Count(out, "refused") != 3 {
		t.Errorf("history does not tell the refusals:\n%s", out)
	}
}
