package remedy_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "kasoku/internal/rapidseed"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

func drawWorld(t *rapid.T) remedy.Input {
	pass := rapid.SampledFrom([]string{"127.0.0.1:9000", "localhost:9000", "unix:/run/php.sock", "$backend"}).Draw(t, "pass")
	lines := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"sendfile off;", "keepalive_timeout 0;", "keepalive_requests 10;", "tcp_nopush on;", "open_file_cache_valid 9s;"}), 0, 5, rapid.ID[string]).Draw(t, "lines")
	in := remedytest.World(map[string]string{
		remedytest.NginxPath: remedytest.Nginx("        " + strings.Join(lines, " ") + "\n" + strings.ReplaceAll(remedytest.PassAll, "127.0.0.1:9000", pass) + "\n        location /files/ { root /srv; }\n"),
		remedytest.FPMPath: "[www]\nlisten = " + rapid.SampledFrom([]string{"9000", "127.0.0.1:9000", "/run/php.sock"}).Draw(t, "listen") +
			"\npm = " + rapid.SampledFrom([]string{"static", "dynamic", "ondemand"}).Draw(t, "pm") + "\npm.max_children = " + rapid.SampledFrom([]string{"2", "5", "40"}).Draw(t, "children") + "\n",
	})
	remedytest.Asset(in, "/srv/app", "/img/a.png", "image/png")
	remedytest.Asset(in, "/srv", "/files/a.css", "text/css")
	in.Evidence.Load.Workload = rapid.IntRange(1, 5000).Draw(t, "workload")
	in.Evidence.System.MemoryAvailable = rapid.Int64Range(0, 8<<30).Draw(t, "memory")
	in.Stack.Regulation.Allow = rapid.SliceOfDistinct(rapid.SampledFrom(remedytest.AllTrades()), rapid.ID[regulation.Trade]).Draw(t, "allow")
	return in
}

// No plan makes a trade that is not allowed, nor appears twice; plans come in
// order of promise and are the same each time.
func TestPlansObeyTheRegulation(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in := drawWorld(r)
		_, res := remedytest.Plan(t, in)
		seen := map[string]bool{}
		for i, p := range res.Plans {
			for _, trade := range p.Trades {
				if !slices.Contains(in.Stack.Regulation.Allow, trade) {
					r.Fatalf("%s trades %s", p.ID, trade)
				}
			}
			if seen[p.ID] {
				r.Fatalf("%s is there twice", p.ID)
			}
			seen[p.ID] = true
			if i > 0 && res.Plans[i-1].Promise() < p.Promise() {
				r.Fatalf("%s promises more than the plan before it", p.ID)
			}
		}
		_, again := remedytest.Plan(t, in)
		if remedytest.IDs(again.Plans) != remedytest.IDs(res.Plans) {
			r.Fatalf("first\n%s\nthen\n%s", remedytest.IDs(res.Plans), remedytest.IDs(again.Plans))
		}
		for i, p := range res.Plans {
			if remedytest.After(p, "") != remedytest.After(again.Plans[i], "") {
				r.Fatalf("%s: other bytes the second time", p.ID)
			}
		}
	})
}

// What is in force is not planned again.
func TestPlansAreIdempotent(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in := drawWorld(r)
		_, res := remedytest.Plan(t, in)
		if len(res.Plans) == 0 {
			return
		}
		p := res.Plans[rapid.IntRange(0, len(res.Plans)-1).Draw(r, "which")]
		if p.Remedy == "load.workload" || p.Remedy == "mariadb.index" {
			return // they change no configuration
		}
		remedytest.Put(in, p.Changes)
		if p.Remedy == "mariadb.memory" {
			in.Snapshot.Databases["db"].DataBytes = 1 // what is read again is as large as the pool allows
		}
		_, again := remedytest.Plan(t, in)
		for _, q := range again.Plans {
			if q.ID == p.ID {
				r.Fatalf("%s is planned again; its files are now\n%s", p.ID, remedytest.After(p, ""))
			}
		}
	})
}

func TestFrontAddress(t *testing.T) {
	for url, want := range map[string]string{"http://a": "a:80", "http://a:1/x": "a:1", "://": ""} {
		if got := planning.FrontAddress(&stack.Stack{Load: stack.LoadConfig{URL: url}}); got != want {
			t.Errorf("%s: %q", url, got)
		}
	}
}
