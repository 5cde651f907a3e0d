package change

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// loopDevice is a block device of the test's own, with a real queue.
func loopDevice(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a loop device needs root")
	}
	file := filepath.Join(t.TempDir(), "disk")
	must(t, os.WriteFile(file, make([]byte, 1<<20), 0o600))
	out, err := exec.Command("losetup", "--find", "--show", file).Output()
	if err != nil {
		t.Skipf("this machine gives no loop device: %v", err)
	}
	dev := strings.TrimSpace(string(out))
	t.Cleanup(func() { _ = exec.Command("losetup", "--detach", dev).Run() })
	return filepath.Base(dev)
}

// TestSysfs: a setting below /sys, with its permanent line, killed before each
// step and put back.
func TestSysfs(t *testing.T) {
	key := "/sys/block/" + loopDevice(t) + "/queue/scheduler"
	file := filepath.Join(t.TempDir(), filepath.Base(TmpfilesFile))
	was := content(t, key)
	after := "none"
	if chosen(strings.TrimSpace(was)) == after {
		after = "mq-deadline"
	}
	if !strings.Contains(was, after) {
		t.Skipf("the kernel has no scheduler %s: %s", after, was)
	}
	both := []Change{create(file, "w "+key+" - - - - "+after+"\n", ""), setSysctl(key, chosen(strings.TrimSpace(was)), after)}
	both[0].Activate = None
	for at := 1; ; at++ {
		f := newFixture(t)
		died := stopAt(f, at, both)
		if died == "" && chosen(strings.TrimSpace(content(t, key))) != after {
			t.Fatalf("it is %q", content(t, key))
		}
		f.reopen()
		_, err := f.x.Recover(t.Context())
		must(t, err)
		wantEqual(t, "after recovery from "+died, content(t, key), was)
		if _, err := os.Stat(file); err == nil {
			t.Fatalf("%s: the file is left", died)
		}
		if died == "" {
			break
		}
	}
}

func TestSysfsRefusals(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ key, after, says string }{
		{"/sys/power/state", "mem", "of those known below /sys"},
		{"/sys/kernel/mm/transparent_hugepage/../../x", "never", "of those known below /sys"},
		{"/etc/passwd", "x", "of those known below /sys"},
		{"/sys/block/nosuchdisk/queue/scheduler", "none", "has no"},
	} {
		_, err := f.apply(setSysctl(c.key, "", c.after))
		wantText(t, err, c.says)
	}
	if n := len(f.x.History()); n > 0 {
		t.Fatalf("%d refused plans are in the journal", n)
	}
	c := setSysctl("/sys/kernel/mm/transparent_hugepage/enabled", "always", "madvise")
	do, undo := c.Shell("")
	wantEqual(t, "do", do[0], "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled")
	wantEqual(t, "undo", undo[0], "echo always > /sys/kernel/mm/transparent_hugepage/enabled")
}
