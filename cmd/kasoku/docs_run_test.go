package main

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"kasoku/internal/await"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/store"
)

// stand is a folder in which commands of pages can be run as they stand there.
type stand struct {
	t   *testing.T
	dir string
	env []string
	at  string // the address that stands for 127.0.0.1:8080, "" for itself
}

// runs does what commandsFile lists for a stand, and compares what is printed with what pages show.
func (s *stand) runs(name string) {
	s.t.Helper()
	list := commandList(s.t)
	at := slices.IndexFunc(list, func(x section) bool { return x.stand == name })
	if at < 0 {
		s.t.Fatalf("%s has no stand %q", commandsFile, name)
	}
	var all []shown
	for page, text := range docPages(s.t) {
		all = append(all, commands(s.t, page, text)...)
	}
	own := func(page, command string) bool { // it has an entry of that page's own
		return slices.ContainsFunc(list, func(x section) bool {
			return slices.ContainsFunc(x.entries, func(e *listed) bool { return e.command == command && e.page == page })
		})
	}
	for _, e := range list[at].entries {
		out, code := s.run(cmp.Or(e.as, e.command))
		if !slices.Contains(e.exits, code) {
			s.t.Errorf("%s:%d: %s ended with %d, want one of %d\n%s", commandsFile, e.line, e.command, code, e.exits, out)
		}
		for _, c := range all {
			if c.output == nil || c.text != e.command || e.page != c.page && (e.page != "" || own(c.page, c.text)) {
				continue
			}
			if d := differs(c.output, strings.Split(out, "\n")); d != "" {
				s.t.Errorf("%s:%d: %s: %s", c.page, c.line, c.text, d)
			}
		}
	}
}

// run gives a line to a shell.
func (s *stand) run(line string) (string, int) {
	s.t.Helper()
	if s.at != "" {
		line = strings.ReplaceAll(line, "127.0.0.1:8080", s.at)
	}
	cmd := exec.Command("bash", "-c", s.exports()+"set -o pipefail; "+line)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "HOME="+s.dir, "TZ=UTC")
	began := time.Now()
	out, err := cmd.CombinedOutput()
	s.t.Logf("%s for %s", time.Since(began).Round(10*time.Millisecond), line)
	if cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	text := string(out)
	if s.at != "" {
		text = strings.ReplaceAll(text, s.at, "127.0.0.1:8080")
	}
	return text, cmd.ProcessState.ExitCode()
}

// exports are words for the shell that read env from a file: TestWholeStory looks for secrets in
// the environments of all processes but kasoku's, and would find them in the shell's.
func (s *stand) exports() string {
	s.t.Helper()
	if len(s.env) == 0 {
		return ""
	}
	file := filepath.Join(s.t.TempDir(), "env")
	text := ""
	for _, e := range s.env {
		name, value, _ := strings.Cut(e, "=")
		text += fmt.Sprintf("export %s='%s'\n", name, value)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return ". '" + file + "'; "
}

// printsAsDescribed runs commands with --json, by their names in the schema, and checks what they print against it.
func (s *stand) printsAsDescribed(commands map[string]string) {
	s.t.Helper()
	for name, args := range commands {
		out, code := s.run("kasoku " + args + " --json 2>err")
		if code != 0 && code != 1 { // verify ends with 1 where something differs
			said, _ := s.run("cat err")
			s.t.Errorf("kasoku %s --json ended with %d: %s", args, code, said)
			continue
		}
		fits(s.t, name, out)
	}
}

func (s *stand) write(files map[string]string) {
	s.t.Helper()
	for name, text := range files {
		p := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
}

// script are the files of one of testdata/script.
func script(t *testing.T, name string) map[string]string {
	t.Helper()
	a, err := txtar.ParseFile("testdata/script/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range a.Files {
		out[f.Name] = string(f.Data)
	}
	return out
}

// TestShownCommandsOfAShop: commands that need no kasoku.yaml, in a folder with logs, files of other
// programs, source, and a web server.
func TestShownCommandsOfAShop(t *testing.T) {
	await.SkipShort(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		io.WriteString(w, "<h1>Welcome</h1>")
	}))
	t.Cleanup(srv.Close)
	s := &stand{t: t, dir: t.TempDir(), at: srv.Listener.Addr().String()}
	socket, err := net.Listen("unix", filepath.Join(s.dir, "app.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	go http.Serve(socket, srv.Config.Handler)

	other := script(t, "fromsource")
	source := script(t, "where")
	s.write(map[string]string{
		"access.log": other["access.log"], "visit.har": other["visit.har"], "openapi.yaml": other["api.yaml"], "requests.sh": other["commands.sh"],
		"shop.postman_collection.json": other["shop.json"], "script.js": other["script.js"], "plan.jmx": other["plan.jmx"],
		"levels.csv": "hosts,rate,p95\n1,480,120ms\n2,900,130ms\n4,1540,150ms\n", "slow.log": source["slow.log"], "item.json": "{}\n",
		"app/items.php": source["app/items.php"], "app/lib/users.rb": source["app/lib/users.rb"],
		"app/reads/posts.php": postsLoops, "app/schema.sql": "CREATE TABLE users (id INT NOT NULL PRIMARY KEY, name VARCHAR(50) NOT NULL);\n",
		"scenario.yaml":          "version: 1\nname: shop\nsessions: [{name: a, steps: [{request: GET /, expect: {contains: Welcome}}]}]\n",
		"golden.yaml":            "version: 1\nname: shop\nsessions: [{name: a, steps: [{request: GET /, expect: {golden: golden/front.html}}]}]\n",
		"tutorial/scenario.yaml": tutorialScenario(t, docPages(t)[tutorialPage]),
	})
	for _, line := range []string{"git init -q -b main", "git add .", "git -c user.name=a -c user.email=a@localhost commit -q -m first"} {
		if out, code := s.run("cd app; " + line); code != 0 {
			t.Fatalf("%s: %s", line, out)
		}
	}
	s.env = []string{"GOCACHE=" + goCache()}
	s.runs("shop")
	s.printsAsDescribed(map[string]string{"load": "load http://127.0.0.1:8080/ -c 1 -d 50ms --warmup 50ms", "load --find-max": "load http://127.0.0.1:8080/ --find-max 'p99<1s' --rate 20 -d 100ms --warmup 50ms",
		"capacity": "capacity levels.csv --rate 500", "where": "where --log slow.log --source app", "patch": "patch --source app", "version": "version", "scenario check": "scenario check scenario.yaml",
		"patch show": "patch show P1-c464 --source app", "patch export": "patch export exported --source app", "patch apply": "patch apply P1-c464 --branch kasoku/described --source app",
		"scenario record": "scenario record golden.yaml http://127.0.0.1:8080 --force", "scenario from-log": "scenario from-log access.log --out drafts/log", "scenario from-har": "scenario from-har visit.har --out drafts/har",
		"scenario from-openapi": "scenario from-openapi openapi.yaml --out drafts/openapi", "scenario from-postman": "scenario from-postman shop.postman_collection.json --out drafts/postman",
		"scenario from-curl": "scenario from-curl requests.sh --out drafts/curl", "scenario from-k6": "scenario from-k6 script.js --out drafts/k6", "scenario from-jmeter": "scenario from-jmeter plan.jmx --out drafts/jmeter"})
}

// goCache is where Go keeps what it has compiled, wherever HOME is.
func goCache() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return os.Getenv("GOCACHE")
	}
	return cmp.Or(os.Getenv("GOCACHE"), filepath.Join(cache, "go-build"))
}

// postsLoops read a row for each post: in the first nothing speaks against one read for all, the second
// locks what it reads.
const postsLoops = `<?php
function authors(PDO $pdo, array $posts): array {
    $names = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT id, name FROM users WHERE id = ?');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch(PDO::FETCH_ASSOC);
        $names[] = $user['name'];
    }
    return $names;
}

function held(PDO $pdo, array $posts): array {
    $names = [];
    foreach ($posts as $post) {
        $stmt = $pdo->prepare('SELECT id, name FROM users WHERE id = ? FOR UPDATE');
        $stmt->execute([$post['user_id']]);
        $user = $stmt->fetch(PDO::FETCH_ASSOC);
        $names[] = $user['name'];
    }
    return $names;
}
`

// TestShownCommandsOfDigest: logs in, tables out, as docs/reference/digest.md shows them.
func TestShownCommandsOfDigest(t *testing.T) {
	await.SkipShort(t)
	s := &stand{t: t, dir: t.TempDir()}
	log, slow := shopLog(20, 60*1e6), shopSlowLog()
	s.write(map[string]string{"access.log": log, "before.log": log, "after.log": shopLog(21, 10*1e6), "access.log.1": log, "slow.log": slow,
		"db.log": slow[strings.Index(slow, "# Time"):], "odd.log": `192.0.2.1 [20/Nov/2026:01:00:00 +0000] "GET /a HTTP/1.1" 200 0.010` + "\n"})
	for _, name := range []string{"access.log.1.gz", "access.log.2.gz"} {
		f, err := os.Create(filepath.Join(s.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(f)
		if _, err := io.WriteString(z, log); err != nil || z.Close() != nil || f.Close() != nil {
			t.Fatal("write " + name)
		}
	}
	s.runs("digest")
	s.printsAsDescribed(map[string]string{"digest access": "digest access.log", "digest slow": "digest slow.log", "digest --diff": "digest --diff before.log after.log"})
}

// TestShownCommandsOfWeeks: how the score went over weeks, as docs/how-to/tune.md shows it.
func TestShownCommandsOfWeeks(t *testing.T) {
	await.SkipShort(t)
	s := &stand{t: t, dir: undoProject(t)}
	st, err := store.Open(filepath.Join(s.dir, ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for i := range 40 {
		score := []float64{100, 120, 90, 90}[i/10] * (1 + 0.01*float64(i%3))
		if err := st.SaveRun(&store.Run{Kind: store.Scored, Started: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, i), Score: score,
			Evidence: &evidence.Evidence{Load: &load.Result{Scenario: "shop", Workload: 4}}}); err != nil {
			t.Fatal(err)
		}
	}
	s.runs("weeks")
	s.printsAsDescribed(map[string]string{"history": "history", "show TX": "show '#4'", "undo": "undo 4"})
}

// TestShownCommandsOfALogin: commands that measure and judge, on a real service.
func TestShownCommandsOfALogin(t *testing.T) {
	c := shareCase(t)
	c.shorten()
	c.fewPairs(0.1)
	c.calm()
	found := c.state()
	s := &stand{t: t, dir: c.dir}
	s.runs("login")
	s.printsAsDescribed(map[string]string{"check": "check", "run": "run -d 200ms --score-only", "diagnose": "diagnose", "plan": "plan", "show RUN": "show 2", "show STEP": "show step/1",
		"verify": "verify", "recover": "recover", "prove": "prove --only equality"})
	c.same(found, "after the commands of the pages")
}

// TestShownCommandsOfAJournal: four kept changes are looked at and put back.
func TestShownCommandsOfAJournal(t *testing.T) {
	await.SkipShort(t)
	s := &stand{t: t, dir: undoProject(t)}
	s.printsAsDescribed(map[string]string{"export": "export described"})
	s.runs("kept")
}
