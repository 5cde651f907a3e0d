package database

import (
	"fmt"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/ini"
	"kasoku/internal/diagnose"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/ui"
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
		Title: fmt.Sprintf("Take %s of another version out of %s's files: %s", ui.Plural(len(names), "setting", "settings"), f.Service, strings.Join(names, ", "))}}, nil
}

// planNoBinlog turns the binary log off by taking it out of the files.
func planNoBinlog(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	v, err := newView(in, f)
	if err != nil {
		return nil, err
	}
	if why := v.persisted("log_bin"); why != "" {
		return nil, fmt.Errorf("%s: %s", f.Service, why)
	}
	changes, err := v.noBinlog(f)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "mariadb.no-binlog:" + f.Service, Trades: []regulation.Trade{regulation.Durability}, Changes: changes,
		Title: fmt.Sprintf("Keep no binary log of %s", f.Service)}}, nil
}

// noBinlog takes log_bin out. MySQL keeps a binary log since 8.0 unless it is
// told not to; skip-log-bin takes a value of 1 as its being there (seen with
// 8.0.15 and 9.7).
func (v view) noBinlog(f diagnose.Finding) ([]change.Change, error) {
	names := []string{"log_bin", "log-bin"}
	if v.db.MariaDB || !atLeast(v.db.Version, version{8}) {
		return without(v.in, f, names, change.Restart)
	}
	conf, err := v.unset(names)
	if err != nil {
		return nil, err
	}
	if err := conf.Set(ServerSection(conf, "skip_log_bin"), spelled(conf, "skip-log-bin"), "1"); err != nil {
		return nil, err
	}
	return planning.FileChanges(v.in.Snapshot, v.svc, conf.Changed(), change.Restart, f.Text)
}

// without takes options out of every section that the server reads.
func without(in planning.Input, f diagnose.Finding, names []string, act change.Activation) ([]change.Change, error) {
	svc := in.Stack.Service(f.Service)
	if svc == nil {
		return nil, fmt.Errorf("%s is not in the stack", f.Service)
	}
	conf, err := view{in: in, svc: svc}.unset(names)
	if err != nil {
		return nil, err
	}
	return planning.FileChanges(in.Snapshot, svc, conf.Changed(), act, f.Text)
}

// unset is the server's configuration without some options.
func (v view) unset(names []string) (*ini.Config, error) {
	conf, err := diagnose.MySQLConfig(v.in.Snapshot, v.svc)
	if err != nil {
		return nil, err
	}
	for _, section := range conf.Sections() {
		if !ServerGroup(section) {
			continue
		}
		for _, name := range names {
			if err := conf.Unset(section, name); err != nil {
				return nil, err
			}
		}
	}
	return conf, nil
}
