package remedy_test

import (
	"slices"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

const (
	memcachedPath = "/etc/memcached.conf"
	redisPath     = "/etc/redis/redis.conf"
)

// cacheWorld is a site with a memcached and a Redis, named by the application.
func cacheWorld(app string, php ...string) remedy.Input {
	in := remedytest.World(map[string]string{remedytest.AppPath: app})
	for i := 0; i+1 < len(php); i += 2 {
		in.Snapshot.PHP["php"][php[i]] = php[i+1]
	}
	in.Snapshot.Files["local"][memcachedPath] = evidence.File{Content: []byte("-m 64\n-p 11211\n-u memcache\n-l 127.0.0.1\n"), Mode: 0o644, Service: "mc", Writable: true}
	in.Snapshot.Files["local"][redisPath] = evidence.File{Content: []byte("bind 127.0.0.1\nport 6379\npidfile /run/redis/r.pid\nsave 3600 1\nsave 300 100\nappendfsync always\n"), Mode: 0o644, Service: "kv", Writable: true}
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "mc", Kind: stack.Memcached, Config: memcachedPath, Listen: []string{"127.0.0.1:11211"}},
		stack.Service{Name: "kv", Kind: stack.Redis, Config: redisPath, Listen: []string{"127.0.0.1:6379"}})
	in.Stack.Service("php").TalksTo = []string{"mc", "kv"}
	in.Snapshot.Users["local/mc"] = evidence.ProcessUser{UID: 110, GID: 110}
	in.Evidence.Counters["mc"] = evidence.CounterDelta{Delta: map[string]float64{}, Value: map[string]string{"max_connections": "100", "curr_connections": "4", "limit_maxbytes": "67108864"}}
	in.Evidence.Counters["kv"] = evidence.CounterDelta{Delta: map[string]float64{}, Value: map[string]string{"maxclients": "10000", "connected_clients": "4", "maxmemory": "104857600", "config.save": "3600 1 300 100"}}
	return in
}

// planWith is the plan with the ID.
func planWith(t *testing.T, in remedy.Input, id string) remedy.Plan {
	t.Helper()
	in.Stack.Regulation.Allow = remedytest.AllTrades()
	_, res := remedytest.Plan(t, in)
	for _, p := range res.Plans {
		if p.ID == id {
			return p
		}
	}
	t.Fatalf("%s is not planned; skipped: %v", id, res.Skipped)
	return remedy.Plan{}
}

func TestMemcachedSocket(t *testing.T) {
	in := cacheWorld("a = 127.0.0.1:11211\nb = memcached://localhost:11211?weight=1\nc = 127.0.0.1:112110\n", "session.save_handler", "memcached", "session.save_path", "127.0.0.1:11211")
	p := planWith(t, in, "cache.socket:mc")
	remedytest.Has(t, remedytest.After(p, memcachedPath), "-s /run/memcached/kasoku-mc.sock", "-a 0777", "-b 4096")
	remedytest.Has(t, remedytest.After(p, remedytest.AppPath), "a = /run/memcached/kasoku-mc.sock\n", "b = memcached:///run/memcached/kasoku-mc.sock?weight=1", "127.0.0.1:112110")
	remedytest.Has(t, remedytest.After(p, remedytest.PHPIniPath), "session.save_path = /run/memcached/kasoku-mc.sock")
	if !slices.Contains(p.Trades, regulation.SessionDurability) {
		t.Errorf("the restart ends sessions, but it trades %v", p.Trades)
	}
	// In force, the sign is gone.
	remedytest.Put(in, p.Changes)
	in.Stack.Service("php").TalksTo = []string{"mc"}
	remedytest.WantNone(t, in, "cache.socket", "")

	in = cacheWorld("a = 127.0.0.1:11211\n")
	u := in.Snapshot.Users["local/php"]
	u.Groups = []int{110}
	in.Snapshot.Users["local/php"] = u
	p = planWith(t, in, "cache.socket:mc")
	remedytest.Has(t, remedytest.After(p, memcachedPath), "-a 0770") // the clients are in its group
	if len(p.Trades) > 0 {
		t.Errorf("a cache that is emptied trades %v", p.Trades)
	}
}

func TestMemcachedSocketRefusals(t *testing.T) {
	in := cacheWorld("nothing = here\n")
	remedytest.WantNone(t, in, "cache.socket", "no settings that Kasoku can edit name mc's port")
	in = cacheWorld("a = 127.0.0.1:11211\n")
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "worker", Kind: stack.App, TalksTo: []string{"mc"}})
	remedytest.WantNone(t, in, "cache.socket", "worker talks to mc, but its settings do not name the port")
	in.Stack.Service("worker").Host = "other"
	remedytest.WantNone(t, in, "cache.socket", "cannot listen on both")
	in = cacheWorld("a = tcp://127.0.0.1:11211\n")
	remedytest.WantNone(t, in, "cache.socket", "how a client that writes")
}

func TestRedisSocket(t *testing.T) {
	in := cacheWorld("a = redis://u:p@127.0.0.1:6379/2\nb = tcp://127.0.0.1:6379\n", "session.save_handler", "redis", "session.save_path", "127.0.0.1:6379")
	p := planWith(t, in, "cache.socket:kv")
	remedytest.Has(t, remedytest.After(p, redisPath), "unixsocket /run/redis/kasoku-kv.sock", "unixsocketperm 777", "tcp-backlog 4096", "port 6379")
	remedytest.Has(t, remedytest.After(p, remedytest.AppPath), "a = unix://u:p@/run/redis/kasoku-kv.sock?db=2\n", "b = unix:///run/redis/kasoku-kv.sock\n")
	remedytest.Has(t, remedytest.After(p, remedytest.PHPIniPath), "unix:///run/redis/kasoku-kv.sock")
	for _, c := range p.Changes {
		if server := c.Service == "kv"; server != (c.Phase == 0) {
			t.Errorf("%s is in phase %d", c.Path, c.Phase)
		}
	}
	if len(p.Trades) > 0 {
		t.Errorf("a Redis that saves what it holds loses nothing by a restart, but it trades %v", p.Trades)
	}
	in.Evidence.Counters["kv"].Value["config.save"] = ""
	if p = planWith(t, in, "cache.socket:kv"); !slices.Contains(p.Trades, regulation.Durability) || !slices.Contains(p.Trades, regulation.SessionDurability) {
		t.Errorf("a Redis that saves nothing is emptied, but it trades %v", p.Trades)
	}
}

// TestRedisSocketOfAnotherUser: a script wrote the pid file and became Redis under
// another name, so the socket has a folder of its own.
func TestRedisSocketOfAnotherUser(t *testing.T) {
	in := cacheWorld("b = tcp://127.0.0.1:6379\n")
	in.Snapshot.Users["local/kv"] = evidence.ProcessUser{UID: 120, GID: 121, Name: "redis", Group: "redis", NotByPID: true}
	p := planWith(t, in, "cache.socket:kv")
	remedytest.Has(t, remedytest.After(p, redisPath), "unixsocket /var/lib/kasoku-kv/kasoku-kv.sock")
	remedytest.Has(t, remedytest.After(p, remedytest.AppPath), "b = unix:///var/lib/kasoku-kv/kasoku-kv.sock\n")
	first := p.Changes[0]
	if first.Kind != change.KindDir || first.Path != "/var/lib/kasoku-kv" || first.After.UID != 120 || first.After.GID != 121 || first.Phase != 0 {
		t.Errorf("the folder is made by %+v", first)
	}
	in.Snapshot.Root = false
	remedytest.WantNone(t, in, "cache.socket", "only root may make a folder")
}

func TestCacheRoom(t *testing.T) {
	in := cacheWorld("")
	in.Evidence.Counters["mc"].Delta["evictions"] = 500
	in.Evidence.Counters["kv"].Delta["evicted_keys"] = 500
	remedytest.Has(t, remedytest.After(planWith(t, in, "cache.memory:mc:64"), memcachedPath), "-m 128\n")
	remedytest.Has(t, remedytest.After(planWith(t, in, "cache.memory:kv:100"), redisPath), "maxmemory 200mb")
	in.Evidence.System.MemoryAvailable = 8<<30/5 + 200<<20
	in.Evidence.Counters["kv"].Delta["evicted_keys"] = 0
	remedytest.Has(t, remedytest.After(planWith(t, in, "cache.memory:mc:64"), memcachedPath), "-m 128\n")
	in.Evidence.System.MemoryAvailable = 1 << 30
	in.Evidence.Counters["mc"].Delta["evictions"] = 0
	remedytest.WantNone(t, in, "cache.memory", "")

	in.Evidence.Counters["mc"].Delta["rejected_connections"] = 9
	remedytest.Has(t, remedytest.After(planWith(t, in, "cache.connections:mc:100"), memcachedPath), "-c 1024")
	in.Snapshot.Root = false
	in.Evidence.Services["mc"] = evidence.ServiceUse{FileLimit: 1024}
	remedytest.WantNone(t, in, "cache.connections", "may open 1024 files")
}

func TestRedisPersistence(t *testing.T) {
	in := cacheWorld("")
	in.Evidence.Counters["kv"].Value["aof_enabled"], in.Evidence.Counters["kv"].Value["config.appendfsync"] = "1", "always"
	in.Evidence.Counters["kv"].Value["rdb_changes_since_last_save"] = "90000"
	p := planWith(t, in, "redis.persistence:kv")
	text := remedytest.After(p, redisPath)
	remedytest.Has(t, text, "appendfsync everysec", "save 3600 1\n")
	remedytest.HasNot(t, text, "300 100")
	if !slices.Equal(p.Trades, []regulation.Trade{regulation.Durability}) || p.Changes[0].Activate != change.Restart {
		t.Errorf("%v, %s", p.Trades, p.Changes[0].Activate)
	}
	if !strings.Contains(p.Title, "once a second") {
		t.Errorf("title %q", p.Title)
	}
}
