package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// login is one copy of the bank login case.
type login struct {
	dir   string
	bench *tune.Bench
	exec  *change.Executor
}

// script makes and restarts copies of the case.
const script = "cases/login/case.sh"

func openCase(ctx context.Context, dir string, window time.Duration) (*login, error) {
	st, err := stack.Load(filepath.Join(dir, "kasoku.yaml"))
	if err != nil {
		return nil, err
	}
	sc, err := load.LoadScenario(st.Load.Scenario)
	if err != nil {
		return nil, err
	}
	state := filepath.Join(st.Dir, ".kasoku")
	db, err := store.Open(state)
	if err != nil {
		return nil, err
	}
	hosts := map[string]host.Host{stack.LocalHost: host.NewLocal()}
	x, err := tune.OpenExecutor(ctx, state, st, hosts)
	if err != nil {
		db.Close()
		return nil, err
	}
	return &login{dir: st.Dir, exec: x, bench: &tune.Bench{Stack: st, Hosts: hosts, Scenario: sc, Store: db, Window: window}}, nil
}

func (c *login) close() {
	c.exec.Close()
	c.bench.Store.Close()
}

// restart stops and starts every service.
func (c *login) restart(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, script, "restart", c.dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("restart the case: %w: %s", err, out)
	}
	return nil
}

// replace exchanges a text that must stand in one of the case's files.
func (c *login) replace(name, old, text string) error {
	path := filepath.Join(c.dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !strings.Contains(string(data), old) {
		return fmt.Errorf("%s does not hold %q", path, old)
	}
	return os.WriteFile(path, []byte(strings.Replace(string(data), old, text, 1)), 0o644)
}

// sql runs statements as the operator.
func (c *login) sql(ctx context.Context, statements ...string) error {
	db, err := stack.OpenDB(ctx, c.bench.Hosts[stack.LocalHost], c.bench.Stack.Service("db"))
	if err != nil {
		return err
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// silent is a tune.Reporter that says only what went wrong.
type silent struct{}

func (silent) Step(string) {}
func (silent) Info(string) {}
func (silent) Warn(problem, hint string) {
	fmt.Fprintf(os.Stderr, "diagnosis: %s (%s)\n", problem, hint)
}
