package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/confedit/ini"
	"kasoku/internal/evidence"
	"kasoku/internal/ui"
)

func judgeBinlogSync(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		commits, _ := v.delta("Handler_commit")
		if !On(v.db.Variables["log_bin"]) || v.db.Variables["sync_binlog"] != "1" || commits/m.window < rare {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+" syncs its binary log at every commit",
			fmt.Sprintf("log_bin is ON and sync_binlog is 1: %.0f commits in %.0f s. Syncing less often risks replicas and point-in-time recovery after a crash.", commits, m.window),
			"sync_binlog, Handler_commit of "+v.svc.Name).
			asks(Setting{Service: v.svc.Name, Name: "sync_binlog", Now: "1"}).bounded(m.boundWait())}
	})
}

// queryCacheCost is what the query cache takes for a result that is looked for, kept and
// thrown away, in seconds: an estimate from above, for many connections that wait for its
// mutex.
const queryCacheCost = 100e-6

// judgeQueryCache: a cache whose entries are thrown away about as often as
// they are used costs its mutex for nothing (MariaDB Knowledge Base, "Query Cache"),
// unless each use saves a statement that takes long.
func judgeQueryCache(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		kind, ok := fold(v.db.Variables, "query_cache_type")
		size, _ := v.variable("query_cache_size")
		hits, _ := v.delta("Qcache_hits")
		inserts, _ := v.delta("Qcache_inserts")
		if !ok || kind == "OFF" || size == 0 || inserts/m.window < rare || hits > 2*inserts || hits*m.readTime(v.svc.Name) > (hits+inserts)*queryCacheCost {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+"'s query cache is filled more than it is used",
			fmt.Sprintf("%.0f results were put in and %.0f taken out in %.0f s; every write to a table throws its results away behind one mutex.", inserts, hits, m.window),
			"Qcache_hits, Qcache_inserts of "+v.svc.Name).
			asks(Setting{Service: v.svc.Name, Name: "query_cache_size", Now: fmt.Sprint(size), To: "0", Up: -1, Memory: -int64(size)}).bounded(m.serviceBound(v.svc.Name))}
	})
}

func judgeNameResolve(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		conns, _ := v.delta("Connections")
		// What came through the socket has no name to look up: the host took at most so many over TCP.
		if tcp := m.at(v.svc.Name).sys.TCP; tcp.Segments > 0 {
			conns = min(conns, float64(tcp.PassiveOpens))
		}
		if On(v.db.Variables["skip_name_resolve"]) || v.db.Variables["skip_name_resolve"] == "" || v.db.Variables["skip_networking"] == "ON" || conns/(m.x*m.window) < 0.5 {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+" looks the name of each client up",
			fmt.Sprintf("skip_name_resolve is OFF and up to %.0f connections came over TCP in %.0f s. An address that is not in the host cache costs a DNS query; accounts must then be by address.", conns, m.window),
			"skip_name_resolve, Connections of "+v.svc.Name).
			asks(Setting{Service: v.svc.Name, Name: "skip_name_resolve", Now: "OFF", To: "ON"}).bounded(m.boundDelay(0.001 * conns / (m.x * m.window)))}
	})
}

// usualSettings are those that a database under load never has right by
// default (MySQL manual, "InnoDB Startup Options"; W07).
var usualSettings = []string{"innodb_buffer_pool_size", "innodb_log_file_size", "innodb_redo_log_capacity", "max_connections", "table_open_cache",
	"innodb_flush_log_at_trx_commit", "innodb_io_capacity", "tmp_table_size", "thread_cache_size", "innodb_dedicated_server"}

func judgeEmptyConfig(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		conf, err := MySQLConfig(m.in.Snapshot, v.svc)
		if err != nil {
			return nil // said by db.unknown-settings
		}
		for _, section := range serverSections(conf.Sections()) {
			for _, name := range usualSettings {
				if _, ok := conf.Get(section, name); ok {
					return nil
				}
				if _, ok := conf.Get(section, strings.ReplaceAll(name, "_", "-")); ok {
					return nil
				}
			}
		}
		pool, _ := v.variable("innodb_buffer_pool_size")
		var known []string // to this server
		for _, name := range usualSettings {
			if _, ok := v.db.Variables[name]; ok && len(known) < 5 {
				known = append(known, name)
			}
		}
		return []Finding{about(v.svc.Name, v.svc.Name+" runs with its defaults",
			fmt.Sprintf("%s sets none of %s: the buffer pool is %s, data and indexes are %s, the host has %s.",
				v.svc.Config, strings.Join(known, ", "), size(int64(pool)), size(v.db.DataBytes), size(m.memoryOf(v.svc))),
			v.svc.Config).bounded(m.serviceBound(v.svc.Name))}
	})
}

func serverSections(all []string) []string {
	var out []string
	for _, s := range all {
		if s == "mysqld" || s == "server" || s == "mariadb" || s == "mariadbd" || strings.HasPrefix(s, "mysqld-") || strings.HasPrefix(s, "mariadb-") {
			out = append(out, s)
		}
	}
	return out
}

// goneSetting was removed from the server or does nothing any more.
type goneSetting struct {
	name         string
	maria, mysql string // since this version; "" it is still there
}

// goneSettings: MariaDB Knowledge Base, "System Variable Differences" and the
// release notes' "Removed"; MySQL manual, "Server Variables Removed in MySQL …".
var goneSettings = []goneSetting{
	{"query_cache_size", "", "8.0"}, {"query_cache_type", "", "8.0"}, {"query_cache_limit", "", "8.0"},
	{"innodb_file_format", "10.6", "8.0"}, {"innodb_large_prefix", "10.6", "8.0"}, {"innodb_file_format_check", "10.6", "8.0"},
	{"innodb_locks_unsafe_for_binlog", "10.5", "8.0"}, {"innodb_undo_logs", "10.6", "8.0"}, {"innodb_log_files_in_group", "10.6", ""},
	{"innodb_buffer_pool_instances", "10.6", ""}, {"innodb_thread_concurrency", "10.6", ""}, {"innodb_commit_concurrency", "10.6", ""},
	{"innodb_page_cleaners", "10.6", ""}, {"innodb_log_compressed_pages", "10.6", ""}, {"innodb_concurrency_tickets", "10.6", ""},
	{"innodb_adaptive_flushing_method", "10.5", ""}, {"innodb_checksums", "10.5", "8.0"}, {"innodb_support_xa", "10.5", "8.0"},
	{"sync_frm", "", "8.0"}, {"tx_isolation", "", "8.0"}, {"log_warnings", "", "8.0"}, {"secure_auth", "", "8.0"},
	{"innodb_additional_mem_pool_size", "10.0", "5.7"}, {"innodb_use_sys_malloc", "10.2", "5.7"}, {"thread_concurrency", "10.5", "5.7"},
	{"storage_engine", "10.5", "5.7"}, {"have_innodb", "10.0", "5.6"}, {"innodb_mirrored_log_groups", "10.2", "5.7"},
	{"innodb_file_io_threads", "10.0", "5.5"}, {"table_cache", "10.0", "5.6"}, {"log_slow_queries", "10.11", "5.6"}, {"expire_logs_days", "", "8.4"},
	{"innodb_background_scrub_data_check_interval", "10.5", ""}, {"innodb_log_optimize_ddl", "10.6", ""}, {"innodb_prefix_index_cluster_optimization", "10.10", ""},
	{"innodb_change_buffering", "11.0", ""}, {"innodb_defragment", "11.1", ""}, {"multi_range_count", "10.5", "5.6"}, {"debug_no_thread_alarm", "10.5", ""},
	{"innodb_log_file_size", "", "8.4"}, {"default_authentication_plugin", "", "8.4"},
}

// judgeGone finds settings that the running version does not have (W08).
func judgeGone(m *model) ([]Finding, string) {
	why := ""
	out, missing := m.eachDB(func(v dbView) []Finding {
		conf, err := MySQLConfig(m.in.Snapshot, v.svc)
		if err != nil {
			why = fmt.Sprintf("%s: %v", v.svc.Name, err)
			return nil
		}
		cites, names := foreignSettings(v.db, conf)
		if len(cites) == 0 {
			return nil
		}
		slices.Sort(cites)
		return []Finding{about(v.svc.Name, ui.Plural(len(cites), "setting is", "settings are")+" for another version of "+v.svc.Name,
			fmt.Sprintf("%s runs %s; what the file says about these does nothing, or keeps the server from starting after an upgrade: %s.", v.svc.Name, v.db.Version, strings.Join(cites, "; ")),
			append([]string{v.svc.Config}, cites...)...).with("options", strings.Join(names, " ")).atMost(1, "a setting that is not read costs nothing; the one that took its place may")}
	})
	if why == "" {
		why = missing
	}
	return out, why
}

// foreignSettings cites what the option files set for another version: by the
// server's own word, and by goneSettings where it says nothing. Names are as
// the files spell them.
func foreignSettings(db *evidence.Database, conf *ini.Config) (cites, names []string) {
	cite := func(section, name, why string) {
		if v, ok := conf.Get(section, name); ok && !slices.Contains(names, name) {
			cites = append(cites, fmt.Sprintf("[%s] %s = %s: %s", section, name, v.Text, why))
			names = append(names, name)
		}
	}
	for _, section := range serverSections(conf.Sections()) {
		for _, key := range conf.Keys(section) {
			plain := strings.ReplaceAll(key, "-", "_")
			if i := slices.IndexFunc(db.Foreign, func(o evidence.ForeignOption) bool { return strings.ReplaceAll(o.Name, "-", "_") == plain }); i >= 0 {
				cite(section, key, db.Foreign[i].Why)
				continue
			}
			for _, g := range goneSettings {
				since := g.mysql
				if db.MariaDB {
					since = g.maria
				}
				if g.name == plain && since != "" && VersionAtLeast(db.Version, since) {
					cite(section, key, "gone since "+since)
				}
			}
		}
	}
	return cites, names
}

// VersionAtLeast compares dotted versions: "10.11.4-MariaDB" ≥ "10.6".
func VersionAtLeast(have, want string) bool {
	h, w := versionParts(have), versionParts(want)
	for i, n := range w {
		if i >= len(h) {
			return false
		}
		if h[i] != n {
			return h[i] > n
		}
	}
	return true
}

func versionParts(s string) []int {
	var out []int
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '.' || r == '-' || r == '+' || r == '~' }) {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		out = append(out, n)
	}
	return out
}
