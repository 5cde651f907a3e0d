package remedy_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

// coldWorld is a site whose host was rebooted and was slow right after.
func coldWorld(front, client string) (remedy.Input, *diagnose.Reboot) {
	in := remedytest.World(nil)
	in.Stack.Load.URL = "http://site.example:8080"
	in.Stack.Checks.Reboot = []string{"h1"}
	for i := range in.Stack.Services {
		in.Stack.Services[i].Host = "h1"
	}
	in.Stack.Services[0].Listen = []string{front}
	in.Stack.Services[0].Control = stack.Control{Unit: "nginx"}
	in.Snapshot.Files["h1"] = in.Snapshot.Files["local"]
	in.Snapshot.Boot = map[string]evidence.Boot{"h1": {Systemd: true, Root: true, Client: client}}
	in.Evidence.Load.Pages = []load.PageSample{
		{URL: "/list?page=1&c=[a]", Status: 200, Count: 300},
		{URL: "/login", Status: 200, Count: 200, SetsCookie: true},
		{URL: "/mine", Status: 200, Known: 400},
		{URL: "/gone", Status: 404, Count: 100},
		{URL: "/a b", Status: 200, Count: 90},
		{URL: "/", Status: 200, Count: 50},
	}
	in.Evidence.Load.Assets = []load.StaticSample{{Path: "/a.css", Status: 200, ContentType: "text/css"}}
	return in, &diagnose.Reboot{Before: 100, After: 70, Later: 99, Least: 0.95}
}

func planCold(t *testing.T, in remedy.Input, r *diagnose.Reboot) remedy.Result {
	t.Helper()
	d, err := diagnose.Diagnose(diagnose.Input{Stack: in.Stack, Evidence: in.Evidence, Snapshot: in.Snapshot, Reboot: r})
	if err != nil {
		t.Fatal(err)
	}
	in.Diagnosis = d
	return remedy.PlanAll(in)
}

// warmUpOf is the one plan, "" and why not if there is none.
func warmUpOf(res remedy.Result) (p remedy.Plan, why string) {
	for _, p := range res.Plans {
		if p.Remedy == "host.warm-up" {
			return p, ""
		}
	}
	return p, strings.Join(res.Skipped, "\n")
}

// The plan makes two files and a link, asks for what strangers got without a
// cookie, and starts nothing by itself.
func TestWarmUpPlan(t *testing.T) {
	in, r := coldWorld("0.0.0.0:8080", "curl")
	p, why := warmUpOf(planCold(t, in, r))
	if why != "" || len(p.Changes) != 3 || len(p.Prepare) != 0 || len(p.Trades) != 0 {
		t.Fatalf("%s: %+v", why, p)
	}
	var paths []string
	for _, c := range p.Changes {
		paths = append(paths, fmt.Sprint(c.Kind, " ", c.Host, " ", c.Path))
		if c.Activate != change.None || c.Service != "" {
			t.Errorf("%s is taken on by %s: %s", c.Path, c.Service, c.Activate)
		}
	}
	if want := []string{"file h1 " + evidence.WarmUpScript, "file h1 " + evidence.WarmUpFile, "link h1 " + evidence.WarmUpLink}; !slices.Equal(paths, want) {
		t.Errorf("%q", paths)
	}
	script, unit := string(p.Changes[0].After.Content), string(p.Changes[1].After.Content)
	if !strings.Contains(script, "<<'PAGES'\n/list?page=1&c=[a]\n/\n/a.css\nPAGES\n") || !strings.Contains(script, "'::127.0.0.1:8080'") || !strings.Contains(script, "'http://site.example:8080'") {
		t.Errorf("the script:\n%s", script)
	}
	for _, want := range []string{"After=network.target nginx.service\n", "Type=exec\n", "RuntimeMaxSec=80\n", "WantedBy=multi-user.target\n", "ExecStart=" + evidence.WarmUpScript + "\n"} {
		if !strings.Contains(unit, want) {
			t.Errorf("the unit has no %q:\n%s", want, unit)
		}
	}
	if p.Changes[0].After.Mode != 0o755 || p.Changes[2].Link.Target != evidence.WarmUpFile {
		t.Errorf("%+v", p.Changes)
	}
}

func TestWarmUpIsNotPlanned(t *testing.T) {
	boot := func(b evidence.Boot) func(*remedy.Input, *diagnose.Reboot) {
		return func(in *remedy.Input, _ *diagnose.Reboot) { in.Snapshot.Boot["h1"] = b }
	}
	for _, c := range []struct {
		about string
		with  func(*remedy.Input, *diagnose.Reboot)
		why   string // "" for no finding
	}{
		{"the score was there at once", func(_ *remedy.Input, r *diagnose.Reboot) { r.After = 96 }, ""},
		{"the score did not come back", func(_ *remedy.Input, r *diagnose.Reboot) { r.Later = 71 }, ""},
		{"no systemd", boot(evidence.Boot{Root: true, Client: "curl"}), "not booted by systemd"},
		{"no root", boot(evidence.Boot{Systemd: true, Client: "curl"}), "only be written as root"},
		{"no client", boot(evidence.Boot{Systemd: true, Root: true}), "neither curl nor wget"},
		{"there already", boot(evidence.Boot{Systemd: true, Root: true, Client: "curl", WarmUp: true}), "warms up at boot already"},
		{"not looked at", func(in *remedy.Input, _ *diagnose.Reboot) { in.Snapshot.Boot = nil }, "is not known"},
		{"another host was rebooted", func(in *remedy.Input, _ *diagnose.Reboot) { in.Stack.Checks.Reboot = []string{"h2"} }, "host h1, where the front door is, was not rebooted"},
		{"nobody listens there", func(in *remedy.Input, _ *diagnose.Reboot) { in.Stack.Services[0].Listen = nil }, "no service of kasoku.yaml listens"},
		{"not to be touched", func(in *remedy.Input, _ *diagnose.Reboot) { in.Stack.Regulation.NoTouch = []string{"web"} }, "web"},
		{"no page", func(in *remedy.Input, _ *diagnose.Reboot) {
			in.Evidence.Load.Pages, in.Evidence.Load.Assets = nil, nil
		}, "there is none to ask for"},
		{"HTTPS without curl", func(in *remedy.Input, _ *diagnose.Reboot) {
			in.Stack.Load.URL = "https://site.example:8080"
			in.Snapshot.Boot["h1"] = evidence.Boot{Systemd: true, Root: true, Client: "wget"}
		}, "install curl"},
	} {
		t.Run(c.about, func(t *testing.T) {
			in, r := coldWorld("0.0.0.0:8080", "curl")
			c.with(&in, r)
			p, why := warmUpOf(planCold(t, in, r))
			if p.ID != "" || !strings.Contains(why, c.why) || c.why == "" && strings.Contains(why, "host.warm-up") {
				t.Errorf("%q: %+v", why, p)
			}
		})
	}
}

// front is a front door that is not ready at first.
type front struct {
	mu    sync.Mutex
	asked []string
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, fmt.Sprintf("%s %s %s %s %q", r.Method, r.Host, r.RequestURI, r.UserAgent(), r.Header.Get("Cookie")))
	switch {
	case len(f.asked) == 1:
		w.WriteHeader(http.StatusBadGateway)
	case r.URL.Path == "/":
		w.WriteHeader(http.StatusInternalServerError)
	case r.URL.Path == "/a.css":
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	default:
		fmt.Fprint(w, "page")
	}
}

// TestWarmUpScript runs the script itself, with either client: it waits for the
// first answer, asks once for each page under the name that people use, follows
// nothing, and says what came of it.
func TestWarmUpScript(t *testing.T) {
	await.SkipShort(t)
	for _, client := range []string{"curl", "wget"} {
		t.Run(client, func(t *testing.T) {
			if _, err := exec.LookPath(client); err != nil {
				t.Skipf("%s is not installed", client)
			}
			f := &front{}
			srv := httptest.NewServer(f)
			defer srv.Close()
			at := srv.Listener.Addr().String()
			in, r := coldWorld(at, client)
			_, port, err := net.SplitHostPort(at)
			if err != nil {
				t.Fatal(err)
			}
			in.Stack.Load.URL = "http://site.example:" + port
			p, why := warmUpOf(planCold(t, in, r))
			if why != "" {
				t.Fatal(why)
			}
			path := filepath.Join(t.TempDir(), "warm-up")
			if err := os.WriteFile(path, p.Changes[0].After.Content, 0o755); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), "sh", path).CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), "asked for 3 of 3 pages, 1 of them in vain, in ") {
				t.Errorf("%v: %s", err, out)
			}
			line := func(url string) string {
				return fmt.Sprintf("GET site.example:%s %s kasoku-warm-up %q", port, url, "")
			}
			want := []string{line("/list?page=1&c=[a]"), line("/list?page=1&c=[a]"), line("/"), line("/a.css")}
			if !slices.Equal(f.asked, want) {
				t.Errorf("asked for\n%s\nwant\n%s", strings.Join(f.asked, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// Settings first: after a cold reboot the pool keeps the list of all its pages,
// not only of the quarter that is the default.
func TestPoolWarmAfterAColdReboot(t *testing.T) {
	in, r := coldWorld("0.0.0.0:8080", "curl")
	vars := in.Snapshot.Databases["db"].Variables
	vars["innodb_buffer_pool_dump_at_shutdown"], vars["innodb_buffer_pool_load_at_startup"], vars["innodb_buffer_pool_dump_pct"] = "ON", "ON", "25"
	find := func(r *diagnose.Reboot) *remedy.Plan {
		for _, p := range planCold(t, in, r).Plans {
			if p.Remedy == "mariadb.pool-warm" {
				return &p
			}
		}
		return nil
	}
	p := find(r)
	if p == nil || len(p.Changes) != 2 || p.Changes[0].Variable != "innodb_buffer_pool_dump_pct" || p.Changes[0].AfterValue != "100" ||
		!strings.Contains(string(p.Changes[1].After.Content), "innodb_buffer_pool_dump_pct = 100") || !strings.Contains(p.Why, "innodb_buffer_pool_dump_pct: 25") {
		t.Errorf("%+v", p)
	}
	if p := find(nil); p != nil {
		t.Errorf("without a cold reboot: %s", p.Why)
	}
}
