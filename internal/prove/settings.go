package prove

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// lossy are settings with which an acknowledged write may be lost although no
// killed process shows it: the kernel lives on and writes what it was given.
// Sources: MariaDB Knowledge Base and MySQL manual, on each variable.
var lossy = []struct {
	variable string
	is       func(value string, all map[string]string) bool
	text     string
}{
	// MariaDB's 3 syncs at commit, too, as 5.5 did.
	{"innodb_flush_log_at_trx_commit", func(v string, _ map[string]string) bool { return v != "1" && v != "3" },
		"a commit does not wait for the log to be on the disk"},
	{"innodb_doublewrite", func(v string, _ map[string]string) bool { return off(v) },
		"a page that a power loss cuts in half cannot be mended"},
	{"innodb_flush_method", func(v string, _ map[string]string) bool { return strings.Contains(strings.ToLower(v), "nosync") },
		"files are written and never synced"},
	// Without it in the binary log a transaction that InnoDB has prepared is
	// rolled back at recovery (MariaDB Knowledge Base, "Transaction Coordinator
	// Log"; MySQL manual, "sync_binlog").
	{"sync_binlog", func(v string, all map[string]string) bool { return v != "1" && !off(all["log_bin"]) },
		"the binary log is not synced at each commit, and what it lacks is rolled back after a crash"},
	{"innodb_checksum_algorithm", func(v string, _ map[string]string) bool { return strings.EqualFold(v, "none") },
		"a broken page is not noticed"},
}

func off(v string) bool {
	return slices.Contains([]string{"", "0", "off", "no", "false"}, strings.ToLower(v))
}

// kept are the variables that say where a server keeps what must survive.
var kept = []string{"datadir", "innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory", "aria_log_dir_path", "log_bin_basename"}

// inMemory are file systems that a reboot empties (stat(1) -f; tmpfs(5)).
var inMemory = []string{"tmpfs", "ramfs"}

// settingsOf says which settings of a database, and which places of its files,
// cannot keep an acknowledged write through a power loss. notes are what could
// not be looked at.
func settingsOf(ctx context.Context, h host.Host, st *stack.Stack, svc *stack.Service) (problems, notes []string, err error) {
	vars, err := variables(ctx, h, svc)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		notes = append(notes, fmt.Sprintf("settings of %s were not looked at: %v", svc.Name, err))
	}
	for _, s := range lossy {
		if v, known := vars[s.variable]; known && s.is(v, vars) {
			problems = append(problems, fmt.Sprintf("%s has %s = %s: %s", svc.Name, s.variable, v, s.text))
		}
	}
	for _, p := range places(vars) {
		res, err := h.Run(ctx, host.Command{Argv: []string{"stat", "-L", "-f", "-c", "%T", p}})
		kind := strings.TrimSpace(string(res.Stdout))
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil || res.ExitCode != 0:
			notes = append(notes, fmt.Sprintf("the file system of %s could not be looked at: %s", p, strings.TrimSpace(string(res.Stderr))))
		case slices.Contains(inMemory, kind):
			problems = append(problems, fmt.Sprintf("%s keeps its files in %s, which is memory (%s): a reboot empties it", svc.Name, p, kind))
		}
	}
	more, err := preloaded(ctx, h, st, svc)
	return append(problems, more...), notes, err
}

// variables are what the server itself says, in lower case.
func variables(ctx context.Context, h host.Host, svc *stack.Service) (map[string]string, error) {
	db, err := stack.OpenDB(ctx, h, svc)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		out[strings.ToLower(name)] = value
	}
	return out, rows.Err()
}

// places are the folders in which a server keeps what must survive.
func places(vars map[string]string) []string {
	var out []string
	for _, name := range kept {
		p := vars[name]
		if p == "" || name == "log_bin_basename" && off(vars["log_bin"]) {
			continue
		}
		if name == "log_bin_basename" {
			p = path.Dir(p)
		}
		if !path.IsAbs(p) {
			p = path.Join(vars["datadir"], p)
		}
		if p = path.Clean(p); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// preloaded looks for a library that turns fsync into nothing (libeatmydata)
// among what the server's process has loaded.
func preloaded(ctx context.Context, h host.Host, st *stack.Stack, svc *stack.Service) ([]string, error) {
	c, err := stack.NewController(h, st, svc)
	if err != nil {
		return nil, err
	}
	pids, err := c.PIDs(ctx)
	if err != nil {
		return nil, ctx.Err() // whether it runs is another question
	}
	for _, pid := range pids {
		maps, err := h.ReadFile(ctx, fmt.Sprintf("/proc/%d/maps", pid))
		if err == nil && strings.Contains(string(maps), "libeatmydata") {
			return []string{fmt.Sprintf("%s runs with libeatmydata, which turns every sync into nothing", svc.Name)}, nil
		}
	}
	return nil, ctx.Err()
}
