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
	"strings"
	"syscall"
	"time"

	"kasoku/bench/origin"
)

// labState is what `kasoku lab up --json` says of the hosts.
type labState struct {
	Name      string `json:"name"`
	SSHConfig string `json:"ssh_config"`
	Hosts     []struct {
		Name    string `json:"name"`
		Address string `json:"address"`
	} `json:"hosts"`
}

func (l labState) address(host string) string {
	for _, h := range l.Hosts {
		if h.Name == host {
			return h.Address
		}
	}
	return ""
}

// start takes up an interrupted play, or brings new hosts up.
func (a *app) start(ctx context.Context) error {
	if err := os.MkdirAll(a.dir, 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile(a.labFile())
	if err == nil {
		err = json.Unmarshal(text, &a.lab)
	}
	last, rerr := loadResult(a.dir)
	if err == nil && rerr == nil && !last.Complete && a.answers(ctx) {
		say("%s: the hosts of an earlier call still run; it goes on from there", a.name)
		a.result = last
		return nil
	}
	if err := a.remove(); err != nil {
		return err
	}
	a.result = &Result{App: a.name, Started: time.Now(), Machine: origin.Machine(), Tree: origin.Tree(), Budget: a.Budget}
	packages, err := os.ReadFile(filepath.Join(a.source, "packages"))
	if err != nil {
		return err
	}
	say("%s: three hosts", a.name)
	var out bytes.Buffer
	if err := a.call(ctx, &out, a.Kasoku, "--json", "--quiet", "lab", "--name", a.labName(), "up", "-n", fmt.Sprint(len(sides)),
		"--packages", strings.Join(strings.Fields(string(packages)), ",")); err != nil {
		return err
	}
	if err := json.Unmarshal(out.Bytes(), &a.lab); err != nil {
		return fmt.Errorf("kasoku lab up printed no such JSON: %w", err)
	}
	return errors.Join(replace(a.labFile(), out.Bytes()), a.result.save(a.dir))
}

func (a *app) labFile() string { return filepath.Join(a.dir, "lab.json") }

// labName is at most 32 characters long.
func (a *app) labName() string {
	name := "field-" + a.name
	return name[:min(len(name), 32)]
}

// answers reports whether every host of an earlier call is there.
func (a *app) answers(ctx context.Context) bool {
	for _, s := range sides {
		if a.on(ctx, s.host, io.Discard, "true") != nil {
			return false
		}
	}
	return true
}

// end removes the hosts of a play that is over, unless they shall stay.
func (a *app) end() error {
	if a.Keep || a.result == nil || !a.result.Complete {
		fmt.Println("\nthe hosts stay; remove them with:", a.Kasoku, "lab --name", a.labName(), "down")
		return nil
	}
	return a.remove()
}

// remove keeps the store of the last play and removes the hosts with all else.
func (a *app) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	state := filepath.Join(a.hostDir(sides[0].host), ".kasoku")
	if _, err := os.Stat(state); err == nil {
		to := filepath.Join(a.dir, "store-"+time.Now().Format("0102-150405"))
		if err := os.Rename(state, to); err != nil {
			return fmt.Errorf("keep the store: %w", err)
		}
		fmt.Println("\nevery run and step is in", to)
	}
	for _, s := range sides {
		if err := os.RemoveAll(a.hostDir(s.host)); err != nil {
			return err
		}
	}
	if _, err := os.Stat(a.labFile()); err != nil {
		return nil
	}
	return errors.Join(a.call(ctx, os.Stdout, a.Kasoku, "lab", "--name", a.labName(), "down"), os.Remove(a.labFile()))
}

// copyTo gives a host the application's scripts, and what fetch.sh brought.
func (a *app) copyTo(ctx context.Context, host string) error {
	args := []string{"-cf", "-", "-C", a.source, "."}
	if _, err := os.Stat(a.fetched()); err == nil {
		args = append(args, "-C", a.fetched(), ".")
	}
	pack := exec.CommandContext(ctx, "tar", args...)
	var packed bytes.Buffer
	pack.Stdout, pack.Stderr = &packed, os.Stderr
	if err := pack.Run(); err != nil {
		return fmt.Errorf("pack %s: %w", a.source, err)
	}
	cmd := a.ssh(ctx, host, "mkdir -p "+remote+" && tar -C "+remote+" --no-same-owner -xf -")
	cmd.Stdin, cmd.Stderr = &packed, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("copy %s to %s: %w", a.source, host, err)
	}
	return nil
}

// fetchPools brings the tables that fill.sh wrote for the scenario.
func (a *app) fetchPools(ctx context.Context, host, dir string) error {
	var packed bytes.Buffer
	if err := a.on(ctx, host, &packed, "cd "+remote+" && ls *.csv >/dev/null 2>&1 && tar -cf - *.csv || tar -cf - -T /dev/null"); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "tar", "-C", dir, "-xf", "-")
	cmd.Stdin, cmd.Stderr = &packed, os.Stderr
	return cmd.Run()
}

// ssh is a command on a host.
func (a *app) ssh(ctx context.Context, host, command string) *exec.Cmd {
	return exec.CommandContext(ctx, "ssh", "-F", a.lab.SSHConfig, "-o", "BatchMode=yes", host, command)
}

// on runs a command on a host.
func (a *app) on(ctx context.Context, host string, out io.Writer, command string) error {
	cmd := a.ssh(ctx, host, command)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("on %s: %s: %w", host, command, err)
	}
	return nil
}

// pipe sends what a command on one host prints to one on another.
func (a *app) pipe(ctx context.Context, from, command, to, into string) error {
	source, sink := a.ssh(ctx, from, command), a.ssh(ctx, to, into)
	out, err := source.StdoutPipe()
	if err != nil {
		return err
	}
	source.Stderr, sink.Stdin, sink.Stderr = os.Stderr, out, os.Stderr
	if err := source.Start(); err != nil {
		return err
	}
	return errors.Join(sink.Run(), source.Wait())
}

// call runs a program in a process group of its own, so that Ctrl-C reaches it
// once, from here: a second signal would keep Kasoku from putting the target back.
func (a *app) call(ctx context.Context, out io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 2 * time.Minute
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	return cmd.Run()
}

// kasoku runs the program where the hosts are reached, on the first host's stack,
// and reads what it prints as JSON into v. Exit codes that are allowed are no error.
func (a *app) kasoku(ctx context.Context, v any, allowed []int, args ...string) error {
	var out bytes.Buffer
	full := append([]string{"lab", "--name", a.labName(), "exec", "--", a.Kasoku, "-f", a.stack(), "--json"}, args...)
	err := a.call(ctx, &out, a.Kasoku, full...)
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
