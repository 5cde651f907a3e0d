package database

import (
	"fmt"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// planForeign takes options out that this version does not know or ignores.
// The running server has none of them, so nothing is activated: the next start
// is what it is for.
func planForeign(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	names := strings.Fields(f.Subject["options"])
	changes, err := without(in, f, names, change.None)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "mariadb.foreign:" + f.Service + ":" + strings.Join(names, ","), Changes: changes,
		Title: fmt.Sprintf("Take %d settings of another version out of %s's files: %s", len(names), f.Service, strings.Join(names, ", "))}}, nil
}

// planNoBinlog turns the binary log off by taking it out of the files.
func planNoBinlog(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	v, err := newView(in, f)
	if err != nil {
		return nil, err
	}
	// Since 8.0 MySQL keeps one unless told otherwise by an option without a
	// value, which the editor cannot write.
	if !v.db.MariaDB && atLeast(v.db.Version, version{8}) {
		return nil, fmt.Errorf("%s: MySQL %s has its binary log on by itself; write skip-log-bin into [mysqld] by hand and restart", f.Service, v.db.Version)
	}
	changes, err := without(in, f, []string{"log_bin", "log-bin"}, change.Restart)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "mariadb.no-binlog:" + f.Service, Trades: []regulation.Trade{regulation.Durability}, Changes: changes,
		Title: fmt.Sprintf("Keep no binary log of %s", f.Service)}}, nil
}

// without takes options out of every section that the server reads.
func without(in planning.Input, f diagnose.Finding, names []string, act change.Activation) ([]change.Change, error) {
	svc := in.Stack.Service(f.Service)
	if svc == nil {
		return nil, fmt.Errorf("%s is not in the stack", f.Service)
	}
	conf, err := diagnose.MySQLConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	for _, section := range conf.Sections() {
		if !serverGroup(section) {
			continue
		}
		for _, name := range names {
			if err := conf.Unset(section, name); err != nil {
				return nil, err
			}
		}
	}
	return planning.FileChanges(in.Snapshot, svc, conf.Changed(), act, f.Text)
}
