package pagecache

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

// siteVCL keeps nothing by itself: varnishd is started with default_ttl=0, and
// the application gives no time.
const siteVCL = `vcl 4.1;

backend app {
    .host = "127.0.0.1";
    .port = "%PORT%";
}

sub vcl_recv {
    # ours
    if (req.method == "PURGE") {
        return (purge);
    }
}
`

const startVarnish = `#!/bin/sh
exec /usr/sbin/varnishd -n %DIR%/v -a 127.0.0.1:%FRONT% -f %DIR%/site.vcl \
    %ARGS% \
    -p default_ttl=0 -P %DIR%/varnish.pid
`

const reloadVarnish = `#!/bin/sh
set -e
name=v$(date +%s%N)
varnishadm -n %DIR%/v vcl.load $name %DIR%/site.vcl
varnishadm -n %DIR%/v vcl.use $name
`

// startVarnished puts a Varnish that keeps nothing in front of nginx and PHP-FPM,
// started with more arguments, and returns its address, too.
func startVarnished(t *testing.T, args string) (x site, front string) {
	t.Helper()
	port := fmt.Sprint(bed.FreePort(t))
	front = "127.0.0.1:" + port
	x = startSite(t, `  - name: front
    kind: varnish
    binary: /usr/sbin/varnishd
    config: %DIR%/site.vcl
    listen: ["`+front+`"]
    talks_to: [web]
    control: {method: process, pid_file: %DIR%/varnish.pid, start: [sh, %DIR%/start-varnish], reload: [sh, %DIR%/reload-varnish]}
`, front)
	fill := strings.NewReplacer("%PORT%", x.address[strings.LastIndex(x.address, ":")+1:], "%FRONT%", port, "%ARGS%", args)
	bed.Write(t, x.dir, "site.vcl", fill.Replace(siteVCL))
	bed.Write(t, x.dir, "start-varnish", fill.Replace(startVarnish))
	bed.Write(t, x.dir, "reload-varnish", reloadVarnish)
	bed.StopByPIDFile(t, x.dir+"/varnish.pid")
	bed.Output(t, "sh", x.dir+"/start-varnish")
	bed.Await(t, front)
	x.bed = bed.Open(t, x.dir)
	return x, front
}

// TestVarnishThreads: one pool of five threads, the least that varnishd takes, of
// which one accepts connections, for three users whose requests take two each.
func TestVarnishThreads(t *testing.T) {
	x, _ := startVarnished(t, "-p thread_pools=1 -p thread_pool_min=5 -p thread_pool_max=5")
	x.bed.Bench.Scenario.Workload, x.bed.Bench.Window = 3, 2*time.Second
	bad := x.bed.Plans(t)
	for range 4 { // the users may take turns by chance
		if slices.ContainsFunc(bad.Plans, func(p remedy.Plan) bool { return p.Remedy == "varnish.threads" }) {
			break
		}
		bad = x.bed.Plans(t)
	}
	x.bed.ShowFrom(t, bad, func(t *testing.T, _ remedy.Plan) {
		if text := bed.Output(t, "varnishadm", "-n", x.dir+"/v", "param.show thread_pool_max"); !strings.Contains(text, "Value is: 10 [threads]") {
			t.Errorf("thread_pool_max: %s", text)
		}
	}, "varnish.threads")
}

// TestVarnish: a Varnish that keeps nothing, in a file, in front of nginx and
// PHP-FPM.
func TestVarnish(t *testing.T) {
	x, front := startVarnished(t, "-s file,%DIR%/v.storage,64m")
	x.bed.Show(t, func(t *testing.T, p remedy.Plan) {
		if p.Remedy == "varnish.storage" {
			if text := bed.Output(t, "varnishadm", "-n", x.dir+"/v", "storage.list"); strings.Contains(text, "file") || !strings.Contains(text, "s0 = malloc") {
				t.Errorf("storages: %s", text)
			}
			return
		}
		before, began := x.made(t), time.Now()
		for range 10 {
			get(t, front, "/")
			get(t, front, "/about", "Cookie: user=ann") // it is the same for users
			get(t, front, "/item?id=3")
		}
		// The three pages are made, perhaps by two at once, and again whenever they are too old.
		ages := int64(time.Since(began) / p.Fresh.MaxAge)
		if n := x.made(t) - before; int64(n) > 6+3*ages {
			t.Errorf("30 requests were made %d times", n)
		}
		before = x.made(t)
		for range 5 {
			get(t, front, "/", "Cookie: user=ann")
			get(t, front, "/", "Authorization: Bearer x")
			get(t, front, "/", "X-Auth-Token: x")
			get(t, front, "/", "X-Rewrite-URL: /private")
			get(t, front, "/private")
			get(t, front, "/item?id=4")
		}
		if n := x.made(t) - before; n != 30 {
			t.Errorf("30 requests that no cache may answer were made %d times", n)
		}
		x.fresh(t, "http://"+front, p.Fresh.MaxAge, 80, 3)
	}, "varnish.storage", "varnish.pages")
}
