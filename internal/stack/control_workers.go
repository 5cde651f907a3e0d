package stack

import (
	"context"
	"errors"
	"slices"
	"strings"

	"kasoku/internal/kind"
)

// ErrUnseen: how many workers run cannot be seen.
var ErrUnseen = errors.New("cannot be seen")

// FPMServer is PHP-FPM's name where workers are counted.
const FPMServer = "php-fpm"

// Workers counts the service's worker processes: those of the application server of
// that name (internal/kind), or, for FPMServer, of that pool. ErrUnseen if its main process
// is not found, or is not the only one. It reads the process table once.
func (c *Controller) Workers(ctx context.Context, server, pool string) (int, error) {
	family, err := c.family(ctx)
	if err != nil {
		return 0, err
	}
	t, err := readProcesses(ctx, c.h)
	if err != nil {
		return 0, err
	}
	if server == FPMServer {
		return t.titled(family, "php-fpm: pool "+pool), nil
	}
	s := kind.Named(server)
	if s == nil {
		return 0, ErrUnseen
	}
	commands, parents := t.tree(family)
	main := s.Main(commands, parents)
	if main < 0 {
		return 0, ErrUnseen
	}
	var children [][]string
	for i, p := range parents {
		if p == main {
			children = append(children, commands[i])
		}
	}
	n := s.Workers(commands[main], children)
	if n < 0 {
		return 0, ErrUnseen
	}
	return n, nil
}

// tree are the commands of processes that still run, each with the position of its
// parent among them, -1 if that is none of them.
func (t *processes) tree(ids []identity) (commands [][]string, parents []int) {
	var pids []int
	for _, id := range ids {
		if p := t.byPID[id.pid]; p != nil && p.started == id.started {
			pids = append(pids, id.pid)
			commands = append(commands, p.cmdline)
		}
	}
	for _, pid := range pids {
		parents = append(parents, slices.Index(pids, t.byPID[pid].ppid))
	}
	return commands, parents
}

// titled counts those of the processes that call themselves so.
func (t *processes) titled(ids []identity, title string) int {
	n := 0
	for _, id := range ids {
		if p := t.byPID[id.pid]; p != nil && p.started == id.started && strings.TrimSpace(p.title()) == title {
			n++
		}
	}
	return n
}
