package remedy

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/database"
	"kasoku/internal/remedy/php"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/remedy/web"
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
	{stack.MariaDB, "innodb_autoinc_lock_mode", regulation.Isolation, func(v string) bool { return v == "2" }},
	{stack.MariaDB, "innodb_flush_log_at_timeout", regulation.Durability, func(v string) bool { return v != "0" && v != "1" }},
	{stack.MariaDB, "skip_log_bin", regulation.Durability, always},
	{stack.MariaDB, "disable_log_bin", regulation.Durability, always},
	{stack.MariaDB, "slow_query_log", regulation.Observability, off},
	{stack.MariaDB, "log_bin", regulation.Durability, off},
	{stack.MariaDB, "delay_key_write", regulation.Durability, func(v string) bool { return strings.EqualFold(v, "all") }},
	{stack.MariaDB, "innodb_checksum_algorithm", regulation.Durability, func(v string) bool { return strings.EqualFold(v, "none") }},
	{stack.MariaDB, "innodb_fast_shutdown", regulation.Durability, func(v string) bool { return v == "2" || v == "3" }},
	{stack.MariaDB, "local_infile", regulation.Security, on},
	{stack.MariaDB, "bind_address", regulation.Security, always},
	{stack.MariaDB, "require_secure_transport", regulation.Security, off},
	{stack.Nginx, "access_log", regulation.Observability, func(v string) bool { return v == "off" || strings.Contains(v, "buffer=") }},
	{stack.Nginx, "error_log", regulation.Observability, always},
	{stack.Nginx, "open_file_cache", regulation.Staleness, func(v string) bool { return v != "off" }},
	{stack.Nginx, "fastcgi_cache", regulation.Staleness, func(v string) bool { return v != "off" }},
	{stack.Nginx, "proxy_cache", regulation.Staleness, func(v string) bool { return v != "off" }},
	{stack.Nginx, "uwsgi_cache", regulation.Staleness, func(v string) bool { return v != "off" }},
	{stack.Nginx, "scgi_cache", regulation.Staleness, func(v string) bool { return v != "off" }},
	{stack.PHPFPM, "opcache.validate_timestamps", regulation.Staleness, off},
	{stack.PHPFPM, "opcache.preload", regulation.Staleness, func(v string) bool { return v != "" }},
	{stack.PHPFPM, "opcache.revalidate_freq", regulation.Staleness, func(v string) bool { n, err := strconv.Atoi(v); return err != nil || n > 2 }},
	{stack.PHPFPM, "realpath_cache_ttl", regulation.Staleness, func(v string) bool { n, err := strconv.Atoi(v); return err != nil || n > 120 }},
	{stack.PHPFPM, "xdebug.mode", regulation.Observability, off},
	{stack.PHPFPM, "pcov.enabled", regulation.Observability, off},
	{stack.PHPFPM, "session.save_path", regulation.SessionDurability, func(v string) bool { return strings.Contains(v, "/dev/shm") || strings.Contains(v, "/run") }},
	{stack.PHPFPM, "session.save_handler", regulation.SessionDurability, func(v string) bool { return v != "files" }},
	{stack.PHPFPM, "listen.mode", regulation.Security, openToOthers},
	{stack.PHPFPM, "listen.allowed_clients", regulation.Security, always},
	{stack.PHPFPM, "security.limit_extensions", regulation.Security, always},
	{stack.PHPFPM, "user", regulation.Security, always},
	{stack.PHPFPM, "group", regulation.Security, always},
	{stack.PHPFPM, "open_basedir", regulation.Security, always},
	{stack.PHPFPM, "disable_functions", regulation.Security, always},
	{stack.PHPFPM, "session.cookie_httponly", regulation.Security, off},
	{stack.PHPFPM, "session.cookie_secure", regulation.Security, off},
	{stack.PHPFPM, "log_errors", regulation.Observability, off},
	{stack.Nginx, "user", regulation.Security, always},
	{stack.Nginx, "autoindex", regulation.Security, on},
	{stack.Nginx, "disable_symlinks", regulation.Security, off},
	{stack.Nginx, "log_not_found", regulation.Observability, off},
}

func off(v string) bool {
	switch strings.ToLower(v) {
	case "0", "off", "no", "false", "":
		return true
	}
	return false
}

func on(v string) bool { return !off(v) }

func always(string) bool { return true }

// openToOthers reads an octal mode that lets any user connect.
func openToOthers(v string) bool {
	n, err := strconv.ParseUint(v, 8, 32)
	return err != nil || n&7 != 0
}

// phpSetting is the php.ini key of php_admin_value[key] and its like.
func phpSetting(key string) (string, bool) {
	for _, form := range []string{"php_admin_value[", "php_admin_flag[", "php_value[", "php_flag["} {
		if inner, ok := strings.CutPrefix(key, form); ok && strings.HasSuffix(inner, "]") {
			return strings.TrimSuffix(inner, "]"), true
		}
	}
	return key, false
}

// ofPool reports whether a key is of a pool and not of php.ini (PHP manual,
// "FPM configuration").
func ofPool(key string) bool {
	if _, wrapped := phpSetting(key); wrapped {
		return true
	}
	if slices.Contains([]string{"pm", "user", "group", "slowlog", "chroot", "chdir", "prefix", "clear_env", "catch_workers_output", "decorate_workers_output"}, key) {
		return true
	}
	return slices.ContainsFunc([]string{"pm.", "listen", "request_", "access.", "ping.", "process.", "rlimit_", "security.", "env["},
		func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// Set plans settings written as service.key=value in the service's own words:
// an nginx directive, a PHP-FPM pool key or php.ini key (of PHP in Apache, too),
// a database variable.
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
		for _, t := range tradesOf(svc.Kind, key, value) {
			if !slices.Contains(trades, t) {
				trades = append(trades, t)
			}
		}
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

// asListed is a setting as settingTrades names it.
func asListed(kind stack.Kind, key string) (stack.Kind, string) {
	if kind == stack.MySQL {
		kind = stack.MariaDB
	}
	if kind == stack.MariaDB {
		key = strings.ReplaceAll(key, "-", "_")
	}
	key, _ = phpSetting(key)
	if kind == stack.Apache {
		kind = stack.PHPFPM // what of Apache can be set is PHP's
	}
	return kind, key
}

func tradesOf(kind stack.Kind, key, value string) []regulation.Trade {
	kind, key = asListed(kind, key)
	value = strings.TrimSpace(value)
	var out []regulation.Trade
	for _, t := range settingTrades {
		if t.kind == kind && t.key == key && t.when(value) && !slices.Contains(out, t.trade) {
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
	case stack.Apache:
		return setApachePHP(in, svc, kvs, why)
	default: // cannot be set: below
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
		if err := conf.Set(database.ServerSection(conf, name), name, kv[1]); err != nil {
			return nil, err
		}
	}
	// A restart takes every kind of variable on, dynamic or not.
	return planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, why)
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
		if !ofPool(kv[0]) {
			ini = append(ini, kv)
			continue
		}
		for _, p := range pools {
			if err := conf.Set(p.Name, kv[0], kv[1]); err != nil {
				return nil, err
			}
		}
	}
	return php.SetWith(in, svc, conf, ini, why)
}

// setApachePHP sets php.ini keys of the PHP that is a module of Apache. Keys
// that PHP does not list are refused: they may be Apache's own directives.
func setApachePHP(in Input, svc *stack.Service, kvs [][2]string, why string) ([]change.Change, error) {
	values := in.Snapshot.PHP[svc.Name]
	for _, kv := range kvs {
		if _, known := values[kv[0]]; !known {
			return nil, fmt.Errorf("%s is no setting of PHP in %s; directives of Apache itself are changed with --patch", kv[0], svc.Name)
		}
	}
	return php.Set(in, svc, kvs, why)
}

func setNginx(in Input, svc *stack.Service, kvs [][2]string, why string) ([]change.Change, error) {
	conf, err := diagnose.NginxConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	server := diagnose.VisitedServer(in.Stack, svc, conf)
	if server == nil {
		return nil, fmt.Errorf("no server block listens where load.url points, nor behind a balancer there")
	}
	for _, kv := range kvs {
		args := strings.Fields(kv[1])
		if len(args) == 0 {
			return nil, fmt.Errorf("%s: a value is needed", kv[0])
		}
		switch {
		case strings.HasPrefix(kv[0], "worker_") && kv[0] != "worker_connections" && kv[0] != "worker_aio_requests":
			err = web.SetTop(conf, kv[0], args...)
		case slices.Contains([]string{"worker_connections", "worker_aio_requests", "multi_accept", "accept_mutex"}, kv[0]):
			events := conf.Root.First("events")
			if events == nil {
				return nil, fmt.Errorf("%s: there is no events block", kv[0])
			}
			err = web.SetDirective(events, kv[0], args...)
		default:
			err = setEffective(server, kv[0], args)
		}
		if err != nil {
			return nil, err
		}
	}
	return planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Reload, why)
}

// setEffective changes the directive that applies to the server, or adds it
// where it holds for all servers.
func setEffective(server *nginx.Directive, name string, args []string) error {
	d := server.Effective(name)
	switch {
	case d == nil:
		return web.SetDirective(server.Parent, name, args...)
	case d.IsBlock:
		return fmt.Errorf("%s is a block; use --patch", name)
	case len(d.Parent.Find(name)) > 1:
		return fmt.Errorf("%s is written more than once (%s:%d); use --patch", name, d.File.Path, d.Line)
	}
	return d.SetArgs(args...)
}
