package remedy_test

import (
	"slices"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/knownapp"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

// phpOn is a world whose OPcache is on, with the settings given.
func phpOn(settings ...string) remedy.Input {
	in := remedytest.World(nil)
	php := in.Snapshot.PHP["php"]
	php["opcache.enable"] = "1"
	for i := 0; i+1 < len(settings); i += 2 {
		php[settings[i]] = settings[i+1]
	}
	return in
}

func opcacheStatus(in remedy.Input, values map[string]string) remedy.Input {
	all := map[string]string{}
	for k, v := range values {
		all["opcache."+k] = v
	}
	in.Evidence.Counters["php"] = evidence.CounterDelta{Delta: map[string]float64{}, Value: all}
	return in
}

func TestOPcacheRoom(t *testing.T) {
	in := opcacheStatus(phpOn("opcache.memory_consumption", "64"), map[string]string{"cache_full": "1"})
	remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "php.opcache-room"), remedytest.PHPIniPath), "opcache.memory_consumption = 128")

	in = opcacheStatus(phpOn("opcache.max_accelerated_files", "2000"), map[string]string{"cache_full": "1",
		"opcache_statistics.num_cached_keys": "3907", "opcache_statistics.max_cached_keys": "3907"})
	text := remedytest.After(remedytest.Want(t, in, "php.opcache-room"), remedytest.PHPIniPath)
	remedytest.Has(t, text, "opcache.max_accelerated_files = 4000")
	remedytest.HasNot(t, text, "memory_consumption") // the keys were full, not the memory

	// The buffer of strings is part of the memory, which grows by as much.
	strs := map[string]string{"interned_strings_usage.used_memory": "8388000", "interned_strings_usage.buffer_size": "8388608"}
	in = opcacheStatus(phpOn("opcache.interned_strings_buffer", "8", "opcache.memory_consumption", "128"), strs)
	remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "php.opcache-room"), remedytest.PHPIniPath),
		"opcache.interned_strings_buffer = 16", "opcache.memory_consumption = 136")

	in.Evidence.System.MemoryAvailable = 8<<30/5 + 4<<20
	remedytest.WantNone(t, in, "php.opcache-room", "the host can spare 4 MiB")
	remedytest.WantNone(t, opcacheStatus(phpOn(), map[string]string{"cache_full": "0"}), "php.opcache-room", "")
}

func TestTimestampsAndRealpath(t *testing.T) {
	p := remedytest.Want(t, phpOn("opcache.validate_timestamps", "1", "opcache.revalidate_freq", "2"), "php.timestamps")
	remedytest.Has(t, remedytest.After(p, remedytest.PHPIniPath), "opcache.validate_timestamps = 0")
	if !slices.Equal(p.Trades, []regulation.Trade{regulation.Staleness}) {
		t.Errorf("trades %v", p.Trades)
	}
	remedytest.WantNone(t, phpOn("opcache.validate_timestamps", "0"), "php.timestamps", "")
	remedytest.Has(t, remedytest.After(remedytest.Want(t, phpOn("realpath_cache_size", "16K"), "php.realpath"), remedytest.PHPIniPath), "realpath_cache_size = 4096K")
}

// An application's own list of classes is preloaded as the pools' user, once,
// and not where another application would get them, too.
func TestPreload(t *testing.T) {
	const pool = "[global]\npid = /run/fpm.pid\n[www]\nlisten = 127.0.0.1:9000\nuser = www-data\npm = dynamic\npm.max_children = 32\n"
	symfony := func(pools string) remedy.Input {
		in := phpOn("opcache.preload", "")
		in.Stack.Service("app").Root = "/srv/app"
		in.Snapshot.Known = map[string]knownapp.Found{"app": {ID: "symfony", Preload: "/srv/app/config/preload.php"}}
		in.Snapshot.Files["local"][remedytest.FPMPath] = evidence.File{Content: []byte(pools), Service: "php", Writable: true}
		return in
	}
	in := symfony(pool)
	p := remedytest.Want(t, in, "php.preload")
	remedytest.Has(t, remedytest.After(p, remedytest.PHPIniPath), "opcache.preload = /srv/app/config/preload.php\n", "opcache.preload_user = www-data\n")
	if !slices.Equal(p.Trades, []regulation.Trade{regulation.Staleness}) {
		t.Errorf("trades %v", p.Trades)
	}
	remedytest.Put(in, p.Changes)
	remedytest.WantNone(t, in, "php.preload", "")

	remedytest.HasNot(t, remedytest.After(remedytest.Want(t, symfony(strings.Replace(pool, "user = www-data\n", "", 1)), "php.preload"), remedytest.PHPIniPath), "preload_user")
	remedytest.WantNone(t, symfony(pool+"[other]\nlisten = 127.0.0.1:9001\nuser = other\n"), "php.preload", `its pools run as "www-data" and "other"`)
	in = symfony(pool)
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "blog", Kind: stack.App, RunsIn: "php"})
	remedytest.WantNone(t, in, "php.preload", "")
	remedytest.WantNone(t, opcacheStatus(symfony(pool), map[string]string{"cache_full": "true"}), "php.preload", "")
	in = symfony(pool)
	delete(in.Snapshot.PHP["php"], "opcache.preload") // before PHP 7.4
	remedytest.WantNone(t, in, "php.preload", "")
}

// Connections to memcached get a name where the environment may give one, if it
// takes one for each process.
func TestKeepCache(t *testing.T) {
	told := func(text string) remedy.Input {
		in := remedytest.World(map[string]string{remedytest.AppPath: text})
		in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "mc", Kind: stack.Memcached, Listen: []string{"127.0.0.1:11211"}})
		in.Evidence.Counters["mc"] = evidence.CounterDelta{Delta: map[string]float64{"total_connections": 900}, Value: map[string]string{"max_connections": "1024", "curr_connections": "10"}}
		in.Stack.Regulation.ApplicationSettings = true
		return in
	}
	in := told("MEMCACHED_PERSISTENT_ID=\n")
	p := remedytest.Want(t, in, "app.cache-persistent")
	if got := remedytest.After(p, remedytest.AppPath); got != "MEMCACHED_PERSISTENT_ID=kasoku\n" || !p.EditsSettings || len(p.Trades) != 0 {
		t.Errorf("%q, trades %v", got, p.Trades)
	}
	remedytest.Put(in, p.Changes)
	remedytest.WantNone(t, in, "app.cache-persistent", "")
	in = told("MEMCACHED_PERSISTENT_ID=\n")
	in.Evidence.Counters["mc"].Value["max_connections"] = "40"
	remedytest.WantNone(t, in, "app.cache-persistent", "mc takes 40 connections")
	in = told("MEMCACHED_HOST=127.0.0.1\n")
	remedytest.WantNone(t, in, "app.cache-persistent", "")
	in.Snapshot.Known = map[string]knownapp.Found{"app": {ID: "laravel"}}
	remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "app.cache-persistent"), remedytest.AppPath), "MEMCACHED_PERSISTENT_ID=kasoku\n")
}

func TestDebugger(t *testing.T) {
	for _, c := range []struct{ setting, value, want string }{
		{"xdebug.mode", "debug,profile", "xdebug.mode = off"}, {"pcov.enabled", "1", "pcov.enabled = 0"}, {"tideways.sample_rate", "30", "tideways.sample_rate = 0"},
	} {
		p := remedytest.Want(t, phpOn(c.setting, c.value), "php.debugger")
		remedytest.Has(t, remedytest.After(p, remedytest.PHPIniPath), c.want)
		if !slices.Contains(p.Trades, regulation.Observability) {
			t.Errorf("%s trades %v", c.setting, p.Trades)
		}
	}
	remedytest.WantNone(t, phpOn("xdebug.mode", "off", "pcov.enabled", "0"), "php.debugger", "")
	// A pool's value of it comes too late: PHP has started.
	in := phpOn("xdebug.mode", "debug")
	in.Snapshot.Files["local"]["/etc/php/conf.d/20-xdebug.ini"] = evidence.File{Content: []byte("xdebug.mode=debug\n"), Service: "php"}
	remedytest.WantNone(t, in, "php.debugger", "permission")
}

func TestLivesAndNumbers(t *testing.T) {
	in := remedytest.World(map[string]string{remedytest.FPMPath: "[www]\nlisten = 9000\npm = static\npm.max_children = 4\npm.max_requests = 50\n"})
	remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "php.max-requests"), remedytest.FPMPath), "pm.max_requests = 2000")

	in = remedytest.World(map[string]string{remedytest.FPMPath: "[a]\nlisten = 9000\npm = static\npm.max_children = 300\n[b]\nlisten = 9001\npm = static\npm.max_children = 100\n"})
	in.Evidence.System.MemoryAvailable = 8<<30/5 + 30<<20*127 // three quarters of it are room for 95 more of 30 MiB beside the 5 that run
	remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "php.fewer"), remedytest.FPMPath), "pm.max_children = 75", "pm.max_children = 25")
}

// stores is a world with a memcached and a Redis.
func stores(settings ...string) remedy.Input {
	in := phpOn(append([]string{"memcached.sess_persistent", "Off", "memcached.sess_locking", "On", "redis.session.locking_enabled", "0"}, settings...)...)
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "mc", Kind: stack.Memcached, Listen: []string{"127.0.0.1:11211"}},
		stack.Service{Name: "kv", Kind: stack.Redis, Listen: []string{"127.0.0.1:6379"}})
	in.Evidence.Counters["mc"] = evidence.CounterDelta{Delta: map[string]float64{}, Value: map[string]string{"max_connections": "1024", "curr_connections": "4", "limit_maxbytes": "67108864", "bytes": "1000"}}
	in.Evidence.Counters["kv"] = evidence.CounterDelta{Delta: map[string]float64{}, Value: map[string]string{"maxclients": "10000", "connected_clients": "4", "used_memory": "900000", "maxmemory": "0"}}
	return in
}

func TestSessionStore(t *testing.T) {
	in := stores()
	in.Stack.Regulation.Allow = remedytest.AllTrades()
	_, res := remedytest.Plan(t, in)
	found := map[string]string{}
	for _, p := range res.Plans {
		if p.Remedy == "php.session-store" {
			found[p.ID] = remedytest.After(p, remedytest.PHPIniPath)
		}
	}
	remedytest.Has(t, found["php.session-store:php:mc"], "session.save_handler = memcached", "session.save_path = 127.0.0.1:11211", "memcached.sess_persistent = 1", "memcached.sess_lock_retries = 300")
	remedytest.HasNot(t, found["php.session-store:php:mc"], "sess_locking")
	remedytest.Has(t, found["php.session-store:php:kv"], "session.save_handler = redis", "tcp://127.0.0.1:6379?persistent=1", "redis.session.locking_enabled = 1", "redis.session.lock_retries = 15000")

	// One that throws entries out would lose sessions; a password would stand in php.ini.
	in.Evidence.Counters["mc"].Delta["evictions"] = 3
	in.Stack.Service("kv").Login = &stack.Login{}
	remedytest.WantNone(t, in, "php.session-store", "password")
	delete(in.Snapshot.PHP["php"], "redis.session.locking_enabled")
	remedytest.WantNone(t, in, "php.session-store", "no redis extension")
}

func TestSessionPersistent(t *testing.T) {
	in := stores("session.save_handler", "memcached", "session.save_path", "localhost:11211")
	remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "php.session-persistent"), remedytest.PHPIniPath), "memcached.sess_persistent = 1")
	in.Evidence.Counters["mc"].Value["max_connections"] = "32" // as many as the pool's processes
	remedytest.WantNone(t, in, "php.session-persistent", "32 processes would keep one each")

	for path, want := range map[string]string{
		"tcp://127.0.0.1:6379":                   "tcp://127.0.0.1:6379?persistent=1",
		"127.0.0.1:6379":                         "tcp://127.0.0.1:6379?persistent=1",
		"tcp://127.0.0.1:6379?database=2":        "tcp://127.0.0.1:6379?database=2&persistent=1",
		"unix:///run/redis.sock?prefix=a":        "unix:///run/redis.sock?prefix=a&persistent=1",
		"tcp://127.0.0.1:6379, tcp://10.0.0.1:1": "",
	} {
		in := stores("session.save_handler", "redis", "session.save_path", path)
		if want == "" {
			remedytest.WantNone(t, in, "php.session-persistent", "form that is not known")
			continue
		}
		if text := remedytest.After(remedytest.Want(t, in, "php.session-persistent"), remedytest.PHPIniPath); !strings.Contains(text, want) {
			t.Errorf("%s: %q is missing in %s", path, want, text)
		}
	}
	remedytest.WantNone(t, stores("session.save_handler", "redis", "session.save_path", "tcp://10.9.9.9:6380"), "php.session-persistent", "not a service of the stack")
}

// archiveWorld has a PHP-FPM under systemd that maps a large locale archive.
func archiveWorld() remedy.Input {
	in := remedytest.World(nil)
	for k, v := range map[string]string{"process.locale-archive": "67108864", "process.locale-folder": "/usr/lib/locale"} {
		in.Snapshot.PHP["php"][k] = v
	}
	in.Stack.Service("php").Control = stack.Control{Unit: "php8.2-fpm"}
	in.Snapshot.Files["local"]["/usr/lib/systemd/system/php8.2-fpm.service"] = evidence.File{Content: []byte("[Service]\nType=notify\nExecStart=/usr/sbin/php-fpm8.2 --nodaemonize\n"), Service: "php"}
	return in
}

func TestPlanLocale(t *testing.T) {
	p := remedytest.Want(t, archiveWorld(), "php.locale")
	if got := remedytest.After(p, "/etc/systemd/system/php8.2-fpm.service.d/zz-kasoku.conf"); !strings.HasSuffix(got, "Environment=LOCPATH=/usr/lib/locale\n") || !strings.HasPrefix(got, "[Service]\n") || p.Changes[0].Kind != change.KindDir {
		t.Errorf("%q: %+v", got, p.Changes)
	}
	for why, change := range map[string]func(in remedy.Input){
		"takes its locale from the environment": func(in remedy.Input) { in.Snapshot.PHP["php"]["version"] = "7.4.33" },
		"is only in the archive":                func(in remedy.Input) { in.Snapshot.PHP["php"]["process.locale-folder"] = "" },
		"clear_env = no": func(in remedy.Input) {
			f := in.Snapshot.Files["local"][remedytest.FPMPath]
			f.Content = append(f.Content, "clear_env = no\n"...)
			in.Snapshot.Files["local"][remedytest.FPMPath] = f
		},
	} {
		in := archiveWorld()
		change(in)
		remedytest.WantNone(t, in, "php.locale", why)
	}
	in := archiveWorld()
	in.Snapshot.PHP["php"]["process.locale-archive"] = "3000000"
	remedytest.WantNone(t, in, "php.locale", "")
}
