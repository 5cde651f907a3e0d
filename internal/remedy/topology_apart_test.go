package remedy_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

// shared is the world on web1 with a MariaDB on h2 that may take the data; PHP and
// the database use all of web1.
func shared() remedy.Input {
	in := apart(remedytest.World(map[string]string{remedytest.MyCnfPath: "[mysqld]\ndatadir = /var/lib/mysql\nbind-address = 127.0.0.1\nmax_connections = 200\n"}), nil)
	in.Evidence.Services = map[string]evidence.ServiceUse{"web": {CPU: 1}, "php": {CPU: 10, Processes: 6}, "db": {CPU: 8.5}}
	in.Evidence.System = evidence.System{Host: "web1", CPUs: 2, User: 19.5, Idle: 0.5, MemoryTotal: 8 << 30, MemoryAvailable: 4 << 30}
	in.Stack.Service("app").TalksTo = []string{"db"}
	db := in.Snapshot.Databases["db"]
	maps.Copy(db.Variables, map[string]string{"port": "3306", "socket": "/run/m.sock", "server_id": "1", "log_bin": "OFF", "log_slave_updates": "OFF", "datadir": "/var/lib/mysql/",
		"bind_address": "127.0.0.1", "version": "10.11.6-MariaDB", "innodb_flush_log_at_trx_commit": "1"})
	spare := stack.Service{Name: "db2", Kind: stack.MariaDB, Host: "h2", Config: remedytest.MyCnfPath, SpareFor: "db"}
	in.Stack.Services = append(in.Stack.Services, spare)
	in.Snapshot.Standbys = map[string]evidence.Standby{"db2": {StandbyState: stack.StandbyState{Service: spare, Program: true, State: stack.Running}, DataFree: 10 << 30,
		Variables: map[string]string{"port": "3306", "server_id": "1", "datadir": "/var/lib/mysql/", "bind_address": "127.0.0.1", "version": "10.11.6-MariaDB", "innodb_flush_log_at_trx_commit": "2"}}}
	in.Snapshot.Files["h2"] = map[string]evidence.File{remedytest.MyCnfPath: {Content: []byte("[mysqld]\ndatadir = /var/lib/mysql\nbind-address = 127.0.0.1\n"), Service: "db2", Writable: true}}
	in.Snapshot.Addresses = map[string][]string{"web1": {"10.0.0.1", "web1"}, "h2": {"10.0.0.2", "h2"}}
	in.Snapshot.Machines["h2"] = evidence.Machine{CPUs: 2, Memory: 4 << 30}
	in.Evidence.Hosts["h2"] = &evidence.System{Host: "h2", CPUs: 2, Idle: 20, MemoryTotal: 4 << 30, MemoryAvailable: 3 << 30}
	return in
}

// The other server is set like the first, and both for replication, before; the
// switch is the application's address, who is read-only, and the turn.
func TestDatabaseApartPlan(t *testing.T) {
	p := remedytest.Want(t, shared(), "database.apart")
	if len(p.Prepare) != 2 || !slices.Equal(p.Trades, []regulation.Trade{regulation.Security}) {
		t.Fatalf("prepares %d, trades %v", len(p.Prepare), p.Trades)
	}
	settings := map[string]string{}
	for _, c := range p.Prepare[0] {
		if c.Kind == change.KindFile {
			settings[c.Service] = string(c.After.Content)
		}
	}
	remedytest.Has(t, settings["db"], "log_bin = kasoku-bin", "sync_binlog = 1", "log_slave_updates = 1", "bind-address = 127.0.0.1,10.0.0.1", "max_connections = 200")
	remedytest.HasNot(t, settings["db"], "read_only", "server_id")
	for _, name := range []string{"db", "db2"} { // that it follows must outlive a power loss
		remedytest.Has(t, settings[name], "sync_master_info = 1")
	}
	// Whose crash would lose writes gets the other's setting, though no file has it.
	remedytest.Has(t, settings["db2"], "log_bin = kasoku-bin", "read_only = 1", "server_id = 4", "bind-address = 127.0.0.1,10.0.0.2", "max_connections = 200", "innodb_flush_log_at_trx_commit = 1")
	if r := p.Prepare[1][0].Replica; r == nil || r.Main != "db" || r.Address != "10.0.0.2:3306" || r.MainAddress != "10.0.0.1:3306" || !slices.Equal(r.Clients, []string{"10.0.0.1"}) || !r.OwnLog {
		t.Errorf("copies %+v", r)
	}
	var order []string
	for _, c := range p.Changes {
		order = append(order, string(c.Kind)+" "+c.Service)
	}
	if got := strings.Join(order, ", "); got != "file app, turn db, file db, turn db2, turn db, file db2" {
		t.Errorf("the switch is %s", got)
	}
	if a, b, c := p.Changes[1].Turn, p.Changes[3].Turn, p.Changes[4].Turn; !a.Settle || !b.Half || b.To != "db" || c.Half || c.Settle || c.To != "db2" {
		t.Errorf("turns %+v, %+v, %+v", a, b, c)
	}
	remedytest.Has(t, string(p.Changes[0].After.Content), "10.0.0.2")
	remedytest.Has(t, string(p.Changes[2].After.Content), "read_only = 1", "log_bin = kasoku-bin")
	remedytest.Has(t, string(p.Changes[5].After.Content), "read_only = 0", "log_bin = kasoku-bin")
}

// A filter of a binary log that is not there yet is in the files alone.
func TestDatabaseApartFilter(t *testing.T) {
	in := shared()
	f := in.Snapshot.Files["web1"][remedytest.MyCnfPath]
	f.Content = append(f.Content, "binlog-ignore-db = sessions\n"...)
	in.Snapshot.Files["web1"][remedytest.MyCnfPath] = f
	_, res := remedytest.Plan(t, in)
	if !slices.ContainsFunc(res.Skipped, func(s string) bool {
		return strings.Contains(s, "database.apart") && strings.Contains(s, "binlog-ignore-db, which leaves writes out")
	}) {
		t.Errorf("skipped: %q, plans: %d", res.Skipped, len(res.Plans))
	}
}

// Without the operator's line it is advice; what is in the way is said.
func TestDatabaseApartRefusals(t *testing.T) {
	set := func(edit func(s *evidence.Standby)) func(in *remedy.Input) {
		return func(in *remedy.Input) {
			s := in.Snapshot.Standbys["db2"]
			edit(&s)
			in.Snapshot.Standbys["db2"] = s
		}
	}
	for name, c := range map[string]struct {
		make func(in *remedy.Input)
		why  string
	}{
		"no line":     {func(in *remedy.Input) { in.Snapshot.Standbys = nil }, ""},
		"reset":       {func(in *remedy.Input) { in.Stack.Load.Reset = []string{"reset"} }, "load.reset"},
		"no program":  {set(func(s *evidence.Standby) { s.Program, s.Variables = false, nil }), "install mariadb-server there"},
		"tables":      {set(func(s *evidence.Standby) { s.Why = "cannot take the data of db, which has events" }), "which has events"},
		"disk":        {set(func(s *evidence.Standby) { s.DataFree = 1 << 20 }), "only 1 MiB left"},
		"no network":  {set(func(s *evidence.Standby) { s.Variables["skip_networking"] = "ON" }), "skip_networking"},
		"no address":  {func(in *remedy.Input) { in.Snapshot.Addresses["h2"] = nil }, "no addresses are known"},
		"no settings": {func(in *remedy.Input) { in.Stack.Service("app").Settings = nil }, "no settings of app name db"},
		"another": {func(in *remedy.Input) {
			in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "cron", Kind: stack.PHPFPM, Host: "web1", Config: "/x", TalksTo: []string{"db"}})
		}, "cron talks to db"},
	} {
		in := shared()
		c.make(&in)
		in.Stack.Regulation.Allow = remedytest.AllTrades()
		in, res := remedytest.Plan(t, in)
		if slices.ContainsFunc(res.Plans, func(p remedy.Plan) bool { return p.Remedy == "database.apart" }) {
			t.Errorf("%s: it is planned", name)
		}
		if !slices.ContainsFunc(in.Diagnosis.Findings, func(f diagnose.Finding) bool { return f.Rule == "topology.database-apart" }) {
			t.Errorf("%s: there is no finding", name)
		}
		said := ""
		for _, n := range in.Diagnosis.NotJudged {
			if n.Rule == "topology.database-apart" {
				said = n.Why
			}
		}
		if !strings.Contains(said, c.why) || (c.why == "") != (said == "") {
			t.Errorf("%s: not judged: %q", name, said)
		}
	}
	in := shared()
	in.Stack.Regulation.Allow = nil
	_, res := remedytest.Plan(t, in)
	if !slices.ContainsFunc(res.Refusals, func(r remedy.Refusal) bool { return r.Plan.Remedy == "database.apart" }) {
		t.Error("it is not refused without the trade of security")
	}
}
