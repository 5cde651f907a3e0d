package diagnose

import (
	"testing"
	"time"

	"kasoku/internal/evidence"
)

// What a setting saves is bounded by what it costs, not by all that the database
// does: a missing index must not stand behind them.
func TestBoundsOfSmallCosts(t *testing.T) {
	busyDB := func(in *Input) { // 24 of 34 CPU seconds, at 200 requests/s
		db, php := in.Evidence.Services["db"], in.Evidence.Services["php"]
		db.CPU, php.CPU = 24, 1
		in.Evidence.Services["db"], in.Evidence.Services["php"] = db, php
	}
	disk := func(busy float64) func(*Input) {
		return system(func(s *evidence.System) {
			s.DiskBusy, s.Disks = busy, []evidence.DiskUse{{Name: "sda", Busy: busy, Writes: 90, WriteLatency: time.Millisecond}}
		})
	}
	idle := system(func(s *evidence.System) { s.User, s.Sys, s.Idle = 6, 2, 32 })
	flush := both(variable("innodb_flush_log_at_trx_commit", "1"), delta("db", "Innodb_os_log_fsyncs", 800))
	for _, c := range []struct {
		name, rule  string
		with        func(*Input)
		least, most float64
	}{
		{"flushes, CPU binds, the disk is hardly in use", "db.commit-flush", both(busyDB, flush, disk(0.02)), 1, 1.3},
		{"flushes that each request waits for", "db.commit-flush", both(flush, idle, disk(0.9)), 3, 100},
		{"flushes to a disk that nobody sees", "db.commit-flush", both(busyDB, flush, system(func(s *evidence.System) { s.Disks = nil })), 3, 100},
		{"a connection for each request", "db.connect-per-request", both(busyDB, delta("db", "Connections", 2000)), 1, 1.5},
		{"a prepare for each request", "db.prepares", both(busyDB, delta("db", "Com_stmt_prepare", 2000), delta("db", "Com_stmt_execute", 2000)), 1, 1.3},
	} {
		in := healthy()
		c.with(&in)
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		found := 0.0
		for _, f := range d.Findings {
			if f.Rule == c.rule {
				found = f.Bound
			}
		}
		if found < c.least || found > c.most {
			t.Errorf("%s: at most ×%.2f, want ×%g to ×%g", c.name, found, c.least, c.most)
		}
	}
}
