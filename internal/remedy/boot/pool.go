package boot

import (
	"fmt"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
)

// planPool lets InnoDB write down at shutdown which pages its pool holds, and
// read them when it starts. What is read at start can only be set in the file,
// so the server is restarted; that it is to write them down is set at run time
// before, so that this restart is a warm one already.
func planPool(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc, db := in.Stack.Service(f.Service), in.Snapshot.Databases[f.Service]
	if svc == nil || db == nil {
		return nil, fmt.Errorf("the variables of %s are not known", f.Service)
	}
	conf, err := diagnose.MySQLConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	var changes []change.Change
	for _, s := range []struct{ name, value string }{{"innodb_buffer_pool_dump_at_shutdown", "ON"}, {"innodb_buffer_pool_dump_pct", "100"}, {"innodb_buffer_pool_load_at_startup", "ON"}} {
		now, known := db.Variables[s.name]
		if !known || now == s.value {
			continue
		}
		if err := conf.Set(sectionOf(conf, s.name), s.name, s.value); err != nil {
			return nil, err
		}
		if s.name != "innodb_buffer_pool_load_at_startup" {
			changes = append(changes, change.Change{Kind: change.KindVariable, Host: planning.HostOf(svc), Service: f.Service, Variable: s.name,
				BeforeValue: now, AfterValue: s.value, Why: f.Text, Command: fmt.Sprintf("SET GLOBAL %s = %s", s.name, s.value)})
		}
	}
	written, err := planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, f.Text)
	if err != nil {
		return nil, err
	}
	for i := range written {
		written[i].Phase = 1
	}
	return []planning.Plan{{ID: "mariadb.pool-warm:" + f.Service, Title: "Let " + f.Service + " fill its buffer pool again after a restart",
		Changes: append(changes, written...)}}, nil
}

// sectionOf is the section that holds an option already, else [mysqld], which
// every version reads.
func sectionOf(conf interface {
	Sections() []string
	Keys(string) []string
}, option string) string {
	for _, s := range conf.Sections() {
		if !strings.HasPrefix(s, "mysqld") && !strings.HasPrefix(s, "mariadb") && s != "server" || s == "mysqld_safe" || s == "mysqldump" {
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
