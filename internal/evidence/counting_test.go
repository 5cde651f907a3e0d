package evidence

import (
	"bufio"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestCountDelta(t *testing.T) {
	counts := func(name string) bool { return name != "gauge" }
	got, down := countDelta(map[string]string{"a": "5", "gauge": "9", "down": "9", "text": "x"},
		map[string]string{"a": "7.5", "gauge": "3", "down": "2", "text": "y", "new": "4"}, counts)
	if down != 1 || len(got.Delta) != 2 || got.Delta["a"] != 2.5 || got.Delta["new"] != 4 || got.Value["gauge"] != "3" || got.Value["text"] != "y" {
		t.Errorf("%+v, %d down", got, down)
	}
}

// window takes one window of a source whose readings are given.
func window(src *counterSource, readings ...map[string]string) *Evidence {
	src.service, src.source = "cache", "counters of cache"
	if src.counts == nil {
		src.counts = func(string) bool { return true }
	}
	src.read = func(context.Context) (map[string]string, error) {
		if len(readings) == 0 {
			return nil, errors.New("connection refused")
		}
		r := readings[0]
		readings = readings[1:]
		return r, nil
	}
	ev := &Evidence{Counters: map[string]CounterDelta{}}
	ctx := context.Background()
	src.start(ctx)
	src.end(ctx)
	src.tell(ctx, ev)
	src.close()
	return ev
}

func TestCounterHealth(t *testing.T) {
	one := map[string]string{"pid": "1", "n": "5"}
	life := func(v map[string]string) string { return v["pid"] }
	cases := []struct {
		why  string
		src  counterSource
		read []map[string]string
		ok   bool
		want string
	}{
		{"all is well", counterSource{identity: life}, []map[string]string{one, {"pid": "1", "n": "6"}}, true, "2 values"},
		{"restarted", counterSource{identity: life}, []map[string]string{one, {"pid": "2", "n": "6"}}, false, "restarted"},
		{"set to zero", counterSource{}, []map[string]string{one, {"pid": "1", "n": "0"}}, false, "1 counters became smaller"},
		{"not there", counterSource{}, nil, false, "refused"},
		{"gone at the end", counterSource{}, []map[string]string{one}, false, "refused"},
		{"a part is forbidden", counterSource{more: func(context.Context, map[string]string) []string { return []string{"settings: NOPERM"} }},
			[]map[string]string{one, one}, true, "not judged: settings: NOPERM"},
	}
	for _, c := range cases {
		ev := window(&c.src, c.read...)
		if h := healthOf(ev, "counters of cache"); h.OK != c.ok || !strings.Contains(h.Text, c.want) {
			t.Errorf("%s: %+v", c.why, h)
		}
	}
	// A restart spoils the run; that OPcache emptied itself does not.
	for _, c := range []struct {
		src    counterSource
		end    map[string]string
		spoils bool
	}{
		{counterSource{identity: life}, map[string]string{"pid": "2", "n": "6"}, true},
		{counterSource{}, map[string]string{"pid": "1", "n": "0"}, true},
		{counterSource{prefix: "opcache."}, map[string]string{"pid": "1", "n": "0"}, false},
		{counterSource{identity: life}, map[string]string{"pid": "1", "n": "6"}, false},
	} {
		if h := healthOf(window(&c.src, one, c.end), "counters of cache"); h.Spoils != c.spoils {
			t.Errorf("%v: %+v", c.end, h)
		}
	}
	src := &counterSource{prefix: "x.", own: map[string]float64{"n": 3, "absent": 1}}
	ev := window(src, one, map[string]string{"pid": "1", "n": "15"})
	if d := ev.Counters["cache"].Delta; d["x.n"] != 7 || len(d) != 2 {
		t.Errorf("without Kasoku's own: %v", d)
	}
}

func TestParseMemcached(t *testing.T) {
	for _, name := range []string{"memcached_stats.txt", "memcached_stats_items.txt", "memcached_stats_slabs.txt", "memcached_stats_settings.txt"} {
		text := string(fixture(t, name))
		out := map[string]string{}
		err := parseMemcachedStats(bufio.NewReader(strings.NewReader(text)), "p:", out)
		if want := strings.Count(text, "STAT "); err != nil || len(out) != want {
			t.Errorf("%s: %d values, want %d, %v", name, len(out), want, err)
		}
	}
	for why, text := range map[string]string{"an error": "ERROR\r\n", "cut off": "STAT a 1\r\n", "a secret of another protocol": "SERVER_ERROR x\r\n", "one long line": strings.Repeat("x", 10000)} {
		if err := parseMemcachedStats(bufio.NewReader(strings.NewReader(text)), "", map[string]string{}); err == nil {
			t.Errorf("%s gave no error", why)
		}
	}
	for name, want := range map[string]bool{"get_hits": true, "evictions": true, "curr_items": false, "items:1:evicted": true, "items:1:age": false,
		"slabs:1:get_hits": true, "slabs:1:chunk_size": false, "settings:maxbytes": false, "bytes": false, "bytes_read": true, "uptime": false} {
		if memcachedCounts(name) != want {
			t.Errorf("%s counts up: %t", name, !want)
		}
	}
}

func TestParseMetadump(t *testing.T) {
	text := "key=k exp=-1 la=1 cas=1 fetch=yes cls=1 size=63\r\nkey=k2 exp=1795303273 la=1 cas=2 fetch=no cls=1 size=64\r\nEND\r\n"
	seen, without, err := parseMetadump(bufio.NewReader(strings.NewReader(text)), 100)
	if seen != 2 || without != 1 || err != nil {
		t.Errorf("%d %d %v", seen, without, err)
	}
	if seen, _, err := parseMetadump(bufio.NewReader(strings.NewReader(text)), 1); seen != 1 || !errors.Is(err, errEnough) {
		t.Errorf("%d %v", seen, err)
	}
	if _, _, err := parseMetadump(bufio.NewReader(strings.NewReader("CLIENT_ERROR crawler disabled\r\n")), 1); err == nil {
		t.Error("a refusal gave no error")
	}
}

func TestParseRedis(t *testing.T) {
	v := parseRedisInfo(string(fixture(t, "redis_info.txt")))
	for name, want := range map[string]string{"redis_version": "7.0.15", "cmdstat_get.calls": "1", "cmdstat_config|set.usec": "29", "db0.keys": "3",
		"latency_percentiles_usec_get.p99": "4.015", "maxmemory_policy": "noeviction", "executable": "", "config_file": ""} {
		if v[name] != want {
			t.Errorf("%s: %q, want %q", name, v[name], want)
		}
	}
	for name, want := range map[string]bool{"cmdstat_get.calls": true, "cmdstat_get.usec_per_call": false, "used_memory": false, "keyspace_hits": true, "db0.keys": false} {
		if isRedisCount(name) != want {
			t.Errorf("%s counts up: %t", name, !want)
		}
	}
	answer := "*2\r\n*6\r\n:7\r\n:1795303183\r\n:1500\r\n*3\r\n$4\r\nmset\r\n$9\r\nsecretkey\r\n$11\r\nsecretvalue\r\n$9\r\n127.0.0.1\r\n$0\r\n\r\n" +
		"*4\r\n:6\r\n:1\r\n:9\r\n*1\r\n$12\r\nhunter2 pass\r\n"
	got, err := readRESP(bufio.NewReader(strings.NewReader(answer)))
	if err != nil {
		t.Fatal(err)
	}
	entries := parseSlowlog(got.([]any))
	if len(entries) != 2 || entries[0] != (slowEntry{7, 1500, "MSET", 2}) || entries[1].Command != "?" {
		t.Errorf("%+v", entries)
	}
	values := map[string]string{}
	addSlowlog(values, append(entries, slowEntry{8, 2000, "MSET", 1}), 7)
	if len(values) != 4 || values["slowlog.count"] != "2" || values["slowlog.MSET.max_usec"] != "2000" || values["slowlog.MSET.max_arguments"] != "2" {
		t.Errorf("%v", values)
	}
}

func TestReadRESP(t *testing.T) {
	for text, want := range map[string]any{"+PONG\r\n": "PONG", ":-5\r\n": int64(-5), "$3\r\na\r\n\r\n": "a\r\n", "$-1\r\n": nil, "*0\r\n": nil} {
		got, err := readRESP(bufio.NewReader(strings.NewReader(text)))
		if list, is := got.([]any); is && len(list) == 0 {
			got = nil
		}
		if got != want || err != nil {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
	var refused redisError
	if _, err := readRESP(bufio.NewReader(strings.NewReader("-WRONGPASS hunter2 is wrong\r\n"))); !errors.As(err, &refused) || refused.Code != "WRONGPASS" || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"", "\r\n", "HTTP/1.1 400\r\n", "$99999999999\r\n", "*99999999999\r\n", "$5\r\nab", strings.Repeat("*1\r\n", 100), "*2\r\n+a\r\n"} {
		if _, err := readRESP(bufio.NewReader(strings.NewReader(text))); err == nil {
			t.Errorf("%q gave no error", text)
		}
	}
}

func TestParseStatusPages(t *testing.T) {
	for name, want := range map[string]map[string]string{"varnishstat6.json": {"MAIN.cache_hit": "4321", "VBE.boot.default.happy": ""},
		"varnishstat7.json": {"MGT.child_start": "1", "MAIN.cache_hit": "0"}} {
		s, err := parseVarnishstat(fixture(t, name))
		if err != nil || !s.counts["MAIN.cache_hit"] || s.counts["MAIN.threads"] || s.counts["MGT.uptime"] || s.values["MAIN.threads"] == "" {
			t.Errorf("%s: %v", name, err)
		}
		for counter, value := range want {
			if s.values[counter] != value {
				t.Errorf("%s: %s is %q", name, counter, s.values[counter])
			}
		}
	}
	if _, err := parseVarnishstat([]byte(`{"version":1,"counters":{}}`)); err == nil {
		t.Error("no counters gave no error")
	}
	page, err := parseStubStatus(fixture(t, "nginx_stub_status.txt"))
	if err != nil || page["requests"] != "6" || page["writing"] != "1" || page["active"] != "1" {
		t.Errorf("%v %v", page, err)
	}
	if _, err := parseStubStatus([]byte("<html>404</html>")); err == nil {
		t.Error("another page gave no error")
	}
	op, err := parseOPcache(fixture(t, "opcache_status.json"))
	if err != nil || op["opcache_enabled"] != "1" || op["memory_usage.used_memory"] != "9167936" || op["opcache_statistics.misses"] != "1" || op["jit.on"] != "0" {
		t.Errorf("%v %v", op, err)
	}
	for _, text := range []string{"false", "<?php", `{"a":1}`} {
		if _, err := parseOPcache([]byte(text)); err == nil {
			t.Errorf("%q gave no error", text)
		}
	}
	fpm, err := parseFPMStatus(fixture(t, "fpm_status_full.json"), "/status")
	if err != nil || fpm["state_idle"] != "2" || fpm["state_running"] != "" || fpm["request_usec_max"] != "24410" || fpm["request_memory_max"] != "7098368" ||
		fpm["longest_request"] != "GET /cart" || fpm["accepted_conn"] != "5" {
		t.Errorf("%v %v", fpm, err)
	}
}

func TestProbeOf(t *testing.T) {
	ms := time.Millisecond
	p := probeOf([]time.Duration{2 * ms, 1 * ms, 3 * ms, 9 * ms, 9 * ms, 9 * ms, 20 * ms, 30 * ms, 10 * ms}, 100*ms)
	if p.Count != 9 || p.P50 != 9*ms || p.Max != 30*ms || p.P99 != 30*ms || p.First != 2*ms || p.Last != 20*ms {
		t.Errorf("%+v", p)
	}
	// One probe of a second stands for the nine that could not be sent.
	p = probeOf([]time.Duration{ms, ms, ms, ms, ms, 1000 * ms}, 100*ms)
	if p.Count != 6 || p.P50 != 300*ms || p.Max != 1000*ms {
		t.Errorf("%+v", p)
	}
	if p := probeOf([]time.Duration{5 * ms}, 100*ms); p.First != 5*ms || p.Last != 5*ms || p.P99 != 5*ms {
		t.Errorf("%+v", p)
	}
}

func FuzzCounters(f *testing.F) {
	for _, name := range []string{"memcached_stats_items.txt", "nginx_stub_status.txt", "opcache_status.json", "varnishstat6.json", "fpm_status_full.json"} {
		f.Add(fixture(f, name))
	}
	f.Add(fixture(f, "redis_info.txt")[:600])
	f.Add([]byte("*1\r\n*4\r\n:7\r\n:1\r\n:2\r\n*1\r\n$3\r\nget\r\n"))
	f.Add([]byte("key=k exp=-1 la=1\r\nEND\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		reader := func() *bufio.Reader { return bufio.NewReader(strings.NewReader(string(data))) }
		parseMemcachedStats(reader(), "", map[string]string{})
		parseMetadump(reader(), 10)
		parseRedisInfo(string(data))
		if v, err := readRESP(reader()); err == nil {
			if list, ok := v.([]any); ok {
				addSlowlog(map[string]string{}, parseSlowlog(list), 0)
			}
		}
		parseVarnishstat(data)
		parseStubStatus(data)
		parseOPcache(data)
		parseFPMStatus(data, "/status")
	})
}

// A memcached that is full answers so and closes; that is no wrong protocol.
func TestMemcachedRefuses(t *testing.T) {
	err := parseMemcachedStats(bufio.NewReader(strings.NewReader("ERROR Too many open connections\r\n")), "", map[string]string{})
	if err == nil || !strings.Contains(err.Error(), "raise -c") {
		t.Errorf("it says %v", err)
	}
}
