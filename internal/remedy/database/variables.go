package database

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy/planning"
)

// set is one database variable's new value.
type set struct {
	name, value string // value as the server prints it
	option      string // as written in the option file
	key         string // its name in the option file; "" the variable's
	// session: a connection takes it when it begins and keeps it.
	session bool
}

// planVariables plans run-time values that are also made permanent. What the
// server cannot change while it runs is in its file and taken by a restart;
// so is what connections keep, if restart says that they are never renewed.
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
	v := view{in: in, svc: svc, db: db}
	var vars []change.Change
	act := change.None
	for _, s := range sets {
		key := s.key
		if key == "" {
			key = s.name
		}
		if err := conf.Set(ServerSection(conf, key), spelled(conf, key), s.option); err != nil {
			return nil, err
		}
		if !dynamic(db, s.name) || v.poolNeedsRestart(s) {
			act = change.Restart
			continue
		}
		if s.session && v.keepsConnections() {
			act = change.Restart
		}
		vars = append(vars, change.Change{Kind: change.KindVariable, Host: planning.HostOf(svc), Service: service, Variable: s.name,
			BeforeValue: db.Variables[s.name], AfterValue: s.value, Why: why,
			Command: fmt.Sprintf("SET GLOBAL %s = %s", s.name, s.value)})
	}
	files, err := planning.FileChanges(in.Snapshot, svc, conf.Changed(), act, why)
	return append(files, vars...), err
}

// options is what ServerSection needs of option files.
type options interface {
	Sections() []string
	Keys(string) []string
}

// spelled is the option's name as the files already spell it: servers take
// dashes for underscores.
func spelled(conf options, option string) string {
	for _, s := range conf.Sections() {
		if !ServerGroup(s) {
			continue
		}
		for _, k := range conf.Keys(s) {
			if sameOption(k, option) {
				return k
			}
		}
	}
	return option
}

func sameOption(a, b string) bool {
	return strings.ReplaceAll(a, "-", "_") == strings.ReplaceAll(b, "-", "_")
}

// ServerSection is where a server option is to be written: the group that
// already holds it, else [mysqld], which every version reads.
func ServerSection(conf interface {
	Sections() []string
	Keys(string) []string
}, option string) string {
	for _, s := range conf.Sections() {
		if ServerGroup(s) && slices.ContainsFunc(conf.Keys(s), func(k string) bool { return sameOption(k, option) }) {
			return s
		}
	}
	return "mysqld"
}

// ServerGroup reports whether a server reads the section: [mysqld_safe] and
// [mysqldump] are of other programs, [mariadb-10.11] is of one version.
func ServerGroup(s string) bool {
	return s == "server" || s == "mysqld" || s == "mariadb" || s == "mariadbd" ||
		strings.HasPrefix(s, "mysqld-") || strings.HasPrefix(s, "mariadb-") || strings.HasPrefix(s, "mariadbd-")
}

// version is major.minor.patch of a server.
type version [3]int

// since is the first version that can do something; never if it is the zero.
func (v version) since(db *evidence.Database) bool {
	return v != version{} && atLeast(db.Version, v)
}

func atLeast(have string, want version) bool {
	var h version
	for i, part := range strings.SplitN(strings.SplitN(have, "-", 2)[0], ".", 3) {
		n, err := strconv.Atoi(part)
		if err != nil {
			return false
		}
		h[i] = n
	}
	return slices.Compare(h[:], want[:]) >= 0
}

// static are variables that need a restart, with the version from which each
// server can change them while it runs. MariaDB: the column "Dynamic" of its
// manual's "Server System Variables" and "InnoDB System Variables", and
// information_schema.SYSTEM_VARIABLES of 10.11; MySQL: its manual's "Dynamic
// System Variables".
var static = map[string]struct{ maria, mysql version }{
	"innodb_log_file_size":         {maria: version{10, 9}},
	"innodb_buffer_pool_size":      {maria: version{10, 2, 2}, mysql: version{5, 7, 5}},
	"innodb_buffer_pool_instances": {},
	"innodb_log_buffer_size":       {mysql: version{8, 0, 11}},
	"innodb_flush_method":          {},
	"innodb_doublewrite":           {}, // newer versions can; a restart does for all
	"innodb_autoinc_lock_mode":     {},
	"innodb_sync_array_size":       {},
	"back_log":                     {},
	"open_files_limit":             {},
	"table_open_cache_instances":   {},
	"skip_name_resolve":            {},
	"log_bin":                      {},
	// A server that starts with it OFF has no cache to switch on.
	"query_cache_type": {},
}

// dynamic reports whether this server can change the variable while running.
func dynamic(db *evidence.Database, variable string) bool {
	from, listed := static[variable]
	if !listed {
		return true
	}
	if db.MariaDB {
		return from.maria.since(db)
	}
	return from.mysql.since(db)
}
