package hosttest

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

func suiteRun(t *testing.T, h host.Host) {
	dir := t.TempDir()
	for _, c := range []struct {
		name        string
		command     host.Command
		exit        int
		out, errout string
	}{
		{"output", host.Command{Argv: []string{"sh", "-c", "echo out; echo err >&2"}}, 0, "out\n", "err\n"},
		{"exit status is not an error", host.Command{Argv: []string{"sh", "-c", "exit 7"}}, 7, "", ""},
		{"death by a signal", host.Command{Argv: []string{"sh", "-c", "kill -TERM $$"}}, 128 + 15, "", ""},
		{"no shell", host.Command{Argv: []string{"echo", "$HOME;", "*"}}, 0, "$HOME; *\n", ""},
		{"stdin", host.Command{Argv: []string{"cat"}, Stdin: []byte("in")}, 0, "in", ""},
		{"no stdin is empty", host.Command{Argv: []string{"cat"}}, 0, "", ""},
		{"environment", host.Command{Argv: []string{"sh", "-c", "echo $K; test -n \"$PATH\""}, Env: []string{"K=v"}}, 0, "v\n", ""},
		{"directory", host.Command{Argv: []string{"pwd"}, Dir: dir}, 0, dir + "\n", ""},
		{"much output", host.Command{Argv: []string{"sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x"}}, 0, strings.Repeat("x", 300000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := h.Run(t.Context(), c.command)
			must(t, err)
			if r.ExitCode != c.exit || string(r.Stdout) != c.out || string(r.Stderr) != c.errout {
				t.Fatalf("exit %d, stdout %.80q, stderr %.80q", r.ExitCode, r.Stdout, r.Stderr)
			}
		})
	}
	if _, err := h.Run(t.Context(), host.Command{Argv: []string{"/no/such/program"}}); err == nil {
		t.Fatal("a program that is not there must be an error")
	}
	if _, err := h.Run(t.Context(), host.Command{}); err == nil {
		t.Fatal("no program must be an error")
	}
}

// suiteRunEnds: after a timeout or a cancelled context, no process of the
// command's group is left; a daemon left behind by a success lives on.
func suiteRunEnds(t *testing.T, h host.Host) {
	child := func(dir string) int {
		var pid int
		await.For(t, "the child's pid", func() bool {
			b, _ := os.ReadFile(filepath.Join(dir, "pid"))
			pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
			return pid > 0
		})
		return pid
	}
	script := []string{"sh", "-c", "sleep 300 & echo $! >pid; wait"}

	dir := t.TempDir()
	_, err := h.Run(t.Context(), host.Command{Argv: script, Dir: dir, Timeout: 3 * time.Second})
	wantErr(t, err, context.DeadlineExceeded)
	pid := child(dir)
	await.For(t, "the child's death after a timeout", func() bool { return !alive(pid) })

	dir = t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { child(dir); cancel() }()
	_, err = h.Run(ctx, host.Command{Argv: script, Dir: dir})
	wantErr(t, err, context.Canceled)
	pid = child(dir)
	await.For(t, "the child's death after cancelling", func() bool { return !alive(pid) })

	dir = t.TempDir()
	r, err := h.Run(t.Context(), host.Command{Argv: []string{"sh", "-c", "sleep 300 & echo $! >pid; echo started"}, Dir: dir, Timeout: 20 * time.Second})
	must(t, err)
	if string(r.Stdout) != "started\n" || r.Took > 10*time.Second {
		t.Fatalf("a command that leaves a daemon: %q after %s", r.Stdout, r.Took)
	}
	pid = child(dir)
	if !alive(pid) {
		t.Fatal("the daemon that a successful command left was killed")
	}
	must(t, syscall.Kill(pid, syscall.SIGKILL))
}

// suiteRunWatched: what a long command needs that is not trusted to behave.
func suiteRunWatched(t *testing.T, h host.Host) {
	told := 0
	r, err := h.Run(t.Context(), host.Command{Argv: []string{"sh", "-c", "echo $$; (while [ $((i=i+1)) -lt 300000 ]; do :; done)"}, Started: func(pid int) { told = pid }})
	must(t, err)
	if own, _ := strconv.Atoi(strings.TrimSpace(string(r.Stdout))); told == 0 || own != told {
		t.Fatalf("Started told process %d, it was %d", told, own)
	}
	if r.CPU <= 0 || r.CPU > 2*r.Took {
		t.Fatalf("%s of CPU in %s: a child's work must be in it", r.CPU, r.Took)
	}

	// 400 MB, of which a few bytes are asked for.
	r, err = h.Run(t.Context(), host.Command{Argv: []string{"sh", "-c", "echo first; head -c 400000000 /dev/zero; echo last"}, Keep: 8})
	must(t, err)
	if out := string(r.Stdout); !strings.HasPrefix(out, "first\n") || !strings.HasSuffix(out, "last\n") || len(out) > 100 || !strings.Contains(out, "bytes left out") {
		t.Fatalf("the two ends of much output: %.200q", out)
	}
	r, err = h.Run(t.Context(), host.Command{Argv: []string{"echo", "short"}, Keep: 8})
	must(t, err)
	if string(r.Stdout) != "short\n" {
		t.Fatalf("little output: %q", r.Stdout)
	}

	r, err = h.Run(t.Context(), host.Command{Argv: []string{"sh", "-c", "sleep 300 & echo $!; exit 3"}, EndGroup: true})
	must(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(r.Stdout)))
	must(t, err)
	if r.ExitCode != 3 {
		t.Fatalf("exit status %d, want 3", r.ExitCode)
	}
	await.For(t, "the death of what the command left in its group", func() bool { return !alive(pid) })
}
