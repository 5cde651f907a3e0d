package diagnose

import (
	"strings"
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// sharded gives the application a second memcached, which gets nine of ten calls.
func sharded(in *Input) {
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "mc2", Kind: stack.Memcached})
	in.Stack.Service("app").TalksTo = []string{"mc", "mc2"}
	in.Evidence.Counters["mc"] = evidence.CounterDelta{Delta: map[string]float64{"cmd_get": 900, "cmd_set": 100}}
	in.Evidence.Counters["mc2"] = evidence.CounterDelta{Delta: map[string]float64{"cmd_get": 8100, "cmd_set": 900}}
}

// twoDatabases gives it a second database with the same tables, which gets most
// of the statements and uses most of the CPU.
func twoDatabases(in *Input) {
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "db2", Kind: stack.MariaDB})
	in.Stack.Service("app").TalksTo = []string{"db", "db2"}
	db := *in.Snapshot.Databases["db"]
	db.Tables = []evidence.Table{{Schema: "shard_1", Name: "users"}, {Schema: "shard_1", Name: "items"}}
	db2 := db
	db2.Tables = []evidence.Table{{Schema: "shard_2", Name: "items"}, {Schema: "shard_2", Name: "users"}}
	in.Snapshot.Databases["db"], in.Snapshot.Databases["db2"] = &db, &db2
	in.Evidence.Counters["db"].Delta["Questions"] = 2000
	in.Evidence.Counters["db2"] = evidence.CounterDelta{Delta: map[string]float64{"Questions": 6000}}
	in.Evidence.Services["db2"] = evidence.ServiceUse{CPU: 9}
}

func TestHotShard(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Input)
		says   string // "": nothing is found
	}{
		"memcached":   {sharded, "mc2 got 9000 (90 %)"},
		"databases":   {twoDatabases, "db2 got 6000 (75 %): ×1.50 of an even share"},
		"nearly even": {both(twoDatabases, func(in *Input) { in.Evidence.Counters["db2"].Delta["Questions"] = 3000 }), ""},
		"few calls": {both(sharded, func(in *Input) {
			in.Evidence.Counters["mc"].Delta["cmd_get"] = 0
			in.Evidence.Counters["mc2"].Delta["cmd_get"], in.Evidence.Counters["mc2"].Delta["cmd_set"] = 800, 0
		}), ""},
		"hardly any": {both(sharded, func(in *Input) {
			clear(in.Evidence.Counters["mc"].Delta)
			in.Evidence.Counters["mc"].Delta["cmd_get"] = 5
		}), "×2.00"},
		"other tables":   {both(twoDatabases, func(in *Input) { in.Snapshot.Databases["db2"].Tables = in.Snapshot.Databases["db2"].Tables[:1] }), ""},
		"replicates":     {both(twoDatabases, func(in *Input) { in.Snapshot.Databases["db"].Replicas = 1 }), ""},
		"cannot be told": {both(twoDatabases, func(in *Input) { in.Snapshot.Databases["db"].Replicas = -1 }), ""},
		"a cluster":      {both(twoDatabases, func(in *Input) { in.Snapshot.Databases["db2"].Variables = map[string]string{"wsrep_on": "ON"} }), ""},
		"spare":          {both(sharded, func(in *Input) { in.Stack.Service("mc2").SpareFor = "mc" }), ""},
		"asked by another": {both(sharded, func(in *Input) {
			in.Stack.Service("app").TalksTo = []string{"mc"}
			in.Stack.Service("api").TalksTo = []string{"mc2"}
		}), ""},
		"named by two":      {both(sharded, func(in *Input) { in.Stack.Service("api").TalksTo = []string{"mc2", "mc", "mc"} }), "mc2 got 9000 (90 %)"},
		"counters not read": {both(sharded, func(in *Input) { delete(in.Evidence.Counters, "mc2") }), ""},
	} {
		in := healthy()
		c.change(&in)
		m, err := newModel(in)
		if err != nil {
			t.Fatal(err)
		}
		found, why := judgeHotShard(m)
		switch {
		case name == "counters not read":
			if len(found) > 0 || !strings.Contains(why, "mc2: its counters were not read") {
				t.Errorf("%s: %+v %q", name, found, why)
			}
		case c.says == "":
			if len(found) > 0 || why != "" {
				t.Errorf("%s: %+v %q", name, found, why)
			}
		case len(found) != 1 || !strings.Contains(found[0].Text, c.says):
			t.Errorf("%s: %+v %q, want %q", name, found, why, c.says)
		case name == "databases" && found[0].Bound <= 1:
			t.Errorf("%s: the bound is %v: %s", name, found[0].Bound, found[0].Formula)
		}
	}
}
