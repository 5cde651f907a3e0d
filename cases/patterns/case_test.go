package patterns

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kasoku/internal/await"
)

// processes returns the command lines that name a directory.
func processes(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(line), dir) {
			out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return out
}

// TestInterrupted: Ctrl-C while the servers start leaves none, and start works
// again.
func TestInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	t.Parallel()
	s := newService(t)
	// A group of its own, as a terminal sends the signal to all of the group.
	path, err := script()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "start", "php", "bad")
	cmd.Env = append(os.Environ(), "CASE_DIR="+s.Dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) // has gone, if all is well
	await.ForOr(t, "the database to start", output.String, func() bool {
		info, err := os.Stat(filepath.Join(s.Dir, "run", "db.pid"))
		return err == nil && info.Size() > 0
	})
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Errorf("an interrupted start ended well:\n%s", output.String())
	}
	if left := processes(t, s.Dir+"/"); len(left) > 0 {
		t.Errorf("left running: %q\n%s", left, output.String())
	}
	s.Start("php", "clean", "")
	if status, _ := ask(t, "GET", s.URL+"/feed"); status != 200 {
		t.Errorf("after starting again: %d", status)
	}
	if out, err := s.Run("purge"); err != nil {
		t.Errorf("purge: %v\n%s", err, out)
	}
	if left := processes(t, s.Dir+"/"); len(left) > 0 {
		t.Errorf("purge left running: %q", left)
	}
	if _, err := os.Stat(s.Dir); !os.IsNotExist(err) {
		t.Errorf("purge left %s: %v", s.Dir, err)
	}
}

// TestErrors: what is wrong is said, and nothing is touched.
func TestErrors(t *testing.T) {
	t.Parallel()
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "letter"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want, dir string
		args      []string
	}{
		{"is not empty and was not made by case.sh", foreign, []string{"start"}},
		{"not removed", foreign, []string{"purge"}},
		{"holds no patterns case", foreign, []string{"stop"}},
		{"holds no patterns case", filepath.Join(foreign, "none"), []string{"url"}},
		{"start does not know ruby", filepath.Join(foreign, "none"), []string{"start", "ruby"}},
		{"start does not know otel=ftp://x", filepath.Join(foreign, "none"), []string{"start", "otel=ftp://x"}},
		{"stop takes no words", filepath.Join(foreign, "none"), []string{"stop", "now"}},
		{"must have at most 107 characters", foreign + strings.Repeat("/long", 20), []string{"start"}},
		{"use a path of letters", foreign + "/a b", []string{"start"}},
		{"unknown command dance", filepath.Join(foreign, "none"), []string{"dance"}},
	} {
		s := &Service{Dir: c.dir}
		out, err := s.Run(c.args...)
		if err == nil || !strings.Contains(out, c.want) {
			t.Errorf("case.sh %v: %v\n%s\nwant %q", c.args, err, out, c.want)
		}
	}
	entries, err := os.ReadDir(foreign)
	if err != nil || len(entries) != 1 {
		t.Errorf("the foreign directory holds %v (%v), want the letter only", entries, err)
	}
}

// TestPurgeOfNothing: what is not there needs no purge.
func TestPurgeOfNothing(t *testing.T) {
	s := &Service{Dir: filepath.Join(t.TempDir(), "none")}
	if out, err := s.Run("purge"); err != nil {
		t.Errorf("purge: %v\n%s", err, out)
	}
}
