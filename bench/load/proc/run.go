// Package proc runs the tools under comparison as child processes, and reads
// from the kernel what they and everything else on the machine cost.
//
// In: a command line. Out: its output, CPU time, wall time and memory.
package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Command is one child process.
type Command struct {
	Args  []string // program and arguments
	Stdin string
	// Limit after which the child is killed; 0: none.
	Limit time.Duration
	// Watch, if set, is called in its own goroutine with the child's id; its
	// context ends with the child, and Run waits for it to return.
	Watch func(ctx context.Context, pid int)
	// Processors that the child and its children may use; nil: any.
	Processors []int
}

// Result of a child that ended with status 0.
type Result struct {
	Stdout, Stderr []byte
	// User and System are CPU time by wait4's rusage: the child's and that of
	// the children it waited for, start-up and end included.
	User, System time.Duration
	Wall         time.Duration
}

// CPU is user and system time.
func (r Result) CPU() time.Duration { return r.User + r.System }

// killDelay is how long a child has to end by itself after SIGTERM.
const killDelay = 2 * time.Second

// Run starts the child in a process group of its own and waits for it. When
// ctx ends or the limit passes, the whole group gets SIGTERM, then SIGKILL.
// The error of a child that failed holds the last lines it wrote; Result holds
// all of them, and what it cost, even then.
func Run(ctx context.Context, c Command) (Result, error) {
	name := filepath.Base(c.Args[0])
	if c.Limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, c.Limit, fmt.Errorf("still running after %s", c.Limit))
		defer stop()
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.Stdin), &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killDelay
	began := time.Now()
	if err := Pinned(c.Processors, cmd.Start); err != nil {
		return Result{}, fmt.Errorf("start %s: %w", name, err)
	}
	watched := make(chan struct{})
	watch, unwatch := context.WithCancel(ctx)
	go func() {
		defer close(watched)
		if c.Watch != nil {
			c.Watch(watch, cmd.Process.Pid)
		}
	}()
	err := cmd.Wait()
	r := Result{Wall: time.Since(began), Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
	unwatch()
	<-watched
	if ctx.Err() != nil {
		// The group may hold children that outlived their parent.
		if kill := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); kill != nil && !errors.Is(kill, syscall.ESRCH) {
			return r, fmt.Errorf("kill %s: %w", name, kill)
		}
		return r, fmt.Errorf("%s was stopped: %w", name, context.Cause(ctx))
	}
	r.User, r.System = cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime()
	if err != nil {
		return r, fmt.Errorf("%s: %w: %s", name, err, tail(stderr.Bytes(), stdout.Bytes()))
	}
	return r, nil
}

// tail is the last lines of the first text that is not empty, on one line.
func tail(texts ...[]byte) string {
	const lines = 4
	for _, t := range texts {
		all := strings.Split(strings.TrimSpace(string(t)), "\n")
		if all[0] == "" && len(all) == 1 {
			continue
		}
		return strings.Join(all[max(0, len(all)-lines):], " | ")
	}
	return "it printed nothing"
}
