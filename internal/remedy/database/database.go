// Package database plans changes of MariaDB and MySQL: indexes and settings.
package database

import (
	"fmt"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

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
