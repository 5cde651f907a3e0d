package remedy

import (
	"fmt"
	"sort"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/stack"
)

// settingTrades names settings that give something up when they are set so
// that the third field is true of the value. A setting that is not listed is
// taken as trading nothing.
var settingTrades = []struct {
	kind  stack.Kind
	key   string
	trade regulation.Trade
	when  func(value string) bool
}{
	{stack.MariaDB, "innodb_flush_log_at_trx_commit", regulation.Durability, func(v string) bool { return v != "1" && v != "3" }},
	{stack.MariaDB, "sync_binlog", regulation.Durability, func(v string) bool { return v != "1" }},
	{stack.MariaDB, "innodb_doublewrite", regulation.Durability, off},
	{stack.MariaDB, "innodb_flush_method", regulation.Durability, func(v string) bool { return strings.Contains(strings.ToLower(v), "nosync") }},
	{stack.MariaDB, "tx_isolation", regulation.Isolation, always},
	{stack.MariaDB, "transaction_isolation", regulation.Isolation, always},
	{stack.MariaDB, "slow_query_log", regulation.Observability, off},
	{stack.MariaDB, "log_bin", regulation.Durability, off},
	{stack.Nginx, "access_log", regulation.Observability, func(v string) bool { return v == "off" || strings.Contains(v, "buffer=") }},
	{stack.Nginx, "error_log", regulation.Observability, always},
	{stack.Nginx, "open_file_cache", regulation.Staleness, func(v string) bool { return v != "off" }},
	{stack.Nginx, "fastcgi_cache", regulation.Staleness, func(v string) bool { return v != "off" }},
	{stack.Nginx, "proxy_cache", regulation.Staleness, func(v string) bool { return v != "off" }},
	{stack.PHPFPM, "opcache.validate_timestamps", regulation.Staleness, off},
	{stack.PHPFPM, "session.save_path", regulation.SessionDurability, func(v string) bool { return strings.Contains(v, "/dev/shm") || strings.Contains(v, "/run") }},
	{stack.PHPFPM, "listen.mode", regulation.Security, func(v string) bool { return v == "0666" || v == "0777" }},
}

func off(v string) bool {
	switch strings.ToLower(v) {
	case "0", "off", "no", "false", "":
		return true
	}
	return false
}

func always(string) bool { return true }

// Set plans settings written as service.key=value in the service's own words:
// an nginx directive, a PHP-FPM pool key or php.ini key, a database variable.
func Set(st *stack.Stack, snap *evidence.Snapshot, sets []string) ([]change.Change, []regulation.Trade, error) {
	byService := map[string][][2]string{}
	var names []string
	var trades []regulation.Trade
	for _, s := range sets {
		left, value, ok := strings.Cut(s, "=")
		name, key, ok2 := strings.Cut(left, ".")
		if !ok || !ok2 || key == "" {
			return nil, nil, fmt.Errorf("--set %q: write service.key=value, e.g. php.pm.max_children=20", s)
		}
		svc := st.Service(name)
		if svc == nil {
			return nil, nil, fmt.Errorf("--set %q: no service %q in %s", s, name, st.Path)
		}
		if byService[name] == nil {
			names = append(names, name)
		}
		byService[name] = append(byService[name], [2]string{key, value})
		trades = append(trades, tradesOf(svc.Kind, key, value)...)
	}
	sort.Strings(names)
	var out []change.Change
	for _, n := range names {
		cs, err := setService(Input{Stack: st, Snapshot: snap}, st.Service(n), byService[n])
		if err != nil {
			return nil, nil, fmt.Errorf("--set %s: %w", n, err)
		}
		out = append(out, cs...)
	}
	return out, trades, nil
}

func tradesOf(kind stack.Kind, key, value string) []regulation.Trade {
	if kind == stack.MySQL {
		kind = stack.MariaDB
	}
	var out []regulation.Trade
	for _, t := range settingTrades {
		if t.kind == kind && t.key == strings.ReplaceAll(key, "-", "_") && t.when(value) {
			out = append(out, t.trade)
		}
	}
	return out
}

func setService(in Input, svc *stack.Service, kvs [][2]string) ([]change.Change, error) {
	const why = "proposed with kasoku try"
	switch svc.Kind {
	case stack.MariaDB, stack.MySQL:
		return setDatabase(in, svc, kvs, why)
	case stack.PHPFPM:
		return setFPM(in, svc, kvs, why)
	case stack.Nginx:
		return setNginx(in, svc, kvs, why)
	}
	return nil, fmt.Errorf("a %s service has no settings that Kasoku can edit; use --patch or --apply with --undo", svc.Kind)
}

func setDatabase(in Input, svc *stack.Service, kvs [][2]string, why string) ([]change.Change, error) {
	db := in.Snapshot.Databases[svc.Name]
	if db == nil {
		return nil, fmt.Errorf("its variables could not be read")
	}
	conf, err := diagnose.MySQLConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	for _, kv := range kvs {
		name := strings.ReplaceAll(kv[0], "-", "_")
		if _, known := db.Variables[name]; !known {
			return nil, fmt.Errorf("%s %s has no variable %s", svc.Kind, db.Version, name)
		}
		if err := conf.Set(serverSection(conf, name), name, kv[1]); err != nil {
			return nil, err
		}
	}
	// A restart takes every kind of variable on, dynamic or not.
	return fileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, why)
}

func setFPM(in Input, svc *stack.Service, kvs [][2]string, why string) ([]change.Change, error) {
	var ini [][2]string
	conf, err := diagnose.FPMConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	pools, err := diagnose.FPMPools(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	for _, kv := range kvs {
		if kv[0] != "pm" && !strings.HasPrefix(kv[0], "pm.") && !strings.HasPrefix(kv[0], "listen") && !strings.HasPrefix(kv[0], "request_") {
			ini = append(ini, kv)
			continue
		}
		for _, p := range pools {
			if err := conf.Set(p.Name, kv[0], kv[1]); err != nil {
				return nil, err
			}
		}
	}
	out, err := fileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, why)
	if err != nil || len(ini) == 0 {
		return out, err
	}
	more, err := setPHP(in, svc, ini, why)
	return append(out, more...), err
}

func setNginx(in Input, svc *stack.Service, kvs [][2]string, why string) ([]change.Change, error) {
	conf, err := diagnose.NginxConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	server := diagnose.FrontServer(conf, frontAddress(in.Stack))
	if server == nil {
		return nil, fmt.Errorf("no server block listens where load.url points")
	}
	for _, kv := range kvs {
		args := strings.Fields(kv[1])
		switch {
		case strings.HasPrefix(kv[0], "worker_") && kv[0] != "worker_connections":
			err = setTop(conf, kv[0], kv[1])
		case kv[0] == "worker_connections" || kv[0] == "multi_accept" || kv[0] == "accept_mutex":
			err = setDirective(conf.Root.First("events"), kv[0], args...)
		default:
			if d := server.Effective(kv[0]); d != nil {
				err = d.SetArgs(args...)
			} else {
				err = setDirective(server.Parent, kv[0], args...)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return fileChanges(in.Snapshot, svc, conf.Changed(), change.Reload, why)
}
