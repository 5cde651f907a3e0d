// Package database plans changes of MariaDB and MySQL: indexes and settings.
package database

import (
	"fmt"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/index"
	"kasoku/internal/remedy/planning"
)

func planIndexes(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	db := in.Snapshot.Databases[f.Service]
	if db == nil {
		return nil, fmt.Errorf("the schema of %s is not known", f.Service)
	}
	var statements []evidence.Statement
	for _, s := range in.Evidence.Statements {
		if s.Service == f.Service {
			statements = append(statements, s)
		}
	}
	advice, notes := index.Advise(statements, db.Tables, index.Options{})
	if len(advice) == 0 {
		return nil, fmt.Errorf("no index would help: %s", joinNotes(notes))
	}
	p := planning.Plan{Title: fmt.Sprintf("Add %d missing index(es) to %s", len(advice), f.Service)}
	var names []string
	for _, a := range advice {
		spec := &change.Index{Schema: a.Schema, Table: a.Table, Name: a.Name, Columns: a.Columns}
		p.Changes = append(p.Changes, change.Change{Kind: change.KindIndex, Host: planning.HostOf(in.Stack.Service(f.Service)), Service: f.Service,
			Index: spec, Why: a.Reason,
			Command: fmt.Sprintf("CREATE INDEX `%s` ON `%s`.`%s` (%s)", a.Name, a.Schema, a.Table, strings.Join(a.Columns, ", "))})
		names = append(names, fmt.Sprintf("%s.%s(%s)", a.Schema, a.Table, strings.Join(a.Columns, ",")))
	}
	p.ID = "mariadb.index:" + strings.Join(names, "+")
	p.Why = f.Text
	return []planning.Plan{p}, nil
}

func joinNotes(notes []index.Note) string {
	if len(notes) == 0 {
		return "no scanning statement has a usable column"
	}
	var out []string
	for _, n := range notes {
		out = append(out, n.Text)
	}
	return strings.Join(out, "; ")
}

// planCommitFlush lets commits reach the disk once a second: with 2 a crash of
// the server loses nothing, a crash of the machine up to a second.
func planCommitFlush(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	changes, err := planVariables(in, f.Service, []set{{name: "innodb_flush_log_at_trx_commit", value: "2", option: "2"}}, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "mariadb.commit-flush:" + f.Service + ":2", Trades: []regulation.Trade{regulation.Durability},
		Title: fmt.Sprintf("Write %s's log to disk once a second instead of at each commit", f.Service), Changes: changes}}, nil
}

// planDatabaseSocket points the application at the database's unix socket.
func planDatabaseSocket(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	app, file := in.Stack.Service(f.Subject["app"]), f.Subject["file"]
	db := in.Snapshot.Databases[f.Subject["database"]]
	if app == nil || db == nil || db.Variables["socket"] == "" {
		return nil, fmt.Errorf("%s has no socket", f.Subject["database"])
	}
	if server := in.Stack.Service(f.Subject["database"]); server == nil || planning.HostOf(server) != planning.HostOf(app) {
		return nil, fmt.Errorf("%s and %s are on different hosts: a unix socket connects programs of one host", app.Name, f.Subject["database"])
	}
	content := diagnose.ReplaceAddresses(in.Snapshot.Files[planning.HostOf(app)][file].Content, func(a diagnose.DatabaseAddress) string {
		if a.Loopback() && a.Port == db.Variables["port"] {
			return a.WithSocket(db.Variables["socket"])
		}
		return a.Text
	})
	act, svc := change.Restart, app
	if app.RunsIn != "" {
		// Scripts read their settings at each request; a reload empties what
		// an opcode cache may hold of them.
		act = change.Reload
	}
	c, err := planning.FileChange(in.Snapshot, svc, file, content, act, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "app.db-socket:" + app.Name + ":" + file, Changes: []change.Change{c},
		Title: fmt.Sprintf("Connect %s to %s through its unix socket", app.Name, f.Subject["database"])}}, nil
}
