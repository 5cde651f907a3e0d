package stack

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Systems are the schemas that are a server's own, as a list in SQL.
const systems = "('mysql', 'information_schema', 'performance_schema', 'sys')"

// querying is a pool of connections, or one of them.
type querying interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// UserSchemas are the schemas of a database that are not the server's own, sorted.
func UserSchemas(ctx context.Context, db querying) ([]string, error) {
	return texts(ctx, db, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN "+systems+" ORDER BY 1")
}

// texts are the values of the first column of a query.
func texts(ctx context.Context, db querying, query string) ([]string, error) {
	rows, err := table(ctx, db, query)
	var out []string
	for _, row := range rows {
		out = append(out, row[0])
	}
	return out, err
}

// table is what a query returns, NULL as "".
func table(ctx context.Context, db querying, query string) ([][]string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]string
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(columns))
		for i, v := range values {
			row[i] = v.String
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// carryRules are what keeps a database's data from being moved: rows of a query
// name it, and the text says why, with %s for them.
var carryRules = []struct{ query, why string }{
	{"SHOW ALL SLAVES STATUS", "follows another server already (SHOW ALL SLAVES STATUS); its replication is not Kasoku's to change"},
	{"SELECT 1 FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%' AND USER <> '" + ReplicaUser + "'", "is followed by another server already; its replication is not Kasoku's to change"},
	{"SELECT 1 FROM information_schema.GLOBAL_VARIABLES WHERE VARIABLE_NAME = 'WSREP_ON' AND VARIABLE_VALUE = 'ON'", "is part of a Galera cluster"},
	{"SELECT 1 FROM information_schema.GLOBAL_VARIABLES WHERE VARIABLE_NAME = 'BINLOG_FORMAT' AND VARIABLE_VALUE = 'STATEMENT' AND @@log_bin = 1", "writes a binary log of statements (binlog_format), which may mean something else on another server; set MIXED or ROW"},
	{"SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, ' (', ENGINE, ')') FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND ENGINE <> 'InnoDB' AND TABLE_SCHEMA NOT IN " + systems,
		"has tables that no consistent copy can be made of without locking them: %s; make them InnoDB"},
	{"SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_TYPE = 'SYSTEM VERSIONED' AND TABLE_SCHEMA NOT IN " + systems,
		"has system-versioned tables, whose history a dump leaves out: %s"},
	{"SELECT CONCAT(EVENT_SCHEMA, '.', EVENT_NAME) FROM information_schema.EVENTS", "has events, which would run on the wrong side: %s"},
	{`SELECT DISTINCT CONCAT(what, ' of ', definer) FROM (
		SELECT CONCAT(ROUTINE_SCHEMA, '.', ROUTINE_NAME) what, DEFINER definer FROM information_schema.ROUTINES WHERE SECURITY_TYPE = 'DEFINER' AND ROUTINE_SCHEMA NOT IN ` + systems + `
		UNION SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), DEFINER FROM information_schema.VIEWS WHERE SECURITY_TYPE = 'DEFINER' AND TABLE_SCHEMA NOT IN ` + systems + `
		UNION SELECT CONCAT(TRIGGER_SCHEMA, '.', TRIGGER_NAME), DEFINER FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA NOT IN ` + systems + `) d WHERE definer NOT LIKE 'root@localhost'`,
		"has routines, views or triggers that act as accounts which the other server has not: %s"},
}

// Uncarriable says why the data of a database cannot be moved; "" if nothing is
// known to stand against it. The words go on from the database's name.
func Uncarriable(ctx context.Context, main querying) (string, error) {
	for _, r := range carryRules {
		found, err := texts(ctx, main, r.query)
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return strings.TrimSpace(strings.ReplaceAll(r.why, "%s", few(found))), nil
		}
	}
	if why, err := filtered(ctx, main); err != nil || why != "" {
		return why, err
	}
	schemas, err := UserSchemas(ctx, main)
	if err == nil && len(schemas) == 0 {
		return "has no data of its own", nil
	}
	if err != nil {
		return "", err
	}
	_, why, err := CarriedAccounts(ctx, main)
	return why, err
}

// Unfit says why the spare of a pair cannot take the other's data; "" if nothing
// is known to stand against it.
func Unfit(ctx context.Context, main, spare querying) (string, error) {
	schemas, err := UserSchemas(ctx, spare)
	if err != nil {
		return "", err
	}
	if len(schemas) > 0 {
		return fmt.Sprintf("has data of its own (%s), which would be mixed with what comes; drop it or take another server", few(schemas)), nil
	}
	for _, r := range carryRules[:3] {
		found, err := texts(ctx, spare, r.query)
		if err != nil || len(found) > 0 {
			return r.why, err
		}
	}
	if why, err := filtered(ctx, spare); err != nil || why != "" {
		return why, err
	}
	for _, q := range []struct{ query, what string }{
		{"SELECT SUBSTRING_INDEX(VERSION(), '.', 2)", "version"},
		{"SELECT @@lower_case_table_names", "lower_case_table_names"},
		{"SELECT @@character_set_server", "character_set_server"},
	} {
		a, err := texts(ctx, main, q.query)
		if err != nil {
			return "", err
		}
		b, err := texts(ctx, spare, q.query)
		if err != nil {
			return "", err
		}
		if !slices.Equal(a, b) {
			return fmt.Sprintf("has another %s, %s, than the one whose data it would take, %s", q.what, few(b), few(a)), nil
		}
	}
	return "", nil
}

// few of many names, for people.
func few(names []string) string {
	const most = 3
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// An account of a database that an application may use.
type CarriedAccount struct{ User, Host string }

// writesPast are the privileges that read_only does not hold (MariaDB manual,
// "read_only").
var writesPast = regexp.MustCompile(`(?i)^GRANT (ALL PRIVILEGES|.*\b(SUPER|READ[_ ]ONLY ADMIN)\b).* ON \*\.\* TO`)

// onSchema grants something in a schema, or in all of them.
var onSchema = regexp.MustCompile("(?i)^GRANT .* ON (`[^`]+`\\.|PROCEDURE |FUNCTION )|^GRANT .*\\b(SELECT|INSERT|UPDATE|DELETE)\\b.* ON \\*\\.\\* TO")

// CarriedAccounts are those that applications log in by: one of each user's, the
// one for this host before one for all; root of the server itself is a person's. why says which account keeps the data from
// being moved.
func CarriedAccounts(ctx context.Context, db querying) (_ []CarriedAccount, why string, err error) {
	rows, err := texts(ctx, db, `SELECT CONCAT(User, '\n', Host, '\n', plugin) FROM mysql.user
		WHERE is_role = 'N' AND User NOT IN ('', 'mysql', 'mariadb.sys', '`+ReplicaUser+`') AND NOT (User = 'root' AND Host IN ('localhost', '127.0.0.1', '::1')) AND CONCAT(User, '@', Host) <> CURRENT_USER()
		ORDER BY User, FIELD(Host, '%', 'localhost', '127.0.0.1') DESC`)
	if err != nil {
		return nil, "", fmt.Errorf("read its accounts: %w", err)
	}
	var out []CarriedAccount
	for _, row := range rows {
		p := strings.Split(row, "\n")
		if len(p) != 3 {
			continue
		}
		a, plugin := CarriedAccount{p[0], p[1]}, p[2]
		grants, err := texts(ctx, db, "SHOW GRANTS FOR "+AccountName(a.User, a.Host))
		if err != nil {
			return nil, "", fmt.Errorf("read its accounts: %w", err)
		}
		switch {
		case slices.ContainsFunc(grants, writesPast.MatchString):
			return nil, fmt.Sprintf("has an account, %s@%s, that may write although a server is read-only (SUPER, READ ONLY ADMIN, or all privileges on *.*), so that a write could be lost; give it only those on its schemas, or drop it", a.User, a.Host), nil
		case !slices.ContainsFunc(grants, onSchema.MatchString):
			continue
		case plugin == "unix_socket":
			return nil, fmt.Sprintf("has an account, %s@%s, that logs in by the unix socket only, which another host has not; give it a password", a.User, a.Host), nil
		case slices.ContainsFunc(out, func(o CarriedAccount) bool { return o.User == a.User }):
			continue
		}
		out = append(out, a)
	}
	if len(out) == 0 {
		return nil, "has no account but root that applications could log in by from another host", nil
	}
	return out, "", nil
}

// AccountName quotes an account as statements name it.
func AccountName(user, host string) string { return quoteName(user) + "@" + quoteName(host) }

func quoteName(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'"
}
