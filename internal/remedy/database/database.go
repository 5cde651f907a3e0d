// Package database plans changes of MariaDB and MySQL: indexes and settings.
package database

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// set is one database variable's new value.
type set struct {
	name, value string // value as the server prints it
	option      string // as written in the option file
}

// planVariables plans run-time values that are also made permanent.
func planVariables(in planning.Input, service string, sets []set, why string) ([]change.Change, error) {
	svc := in.Stack.Service(service)
	db := in.Snapshot.Databases[service]
	if svc == nil || db == nil {
		return nil, fmt.Errorf("the variables of %s are not known", service)
	}
	conf, err := diagnose.MySQLConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	var vars []change.Change
	act := change.None
	for _, s := range sets {
		if err := conf.Set(ServerSection(conf, s.name), s.name, s.option); err != nil {
			return nil, err
		}
		if !dynamic(db, s.name) {
			act = change.Restart
			continue
		}
		vars = append(vars, change.Change{Kind: change.KindVariable, Host: planning.HostOf(svc), Service: service, Variable: s.name,
			BeforeValue: db.Variables[s.name], AfterValue: s.value, Why: why,
			Command: fmt.Sprintf("SET GLOBAL %s = %s", s.name, s.value)})
	}
	files, err := planning.FileChanges(in.Snapshot, svc, conf.Changed(), act, why)
	return append(files, vars...), err
}

// ServerSection is where a server option is to be written: the group that
// already holds it, else [mysqld], which every version reads.
func ServerSection(conf interface {
	Sections() []string
	Keys(string) []string
}, option string) string {
	for _, s := range conf.Sections() {
		if !serverGroup(s) {
			continue
		}
		for _, k := range conf.Keys(s) {
			if strings.ReplaceAll(k, "-", "_") == option {
				return s
			}
		}
	}
	return "mysqld"
}

// serverGroup reports whether a server reads the section: [mysqld_safe] and
// [mysqldump] are of other programs, [mariadb-10.11] is of one version.
func serverGroup(s string) bool {
	return s == "server" || s == "mysqld" || s == "mariadb" || s == "mariadbd" ||
		strings.HasPrefix(s, "mysqld-") || strings.HasPrefix(s, "mariadb-") || strings.HasPrefix(s, "mariadbd-")
}

// dynamic reports whether this server can change the variable while running.
func dynamic(db *evidence.Database, variable string) bool {
	if variable != "innodb_log_file_size" {
		return true
	}
	// MariaDB manual, "innodb_log_file_size": dynamic since 10.9.
	return db.MariaDB && versionAtLeast(db.Version, 10, 9)
}

func versionAtLeast(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, err1 := strconv.Atoi(parts[0])
	b, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (a > major || a == major && b >= minor)
}

// planMemory sizes buffer pool and redo log for the data that is there.
func planMemory(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	db := in.Snapshot.Databases[f.Service]
	if db == nil {
		return nil, fmt.Errorf("the variables of %s are not known", f.Service)
	}
	var sets []set
	var what []string
	pool, _ := strconv.ParseInt(db.Variables["innodb_buffer_pool_size"], 10, 64)
	if reads, _ := strconv.ParseFloat(f.Subject["reads"], 64); reads > 0 && db.DataBytes > pool {
		// A quarter more than the data: room for its growth, and for the
		// adaptive hash index and the lock system that live in the pool too.
		want := roundUp(db.DataBytes*5/4, 128*planning.MiB)
		// What is available now, less the regulation's headroom.
		spare := planning.SpareMemory(in, in.Stack.Service(f.Service))
		want = min(want, pool+spare/(128*planning.MiB)*128*planning.MiB)
		if want > pool {
			sets = append(sets, set{"innodb_buffer_pool_size", strconv.FormatInt(want, 10), fmt.Sprintf("%dM", want/planning.MiB)})
			what = append(what, fmt.Sprintf("buffer pool %d → %d MiB", pool/planning.MiB, want/planning.MiB))
		}
	}
	redo, _ := strconv.ParseInt(db.Variables["innodb_log_file_size"], 10, 64)
	files := int64(1)
	if n, err := strconv.ParseInt(db.Variables["innodb_log_files_in_group"], 10, 64); err == nil && n > 1 {
		files = n
	}
	if need, _ := strconv.ParseInt(f.Subject["redo"], 10, 64); need/files > redo && redo > 0 {
		// At most 1 GiB: crash recovery reads all of it.
		if want := min(roundUp(need/files, 64*planning.MiB), 1024*planning.MiB/files); want > redo {
			sets = append(sets, set{"innodb_log_file_size", strconv.FormatInt(want, 10), fmt.Sprintf("%dM", want/planning.MiB)})
			what = append(what, fmt.Sprintf("redo log %d → %d MiB", redo/planning.MiB, want/planning.MiB))
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("%s: memory less the regulation's headroom leaves no room for a larger pool, and the redo log is at its most (1 GiB)", f.Service)
	}
	changes, err := planVariables(in, f.Service, sets, f.Text)
	if err != nil {
		return nil, err
	}
	sort.Strings(what)
	return []planning.Plan{{ID: "mariadb.memory:" + f.Service + ":" + strings.Join(what, ","),
		Title: fmt.Sprintf("Size %s for its data: %s", f.Service, strings.Join(what, ", ")), Changes: changes}}, nil
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// planCommitFlush lets commits reach the disk once a second: with 2 a crash of
// the server loses nothing, a crash of the machine up to a second.
func planCommitFlush(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	changes, err := planVariables(in, f.Service, []set{{"innodb_flush_log_at_trx_commit", "2", "2"}}, f.Text)
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
