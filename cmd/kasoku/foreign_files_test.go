package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/ui"
)

// Files that somebody else's benchmark asks for are known by the access log: nginx
// passes them to the application, and Kasoku plans to send them itself.
func TestFilesOfAForeignBenchmark(t *testing.T) {
	c := startForeign(t)
	public := filepath.Join(c.dir, "app", "public")
	if err := os.MkdirAll(public, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"app.css": strings.Repeat("a { color: red }\n", 400), "logo.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>"} {
		c.write("app/public/"+name, 0o644, text)
	}
	files := http.FileServer(http.Dir(public))
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			fmt.Fprint(w, "<p>hello")
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer app.Close()
	conf, err := os.ReadFile(filepath.Join(c.dir, "nginx.conf"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(conf), "access_log off;", "include /etc/nginx/mime.types;\n    access_log "+c.dir+"/access.log;", 1)
	c.write("nginx.conf", 0o644, strings.Replace(text, `return 200 "hello\n";`, "proxy_pass "+app.URL+";", 1))
	c.reload()
	c.bench(fmt.Sprintf("i=0; while [ $i -lt 40 ]; do i=$((i+1)); curl -s -o %[2]s/out %[1]s/ -o %[2]s/out '%[1]s/app.css?v=3' -o %[2]s/out %[1]s/logo.svg; done; echo score: 40\n", c.url, c.dir))
	yaml, err := os.ReadFile(filepath.Join(c.dir, "kasoku.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c.write("kasoku.yaml", 0o644, strings.Replace(string(yaml), "\nload:", fmt.Sprintf("\n  - name: app\n    kind: app\n    root: %s/app\n    listen: [\"%s\"]\nload:", c.dir, strings.TrimPrefix(app.URL, "http://")), 1))
	// plan alone only reads, so it needs a run; asked for one, it makes it.
	if _, errs := c.want([]int{int(ui.BadInput)}, "plan"); !strings.Contains(errs, "plan --new") {
		t.Errorf("nobody says how a run is made: %s", errs)
	}
	if asked, err := os.ReadFile(filepath.Join(c.dir, "access.log")); err != nil || strings.Count(string(asked), "\n") > 10 {
		t.Errorf("load was put on: %v\n%s", err, asked)
	}
	if _, errs := c.want([]int{int(ui.BadInput)}, "plan", "-d", "5s"); !strings.Contains(errs, "plan --new -d") {
		t.Errorf("-d without a run to make: %s", errs)
	}
	c.want([]int{0}, "plan", "--new", "--json")
	one, _ := c.want([]int{0}, "diagnose", "1", "--json")
	if named, _ := c.want([]int{0}, "diagnose", "--run", "1", "--json"); one != named || !strings.Contains(one, "findings") {
		t.Errorf("diagnose 1 and diagnose --run 1 differ, or hold nothing:\n%s", one)
	}
	if _, errs := c.want([]int{int(ui.BadInput)}, "diagnose", "1", "--run", "2"); !strings.Contains(errs, "two different runs") {
		t.Errorf("two runs are named: %s", errs)
	}
	out, errs := c.want([]int{0}, "plan", "--json")
	var plan struct {
		Plans []struct {
			ID, Title string
		}
	}
	if err := json.Unmarshal([]byte(out), &plan); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range plan.Plans {
		if strings.HasPrefix(p.ID, "nginx.static") {
			return
		}
	}
	t.Errorf("nothing is planned for the files:\n%s\n%s", out, errs)
}

// reload makes nginx take its configuration on and waits for its new worker.
func (c *foreignCase) reload() {
	c.t.Helper()
	if out, err := exec.Command("nginx", "-c", c.dir+"/nginx.conf", "-s", "reload").CombinedOutput(); err != nil {
		c.t.Fatalf("%v: %s", err, out)
	}
	await.For(c.t, "nginx to pass requests on", func() bool {
		res, err := http.Get(c.url + "/logo.svg")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return strings.HasPrefix(res.Header.Get("Content-Type"), "image/svg")
	})
}
