package stack

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// grants are the privileges of a database account.
type grants struct {
	global []string            // on *.*
	schema map[string][]string // on `schema`.*; grants on single tables are left out
}

// grantLine is one row of SHOW GRANTS: GRANT privileges ON object TO …
var grantLine = regexp.MustCompile("^GRANT (.+) ON (\\*\\.\\*|`(?:[^`]|``)+`\\.\\*) TO ")

// parseGrants reads the rows of SHOW GRANTS (MariaDB and MySQL). Rows about
// roles, proxies and single tables are not privileges of the account on a
// whole schema and are left out.
func parseGrants(rows []string) grants {
	g := grants{schema: map[string][]string{}}
	for _, row := range rows {
		m := grantLine.FindStringSubmatch(row)
		if m == nil {
			continue
		}
		var list []string
		for p := range strings.SplitSeq(m[1], ",") {
			list = append(list, strings.ToUpper(strings.TrimSpace(p)))
		}
		if m[2] == "*.*" {
			g.global = append(g.global, list...)
			continue
		}
		name := strings.ReplaceAll(m[2][1:len(m[2])-3], "``", "`")
		name = strings.ReplaceAll(name, `\_`, "_") // a schema's name is a pattern there
		g.schema[name] = append(g.schema[name], list...)
	}
	return g
}

// has reports whether the account has one of the privileges on a schema; ""
// asks for every schema.
func (g grants) has(schema string, any ...string) bool {
	any = append(any, "ALL", "ALL PRIVILEGES")
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return slices.Contains(any, p) })
	}
	if in(g.global) {
		return true
	}
	if schema == "" {
		return false
	}
	for name, list := range g.schema {
		if (name == schema || name == "%" || strings.HasSuffix(name, "%") && strings.HasPrefix(schema, strings.TrimSuffix(name, "%"))) && in(list) {
			return true
		}
	}
	return false
}

// schema is a database of the server with the size of its largest table, in
// bytes: what building an index on it may need (MariaDB manual, "InnoDB Online
// DDL Overview": temporary files of the sorted index).
type schema struct {
	name    string
	largest int64
}

// database asks about the account that kasoku.yaml names.
func (p *probe) database(ctx context.Context, svc *Service) {
	login := Right{Need: NeedLogin, Service: svc.Name, Object: "*", Without: "everything about statements, indexes and variables"}
	if svc.Login == nil {
		why := "kasoku.yaml has no login for it"
		p.add(login, why, "")
		p.add(Right{Need: NeedVariable, Service: svc.Name, Object: "*"}, why, "")
		p.add(Right{Need: NeedIndex, Service: svc.Name, Object: "*"}, why, "")
		return
	}
	db, err := OpenDB(ctx, p.h, svc)
	if err != nil {
		why := firstLine(err.Error())
		p.add(login, why, "")
		p.add(Right{Need: NeedVariable, Service: svc.Name, Object: "*"}, why, "")
		p.add(Right{Need: NeedIndex, Service: svc.Name, Object: "*"}, why, "")
		return
	}
	defer db.Close()
	a, err := readAccount(ctx, db)
	if err != nil {
		p.add(login, fmt.Sprintf("its privileges cannot be read: %v", err), "")
		return
	}
	p.add(login, "", "")
	p.variableRight(svc, a)
	p.indexRights(ctx, svc, a)
	for _, x := range []struct {
		privilege, schema, without string
	}{
		{"PROCESS", "", "other accounts' statements and InnoDB's state"},
		{"SELECT", "performance_schema", "waits and statement counters of performance_schema"},
	} {
		r := Right{Need: NeedObserve, Service: svc.Name, Object: x.privilege, Without: x.without}
		on := "*.*"
		if x.schema != "" {
			on, r.Object = x.schema+".*", x.privilege+" on "+x.schema
		}
		if a.grants.has(x.schema, x.privilege) {
			p.add(r, "", "")
			continue
		}
		p.add(r, fmt.Sprintf("account %s lacks %s on %s", a.name, x.privilege, on), fmt.Sprintf("GRANT %s ON %s TO %s;", x.privilege, on, a.name))
	}
}

// dbAccount is what the server says about the account that is logged in.
type dbAccount struct {
	name    string // quoted: 'kasoku'@'localhost'
	grants  grants
	schemas []schema
	dataDir string
	mariadb bool
}

func readAccount(ctx context.Context, db *sql.DB) (dbAccount, error) {
	var a dbAccount
	var user, version string
	if err := db.QueryRowContext(ctx, "SELECT CURRENT_USER(), VERSION(), @@datadir").Scan(&user, &version, &a.dataDir); err != nil {
		return a, err
	}
	a.mariadb = strings.Contains(strings.ToLower(version), "mariadb")
	name, from, _ := strings.Cut(user, "@")
	a.name = "'" + name + "'@'" + from + "'"
	rows, err := db.QueryContext(ctx, "SHOW GRANTS")
	if err != nil {
		return a, err
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return a, err
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		return a, err
	}
	a.grants = parseGrants(lines)
	a.schemas, err = readSchemas(ctx, db)
	return a, err
}

func readSchemas(ctx context.Context, db *sql.DB) ([]schema, error) {
	rows, err := db.QueryContext(ctx, `SELECT table_schema, COALESCE(MAX(data_length), 0) FROM information_schema.tables
		WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys') GROUP BY table_schema`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []schema
	for rows.Next() {
		var s schema
		if err := rows.Scan(&s.name, &s.largest); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// variableRight: SET GLOBAL needs SUPER in MariaDB (a few variables less since
// 10.5, none of those that Kasoku sets) and MySQL 5.7, SYSTEM_VARIABLES_ADMIN
// in MySQL 8.
func (p *probe) variableRight(svc *Service, a dbAccount) {
	x := Right{Need: NeedVariable, Service: svc.Name, Object: "*", Without: "server variables, and the statement log of diagnostic runs"}
	if a.grants.has("", "SUPER", "SYSTEM_VARIABLES_ADMIN") {
		p.add(x, "", "")
		return
	}
	privilege := "SUPER"
	if !a.mariadb {
		privilege = "SYSTEM_VARIABLES_ADMIN"
	}
	p.add(x, fmt.Sprintf("account %s lacks %s on *.*", a.name, privilege), fmt.Sprintf("GRANT %s ON *.* TO %s;", privilege, a.name))
}

// indexRights: one for each schema that the account can see.
func (p *probe) indexRights(ctx context.Context, svc *Service, a dbAccount) {
	if len(a.schemas) == 0 {
		p.add(Right{Need: NeedIndex, Service: svc.Name, Object: "*", Without: "indexes"},
			fmt.Sprintf("account %s sees no tables", a.name), fmt.Sprintf("GRANT SELECT, INDEX ON `schema`.* TO %s;", a.name))
		return
	}
	free, err := p.free(ctx, a.dataDir)
	for _, s := range a.schemas {
		x := Right{Need: NeedIndex, Service: svc.Name, Object: s.name, Without: "indexes in this schema"}
		var lacks []string
		for _, need := range []string{"INDEX", "SELECT"} { // SELECT: to explain statements
			if !a.grants.has(s.name, need) {
				lacks = append(lacks, need)
			}
		}
		switch {
		case len(lacks) > 0:
			list := strings.Join(lacks, ", ")
			p.add(x, fmt.Sprintf("account %s lacks %s on %s", a.name, list, s.name), fmt.Sprintf("GRANT %s ON `%s`.* TO %s;", list, s.name, a.name))
		case err == nil && free < s.largest:
			p.add(x, fmt.Sprintf("%s has %d MiB left, building an index on the largest table may need %d", a.dataDir, free>>20, s.largest>>20), "")
		default:
			p.add(x, "", "")
		}
	}
}
