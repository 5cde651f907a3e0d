package remedy_test

import (
	"fmt"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"strings"
	"testing"
)

func TestSet(t *testing.T) {
	for _, c := range []struct {
		sets   string // separated by |
		want   string
		trades string
	}{
		{"db.innodb_buffer_pool_size=256M", "innodb_buffer_pool_size=256M", "[]"},
		{"db.innodb-flush-log-at-trx-commit=2", "innodb_flush_log_at_trx_commit=2", "[durability]"},
		{"db.sync-binlog=0|db.innodb_flush_log_at_trx_commit=0", "sync_binlog=0", "[durability]"},
		{"db.sync_binlog=1", "sync_binlog=1", "[]"},
		{"db.tx-isolation=READ-UNCOMMITTED", "READ-UNCOMMITTED", "[isolation]"},
		{"php.pm.max_children=7|php.pm=static", "pm.max_children = 7", "[]"},
		{"php.opcache.validate_timestamps=0", "opcache.validate_timestamps = 0", "[staleness]"},
		{"php.php_admin_value[opcache.validate_timestamps]=0", "php_admin_value[opcache.validate_timestamps] = 0", "[staleness]"},
		{"php.listen.mode=0606", "listen.mode = 0606", "[security]"},
		{"php.session.save_path=/dev/shm", "session.save_path = /dev/shm", "[session_durability]"},
		{"web.worker_processes=4", "worker_processes 4;", "[]"},
		{"web.worker_rlimit_nofile=9", "worker_rlimit_nofile 9;", "[]"},
		{"web.multi_accept=on", "multi_accept on;", "[]"},
		{"web.sendfile=on", "sendfile on;", "[]"},
		{"web.access_log=off", "access_log off;", "[observability]"},
		{"web.open_file_cache=max=10 inactive=5s", "open_file_cache max=10 inactive=5s;", "[staleness]"},
	} {
		in := remedytest.World(nil)
		changes, trades, err := remedy.Set(in.Stack, in.Snapshot, strings.Split(c.sets, "|"))
		if err != nil {
			t.Errorf("%s: %v", c.sets, err)
			continue
		}
		if text := strings.ReplaceAll(remedytest.AfterChanges(changes, ""), "_commit = ", "_commit="); !strings.Contains(text, c.want) && !strings.Contains(strings.ReplaceAll(text, " = ", "="), c.want) {
			t.Errorf("%s: %q is missing in %s", c.sets, c.want, text)
		}
		if fmt.Sprint(trades) != c.trades {
			t.Errorf("%s trades %v, want %s", c.sets, trades, c.trades)
		}
		seen := map[string]bool{}
		for _, ch := range changes {
			if seen[ch.Path] {
				t.Errorf("%s: %s is changed twice", c.sets, ch.Path)
			}
			seen[ch.Path] = true
		}
	}
}

func TestSetKeepsBothEditsOfOneFile(t *testing.T) {
	in := remedytest.World(map[string]string{remedytest.FPMPath: "[www]\nlisten = 9000\npm.max_children = 5\nphp_value[memory_limit] = 64M\n"})
	changes, _, err := remedy.Set(in.Stack, in.Snapshot, []string{"php.pm.max_children=9", "php.memory_limit=99M"})
	if err != nil || len(changes) != 1 {
		t.Fatal(len(changes), err)
	}
	remedytest.Has(t, remedytest.AfterChanges(changes, remedytest.FPMPath), "pm.max_children = 9", "php_value[memory_limit] = 99M")
}

func TestSetRefuses(t *testing.T) {
	for set, why := range map[string]string{
		"x":                "service.key=value",
		"db=1":             "service.key=value",
		"nobody.a=1":       "no service",
		"db.no_such=1":     "no variable",
		"app.x=1":          "no settings",
		"web.location=/x":  "is a block",
		"web.sendfile=":    "a value is needed",
		"web.server=a.b;c": "is a block",
	} {
		in := remedytest.World(nil)
		if _, _, err := remedy.Set(in.Stack, in.Snapshot, []string{set}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", set, err, why)
		}
	}
	in := remedytest.World(map[string]string{remedytest.NginxPath: "http { server { listen 8080; add_header A 1; add_header B 2; } }"})
	for set, why := range map[string]string{"web.worker_connections=9": "no events", "web.add_header=C 3": "more than once"} {
		if _, _, err := remedy.Set(in.Stack, in.Snapshot, []string{set}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", set, err, why)
		}
	}
}
