package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kasoku/bench/origin"
)

const hostCount = 4

// start takes up an interrupted case, or brings the hosts up.
func (c *wholeCase) start(ctx context.Context) error {
	last, err := loadResult(c.Dir)
	if err == nil && !last.Complete && last.Size == c.Size && c.runs(ctx) {
		say("The hosts of an earlier call still run; it goes on from there")
		c.result = last
		return nil
	}
	if _, err := os.Stat(c.HostDir); err == nil {
		say("The hosts of an earlier call are removed")
		if err := c.remove(); err != nil {
			return err
		}
	}
	c.result = &Result{Size: c.Size, Budget: c.Budget, Window: c.Window, CPUs: c.CPUs, Started: time.Now(), Machine: origin.Machine(), Tree: origin.Tree()}
	say("Four hosts; the wiki on the first")
	began := time.Now()
	if err := c.script(ctx, os.Stdout, "up", strconv.Itoa(hostCount), c.HostDir, "--size", c.Size); err != nil {
		return err
	}
	c.result.UpTook = time.Since(began)
	if c.result.Content, err = c.content(ctx); err != nil {
		return err
	}
	return c.result.save(c.Dir)
}

// runs reports whether the hosts of an earlier call are there and answer.
func (c *wholeCase) runs(ctx context.Context) bool {
	if _, err := os.Stat(filepath.Join(c.HostDir, "kasoku.yaml")); err != nil {
		return false
	}
	return c.script(ctx, io.Discard, "reset", c.HostDir) == nil
}

// end removes the hosts, unless they shall stay. It works after an
// interruption, too.
func (c *wholeCase) end() error {
	if c.Keep {
		fmt.Println("\nthe hosts stay; remove them with:", c.Script, "down", c.HostDir)
		return nil
	}
	return c.remove()
}

// remove keeps the store and removes the hosts.
func (c *wholeCase) remove() error {
	state := filepath.Join(c.HostDir, ".kasoku")
	if _, err := os.Stat(state); err == nil {
		to := filepath.Join(c.Dir, "store-"+time.Now().Format("0102-150405"))
		if err := os.CopyFS(to, os.DirFS(state)); err != nil {
			return fmt.Errorf("keep the store: %w", err)
		}
		fmt.Println("\nevery run and step is in", to)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return c.script(ctx, os.Stdout, "down", c.HostDir)
}

// script runs hosts.sh.
func (c *wholeCase) script(ctx context.Context, out io.Writer, args ...string) error {
	cmd := command(ctx, c.Script, args...)
	cmd.Env = append(os.Environ(), "KASOKU="+c.Kasoku)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("hosts.sh %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// inLab runs Kasoku where the hosts are reached and reads what it prints as
// JSON into v. Exit codes that are allowed are no error.
func (c *wholeCase) inLab(ctx context.Context, v any, allowed []int, args ...string) error {
	var out bytes.Buffer
	full := append([]string{"exec", c.HostDir, "--", c.Kasoku, "-f", filepath.Join(c.HostDir, "kasoku.yaml"), "--json"}, args...)
	err := c.script(ctx, &out, full...)
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && slices.Contains(allowed, exit.ExitCode())) {
		return fmt.Errorf("kasoku %s: %w", strings.Join(args, " "), err)
	}
	if v == nil {
		return nil
	}
	if err := json.Unmarshal(out.Bytes(), v); err != nil {
		return fmt.Errorf("kasoku %s printed no such JSON: %w", strings.Join(args, " "), err)
	}
	return nil
}

// command runs in a process group of its own, so that Ctrl-C reaches it once,
// from here: a second signal would keep Kasoku from putting the target back.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 2 * time.Minute
	return cmd
}
