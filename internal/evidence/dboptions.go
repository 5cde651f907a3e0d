package evidence

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/ini"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// readAccounts fills Database.Accounts if this login may read them.
func readAccounts(ctx context.Context, q querier, db *Database) {
	rows, err := q.QueryContext(ctx, "SELECT User, Host FROM mysql.user ORDER BY User, Host")
	if err != nil {
		return
	}
	defer rows.Close()
	out := []Account{}
	for rows.Next() {
		var a Account
		if rows.Scan(&a.User, &a.Host) != nil {
			return
		}
		if a.Host != "" { // a role has none and cannot log in
			out = append(out, a)
		}
	}
	if rows.Err() == nil {
		db.Accounts = out
	}
}

// readPersisted fills Database.Persisted where the server has such a file.
func readPersisted(ctx context.Context, q querier, db *Database) {
	if db.MariaDB || !on(db.Variables["persisted_globals_load"]) {
		return
	}
	if pairs, err := readPairs(ctx, q, "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.persisted_variables"); err == nil && len(pairs) > 0 {
		db.Persisted = pairs
	}
}

// readReplicas fills Database.Replicas from the threads that send the binary
// log. An account without PROCESS sees only its own threads.
func readReplicas(ctx context.Context, q querier, db *Database) {
	db.Replicas = -1
	rows, err := q.QueryContext(ctx, `SELECT SUM(COMMAND IN ('Binlog Dump', 'Binlog Dump GTID')),
		(SELECT COUNT(*) FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE = 'PROCESS') FROM information_schema.PROCESSLIST`)
	if err != nil {
		return
	}
	defer rows.Close()
	var n, process int
	if rows.Next() && rows.Scan(&n, &process) == nil && process > 0 {
		db.Replicas = n
	}
}

// foreignOptions asks the server's program what it thinks of its option files:
// it reads them, says what it does not know, and ends. Where kasoku.yaml does
// not name the program, only the options that the diagnosis knows are judged.
// conf are those files.
func (t *taker) foreignOptions(h host.Host, svc *stack.Service, db *Database, conf *ini.Config) {
	if svc.Binary == "" || conf == nil {
		return
	}
	argv := []string{svc.Binary, "--defaults-file=" + svc.Config, "--help", "--verbose"}
	res, err := h.Run(t.ctx, host.Command{Argv: argv})
	if err != nil {
		t.bad("options of "+svc.Name, fmt.Errorf("%s: %w", strings.Join(argv, " "), err))
		return
	}
	for _, o := range parseForeignOptions(res.Stderr) {
		// A variable of a plugin that the server has loaded from its own table
		// is unknown to the program, which does not read that.
		if _, known := db.Variables[strings.ReplaceAll(o.Name, "-", "_")]; !known {
			db.Foreign = append(db.Foreign, o)
		}
	}
	if db.MariaDB {
		return
	}
	for _, name := range stack.UnknownOptions(string(res.Stdout), conf, db.Variables) {
		if !slices.ContainsFunc(db.Foreign, func(o ForeignOption) bool { return o.Name == name }) {
			db.Foreign = append(db.Foreign, ForeignOption{Name: name, Why: "is unknown to it: a start with it fails"})
		}
	}
}

// What the servers say of an option (MariaDB 10.11 and MySQL 8.0, mysqld.cc
// and my_getopt.c):
//
//	[Warning] 'innodb-file-format' was removed. It does nothing now and exists only for …
//	[ERROR] mariadbd: unknown variable 'innodb_large_prefixx=1'
//	[ERROR] [MY-000067] [Server] unknown variable 'query_cache_size=1M'.
//	[ERROR] mariadbd: unknown option '--skip-locking'
var (
	removedOption = regexp.MustCompile(`'([A-Za-z0-9_-]+)' was removed\.`)
	unknownOption = regexp.MustCompile(`unknown (?:variable|option) '(?:--)?([A-Za-z0-9_-]+)`)
)

// parseForeignOptions reads what `mariadbd --help --verbose` prints to its
// error output. Options with loose_ are meant to be unknown to some servers.
func parseForeignOptions(stderr []byte) []ForeignOption {
	var out []ForeignOption
	add := func(name, why string) {
		loose := strings.HasPrefix(strings.ReplaceAll(name, "-", "_"), "loose_")
		if !loose && !slices.ContainsFunc(out, func(o ForeignOption) bool { return o.Name == name }) {
			out = append(out, ForeignOption{Name: name, Why: why})
		}
	}
	for line := range bytes.Lines(stderr) {
		if m := removedOption.FindSubmatch(line); m != nil {
			add(string(m[1]), "was removed and does nothing now")
		} else if m := unknownOption.FindSubmatch(line); m != nil {
			add(string(m[1]), "is unknown to it")
		}
	}
	return out
}
