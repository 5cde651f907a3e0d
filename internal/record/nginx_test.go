package record

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/accesslog"
	"kasoku/internal/await"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/load"
)

const timedFormat = `'$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
	'"$http_referer" "$http_user_agent" $msec $request_time $upstream_response_time $host'`

// startSite runs nginx on a site of pages, items and assets, with an access
// log of the given format.
func startSite(t *testing.T, format string) (url, dir string) {
	t.Helper()
	binary, err := exec.LookPath("nginx")
	if err != nil {
		if binary = "/usr/sbin/nginx"; exec.Command(binary, "-v").Run() != nil {
			t.Fatal("nginx is not installed; run `make deps`")
		}
	}
	if dir, err = os.MkdirTemp("", "kr"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	files := map[string]string{"index.html": "<h1>shop</h1>", "css/site.css": "a{}", "logo.png": "png", "about.html": "about", "search.html": "found"}
	for i := range 40 {
		files[fmt.Sprintf("items/%d", i)] = fmt.Sprintf("item %d", i)
	}
	for name, text := range files {
		name = filepath.Join(dir, "site", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil { // the workers are another user
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", hosttest.FreePort(t))
	conf := fmt.Sprintf(`daemon off; pid %[1]s/pid; worker_processes 1; events {}
http { log_format mine %[2]s; access_log %[1]s/access.log mine;
client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/c;
types {text/html html; text/css css; image/png png;}
server { listen %[3]s; root %[1]s/site; location = /login { return 302 /; } location = /broken { return 500; } } }`, dir, format, address)
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", filepath.Join(dir, "nginx.conf"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() })
	await.ForOr(t, "nginx", out.String, func() bool { return await.Dial(address) == nil })
	return "http://" + address, dir
}

// visitSite does what some hundred visitors do and returns the log.
func visitSite(t *testing.T, url, dir string) []byte {
	t.Helper()
	requests := 0
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 150 {
		get := func(path, referer string) {
			r, err := http.NewRequest("GET", url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("User-Agent", fmt.Sprintf(`visitor "%d" \é`, i))
			if referer != "" {
				r.Header.Set("Referer", url+referer)
			}
			res, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			requests++
		}
		get("/", "")
		get("/css/site.css", "/")
		get("/logo.png", "/css/site.css")
		for range 1 + rng.IntN(5) {
			get(fmt.Sprintf("/items/%d", rng.IntN(40)), "/")
		}
		switch rng.IntN(4) {
		case 0:
			get("/login?next=%2F&password=s3cret", "/")
		case 1:
			get(fmt.Sprintf("/search.html?q=word+%d&x=\"é", rng.IntN(9)), "/")
		case 2:
			get("/about.html", "/")
			get("/missing", "/")
		}
	}
	return readAccessLog(t, dir, requests)
}

// readAccessLog waits until the log has that many lines: nginx writes a line
// after it has answered.
func readAccessLog(t *testing.T, dir string, lines int) (data []byte) {
	t.Helper()
	await.NoError(t, "the log", func() (err error) {
		if data, err = os.ReadFile(filepath.Join(dir, "access.log")); err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(data, []byte("\n")); n < lines {
			return fmt.Errorf("it has %d lines, not %d", n, lines)
		}
		return nil
	})
	return data
}

// countRoutes of a log with the routes of the draft.
func countRoutes(t *testing.T, log []byte, f *accesslog.Format) (map[string]float64, float64) {
	t.Helper()
	routes, err := accesslog.NewRoutes(accesslog.RouteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	r := accesslog.NewReader(bytes.NewReader(log), f)
	for r.Next() {
		all = append(all, string(r.Entry().Target))
		routes.Add(string(r.Entry().Target))
	}
	if r.Err() != nil || r.Bad().Count > 0 {
		t.Fatalf("%v %+v", r.Err(), r.Bad())
	}
	out := map[string]float64{}
	for _, a := range all {
		out["GET "+routes.Route(a)]++
	}
	return out, float64(len(all))
}

// What visitors of a real nginx did is recorded, run against the same nginx,
// and has the same mix of routes in its log.
func TestRecordedMixRunsTheSame(t *testing.T) {
	await.SkipShort(t)
	for name, format := range map[string]string{"combined with times": timedFormat,
		"JSON": `escape=json '{"time":"$time_iso8601","remote_addr":"$remote_addr","request":"$request","status":$status,"http_referer":"$http_referer","http_user_agent":"$http_user_agent"}'`,
		"LTSV": `'time:$time_local\thost:$remote_addr\treq:$request\tstatus:$status\treferer:$http_referer\tua:$http_user_agent'`} {
		t.Run(name, func(t *testing.T) {
			url, dir := startSite(t, format)
			recorded := visitSite(t, url, dir)
			parsed, err := accesslog.ParseFormat("log_format mine " + format + ";")
			if err != nil {
				t.Fatal(err)
			}
			d, err := FromLog(bytes.NewReader(recorded), LogOptions{Format: parsed})
			if err != nil {
				t.Fatal(err)
			}
			_, s := written(t, d)
			if d.Coverage < 0.9 {
				t.Errorf("coverage %.3f", d.Coverage)
			}
			if strings.Contains(string(d.Scenario()), "s3cret") {
				t.Error("the password is in the scenario")
			}
			res, err := load.Run(t.Context(), load.Options{Scenario: s, URL: url, Workload: 4, Warmup: -1, Window: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			if res.Succeeded == 0 || res.Mismatches+res.Errors+res.Timeouts > 0 {
				t.Fatalf("%d right, %d wrong, %d errors: %+v\n%s", res.Succeeded, res.Mismatches, res.Errors, res.Samples, d.Scenario())
			}
			before, n := countRoutes(t, recorded, parsed)
			all := readAccessLog(t, dir, bytes.Count(recorded, []byte("\n"))+int(res.Requests))
			after, m := countRoutes(t, all[len(recorded):], parsed)
			for route, count := range before {
				p := count / n
				// Four standard errors of the sample, and what the choice of
				// sessions may lose.
				allowed := 4*math.Sqrt(p*(1-p)/m) + 0.02
				if got := after[route] / m; math.Abs(got-p) > allowed {
					t.Errorf("%s was %.3f of the requests, is %.3f (±%.3f)", route, p, got, allowed)
				}
			}
		})
	}
}

// nginx's own escapes come back as what was sent.
func TestRealLinesReadBack(t *testing.T) {
	url, dir := startSite(t, timedFormat)
	begun := time.Now().Add(-time.Second) // the log has milliseconds of the tick before
	log := visitSite(t, url, dir)
	f, err := accesslog.ParseFormat("log_format mine " + timedFormat)
	if err != nil {
		t.Fatal(err)
	}
	r := accesslog.NewReader(bytes.NewReader(log), f)
	n := 0
	for r.Next() {
		e := r.Entry()
		if n == 0 && (string(e.Agent) != `visitor "0" \é` || string(e.Target) != "/" || e.Status != 200 || string(e.Client) != "127.0.0.1" || string(e.Host) != "127.0.0.1" ||
			e.Request < 0 || e.Upstream != -1 || e.Time.Before(begun) || e.Time.After(time.Now())) {
			t.Errorf("%+v", e)
		}
		n++
	}
	if n < 500 || r.Bad().Count > 0 {
		t.Errorf("%d lines, %+v", n, r.Bad())
	}
	if f, err := accesslog.Detect(log); err != nil || f.Name != "combined and more" {
		t.Errorf("detected as %v, %v", f, err)
	}
}

// A replay asks a real nginx for exactly what was recorded, with its own
// timing, slowed down so that a busy machine keeps up.
func TestReplayRunsTheSame(t *testing.T) {
	await.SkipShort(t)
	url, dir := startSite(t, timedFormat)
	recorded := visitSite(t, url, dir)
	f, err := accesslog.ParseFormat("log_format mine " + timedFormat)
	if err != nil {
		t.Fatal(err)
	}
	d, err := FromLog(bytes.NewReader(recorded), LogOptions{Format: f, Replay: true, Speed: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	_, s := written(t, d)
	res, err := load.Run(t.Context(), load.Options{Scenario: s, URL: url, Workload: 32})
	if err != nil {
		t.Fatal(err)
	}
	// A generator that is late drops what it cannot send any more; that is counted below.
	if res.Open == nil || 10*res.Open.Dropped > res.Open.Planned || res.Open.Planned != d.Requests || res.Mismatches+res.Errors+res.Timeouts > 0 {
		t.Fatalf("%+v; %d wrong, %d errors: %+v", res.Open, res.Mismatches, res.Errors, res.Samples)
	}
	before, n := countRoutes(t, recorded, f)
	after, m := countRoutes(t, readAccessLog(t, dir, 2*int(d.Requests)-int(res.Open.Dropped))[len(recorded):], f)
	dropped := float64(res.Open.Dropped)
	if n-m != dropped {
		t.Errorf("%.0f requests replayed as %.0f, %.0f dropped", n, m, dropped)
	}
	for route, count := range before {
		if after[route] > count || after[route] < count-dropped {
			t.Errorf("%s: %.0f requests replayed as %.0f", route, count, after[route])
		}
	}
}
