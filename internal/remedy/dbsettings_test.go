package remedy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
)

// dbWorld has a database with these variables, counters' rises and values.
func dbWorld(t *testing.T, variables map[string]string, delta map[string]float64, values map[string]string) remedy.Input {
	t.Helper()
	in := remedytest.World(nil)
	for k, v := range variables {
		in.Snapshot.Databases["db"].Variables[k] = v
	}
	c := in.Evidence.Counters["db"]
	for k, n := range delta {
		c.Delta[k] = n
	}
	c.Value = values
	in.Evidence.Counters["db"] = c
	return in
}

func onMySQL(in remedy.Input, version string) remedy.Input {
	in.Snapshot.Databases["db"].Version, in.Snapshot.Databases["db"].MariaDB = version, false
	return in
}

// dbLines are lines of my.cnf that a plan adds or changes, and how it is activated.
func dbLines(p remedy.Plan) string {
	var out []string
	for _, c := range p.Changes {
		if c.Kind == change.KindFile {
			for line := range strings.Lines(string(c.After.Content)) {
				if !strings.Contains(string(c.Before.Content), line) {
					out = append(out, strings.TrimSpace(line))
				}
			}
			out = append(out, fmt.Sprint(c.Activate))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func TestKnobs(t *testing.T) {
	many := map[string]float64{"Connections": 1000}
	with := func(m map[string]float64) map[string]float64 {
		for k, v := range many {
			m[k] = v
		}
		return m
	}
	for _, c := range []struct {
		name, remedy string
		in           remedy.Input
		want         string
	}{
		{"threads: as many as connections were open, at least what is allowed", "mariadb.thread-cache",
			dbWorld(t, map[string]string{"thread_cache_size": "0"}, with(map[string]float64{"Threads_created": 900}), map[string]string{"Max_used_connections": "20"}), "none; thread_cache_size = 151"},
		{"tables: twice as many; files only if the limit is low", "mariadb.table-cache",
			dbWorld(t, map[string]string{"table_open_cache": "1400", "open_files_limit": "100000"}, map[string]float64{"Opened_tables": 900}, map[string]string{"Open_tables": "1400"}), "none; table_open_cache = 2800"},
		{"connections: half as many again", "mariadb.connections",
			dbWorld(t, nil, nil, map[string]string{"Max_used_connections": "150"}), "max_connections = 230; none"},
		{"sorts: connections come and go, so they take it as they come", "mariadb.buffers",
			dbWorld(t, map[string]string{"sort_buffer_size": "262144"}, with(map[string]float64{"Sort_merge_passes": 20}), nil), "none; sort_buffer_size = 2M"},
		{"sorts: connections are kept, so it takes a restart to reach them", "mariadb.buffers",
			dbWorld(t, map[string]string{"sort_buffer_size": "262144"}, map[string]float64{"Sort_merge_passes": 20}, nil), "restart; sort_buffer_size = 2M"},
		{"the binary log's cache holds four transactions of the usual size", "mariadb.binlog-cache",
			dbWorld(t, map[string]string{"binlog_cache_size": "32768"}, with(map[string]float64{"Binlog_cache_disk_use": 90, "Binlog_commits": 100, "Binlog_bytes_written": 4 << 20}), nil), "binlog_cache_size = 164K; none"},
		{"pages: the ceiling first, within what the disk was seen to do", "mariadb.io", withDisk(dbWorld(t, map[string]string{"innodb_io_capacity": "200", "innodb_io_capacity_max": "2000"},
			map[string]float64{"Innodb_buffer_pool_pages_flushed": 9000}, nil)), "innodb_io_capacity = 1500; innodb_io_capacity_max = 3000; none"},
		{"isolation by the option that every version has", "mariadb.isolation",
			dbWorld(t, nil, with(map[string]float64{"Innodb_row_lock_time": 90000}), nil), "none; transaction_isolation = READ-COMMITTED"},
		{"query cache: none from the start cannot be switched on", "mariadb.query-cache",
			dbWorld(t, map[string]string{"query_cache_type": "OFF", "query_cache_size": "1048576"}, map[string]float64{"Com_select": 90000}, nil), "query_cache_size = 64M; query_cache_type = ON; restart"},
		{"no doublewrite", "mariadb.doublewrite", dbWorld(t, map[string]string{"innodb_doublewrite": "ON"}, map[string]float64{"Innodb_dblwr_pages_written": 9000}, nil), "innodb_doublewrite = OFF; restart"},
	} {
		if got := dbLines(remedytest.Want(t, c.in, c.remedy)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// roomy gives all of the host's memory to the server: nothing else uses any, and no
// headroom is kept.
func roomy(in remedy.Input) remedy.Input {
	in.Evidence.System.MemoryAvailable = in.Evidence.System.MemoryTotal
	in.Stack.Regulation.MemoryHeadroomPercent = 1
	return in
}

// A size is searched where its sign does not tell it and probes can tell: steps of
// a power of two from twice the present size on, at most six, as far as memory goes.
func TestSizesThatAreSearched(t *testing.T) {
	disk := map[string]float64{"Created_tmp_disk_tables": 9000, "Connections": 10000}
	few := map[string]string{"Max_used_connections": "20"}
	heap := map[string]string{"tmp_table_size": "16777216", "max_heap_table_size": "67108864"}
	for _, c := range []struct {
		name string
		in   remedy.Input
		want string
		last string // what the largest sets
	}{
		{"a long way in large steps", dbWorld(t, map[string]string{"sort_buffer_size": "20000"}, map[string]float64{"Sort_merge_passes": 900}, few),
			"sort_buffer_size, KiB: 19 [64 256 1024 4096 16384 32768]", "restart; sort_buffer_size = 32M"},
		{"both sizes of temporary tables; 151 × 32 MiB fit beside the pool, 151 × 64 MiB do not", dbWorld(t, heap, disk, few),
			"", ""},
		{"rows that temporary tables hold count", dbWorld(t, map[string]string{"tmp_table_size": "65536", "max_heap_table_size": "65536"},
			map[string]float64{"Created_tmp_disk_tables": 60, "Handler_tmp_write": 480000, "Connections": 3000}, few),
			"tmp_table_size, KiB: 64 [128 512 2048 8192 32768]", "max_heap_table_size = 32M; none; tmp_table_size = 32M"},
		{"of the two bounds the smaller counts", dbWorld(t, map[string]string{"tmp_table_size": "4194304", "max_heap_table_size": "131072"},
			disk, few),
			"tmp_table_size, KiB: 128 [256 1024 4096 16384 32768]", "max_heap_table_size = 32M; none; tmp_table_size = 32M"},
		{"MySQL 8.0.28: each of them, and all together at least as much", onMySQL(dbWorld(t, map[string]string{"internal_tmp_mem_storage_engine": "TempTable", "temptable_max_ram": "16777216", "tmp_table_size": "1048576", "max_heap_table_size": "16777216"}, disk, few), "8.0.28"),
			"tmp_table_size, KiB: 1024 [2048 4096 8192 16384 32768]", "none; temptable_max_ram = 32M; tmp_table_size = 32M"},
		{"MySQL 8.0.27: all temporary tables together", onMySQL(dbWorld(t, tempTables("16777216"), disk, few), "8.0.27"),
			"temptable_max_ram, KiB: 16384 [32768 131072 524288 2097152 4194304]", "none; temptable_max_ram = 4096M"},
	} {
		roomy(c.in)
		if c.want == "" {
			remedytest.WantNone(t, c.in, "mariadb.buffer-size", "fewer than two sizes")
			if got := dbLines(remedytest.Want(t, c.in, "mariadb.buffers")); got == "" {
				t.Errorf("%s: nor computed", c.name)
			}
			continue
		}
		p := remedytest.Want(t, c.in, "mariadb.buffer-size")
		if got := fmt.Sprintf("%s: %d %d", p.Search.Name, p.Search.Current, p.Search.Values); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		var err error
		if p.Changes, err = p.Search.At(p.Search.Values[len(p.Search.Values)-1]); err != nil {
			t.Fatal(err)
		}
		if got := dbLines(p); got != c.last {
			t.Errorf("%s: %q, want %q", c.name, got, c.last)
		}
		remedytest.WantNone(t, c.in, "mariadb.buffers", "searched")
	}
	// In a window of a second, what Kasoku's own look makes is no sign.
	for n, found := range map[float64]bool{1: false, 3: false, 4: true} {
		in := dbWorld(t, map[string]string{"join_buffer_size": "262144"}, map[string]float64{"Select_full_join": n, "Connections": 1000}, few)
		in.Evidence.Load.Window = time.Second
		in, _ = remedytest.Plan(t, in)
		if got := slices.ContainsFunc(in.Diagnosis.Findings, func(f diagnose.Finding) bool { return f.Rule == "db.join-buffer" }); got != found {
			t.Errorf("%.0f joins in a second: found %v", n, got)
		}
	}
	little := dbWorld(t, heap, map[string]float64{"Created_tmp_disk_tables": 20, "Connections": 1000}, few)
	remedytest.WantNone(t, little, "mariadb.buffer-size", "less than probes tell apart")
}

// withDisk did 100 writes a second in a twentieth of its time: 2,000 at most.
func withDisk(in remedy.Input) remedy.Input {
	in.Evidence.System.Disks = []evidence.DiskUse{{Name: "sda", Busy: 0.05, Writes: 100, WriteLatency: time.Millisecond}}
	return in
}

// Settings of servers that are not packaged here.
func TestKnobsOfOtherVersions(t *testing.T) {
	redo := map[string]float64{"Innodb_os_log_written": 10 << 20}
	for _, c := range []struct {
		name, remedy string
		in           remedy.Input
		want         string
	}{
		{"MySQL 8.0.30: all of the redo log is one number, and can change", "mariadb.memory",
			onMySQL(dbWorld(t, map[string]string{"innodb_redo_log_capacity": "104857600", "innodb_buffer_pool_size": "1073741824"}, redo, nil), "8.0.36"), "innodb_redo_log_capacity = 640M; none"},
		{"MySQL 5.7: two files and a restart", "mariadb.memory",
			onMySQL(dbWorld(t, map[string]string{"innodb_log_files_in_group": "2", "innodb_buffer_pool_size": "1073741824"}, redo, nil), "5.7.44"), "innodb_log_file_size = 320M; restart"},
		{"MySQL: an instance for each GiB, as far as there are CPUs", "mariadb.memory", func() remedy.Input {
			in := onMySQL(dbWorld(t, map[string]string{"innodb_buffer_pool_instances": "1", "innodb_redo_log_capacity": "1073741824"}, nil, nil), "8.0.36")
			in.Snapshot.Databases["db"].DataBytes = 2 << 30
			return in
		}(), "innodb_buffer_pool_instances = 2; innodb_buffer_pool_size = 2560M; restart"},
		{"MySQL: across a GiB only by a restart, since SET GLOBAL could not always go back", "mariadb.memory", ofData(t, 1<<30, map[string]string{"innodb_buffer_pool_instances": "1", "innodb_redo_log_capacity": "1073741824"}),
			"innodb_buffer_pool_instances = 1; innodb_buffer_pool_size = 1280M; restart"},
		{"MySQL: a whole chunk for each instance", "mariadb.memory", ofData(t, 3<<29, map[string]string{"innodb_buffer_pool_instances": "8", "innodb_buffer_pool_size": "1073741824", "innodb_redo_log_capacity": "1073741824"}),
			"innodb_buffer_pool_size = 2048M; none"},
		{"MySQL: fewer instances of the table cache", "mariadb.table-cache",
			onMySQL(dbWorld(t, map[string]string{"table_open_cache": "2000", "table_open_cache_instances": "16"}, map[string]float64{"Table_open_cache_overflows": 300}, map[string]string{"Open_tables": "900"}), "8.0.36"), "restart; table_open_cache_instances = 1"},
		{"MySQL 5.7: no neighbours", "mariadb.io",
			onMySQL(withDisk(dbWorld(t, map[string]string{"innodb_flush_neighbors": "1"}, map[string]float64{"Innodb_buffer_pool_pages_flushed": 90}, nil)), "5.7.44"), "innodb_flush_neighbors = 0; none"},
		{"MySQL 8.0: the log buffer can change", "mariadb.log-buffer",
			onMySQL(dbWorld(t, map[string]string{"innodb_log_buffer_size": "16777216"}, map[string]float64{"Innodb_log_waits": 90}, nil), "8.0.36"), "innodb_log_buffer_size = 64M; none"},
		{"MariaDB 10.5: lists of waiting threads", "mariadb.sync-array", func() remedy.Input {
			in := dbWorld(t, map[string]string{"innodb_sync_array_size": "1"}, nil, map[string]string{"Threads_running": "900"})
			in.Snapshot.Databases["db"].Version = "10.5.23-MariaDB"
			return in
		}(), "innodb_sync_array_size = 4; restart"},
		{"no page is clean: more of them ahead", "mariadb.io",
			dbWorld(t, map[string]string{"innodb_io_capacity": "20000", "innodb_lru_scan_depth": "256", "innodb_page_size": "16384"}, map[string]float64{"Innodb_buffer_pool_wait_free": 90}, nil), "innodb_lru_scan_depth = 512; none"},
		{"MySQL 8: no binary log must be said", "mariadb.no-binlog",
			onMySQL(dbWorld(t, map[string]string{"log_bin": "ON"}, nil, nil), "8.0.36"), "restart; skip-log-bin = 1"},
		{"MySQL 8.0.28: each temporary table has its bound", "mariadb.buffers",
			roomy(onMySQL(dbWorld(t, tempTables("16777216"), map[string]float64{"Created_tmp_disk_tables": 20, "Connections": 1000}, map[string]string{"Max_used_connections": "1"}), "8.0.28")), "none; temptable_max_ram = 64M; tmp_table_size = 52M"},
		{"MySQL 8.0.27: all of them together have one", "mariadb.buffers",
			onMySQL(dbWorld(t, tempTables("16777216"), map[string]float64{"Created_tmp_disk_tables": 20}, nil), "8.0.27"), "none; temptable_max_ram = 64M"},
	} {
		if got := dbLines(remedytest.Want(t, c.in, c.remedy)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, c := range remedytest.Want(t, ofData(t, 1<<30, map[string]string{"innodb_buffer_pool_instances": "1", "innodb_redo_log_capacity": "1073741824"}), "mariadb.memory").Changes {
		if c.Kind == change.KindVariable {
			t.Errorf("undo would set %s back, which a server with several instances refuses", c.Variable)
		}
	}
	persisted := onMySQL(dbWorld(t, map[string]string{"innodb_log_buffer_size": "16777216"}, map[string]float64{"Innodb_log_waits": 90}, nil), "8.0.36")
	persisted.Snapshot.Databases["db"].Persisted = map[string]string{"innodb_log_buffer_size": "16777216"}
	remedytest.WantNone(t, persisted, "mariadb.log-buffer", "RESET PERSIST innodb_log_buffer_size")
	followed := onMySQL(dbWorld(t, map[string]string{"log_bin": "ON"}, nil, nil), "8.0.36")
	followed.Snapshot.Databases["db"].Replicas = 1
	if _, res := remedytest.Plan(t, followed); slices.ContainsFunc(res.Plans, func(p remedy.Plan) bool { return p.Remedy == "mariadb.no-binlog" }) {
		t.Error("a replica reads the binary log that is to go")
	}
}

// ofData is a MySQL 8 with that much data.
func ofData(t *testing.T, bytes int64, variables map[string]string) remedy.Input {
	t.Helper()
	in := onMySQL(dbWorld(t, variables, nil, nil), "8.0.36")
	in.Snapshot.Databases["db"].DataBytes = bytes
	return in
}

// An application that is told to keep no connection keeps one for each process,
// if the database takes as many.
func TestPersistent(t *testing.T) {
	told := func() remedy.Input {
		in := remedytest.World(map[string]string{remedytest.AppPath: "dsn = \"mysql:host=127.0.0.1;dbname=app\"\ndb_persistent = 0\n"})
		in.Stack.Regulation.ApplicationSettings = true
		in.Evidence.Counters["db"].Delta["Connections"] = 900
		in.Snapshot.Databases["db"].Variables["max_connections"] = "151"
		return in
	}
	in := told()
	p := remedytest.Want(t, in, "app.db-persistent")
	remedytest.Has(t, remedytest.After(p, remedytest.AppPath), "db_persistent = 1\n", "mysql:host=127.0.0.1")
	if !slices.Equal(p.Trades, []regulation.Trade{regulation.Isolation}) || p.Changes[0].Activate != change.Reload || !strings.Contains(p.Why, "Up to 32 would be kept, of 151") {
		t.Errorf("%v %s: %s", p.Trades, p.Changes[0].Activate, p.Why)
	}
	in.Stack.Regulation.ApplicationSettings = false
	if why := remedy.Forbidden(in.Stack.Regulation, p); !strings.Contains(why, "application_settings") {
		t.Errorf("an application's own settings are changed without permission: %q", why)
	}
	remedytest.Put(in, p.Changes)
	remedytest.WantNone(t, in, "app.db-persistent", "")
	in = told()
	in.Snapshot.Databases["db"].Variables["max_connections"] = "35"
	remedytest.WantNone(t, in, "app.db-persistent", "would keep up to 32 connections and db takes 35")
	in = told()
	in.Stack.Service("app").RunsIn = ""
	remedytest.WantNone(t, in, "app.db-persistent", "how many requests app can have at once is not known")
	in = told()
	in.Evidence.Counters["db"].Delta["Connections"] = 40
	remedytest.WantNone(t, in, "app.db-persistent", "")
}

func TestPoolSmaller(t *testing.T) {
	in := dbWorld(t, map[string]string{"innodb_buffer_pool_size": "6442450944"}, nil, nil)
	in.Evidence.System.MemoryAvailable = 1 << 30
	if got := dbLines(remedytest.Want(t, in, "mariadb.pool-smaller")); got != "innodb_buffer_pool_size = 1024M; none" {
		t.Error(got)
	}
}

func tempTables(most string) map[string]string {
	return map[string]string{"internal_tmp_mem_storage_engine": "TempTable", "temptable_max_ram": most, "tmp_table_size": "16777216", "max_heap_table_size": "16777216"}
}

// What all connections may take is held against the memory that the host has for the
// server.
func TestMemoryProduct(t *testing.T) {
	big := func() remedy.Input {
		return dbWorld(t, map[string]string{"tmp_table_size": "16777216", "max_heap_table_size": "16777216"}, map[string]float64{"Created_tmp_disk_tables": 20, "Connections": 1000}, map[string]string{"Max_used_connections": "20"})
	}
	if got := dbLines(remedytest.Want(t, roomy(big()), "mariadb.buffers")); got != "max_heap_table_size = 52M; none; tmp_table_size = 52M" { // 151 × 52 MiB + a pool of 128 MiB are just below 99 % of 8 GiB
		t.Error(got)
	}
	in := roomy(big())
	in.Stack.Regulation.MemoryHeadroomPercent, in.Evidence.System.MemoryAvailable = 0, 7<<30 // a fifth is kept, and others use 1 GiB
	p := remedytest.Want(t, in, "mariadb.buffers")
	if got := dbLines(p); got != "max_heap_table_size = 35M; none; tmp_table_size = 35M" {
		t.Error(got)
	}
	remedytest.Has(t, p.Why, "of the 5529 MiB that the host has for it")
	in = roomy(big())
	in.Snapshot.Databases["db"].Variables["max_connections"] = "400"
	remedytest.WantNone(t, in, "mariadb.buffers", "lower max_connections first")
	in = big()
	in.Evidence.System.MemoryAvailable = 1700 << 20 // 62 MiB beyond the headroom of a fifth of 8 GiB
	remedytest.WantNone(t, in, "mariadb.buffers", "beyond the regulation's headroom")
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		name     string
		accounts []evidence.Account
		want     string // part of why not; "" it is planned
	}{
		{"accounts by address and from anywhere", []evidence.Account{{User: "app", Host: "10.0.0.5"}, {User: "app", Host: "10.1.%"}, {User: "web", Host: "%"}, {User: "root", Host: "localhost"}}, ""},
		{"an account by name", []evidence.Account{{User: "app", Host: "web1.example.org"}}, "by a host's name"},
		{"one that only looks like digits", []evidence.Account{{User: "app", Host: "cafe"}}, "by a host's name"},
		{"an account for localhost with its twin", []evidence.Account{{User: "app", Host: "localhost"}, {User: "app", Host: "127.0.0.1"}}, ""},
		{"one without", []evidence.Account{{User: "app", Host: "localhost"}}, "no twin"},
		{"accounts that could not be read", nil, "mysql.user"},
	} {
		in := dbWorld(t, map[string]string{"skip_name_resolve": "OFF"}, map[string]float64{"Connections": 2000}, nil)
		in.Snapshot.Databases["db"].Accounts = c.accounts
		if c.want != "" {
			remedytest.WantNone(t, in, "mariadb.names", c.want)
			continue
		}
		if got := dbLines(remedytest.Want(t, in, "mariadb.names")); got != "restart; skip_name_resolve = ON" {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// An empty my.cnf gets everything that a finding asks for and that gives
// nothing up, in one plan; what is in force is not planned again.
func TestDefaults(t *testing.T) {
	make := func() remedy.Input {
		return dbWorld(t, map[string]string{"innodb_io_capacity": "200", "innodb_io_capacity_max": "2000", "sort_buffer_size": "262144", "innodb_doublewrite": "ON", "sync_binlog": "0"},
			map[string]float64{"Innodb_buffer_pool_pages_flushed": 9000, "Sort_merge_passes": 20, "Innodb_dblwr_pages_written": 9000, "Innodb_row_lock_time": 90000}, nil)
	}
	in := make()
	p := remedytest.Want(t, in, "mariadb.defaults")
	if want := "innodb_buffer_pool_size = 640M; innodb_io_capacity = 3600; innodb_io_capacity_max = 7200; innodb_log_file_size = 320M; restart; sort_buffer_size = 2M"; dbLines(p) != want || len(p.Trades) > 0 {
		t.Errorf("%s, trades %v, want %s", dbLines(p), p.Trades, want)
	}
	remedytest.Put(in, p.Changes)
	remedytest.WantNone(t, in, "mariadb.defaults", "")
}

// Every trade is named, and the strict regulation refuses every plan that makes one.
func TestTradesAreNamed(t *testing.T) {
	in := dbWorld(t, map[string]string{"innodb_doublewrite": "ON", "log_bin": "ON", "sync_binlog": "1", "binlog_format": "ROW", "innodb_autoinc_lock_mode": "1"},
		map[string]float64{"Innodb_dblwr_pages_written": 9000, "Innodb_row_lock_time": 90000, "Com_insert_select": 900}, nil)
	in.Snapshot.Databases["db"].Tables = []evidence.Table{{Schema: "s", Name: "t", Engine: "InnoDB", AutoIncrement: 9}}
	f := in.Snapshot.Files["local"][remedytest.MyCnfPath]
	f.Content = append(f.Content, "log-bin = binlog\n"...)
	in.Snapshot.Files["local"][remedytest.MyCnfPath] = f
	_, res := remedytest.Plan(t, in)
	refused := map[string]regulation.Trade{}
	for _, r := range res.Refusals {
		if len(r.Plan.Trades) > 0 {
			refused[r.Plan.Remedy] = r.Plan.Trades[0]
		}
	}
	for id, want := range map[string]regulation.Trade{"mariadb.doublewrite": regulation.Durability, "mariadb.binlog-sync": regulation.Durability, "mariadb.no-binlog": regulation.Durability,
		"mariadb.isolation": regulation.Isolation, "mariadb.autoinc-lock": regulation.Isolation, "mariadb.commit-flush": regulation.Durability} {
		if refused[id] != want {
			t.Errorf("%s: refused for %q, want %q; skipped %v", id, refused[id], want, res.Skipped)
		}
	}
}

// A Django whose settings do not say it keeps a connection for each worker, but not where a
// worker answers many requests in one loop.
func TestPersistentDjango(t *testing.T) {
	const file = "/srv/api/shop/settings.py"
	django := func(words ...string) remedy.Input {
		in := appServer(append([]string{"gunicorn"}, words...), map[string]string{envPath: "", file: "DATABASES = {'default': {'ENGINE': 'django.db.backends.mysql'}}\n"}, nil)
		in.Stack.Regulation.ApplicationSettings = true
		in.Evidence.Counters["db"].Delta["Connections"] = 900
		in.Snapshot.Databases["db"].Variables["max_connections"] = "151"
		return in
	}
	p := remedytest.Want(t, django("-w", "4", "shop.wsgi"), "app.db-persistent")
	remedytest.Has(t, remedytest.After(p, file), "'django.db.backends.mysql'}}\n\n# Connections", `_database.setdefault("CONN_MAX_AGE", 60)`)
	if p.Changes[0].Activate != change.Restart || !strings.Contains(p.Why, "Up to 4 would be kept, of 151") {
		t.Errorf("%s: %s", p.Changes[0].Activate, p.Why)
	}
	remedytest.WantNone(t, django("-w", "4", "-k", "gevent", "shop.wsgi"), "app.db-persistent", "in one loop")
}
