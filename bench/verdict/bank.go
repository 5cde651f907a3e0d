package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// bank is a copy of the bank login that runs, opened as `kasoku try` opens it.
type bank struct {
	dir   string
	bench *tune.Bench
	exec  *change.Executor
	rule  experiment.Rule
}

// base is what the service is like before a trial.
type base string

const (
	asFound base = "as found"
	indexed base = "as found, with indexes" // after hand/indexes.sql
	byHand  base = "tuned by hand"
)

// handIndexes are the statements that make the base `indexed`.
const handIndexes = "cases/login/hand/indexes.sql"

// openBank brings a copy up in dir. A window of 0 is the scenario's, foreign 0
// what the stack file allows. What was begun is left to close.
func openBank(ctx context.Context, dir string, b base, window time.Duration, foreign float64) (*bank, error) {
	k := &bank{dir: dir}
	if err := k.script(ctx, "up"); err != nil {
		return k, err
	}
	switch b {
	case byHand:
		if err := k.script(ctx, "hand"); err != nil {
			return k, err
		}
	case indexed:
		statements, err := os.ReadFile(handIndexes)
		if err != nil {
			return k, err
		}
		if err := k.command(ctx, dir, "mariadb", "--defaults-file="+dir+"/"+clientFile, "login", "-e", string(statements)); err != nil {
			return k, err
		}
	}
	st, err := stack.Load(filepath.Join(dir, "kasoku.yaml"))
	if err != nil {
		return k, err
	}
	if foreign > 0 {
		st.Tune.MaxForeignCPU = foreign
	}
	sc, err := load.LoadScenario(st.Load.Scenario)
	if err != nil {
		return k, err
	}
	state := filepath.Join(dir, ".kasoku")
	db, err := store.Open(state)
	if err != nil {
		return k, err
	}
	hosts := map[string]host.Host{stack.LocalHost: host.NewLocal()}
	k.bench = &tune.Bench{Stack: st, Hosts: hosts, Scenario: sc, Store: db, Window: window}
	k.rule = experiment.DefaultRule()
	k.rule.SmallestEffect, k.rule.Alpha, k.rule.MaxPairs = st.Tune.Effect(), st.Tune.FalseKeepRate(), st.Tune.Pairs()
	k.exec, err = tune.OpenExecutor(ctx, state, st, hosts)
	return k, err
}

// clientFile holds the operator's login to the database.
const clientFile = "secrets/client.cnf"

// close ends the services and removes the copy, also after Ctrl-C.
func (k *bank) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs []error
	if k.exec != nil {
		errs = append(errs, k.exec.Close())
	}
	if k.bench != nil {
		errs = append(errs, k.bench.Store.Close())
	}
	return errors.Join(append(errs, k.script(ctx, "down", "--purge"))...)
}

func (k *bank) script(ctx context.Context, command string, flags ...string) error {
	return k.command(ctx, "", caseScript, append([]string{command, k.dir}, flags...)...)
}

// command runs a program in a process group of its own: Ctrl-C at the terminal
// is not to end it halfway, ctx does.
func (k *bank) command(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, out)
	}
	return nil
}

func (k *bank) read(file string) (string, error) {
	b, err := os.ReadFile(filepath.Join(k.dir, file))
	return string(b), err
}

// statement is the shell command that runs SQL in the case's folder; "" for none.
func statement(sql string) string {
	if sql == "" {
		return ""
	}
	return `mariadb --defaults-file=` + clientFile + ` login -e "` + sql + `"`
}

// put makes an act part of what a trial begins from: without the journal, as
// its owner would, and with a restart of every service.
func (k *bank) put(ctx context.Context, a act) error {
	files, _, after, err := a.edited(k.read)
	if err != nil {
		return err
	}
	for _, f := range files { // in place, so that owner and mode stay
		if err := os.WriteFile(filepath.Join(k.dir, f), []byte(after[f]), 0o644); err != nil {
			return err
		}
	}
	if a.sql != "" {
		if err := k.command(ctx, k.dir, "sh", "-c", statement(a.sql)); err != nil {
			return err
		}
	}
	return k.script(ctx, "restart")
}

// proposal is the act as `kasoku try --keep` takes it.
func (k *bank) proposal(title string, a act) (tune.Proposal, error) {
	files, before, after, err := a.edited(k.read)
	if err != nil {
		return tune.Proposal{}, err
	}
	diff := ""
	for _, f := range files {
		diff += unified(f, before[f], after[f])
	}
	return tune.Proposal{Title: title, Diff: []byte(diff), Dir: k.dir, Apply: statement(a.sql), Undo: statement(a.unsql),
		Reload: a.reload, Restart: a.restart, Keep: true}, nil
}

// configuration is every file that a trial may change, by name.
func (k *bank) configuration() (map[string]string, error) {
	out := map[string]string{}
	for _, top := range []string{"etc", "app"} {
		err := filepath.WalkDir(filepath.Join(k.dir, top), func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			out[path] = string(b)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
