package change

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// stopAt applies changes and ends the goroutine that does it before the step
// of that number, as a kill would: nothing after it happens, neither deferred
// work nor a line in the journal. It returns the step, "" if it ran through.
// Unlike kill, what an act has under way ends first; tests of real servers
// that can be killed as a process use kill.
func stopAt(f *fixture, at int, changes []Change) string {
	f.t.Helper()
	n, died := 0, ""
	done := make(chan error, 1)
	f.trace = func(step string) {
		if n++; n == at {
			died = step
			done <- nil
			f.x.mu.Unlock() // the goroutine's own, which never gets to it
			select {}
		}
	}
	go func() {
		_, err := f.x.Apply(f.t.Context(), Intent{Title: "test", Changes: changes})
		done <- err
	}()
	if err := <-done; err != nil {
		f.t.Fatalf("step %d: %v", at, err)
	}
	f.trace = nil
	return died
}

// sleeper starts a process that lasts as long as the test, and returns its pid.
func sleeper(t *testing.T, argv ...string) int {
	t.Helper()
	argv = append(argv, "sh", "-c", "echo ready; exec sleep 1000")
	c := exec.Command(argv[0], argv[1:]...)
	var out strings.Builder
	pipe, err := c.StdoutPipe()
	must(t, err)
	c.Stderr = &out
	must(t, c.Start())
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	b := make([]byte, 6)
	if n, err := pipe.Read(b); n == 0 {
		t.Fatalf("%v: %v: %s", argv, err, out.String())
	}
	runtime.KeepAlive(pipe)
	return c.Process.Pid
}
