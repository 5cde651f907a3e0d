package bed

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host/hosttest"
)

// Start runs a server in the background until the end of the test. Its output
// goes to dir/name.out and is shown if the test fails.
func Start(t testing.TB, dir, name string, argv ...string) *exec.Cmd {
	t.Helper()
	out, err := os.Create(filepath.Join(dir, name+".out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v; run `make deps-test`", name, err)
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-done
		}
		if t.Failed() {
			if text, err := os.ReadFile(out.Name()); err == nil {
				t.Logf("%s said:\n%s", name, text)
			}
		}
	})
	return cmd
}

// StopByPIDFile ends, after the test, a server that Kasoku may have restarted
// meanwhile: the one whose process number the file holds.
func StopByPIDFile(t testing.TB, file string) {
	t.Helper()
	t.Cleanup(func() {
		var pid int
		text, err := os.ReadFile(file)
		if err != nil {
			return
		}
		if _, err := fmt.Sscan(string(text), &pid); err != nil || pid < 2 {
			return
		}
		_ = syscall.Kill(pid, syscall.SIGTERM)
		ended := func() error {
			if !await.Ended(pid) {
				return errors.New("it runs")
			}
			return nil
		}
		if await.Until(ended) != nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

// PHPFPM is the path of the newest PHP-FPM.
func PHPFPM(t testing.TB) string {
	t.Helper()
	found, err := filepath.Glob("/usr/sbin/php-fpm[0-9]*")
	if err != nil || len(found) == 0 {
		t.Fatal("there is no PHP-FPM; run `make deps-test`")
	}
	return found[len(found)-1]
}

// KillByPIDFile kills a server at once, as a crash would, and waits for its end.
func KillByPIDFile(t testing.TB, file string) {
	t.Helper()
	var pid int
	text, err := os.ReadFile(file)
	if err == nil {
		_, err = fmt.Sscan(string(text), &pid)
	}
	if err != nil || pid < 2 {
		t.Fatalf("%s names no process: %v", file, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await.Gone(t, pid)
}

// FreePort is hosttest.FreePort: nobody listens on it, and no other test is given it.
func FreePort(t testing.TB) int { return hosttest.FreePort(t) }

// Await waits until something accepts at address ("host:port" or a socket's path).
func Await(t testing.TB, address string) {
	t.Helper()
	await.Accepts(t, address)
}
