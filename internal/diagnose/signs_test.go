package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/kind/goapp"
	"kasoku/internal/knownapp"
	"kasoku/internal/load"
	_ "kasoku/internal/rapidseed"
	"kasoku/internal/stack"
	"kasoku/internal/trace"
)

// healthy is a stack of every kind of service that does well: 10 s on 4 CPUs at
// 85 %, 2,000 right answers, nothing near a limit, every source there.
func healthy() Input {
	st := &stack.Stack{Load: stack.LoadConfig{URL: "http://127.0.0.1:8080"}, Services: []stack.Service{
		{Name: "web", Kind: stack.Nginx, Config: "/n", TalksTo: []string{"php"}},
		{Name: "httpd", Kind: stack.Apache, Config: "/h"},
		{Name: "php", Kind: stack.PHPFPM, Config: "/f", TalksTo: []string{"db", "mc", "kv"}},
		{Name: "db", Kind: stack.MariaDB, Config: "/m"},
		{Name: "mc", Kind: stack.Memcached, Listen: []string{"unix:/run/mc.sock"}},
		{Name: "kv", Kind: stack.Redis, Listen: []string{"unix:/run/kv.sock"}},
		{Name: "front", Kind: stack.Varnish, Config: "/vcl", Control: stack.Control{Start: []string{"sh", "/v"}}},
		{Name: "app", Kind: stack.App, RunsIn: "php"},
		{Name: "api", Kind: stack.App},
	}}
	ev := &evidence.Evidence{
		Load: &load.Result{Workload: 12, Window: 10 * time.Second, Requests: 2000, Succeeded: 2000,
			Routes: []load.RouteResult{{Route: "GET /", Requests: 2000, Total: 100 * time.Second}},
			Assets: []load.StaticSample{{Path: "/a.css", Status: 200, ContentType: "text/css", Size: 5000, Count: 100, Total: time.Second}}},
		System: evidence.System{CPUs: 4, User: 26, Sys: 8, Idle: 6, ServicesCPU: 30, GeneratorCPU: 4, ContextSwitches: 8000,
			MemoryTotal: 8 << 30, MemoryAvailable: 4 << 30, TimeWait: 12, OpenFiles: 900, FileMax: 100000,
			TCP:      evidence.TCPUse{PortsUsed: 20, PortRange: 28232, PortsTo: "127.0.0.1:3306", Segments: 100000, PassiveOpens: 2500, Queues: []evidence.AcceptQueue{{Listen: "0.0.0.0:80", Service: "web", Longest: 2, Limit: 511}}},
			Disks:    []evidence.DiskUse{{Name: "sda", Busy: 0.05, Writes: 20, WriteLatency: time.Millisecond}},
			Networks: []evidence.NetworkUse{{Name: "eth0", SendBytes: 1e6, SpeedBytes: 125e6}}},
		Services: map[string]evidence.ServiceUse{
			"web": {CPU: 4, Processes: 5, RSS: 20 << 20, OpenFiles: 40, FileLimit: 1024}, "php": {CPU: 20, Processes: 9, RSS: 180 << 20, OpenFiles: 12, FileLimit: 1024},
			"db": {CPU: 5, Processes: 1, RSS: 600 << 20, OpenFiles: 80, FileLimit: 16000}, "mc": {CPU: 0.4}, "kv": {CPU: 0.4}, "api": {CPU: 0.2}},
		Counters: map[string]evidence.CounterDelta{
			"db": {Delta: map[string]float64{"Connections": 3, "Com_select": 4000, "Com_insert": 400, "Com_commit": 400, "Handler_commit": 400, "Innodb_os_log_written": 1 << 20, "Innodb_rows_inserted": 400, "Threads_created": 1},
				Value: map[string]string{"Max_used_connections": "14", "Open_tables": "30", "Open_table_definitions": "30", "Threads_running": "2"}},
			"php":   {Delta: map[string]float64{"www.max_children_reached": 0, "opcache.opcache_statistics.misses": 200, "opcache.opcache_statistics.num_cached_scripts": 190}, Value: map[string]string{"www.max_listen_queue": "0", "opcache.cache_full": "false"}},
			"mc":    {Delta: map[string]float64{"get_hits": 5000, "get_misses": 100, "cmd_get": 5100, "total_connections": 1}, Value: map[string]string{"curr_connections": "12", "max_connections": "1024", "limit_maxbytes": "67108864", "version": "1.6.18"}},
			"kv":    {Delta: map[string]float64{"keyspace_hits": 900, "keyspace_misses": 20, "total_commands_processed": 1000, "cmdstat_get.usec": 2000, "cmdstat_get.calls": 1000}, Value: map[string]string{"connected_clients": "9", "maxclients": "10000", "aof_enabled": "0", "config.save": "", "redis_version": "7.0.15"}},
			"front": {Delta: map[string]float64{"MAIN.cache_hit": 900, "MAIN.cache_miss": 100}},
		},
		Statements: []evidence.Statement{{Service: "db", Fingerprint: "SELECT name FROM users WHERE id = ?", Count: 4000, Total: 2 * time.Second, RowsExamined: 4000, RowsSent: 4000}},
		Routes:     []digest.Route{{Method: "GET", Route: "/", Count: 2000, Share: 1, Status: [6]int64{2: 2000}, Time: digest.Times{Count: 2000, Mean: 10 * time.Millisecond}}},
		Requests: &trace.Summary{Source: "walk", Requests: 6, Routes: []trace.RouteCalls{{Method: "GET", Route: "/", Requests: 3,
			Calls: []trace.CallClass{{Service: "db", System: trace.SQL, What: "SELECT name FROM users WHERE id = ?", PerRequest: 2}}}}},
		Profiles:  []evidence.Profile{{Service: "php", Tool: "excimer", Samples: 2000, Top: []evidence.ProfileFrame{{Function: "Page::render", File: "app/page.php:10", Self: 0.12, Total: 0.5}}}},
		Latencies: []evidence.LatencyProbe{{Service: "mc", Command: "get", Count: 100, P50: 80 * time.Microsecond, P99: time.Millisecond, First: 80 * time.Microsecond, Last: 85 * time.Microsecond}},
		Logs:      []evidence.LogLine{{Service: "web", Level: "notice", Text: "signal process started", Count: 1}},
	}
	const ngx = "error_log /e warn; worker_processes 4; events { worker_connections 4096; }\nhttp { access_log /l main buffer=4k; sendfile on; tcp_nopush on; open_file_cache max=1000; gzip on; gzip_types text/css; server_tokens off;\n" +
		"upstream p { server unix:/run/p.sock; keepalive 8; } server { listen 8080; location / { fastcgi_pass p; fastcgi_keep_conn on; } location /a.css { root /srv; } } }\n"
	file := func(service, text string) evidence.File {
		return evidence.File{Service: service, Content: []byte(text)}
	}
	snap := &evidence.Snapshot{Memory: 8 << 30, CPUs: 4, Kernel: healthyKernel(), Packages: healthyPackages(),
		Files: map[string]map[string]evidence.File{"local": {"/n": file("web", ngx), "/f": file("php", "[www]\nlisten = /run/p.sock\npm = static\npm.max_children = 16\n"),
			"/m": file("db", "[mysqld]\ninnodb_buffer_pool_size = 1G\n"), "/v": file("front", "exec varnishd -a :6081 -f /vcl -s malloc,1g\n"), "/vcl": file("front", "vcl 4.1;\nbackend app { .host = \"127.0.0.1\"; }\n"), "/h": file("httpd", "LoadModule mpm_event_module x.so\n")}},
		PHP: map[string]map[string]string{"php": {"opcache.enable": "On", "opcache.validate_timestamps": "Off", "opcache.jit_buffer_size": "64M", "version": "8.2.36",
			"session.save_handler": "files", "session.save_path": "/dev/shm/s", "realpath_cache_size": "4096K", "process.locale-archive": "0"}},
		Nginx: map[string]evidence.NginxBuild{"web": {Version: "1.22.1"}},
		Databases: map[string]*evidence.Database{"db": {Version: "10.11.14-MariaDB", MariaDB: true, DataBytes: 300 << 20, Variables: map[string]string{
			"innodb_buffer_pool_size": "1073741824", "innodb_log_file_size": "1073741824", "innodb_flush_log_at_trx_commit": "2", "max_connections": "151", "log_bin": "OFF",
			"skip_name_resolve": "ON", "query_cache_type": "OFF", "transaction_isolation": "READ-COMMITTED", "sort_buffer_size": "2097152", "thread_cache_size": "151", "table_open_cache": "2000",
			"table_definition_cache": "400", "binlog_cache_size": "32768", "tmp_table_size": "16777216", "max_heap_table_size": "16777216", "innodb_log_buffer_size": "16777216", "innodb_io_capacity": "200", "port": "3306"}}},
	}
	return Input{Stack: st, Evidence: ev, Snapshot: snap}
}

// alwaysAsked are rules about numbers that only trying tells, so they ask in
// every run.
var alwaysAsked = map[string]bool{"php.workers": true, "web.workers": true}

func TestHealthyIsQuiet(t *testing.T) {
	d, err := Diagnose(healthy())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Findings {
		if !alwaysAsked[f.Rule] {
			t.Errorf("%s: %s (%s)", f.Rule, f.Title, f.Text)
		}
	}
	judges := map[string]bool{}
	for _, r := range Rules {
		judges[r.ID] = r.Judges()
	}
	for _, n := range d.NotJudged {
		if judges[n.Rule] {
			t.Errorf("not judged: %s: %s", n.Rule, n.Why)
		}
	}
	if d.Binds != "cpu: php" {
		t.Errorf("binds %s: %s", d.Binds, d.BindsText)
	}
}

func delta(service, key string, n float64) func(*Input) {
	return func(in *Input) {
		c := in.Evidence.Counters[service]
		if c.Delta == nil {
			c.Delta = map[string]float64{}
		}
		c.Delta[key], in.Evidence.Counters[service] = n, c
	}
}

func value(service, key, v string) func(*Input) {
	return func(in *Input) {
		c := in.Evidence.Counters[service]
		if c.Value == nil {
			c.Value = map[string]string{}
		}
		c.Value[key], in.Evidence.Counters[service] = v, c
	}
}

// mysql makes the database one of MySQL.
func mysql(version string) func(*Input) {
	return func(in *Input) {
		in.Snapshot.Databases["db"].Version, in.Snapshot.Databases["db"].MariaDB = version, false
	}
}

func system(f func(*evidence.System)) func(*Input) {
	return func(in *Input) { f(&in.Evidence.System) }
}

func config(path, old, new string) func(*Input) {
	return func(in *Input) {
		f := in.Snapshot.Files["local"][path]
		f.Content = []byte(strings.Replace(string(f.Content), old, new, 1))
		in.Snapshot.Files["local"][path] = f
	}
}

func pattern(kind string) func(*Input) {
	return func(in *Input) {
		in.Evidence.Requests.Patterns = []trace.Pattern{{Kind: kind, Measures: []string{"I04"}, Method: "GET", Route: "/", Service: "db", System: trace.SQL,
			What: "SELECT name FROM users WHERE id = ?", PerRequest: 20, Most: 20, Could: 1, Requests: 3, With: 3, Better: "one", Sources: []string{"app/list.php:7"}}}
	}
}

func profiled(name string, self float64) func(*Input) {
	return func(in *Input) {
		in.Evidence.Profiles[0].Top = append(in.Evidence.Profiles[0].Top, evidence.ProfileFrame{Function: name, Self: self, Total: self})
	}
}

// idle leaves CPUs room.
func idle(in *Input) { in.Evidence.System.User, in.Evidence.System.Idle = 6, 26 }

func both(fs ...func(*Input)) func(*Input) {
	return func(in *Input) {
		for _, f := range fs {
			f(in)
		}
	}
}

// gunicorn runs the api in one worker; goApp is one in Go.
func gunicorn(in *Input) {
	in.Snapshot.Apps = map[string]evidence.AppProcess{"api": {Argv: []string{"python3", "/usr/bin/gunicorn", "app:app"}}}
	in.Evidence.Services["api"] = evidence.ServiceUse{CPU: 2, Processes: 2, RSS: 60 << 20}
}

func goApp(in *Input) {
	in.Snapshot.Apps = map[string]evidence.AppProcess{"api": {Env: map[string]string{}, Go: &goapp.Build{Version: "go1.24.1"}}}
	in.Evidence.Services["api"] = evidence.ServiceUse{CPU: 2, Processes: 1, RSS: 60 << 20}
}

// signs has one sign for every rule: what a run looks like in which it must
// speak, and a number or name that the finding must tell.
var signs = []struct {
	rule string
	sign func(*Input)
	says string
}{
	{"db.full-scan", func(in *Input) { in.Evidence.Statements[0].RowsExamined = 4000 * 50000 }, "50000 rows examined"},
	{"db.sorts", func(in *Input) {
		s := &in.Evidence.Statements[0]
		s.RowsExamined, s.RowsSent, s.TmpTables, s.Filesorts = 4000*2000, 4000*200, 4000, 4000
	}, "2000 rows examined each"},
	{"db.row-locks", delta("db", "Innodb_row_lock_time", 40000), "4.0 transactions wait"},
	{"db.hot-row", both(delta("db", "Innodb_row_lock_time", 40000), func(in *Input) {
		in.Evidence.LockWaits = []evidence.LockWait{{Service: "db", Schema: "s", Table: "ids", Waiting: 3.5, Samples: 40, Seen: 38, Rows: 1, Hottest: 1, Statement: "UPDATE ids SET id = LAST_INSERT_ID(id + ?)"}}
	}), "one row of s.ids"},
	{"db.isolation", both(variable("transaction_isolation", "REPEATABLE-READ"), delta("db", "Innodb_row_lock_time", 40000)), "REPEATABLE-READ"},
	{"db.deadlocks", delta("db", "Innodb_deadlocks", 7), "7 deadlocks"},
	{"db.prepares", both(delta("db", "Com_stmt_prepare", 4000), delta("db", "Com_stmt_execute", 4000)), "4000 prepared"},
	{"db.many-commits", both(delta("db", "Com_commit", 0), delta("db", "Com_insert", 20000)), "10.0 writes per request"},
	{"db.spare-index", func(in *Input) {
		in.Snapshot.Databases["db"].Tables = []evidence.Table{{Schema: "s", Name: "t", Engine: "InnoDB", Indexes: []evidence.TableIndex{{Name: "a", Columns: []string{"x"}, Type: "BTREE"}, {Name: "b", Columns: []string{"x", "y"}, Type: "BTREE"}}}}
	}, "a (x) is the beginning of b (x, y)"},
	{"db.memory", both(variable("innodb_buffer_pool_size", "134217728"), delta("db", "Innodb_buffer_pool_reads", 700)), "700 pages"},
	{"db.pool-too-large", both(variable("innodb_buffer_pool_size", "6442450944"), system(func(s *evidence.System) { s.MemoryAvailable = 1 << 30 })), "6144 MiB"},
	{"db.overcommit", both(variable("innodb_buffer_pool_size", "4294967296"), variable("sort_buffer_size", "536870912")), "for each connection"},
	{"db.commit-flush", variable("innodb_flush_log_at_trx_commit", "1"), "400 commits"},
	{"db.binlog-sync", both(variable("log_bin", "ON"), variable("sync_binlog", "1")), "400 commits"},
	{"app.db-persistent", both(delta("db", "Connections", 2000), func(in *Input) {
		in.Snapshot.Files["local"]["/app.ini"] = evidence.File{Service: "app", Content: []byte("db_persistent = 0\n")}
	}), "by /app.ini none is kept"},
	{"app.cache-persistent", both(delta("mc", "total_connections", 2000), func(in *Input) {
		in.Snapshot.Files["local"]["/app.env"] = evidence.File{Service: "app", Content: []byte("MEMCACHED_PERSISTENT_ID=\n")}
	}), "2000 connections to mc"},
	{"db.connect-per-request", delta("db", "Connections", 2000), "2000 connections"},
	{"db.connections", value("db", "Max_used_connections", "150"), "150 of max_connections = 151"},
	{"db.aborted", delta("db", "Aborted_connects", 9), "9 log-ins failed"},
	{"db.query-cache", both(variable("query_cache_type", "ON"), variable("query_cache_size", "1048576"), delta("db", "Qcache_inserts", 900)), "900 results"},
	{"db.name-resolve", both(variable("skip_name_resolve", "OFF"), delta("db", "Connections", 2000)), "up to 2000 connections"},
	{"db.defaults", config("/m", "innodb_buffer_pool_size = 1G", "user = mysql"), "sets none of"},
	{"db.unknown-settings", config("/m", "[mysqld]", "[mysqld]\ninnodb-file-format = Barracuda"), "innodb-file-format = Barracuda: gone since 10.6"},
	{"db.myisam", both(delta("db", "Table_locks_waited", 500), func(in *Input) {
		in.Snapshot.Databases["db"].Tables = []evidence.Table{{Schema: "s", Name: "t", Engine: "MyISAM"}}
	}), "s.t"},
	{"db.loopback-tcp", func(in *Input) {
		in.Stack.Service("app").Settings = []string{"/a"}
		in.Snapshot.Files["local"]["/a"] = evidence.File{Content: []byte("mysql:host=127.0.0.1;port=3306")}
	}, "127.0.0.1:3306"},
	{"db.thread-cache", both(delta("db", "Threads_created", 900), delta("db", "Connections", 990)), "rose by 900"},
	{"db.table-cache", both(delta("db", "Opened_tables", 300), value("db", "Open_tables", "2000")), "rose by 300"},
	{"db.definition-cache", both(delta("db", "Opened_table_definitions", 300), value("db", "Open_table_definitions", "400")), "rose by 300"},
	{"db.binlog-cache", delta("db", "Binlog_cache_disk_use", 40), "rose by 40"},
	{"db.tmp-disk", delta("db", "Created_tmp_disk_tables", 500), "rose by 500"},
	{"db.sort-merge", delta("db", "Sort_merge_passes", 50), "sort_buffer_size is 2097152"},
	{"db.log-buffer", delta("db", "Innodb_log_waits", 50), "rose by 50"},
	{"db.pool-wait", delta("db", "Innodb_buffer_pool_wait_free", 50), "rose by 50"},
	{"db.io-capacity", delta("db", "Innodb_buffer_pool_pages_flushed", 1900), "190 pages are written each second"},
	{"db.dirty-pages", both(variable("innodb_max_dirty_pages_pct", "5"), delta("db", "Innodb_buffer_pool_pages_flushed", 500), value("db", "Innodb_buffer_pool_pages_dirty", "60"), value("db", "Innodb_buffer_pool_pages_total", "1000")), "60 of 1000 pages"},
	{"db.flush-neighbors", both(variable("innodb_flush_neighbors", "1"), delta("db", "Innodb_buffer_pool_pages_flushed", 500), mysql("5.7.44")), "a write to sda takes 1.00 ms"},
	{"db.flush-method", both(variable("innodb_flush_method", "fsync"), delta("db", "Innodb_buffer_pool_pages_flushed", 500)), "innodb_flush_method is fsync"},
	{"db.doublewrite", both(variable("innodb_doublewrite", "ON"), delta("db", "Innodb_dblwr_pages_written", 5000)), "500 pages a second"},
	{"db.binlog-unused", both(variable("log_bin", "ON"), variable("sync_binlog", "0")), "no replica is connected"},
	{"db.autoinc-lock", both(variable("innodb_autoinc_lock_mode", "1"), delta("db", "Com_insert_select", 300), func(in *Input) {
		in.Snapshot.Databases["db"].Tables = []evidence.Table{{Schema: "s", Name: "t", Engine: "InnoDB", AutoIncrement: 9}}
	}), "30 bulk inserts"},
	{"db.sync-array", both(variable("innodb_sync_array_size", "1"), value("db", "Threads_running", "900")), "900 threads run"},
	{"db.adaptive-hash", both(variable("innodb_adaptive_hash_index", "ON"), delta("db", "Innodb_adaptive_hash_hash_searches", 1000), delta("db", "Innodb_adaptive_hash_non_hash_searches", 90000)), "1 % of 91000 index searches"},
	{"db.adaptive-hash-off", both(variable("innodb_adaptive_hash_index", "OFF"), delta("db", "Handler_read_key", 200000), delta("db", "Handler_write", 100)), "20000 rows a second are found by a key"},
	{"db.query-cache-unused", delta("db", "Com_select", 90000), "90000 reads for 400 writes"},
	{"db.join-buffer", both(variable("join_buffer_size", "262144"), delta("db", "Select_full_join", 300)), "30 joins a second"},
	{"db.read-buffer", both(variable("read_buffer_size", "131072"), delta("db", "Handler_read_rnd_next", 900000), func(in *Input) {
		in.Snapshot.Databases["db"].Tables = []evidence.Table{{Schema: "s", Name: "t", Engine: "MyISAM", DataBytes: 9 << 20}}
	}), "less than half of s.t"},
	{"db.table-instances", both(variable("table_open_cache_instances", "16"), delta("db", "Table_open_cache_overflows", 300), mysql("8.0.36")), "each of 16 instances has only 125"},
	{"php.opcache-off", php("opcache.enable", "Off"), "opcache.enable is Off"},
	{"php.opcache-full", value("php", "opcache.cache_full", "true"), "the cache is full"},
	{"php.opcache-full", delta("php", "opcache.opcache_statistics.misses", 500), "31 scripts a second were compiled again"},
	{"php.timestamps", php("opcache.validate_timestamps", "On"), "revalidate_freq = 0 s"},
	{"php.realpath", php("realpath_cache_size", "16K"), "16K"},
	{"php.preload", both(php("opcache.preload", ""), func(in *Input) {
		in.Stack.Service("app").Root = "/srv/app"
		in.Snapshot.Known = map[string]knownapp.Found{"app": {ID: "symfony", Preload: "/srv/app/config/preload.php"}}
	}), "app brings config/preload.php"},
	{"php.debugger", php("xdebug.mode", "develop"), "xdebug.mode = develop"},
	{"php.jit-off", php("opcache.jit_buffer_size", "0"), "jit_buffer_size is 0"},
	{"php.workers", func(*Input) {}, "16 processes on 4 CPUs"},
	{"php.mode", both(config("/f", "pm = static", "pm = dynamic"), func(in *Input) {
		use := in.Evidence.Services["php"]
		use.Started = 3
		in.Evidence.Services["php"] = use
	}), "php has 8 for 10.0 requests under way, and 3 of them began in the run"},
	{"php.pool-full", both(idle, delta("php", "www.max_children_reached", 3)), "rose by 3"},
	{"php.too-many", config("/f", "= 16", "= 1600"), "1600 processes are allowed"},
	{"php.max-requests", config("/f", "pm = static", "pm = static\npm.max_requests = 20"), "is 20"},
	{"php.session-files", php("session.save_path", "/var/lib/php"), "/var/lib/php"},
	{"system.agents", system(func(s *evidence.System) {
		s.Others = []evidence.ProcessUse{{PID: 9, Name: "munin-node", Unit: "munin-node.service", CPU: 1.5}, {PID: 8, Name: "sshd", Unit: "ssh.service", CPU: 9}}
	}), "munin-node (munin-node.service) used 1.50 s of CPU in 10 s, 4 %"},
	{"system.log-output", journaled("[Service]\nExecStart=/srv/api\n"), "To the journal print api (150 lines/s, 0.75 per request)"},
	{"system.tasks", func(in *Input) {
		use := in.Evidence.Services["php"]
		use.Cgroup = &evidence.CgroupUse{PidsLimit: 100, Pids: 90}
		in.Evidence.Services["php"] = use
	}, "90 of 100 processes"},
	{"php.locale-archive", php("process.locale-archive", "222298112"), "212 MiB"},
	{"php.session-connect", php("session.save_handler", "memcached"), "memcached without"},
	{"web.static-through-app", func(in *Input) {
		in.Evidence.Load.Assets[0].Path = "/b.css"
		in.Snapshot.StaticFiles = map[string]evidence.StaticFile{"/b.css": {Readable: true}}
	}, "100 of 2000 requests"},
	{"web.cacheable", func(in *Input) {
		in.Evidence.Load.Pages = []load.PageSample{{URL: "/", Status: 200, Count: 1000, Changes: 7, Total: 5 * time.Second, Confirmed: true}}
	}, "995 of 2000 requests"},
	{"web.cache-misses", func(in *Input) { in.Evidence.Routes[0].Cache = map[string]int64{"MISS": 90, "HIT": 10} }, "MISS 90"},
	{"web.loopback-tcp", both(config("/n", "unix:/run/p.sock", "127.0.0.1:9000"), config("/f", "/run/p.sock", "127.0.0.1:9000")), "127.0.0.1:9000"},
	{"web.loopback-http", both(config("/n", "location /a.css", "location /api { proxy_pass http://127.0.0.1:8000; } location /a.css"), func(in *Input) {
		in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "api", Kind: stack.App, Listen: []string{"0.0.0.0:8000"}})
	}), "127.0.0.1:8000; both ends"},
	{"web.workers", func(*Input) {}, "worker_processes is 4"},
	{"web.connections", config("/n", "4096", "4"), "16 connections in all for 12 users"},
	{"web.delivery", config("/n", "sendfile on", "sendfile off"), "sendfile is off"},
	{"web.gzip", config("/n", "gzip on", "gzip off"), "/a.css"},
	{"web.gzip", config("/n", "gzip_types text/css;", "gzip_types text/csv;"), "/a.css"},
	{"web.brotli", both(config("/n", "gzip on;", "gzip on; gzip_types text/css;"), func(in *Input) {
		in.Snapshot.Nginx["web"] = evidence.NginxBuild{Version: "1.22.1", Modules: []string{"--add-module=/src/ngx_brotli"}}
		in.Evidence.Load.TakesBrotli = true
	}), "100 requests for /a.css"},
	{"web.gzip-static", func(in *Input) {
		in.Snapshot.StaticFiles = map[string]evidence.StaticFile{"/a.css": {Readable: true, Gzip: true}}
		in.Snapshot.Nginx["web"] = evidence.NginxBuild{Version: "1.22.1", Modules: []string{GzipStatic}}
	}, "100 requests for /a.css"},
	{"web.server-tokens", config("/n", "server_tokens off", "server_tokens on"), "server_tokens is on"},
	{"web.file-cache", config("/n", "open_file_cache max=1000;", ""), "100 of 2000 requests"},
	{"web.access-log", config("/n", " buffer=4k", ""), "no buffer"},
	{"web.health-check", func(in *Input) {
		in.Evidence.Routes = append(in.Evidence.Routes, digest.Route{Method: "GET", Route: "/healthz", Count: 400, Time: digest.Times{Mean: time.Millisecond}})
	}, "400 requests"},
	{"web.accept", config("/n", "events {", "events { accept_mutex on;"), "accept_mutex is on"},
	{"web.sendfile-chunk", both(config("/n", "sendfile on;", "sendfile on; sendfile_max_chunk 0;"), func(in *Input) { in.Evidence.Load.Assets[0].Size = 3 << 20 }), "a mebibyte or more"},
	{"web.proxy-keepalive", config("/n", "location /a.css", "location /api { proxy_pass http://127.0.0.1:8000; } location /a.css"), "127.0.0.1:8000: no idle connections"},
	{"web.buffers", func(in *Input) {
		in.Evidence.Logs = append(in.Evidence.Logs, evidence.LogLine{Service: "web", Level: "warn", Text: "an upstream response is buffered to a temporary file /t/1", Count: 30})
	}, "30 answers"},
	{"web.body-buffers", func(in *Input) {
		in.Evidence.Logs = append(in.Evidence.Logs, evidence.LogLine{Service: "web", Level: "warn", Text: "a client request body is buffered to a temporary file /t/1", Count: 30})
	}, "30 request bodies"},
	{"web.stuck", system(func(s *evidence.System) { s.TCP.States = map[string]int{"FIN-WAIT-1": 300} }), "300 sockets"},
	{"web.static-log", func(in *Input) { in.Evidence.Load.Assets[0].Count = 900 }, "900 of 2000 requests (45 %)"},
	{"apache.prefork", config("/h", "mpm_event_module x.so", "mpm_prefork_module x.so\nLoadModule php_module y.so"), "mpm_prefork with mod_php"},
	{"apache.keepalive", config("/h", "LoadModule", "KeepAlive Off\nLoadModule"), "KeepAlive Off"},
	{"apache.workers", func(in *Input) {
		in.Evidence.Logs = append(in.Evidence.Logs, evidence.LogLine{Service: "httpd", Level: "error", Text: "AH00484: server reached MaxRequestWorkers setting, consider raising it", Count: 1})
	}, "MaxRequestWorkers is 400"},
	{"apache.deflate", func(in *Input) {
		in.Stack.Services = append([]stack.Service{{Name: "httpd", Kind: stack.Apache, Config: "/h"}}, in.Stack.Services[2:6]...)
	}, "100 requests were for text"},
	{"apache.front", func(in *Input) {
		in.Stack.Services = append([]stack.Service{{Name: "httpd", Kind: stack.Apache, Config: "/h"}}, in.Stack.Services[2:6]...)
		in.Evidence.Load.Pages = []load.PageSample{{URL: "/", Status: 200, Count: 1500, Total: 80 * time.Second, Confirmed: true}}
	}, "Nothing stands in front"},
	{"apache.htaccess", config("/h", "LoadModule", "DocumentRoot /srv/www\n<Directory /srv/www>\nAllowOverride All\n</Directory>\nLoadModule"), "lets 1 folders"},
	{"app.go-build", func(in *Input) {
		in.Stack.Service("api").PProf = "http://127.0.0.1:6060/debug/pprof/"
		in.Evidence.Services["api"] = evidence.ServiceUse{CPU: 25}
	}, "default.pgo"},
	{"app.patch", patched(evidence.SourcePatch{Statement: "SELECT name FROM users WHERE id = ?", Database: "db", Count: 4000, Counts: 8000, Total: 2 * time.Second, All: 2 * time.Second, PerRequest: 20}), "home.go:33 (deck): a row read by key in each turn of a loop, 2.00 s in 4,000 runs, 100 % of the time and 50 % of the number of all statements. A request makes up to 20."},
	{"app.patch", patched(evidence.SourcePatch{Shape: "P10"}), "home.go:33 (deck)"},
	{"app.patch", patched(evidence.SourcePatch{Shape: "P12", Makes: []string{"compress/gzip.NewWriter"}, Made: 0.54}), "54 % of the program's samples are in its making (compress/gzip.NewWriter)"},
	{"app.patch", both(patched(evidence.SourcePatch{Shape: "P5"}), func(in *Input) {
		in.Evidence.Counters["db"].Delta["Com_stmt_prepare"] = 4000
	}), "2.0 prepares per request at db"},
	{"app.patch", both(patched(evidence.SourcePatch{Shape: "P19"}), func(in *Input) {
		in.Evidence.Counters["db"].Delta["Connections"] = 400
	}), "0.20 connections per request at db"},
	{"app.patch", both(patched(evidence.SourcePatch{Shape: "P10", File: "db.php"}), func(in *Input) {
		in.Evidence.Counters["db"].Delta["Connections"] = 4000
	}), "2.00 connections per request at db"},
	{"app.object-cache", known("mediawiki", "$wgMainCacheType"), "$wgMainCacheType (/srv/app/settings; it is not set)"},
	{"app.page-cache", known("mediawiki", "$wgUseCdn"), "which pages an edit has changed"},
	{"app.sessions", known("nextcloud", "memcache.locking"), "Transactional file locking"},
	{"app.jobs", known("mediawiki", "$wgJobRunRate"), "may run a job at its end"},
	{"app.production", known("laravel", "config:cache"), "php artisan optimize"},
	{"version.old", php("version", "7.4.33"), "7.4.33"},
	{"cache.evictions", delta("mc", "evictions", 900), "rose by 900"},
	{"cache.hit-rate", delta("kv", "keyspace_misses", 5000), "5000 misses"},
	{"cache.connections", value("mc", "curr_connections", "1000"), "1000 of 1024"},
	{"cache.connect-per-request", delta("mc", "total_connections", 2000), "2000 connections"},
	{"cache.many-gets", delta("mc", "cmd_get", 60000), "rose by 60000"},
	{"cache.latency", func(in *Input) {
		in.Evidence.Latencies[0].First, in.Evidence.Latencies[0].Last = time.Millisecond, 9*time.Millisecond
	}, "9.00 ms in the last"},
	{"cache.loopback-tcp", func(in *Input) { in.Stack.Service("mc").Listen = []string{"127.0.0.1:11211"} }, "127.0.0.1:11211"},
	{"cache.none", both(delta("db", "Com_select", 90000), func(in *Input) {
		in.Stack.Services = append(in.Stack.Services[:4:4], in.Stack.Services[6:]...)
		in.Evidence.Services["db"] = evidence.ServiceUse{CPU: 15}
	}), "90000 reads for 400 writes"},
	{"redis.persistence", both(value("kv", "aof_enabled", "1"), value("kv", "config.appendfsync", "always")), "appendfsync always"},
	{"redis.slow-command", func(in *Input) { // a few slow ones beside many quick ones, which take more together
		kv := in.Evidence.Counters["kv"]
		kv.Delta["cmdstat_get.calls"], kv.Delta["cmdstat_get.usec"] = 1e5, 5e5
		kv.Delta["cmdstat_keys.calls"], kv.Delta["cmdstat_keys.usec"] = 5, 1e5
	}, "KEYS: 5 calls took 100.00 ms, 20.00 ms each"},
	{"redis.slow-command", func(in *Input) { // slow for some arguments only
		kv := in.Evidence.Counters["kv"]
		kv.Delta["cmdstat_sunion.calls"], kv.Delta["cmdstat_sunion.usec"] = 1e4, 5e5
		kv.Value["slowlog.SUNION.count"], kv.Value["slowlog.SUNION.max_usec"], kv.Value["slowlog.SUNION.max_arguments"] = "12", "31000", "40"
	}, "SUNION: 12 calls are in the slow log, the longest took 31.00 ms, with up to 40 arguments"},
	{"redis.slow-command", both(delta("kv", "cmdstat_keys.usec", 3e6), delta("kv", "cmdstat_keys.calls", 100)), "KEYS: 100 calls took 3.00 s, 30.00 ms each"},
	{"varnish.storage", delta("front", "MAIN.n_lru_nuked", 400), "400 objects"},
	{"db.pool-cold", func(in *Input) {
		in.Snapshot.Databases["db"].Variables["innodb_buffer_pool_load_at_startup"] = "OFF"
	}, "300 MiB"},
	{"boot.cold", func(in *Input) {
		in.Reboot = &Reboot{Before: 100, After: 80, Later: 98, Least: 0.95}
	}, "80 % of the 100 before it"},
	{"varnish.pages", func(in *Input) {
		in.Stack.Services[6].Listen = []string{"127.0.0.1:8080"}
		in.Evidence.Load.Pages = []load.PageSample{{URL: "/", Status: 200, Count: 1000, Known: 500, Total: 5 * time.Second, Confirmed: true}}
	}, "(1 pages)"},
	{"varnish.file-storage", config("/v", "malloc,1g", "file,/var/lib/varnish/s,1g"), "file,/var/lib/varnish/s,1g"},
	{"varnish.threads", delta("front", "MAIN.threads_limited", 4), "4 times no thread"},
	{"varnish.threads", both(config("/v", "-s malloc", "-p thread_pools=1 -p thread_pool_max=40 -s malloc"), func(in *Input) {
		in.Evidence.Counters["front"] = evidence.CounterDelta{Delta: map[string]float64{"MAIN.sess_queued": 500}, Value: map[string]string{"MAIN.threads": "40"}}
	}), "500 requests waited for one of 40"},
	{"varnish.threads", delta("front", "MAIN.sess_dropped", 7), "7 sessions were dropped in 10 s. Below the limit"},
	{"varnish.threads", delta("front", "MAIN.threads_failed", 2), "The operating system refused them"},
	{"topology.balance", behind, "local gets 50 % of the requests"},
	{"topology.spare", besides, "php2 on it could take 85 %"},
	{"topology.code", both(behind, func(in *Input) {
		in.Stack.Service("php2").SpareFor = "php"
		in.Snapshot.Spares = map[string]evidence.Spare{"php2": {Code: map[string]evidence.CodeState{"/srv/app": evidence.CodeDifferent}}}
	}), "/srv/app on app1"},
	{"topology.hot-shard", sharded, "mc2 got 9000 (90 %)"},
	{"topology.fewer", both(behind, idle, func(in *Input) { in.Evidence.Services["php"] = evidence.ServiceUse{CPU: 4} }), "1 of the 2 could do the work"},
	{"request.n+1", pattern(trace.NPlusOne), "20.0 calls per request"},
	{"request.same-read", pattern(trace.SameRead), "20.0 calls per request"},
	{"request.same-table", pattern(trace.SameTable), "20.0 calls per request"},
	{"request.row-writes", pattern(trace.RowWrites), "20.0 calls per request"},
	{"request.id-by-update", pattern(trace.IDByUpdate), "20.0 calls per request"},
	{"request.single-gets", pattern(trace.SingleGets), "20.0 calls per request"},
	{"request.single-redis", pattern(trace.SingleRedis), "20.0 calls per request"},
	{"request.connects", pattern(trace.RowConnects), "20.0 calls per request"},
	{"request.prepare-once", pattern(trace.PrepareOnce), "20.0 calls per request"},
	{"request.same-write", pattern(trace.SameWrite), "20.0 calls per request"},
	{"request.calls-per-item", pattern(trace.QueriesInLoop), "20.0 calls per request"},
	{"request.many-calls", func(in *Input) { in.Evidence.Requests.Routes[0].Calls[0].PerRequest = 80 }, "80.0 × SELECT name"},
	{"request.master-data", func(in *Input) {
		bans := trace.CallClass{Service: "db", System: trace.SQL, What: "SELECT ip FROM bans", PerRequest: 1, Source: "app/ban.php:3"}
		in.Evidence.Requests.Routes[0].Calls = append(in.Evidence.Requests.Routes[0].Calls, bans)
		in.Evidence.Requests.Routes = append(in.Evidence.Requests.Routes, trace.RouteCalls{Method: "GET", Route: "/me", Requests: 3, Calls: []trace.CallClass{bans}})
	}, "SELECT ip FROM bans is sent by 2 of 2 routes"},
	{"profile.hot", func(in *Input) { in.Evidence.Profiles[0].Top[0].Self = 0.4 }, "app/page.php:10"},
	{"profile.gc", profiled("runtime.gcBgMarkWorker", 0.3), "30 %"},
	{"profile.compression", profiled("compress/flate.(*compressor).deflate", 0.3), "30 %"},
	{"profile.encoding", profiled("encoding/json.Marshal", 0.3), "30 %"},
	{"profile.logging", profiled("go.uber.org/zap.(*Logger).Info", 0.3), "30 %"},
	{"profile.sorting", profiled("slices.SortFunc", 0.3), "30 %"},
	{"profile.regexp", profiled("get_browser", 0.3), "30 %"},
	{"profile.compile", profiled("zend_compile_top_stmt", 0.3), "30 %"},
	{"profile.crypto", profiled("bcrypt.encryptBlock", 0.3), "30 %"},
	{"app.workers", both(idle, gunicorn), "1 processes with 1 threads"},
	{"app.go-gc", both(goApp, func(in *Input) {
		in.Evidence.Profiles = append(in.Evidence.Profiles, evidence.Profile{Service: "api", Tool: "go pprof", Samples: 900,
			Top: []evidence.ProfileFrame{{Function: "runtime.gcBgMarkWorker", Self: 0.01, Total: 0.3}, {Function: "main.index", Self: 0.5, Total: 0.6}}})
	}), "GOMEMLIMIT=480MiB"},
	{"app.go-gc", both(goApp, func(in *Input) {
		use := in.Evidence.Services["api"]
		use.GC = 0.08 * use.CPU // the profile that there is shows no collector
		in.Evidence.Services["api"] = use
	}), "8 % of its CPU on collecting garbage"},
	{"app.gomaxprocs", both(goApp, system(func(s *evidence.System) { s.Cgroup = &evidence.CgroupUse{CPUs: 1.5, Throttled: 4 * time.Second} })), "on 4 threads under a quota of 1.5 CPUs"},
	{"app.interpolate", both(goApp, delta("db", "Com_stmt_prepare", 4000), delta("db", "Com_stmt_execute", 4000), func(in *Input) {
		in.Snapshot.Files["local"]["/api.env"] = evidence.File{Service: "api", Content: []byte("DSN=u:p@tcp(db:3306)/app?parseTime=true\n")}
	}), "/api.env does not say interpolateParams"},
	{"app.interpolate", both(goApp, delta("db", "Com_stmt_prepare", 4000), delta("db", "Com_stmt_execute", 4000), func(in *Input) {
		api := in.Snapshot.Apps["api"]
		api.Named = &goapp.NamedDatabase{File: "main.go", Line: 54, Variable: "DB_NAME", Default: "s", First: "parseTime=true"}
		in.Snapshot.Databases["db"].Tables = []evidence.Table{{Schema: "s", Name: "t", Engine: "InnoDB"}}
		in.Snapshot.Apps["api"] = api
	}), "main.go:54 makes the data source name"},
	{"app.programs", both(goApp, system(func(s *evidence.System) { s.Forks = 6000 }), func(in *Input) {
		use := in.Evidence.Services["api"]
		use.ProgramsCPU, use.Programs = 1.9, []evidence.ProgramUse{{Name: "zip", Seen: 40, Processes: 30}, {Name: "sh", Seen: 3, Processes: 3}}
		in.Evidence.Services["api"] = use
	}), "zip at 40"},
	{"app.go-flags", both(goApp, func(in *Input) {
		in.Snapshot.Apps["api"].Go.Settings = map[string]string{"-gcflags": "all=-N -l"}
	}), "built with -gcflags=-l"},
	{"app.ruby-jit", func(in *Input) {
		in.Snapshot.Apps = map[string]evidence.AppProcess{"api": {Exe: "/usr/bin/ruby3.1", Argv: []string{"puma", "5.6.5"}}}
		in.Evidence.Services["api"] = evidence.ServiceUse{CPU: 20}
	}, "Ruby 3.1"},
	{"app.ruby-jit", func(in *Input) { // that Passenger starts in Apache
		in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "httpd", Kind: stack.Apache, Config: "/apache2.conf"}, stack.Service{Name: "rails", Kind: stack.App, Root: "/srv/rails", RunsIn: "httpd"})
		in.Snapshot.Files["local"]["/apache2.conf"] = evidence.File{Service: "httpd", Content: []byte("Listen 80\n")}
		in.Snapshot.Apps = map[string]evidence.AppProcess{"rails": {Exe: "/usr/bin/ruby3.1", Argv: []string{"Passenger", "RubyApp:", "rails"}}}
		in.Evidence.Services["httpd"] = evidence.ServiceUse{CPU: 20}
	}, "httpd takes"},
	{"app.node-env", func(in *Input) {
		in.Snapshot.Apps = map[string]evidence.AppProcess{"api": {Exe: "/usr/bin/node", Env: map[string]string{"NODE_ENV": "development"}}}
	}, `NODE_ENV is "development"`},
	{"app.node-env", func(in *Input) {
		in.Snapshot.Apps = map[string]evidence.AppProcess{"api": {Exe: "/usr/bin/nodejs", Env: map[string]string{}, ByNodeEnv: []string{"/srv/config/production.json"}}}
	}, "It also chooses what is in /srv/config/production.json"},
	{"app.node-heap", func(in *Input) {
		in.Snapshot.Apps = map[string]evidence.AppProcess{"api": {Exe: "/usr/bin/node", Argv: []string{"node", "server.js"}, Env: map[string]string{}}}
		in.Evidence.Services["api"] = evidence.ServiceUse{CPU: 20, Processes: 1}
	}, "semi-space of at most 16 MiB"},
	{"tcp.time-wait", system(func(s *evidence.System) { s.TimeWait = 25000 }), "25000"},
	{"tcp.ports", system(func(s *evidence.System) { s.TCP.PortsUsed = 27000 }), "27000 of 28232 ports"},
	{"tcp.accept-queue", system(func(s *evidence.System) { s.TCP.Queues[0].Longest = 500 }), "500 of 511"},
	{"tcp.retransmits", system(func(s *evidence.System) { s.TCP.Retransmits = 5000 }), "5000 of 100000"},
	{"system.files", func(in *Input) { in.Evidence.Services["web"] = evidence.ServiceUse{OpenFiles: 1000, FileLimit: 1024} }, "1000 of 1024"},
	{"system.memory", system(func(s *evidence.System) { s.MemoryAvailable = 100 << 20 }), "100 MiB of 8192 MiB"},
	{"system.steal", system(func(s *evidence.System) { s.Steal = 4 }), "4.0 of"},
	{"system.quota", system(func(s *evidence.System) { s.Cgroup = &evidence.CgroupUse{CPUs: 3.5, Throttled: 4 * time.Second} }), "stopped for 4.0 s"},
	{"system.switching", system(func(s *evidence.System) { s.Sys, s.User, s.ContextSwitches = 15, 19, 200000 }), "50000 times a second on each CPU"},
	{"system.disk", system(func(s *evidence.System) { s.Disks[0].Busy = 0.9 }), "90 %"},
	{"system.network", system(func(s *evidence.System) { s.Networks[0].SendBytes = 110e6 }), "88 %"},
	{"system.serial", both(idle, func(in *Input) { in.Evidence.Services["kv"] = evidence.ServiceUse{CPU: 9.5, Busiest: 9.5} }), "95 %"},
	{"system.unsaturated", idle, "latency × concurrency"},
	{"topology.database-apart", func(in *Input) { in.Evidence.Services["db"] = evidence.ServiceUse{CPU: 15} }, "7.50 ms"},
	{"app.variant", func(in *Input) {
		in.Stack.Service("api").Variants = []stack.Variant{{Name: "perl"}}
		in.Snapshot.Variants = map[string]map[string]stack.VariantState{"api": {stack.Main: {State: stack.Running}, "perl": {State: stack.Stopped}}}
		in.Evidence.Services["api"] = evidence.ServiceUse{CPU: 12, Processes: 2, RSS: 60 << 20}
	}, "names main, perl"},
	{"load.workload", idle, "12 users keep CPU"},
	{"load.generator", system(func(s *evidence.System) { s.GeneratorCPU = 20 }), "load generator"},
	{"load.errors", func(in *Input) { in.Evidence.Load.Mismatches = 3 }, "3 answers were not as expected"},
	{"load.heavy-route", func(in *Input) {
		in.Evidence.Routes = []digest.Route{{Method: "GET", Route: "/search", Count: 100, Share: 0.8}, {Method: "GET", Route: "/", Count: 1900, Share: 0.2}}
	}, "100 requests (5 % of all)"},
	{"log.server-errors", func(in *Input) { in.Evidence.Routes[0].Status[5] = 40 }, "40 of 2000 answers"},
	{"log.messages", func(in *Input) {
		in.Evidence.Logs = append(in.Evidence.Logs, evidence.LogLine{Service: "php", Level: "warning", Text: "server reached pm.max_children", Count: 5, Measures: []string{"C18"}})
	}, "5 times in 10 s"},
}

// TestApacheFullSinceLong: what Apache said before the window counts only with
// connections that wait and more users than workers.
func TestApacheFullSinceLong(t *testing.T) {
	for name, c := range map[string]struct {
		workers string
		waited  int
		said    string
		want    bool
	}{
		"full since long": {"8", 5, "AH00484: server reached MaxRequestWorkers setting, consider raising it", true},
		"nobody waits":    {"8", 0, "AH00484: server reached MaxRequestWorkers setting, consider raising it", false},
		"few users":       {"12", 5, "AH00484: server reached MaxRequestWorkers setting, consider raising it", false},
		"never full":      {"8", 5, "", false},
		"few idle":        {"8", 5, "AH10159: server is within MinSpareThreads of MaxRequestWorkers, consider raising it", false},
	} {
		t.Run(name, func(t *testing.T) {
			in := healthy()
			config("/h", "LoadModule", "MaxRequestWorkers "+c.workers+"\nLoadModule")(&in)
			in.Evidence.LogsBefore = []evidence.LogLine{{Service: "httpd", Level: "error", Text: c.said, Count: 1}}
			in.Evidence.System.TCP.Queues = append(in.Evidence.System.TCP.Queues, evidence.AcceptQueue{Listen: "0.0.0.0:81", Service: "httpd", Longest: c.waited, Limit: 511})
			d, err := Diagnose(in)
			if err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Rule == "apache.workers" })
			if found != c.want {
				t.Errorf("found %t", found)
			}
		})
	}
}

// patched is a patch of the source of api, with what is of all of them.
func patched(p evidence.SourcePatch) func(in *Input) {
	p.Service, p.ID, p.Title, p.What = "api", "P1-0000", "Read the rows of deck at once", "a row read by key in each turn of a loop"
	p.File, p.Line, p.Lines, p.Function = cmp.Or(p.File, "home.go"), 33, 4, "deck"
	return func(in *Input) {
		in.Evidence.Services["api"] = evidence.ServiceUse{CPU: 5}
		in.Snapshot.Patches = []evidence.SourcePatch{p}
	}
}

// What is kept for a second is asked for once in each; where a run writes its table it is
// no finding.
func TestPatchThatKeeps(t *testing.T) {
	for written, want := range map[string]int{"": 1, "UPDATE versions SET version = ?": 0} {
		in := healthy()
		patched(evidence.SourcePatch{Shape: "P9", Statement: "SELECT version FROM versions", Database: "db", Count: 4000, Counts: 8000, Total: time.Second, All: 2 * time.Second,
			PerRequest: 1, Staleness: time.Second, Written: written})(&in)
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, f := range d.Findings {
			if f.Rule != "app.patch" {
				continue
			}
			found++
			if reach, err := strconv.ParseFloat(f.Subject["reach"], 64); err != nil || reach < 0.9 || reach >= 1 {
				t.Errorf("reach %s", f.Subject["reach"])
			}
		}
		if found != want {
			t.Errorf("%q: %d findings", written, found)
		}
	}
}

// What is hardly made in a run is no finding, and what is made a lot is bounded by its time.
func TestPatchOfMakingByItsShare(t *testing.T) {
	for share, want := range map[float64]bool{0: false, 0.009: false, 0.02: true} {
		in := healthy()
		patched(evidence.SourcePatch{Shape: "P12", Makes: []string{"compress/gzip.NewWriter"}, Made: share})(&in)
		found := false
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Findings {
			if f.Rule == "app.patch" {
				found = true
				if f.Bound <= 1 || f.Bound > 1.05 {
					t.Errorf("share %v: bound %v", share, f.Bound)
				}
			}
		}
		if found != want {
			t.Errorf("share %v: found %v", share, found)
		}
	}
}

// Of the statements that draw numbers one in a hundred stays, however many a request makes.
func TestPatchOfACounterTakesNearlyAll(t *testing.T) {
	in := healthy()
	patched(evidence.SourcePatch{Shape: "P8", Statement: "UPDATE ids SET id = LAST_INSERT_ID(id + 1)", Database: "db", Count: 4000, Counts: 8000, Total: 2 * time.Second, All: 2 * time.Second, PerRequest: 2})(&in)
	d, err := Diagnose(in)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Rule == "app.patch" })
	if i < 0 || d.Findings[i].Subject["reach"] != "0.990" {
		t.Errorf("%+v", d.Findings)
	}
}

// A patch whose statement the load does not make is no finding.
func TestPatchThatTheLoadDoesNotReach(t *testing.T) {
	for _, p := range []evidence.SourcePatch{{Statement: "SELECT 1"}, {Shape: "P5"}, {Shape: "P19"}, {Shape: "P10", File: "db.php"}} {
		in := healthy()
		patched(p)(&in)
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Findings {
			if f.Rule == "app.patch" {
				t.Errorf("%+v", f)
			}
		}
	}
}

func TestEveryRuleHasASign(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range signs {
		tested[c.rule] = true
		t.Run(c.rule, func(t *testing.T) {
			in := healthy()
			c.sign(&in)
			d, err := Diagnose(in)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range d.Findings {
				if f.Rule != c.rule {
					continue
				}
				all := f.Title + "\n" + f.Text + "\n" + strings.Join(f.Evidence, "\n") + f.Source
				if !strings.Contains(all, c.says) {
					t.Errorf("it does not say %q:\n%s", c.says, all)
				}
				if f.Bound < 1 || f.Formula == "" || len(f.Measures) == 0 || f.Title == "" {
					t.Errorf("incomplete: %+v", f)
				}
				return
			}
			t.Errorf("silent; not judged: %v", d.NotJudged)
		})
	}
	for _, r := range Rules {
		if tested[r.ID] != r.Judges() {
			t.Errorf("rule %s has no sign, or one that it cannot judge", r.ID)
		}
		if r.Needs == "" || len(r.Measures) == 0 {
			t.Errorf("rule %s says nothing of what it needs or stands for", r.ID)
		}
	}
}

// Whatever a run shows, no two findings ask for opposite things, none asks for
// what is set, and all together fit into the memory that is there.
func TestFindingsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := healthy()
		// These replace the services, which others name, so one of them comes last.
		takesAway := []string{"cache.none", "apache.deflate", "apache.front"}
		var last func(*Input)
		for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(signs)-1), 1, 12, rapid.ID).Draw(t, "signs") {
			if slices.Contains(takesAway, signs[i].rule) {
				last = signs[i].sign
			} else {
				signs[i].sign(&in)
			}
		}
		if last != nil {
			last(&in)
		}
		in.Evidence.System.MemoryAvailable = rapid.Int64Range(0, 8<<30).Draw(t, "available")
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		asked := map[string]Setting{}
		memory := map[string]int64{}
		for _, f := range d.Findings {
			for _, s := range f.Settings {
				key := s.Service + " " + s.Name
				before, ok := asked[key]
				if ok && rivals(s, before) {
					t.Fatalf("%s is asked to be %s and %s", key, before.To, s.To)
				}
				if ok && before.Up*s.Up < 0 {
					t.Fatalf("%s is asked to go both ways", key)
				}
				if s.To != "" && s.To == s.Now {
					t.Fatalf("%s is asked for and set", key)
				}
				asked[key] = s
				memory[key] = max(memory[key], s.Memory)
			}
		}
		total := map[string]int64{} // by host
		for key, n := range memory {
			name, _, _ := strings.Cut(key, " ")
			host := stack.LocalHost
			if svc := in.Stack.Service(name); svc != nil {
				host = svc.HostName()
			}
			total[host] += n
		}
		for host, n := range total { // a host whose memory nobody read has any
			if sys := in.Evidence.On(host); n > 0 && sys != nil && sys.MemoryTotal > 0 && float64(n) > roomLeft*float64(sys.MemoryAvailable) {
				t.Fatalf("%d bytes are asked for on %s, %d are available", n, host, sys.MemoryAvailable)
			}
		}
	})
}

func ExampleDiagnose() {
	d, err := Diagnose(healthy())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Knee.Formula)
	fmt.Println(d.Next[0].Text)
	// Output:
	// N* = (D + Z)/Dmax = (15.00 ms + 10.00 ms) / 4.25 ms = 5.9 users; 1/Dmax = 235/s; the run had 12 users and 200/s
	// cpu allows 235/s: 17.00 ms per request, 85 % in use
}
