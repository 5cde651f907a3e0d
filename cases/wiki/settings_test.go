package wiki_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
)

// small has one reader: what is looked at is counted for each request, and with two
// every run takes all CPUs.
const small = `version: 1
name: small
workload: 1
warmup: 100ms
duration: 2s
timeout: 20s
sessions:
  - name: reader
    steps:
      - {name: main page, request: GET /wiki/メインページ, expect: {contains: ["id=\"mw-content-text\""]}}
      - {name: history, request: "GET /index.php?title=日本の年表&action=history", expect: {contains: ["mw-contributions-list"]}}
`

// settings: Kasoku knows the application, tells its look-ups as one finding,
// turns on OPcache in Apache, MediaWiki's object cache, texts in files and file
// cache by its own settings, with every answer right, and takes it all back.
func (b *bench) settings(t *testing.T) {
	own := *b
	own.t, b = t, &own
	wiki, ini := filepath.Join(b.dir, "wiki", "LocalSettings.php"), filepath.Join(b.dir, "etc", "php", "php.ini")
	before := []string{b.file(t, wiki), b.file(t, ini)}
	port := b.memcached(t)
	x := bed.Open(t, b.dir)
	x.Bench.Window, x.Bench.Instruments.Plain = 2*time.Second, false // requests are followed one by one
	hash := x.Hash(t)

	in, res := x.Input(t)
	lookups := 0
	for _, f := range in.Diagnosis.Findings {
		switch {
		case f.Rule == "app.object-cache":
			lookups++
			if !strings.Contains(f.Text, "l10n_cache") || !strings.Contains(f.Text, "statements per request only look things up") {
				t.Errorf("%s: %s", f.Title, f.Text)
			}
		case strings.HasPrefix(f.Rule, "request.") && (strings.Contains(f.Text, "requests: SELECT lc_") || strings.Contains(f.Text, "× SELECT lc_")):
			t.Errorf("%s is told by itself: %s", f.Title, f.Text)
		}
	}
	if lookups != 1 || in.Snapshot.Known["app"].Version == "" {
		t.Errorf("%d findings that there is no object cache; known: %+v", lookups, in.Snapshot.Known)
	}
	strict := *in.Stack
	strict.Regulation.ApplicationSettings = false
	forbidden := in
	forbidden.Stack = &strict
	if n := slices.IndexFunc(remedy.PlanAll(forbidden).Refusals, func(r remedy.Refusal) bool { return strings.Contains(r.Why, "application_settings") }); n < 0 {
		t.Error("LocalSettings.php would be changed although the regulation does not permit it")
	}

	var done []change.Tx
	apply := func(id string) {
		t.Helper()
		plan := bed.Want(t, res, id)
		for _, prepare := range plan.Prepare {
			done = append(done, x.Apply(t, remedy.Plan{ID: change.Prepares(plan.ID), Title: "Prepare: " + plan.Title, Changes: prepare}))
		}
		done = append(done, x.Apply(t, plan))
		if text := b.file(t, wiki); len(done) > 1 && text == before[0] {
			t.Errorf("%s left LocalSettings.php as it was", id)
		}
		for _, page := range []string{"/wiki/メインページ", "/index.php?title=日本の年表&action=history"} {
			if !strings.Contains(b.get(page), `id="mw-content-text"`) {
				t.Errorf("%s: %s has no content", id, page)
			}
		}
		// Plans are made from the files as they are now.
		st := *x.Stack
		st.Regulation = bed.Relaxed()
		snap := x.Snapshot(t)
		res = remedy.PlanAll(remedy.Input{Stack: &st, Evidence: in.Evidence, Snapshot: snap, Diagnosis: in.Diagnosis})
	}
	apply("php.opcache:web")
	asFound := b.selects(t)
	apply("mediawiki.cache-directory:app")
	texts := b.selects(t)
	apply("mediawiki.object-cache:app:memcached:mc")
	objects := b.selects(t)
	t.Logf("statements for one history: %d as found, %d with texts in files, %d with memcached too", asFound, texts, objects)
	if texts > asFound/2 || objects >= texts {
		t.Errorf("%d statements, %d with texts in files, %d with memcached", asFound, texts, objects)
	}
	if n := items(t, port); n == 0 {
		t.Error("memcached holds nothing")
	}
	apply("mediawiki.file-cache:app")
	b.get("/wiki/メインページ")
	if pages := files(t, filepath.Join(b.dir, "kasoku-pages-app"), ""); pages == 0 {
		t.Error("no page is kept as a file")
	}

	// Every session once, with all of it in force: an edit that all see at once,
	// and sessions that a restart of memcached leaves. It records the golden
	// answers anew; the wiki as found is compared with them afterwards.
	b.once(t, "scenario.yaml", "all of it")
	if n := b.count("objectcache WHERE keyname LIKE '%MWSession%'"); n == 0 {
		t.Error("no session is in the database")
	}
	// A kept page outlives its tables, so reset purges it as MediaWiki says.
	const note = "written in a run of the scenario"
	if files(t, filepath.Join(b.dir, "kasoku-pages-app"), note) == 0 {
		t.Error("the edited page is not kept as a file")
	}
	b.must("reset", b.dir)
	if files(t, filepath.Join(b.dir, "kasoku-pages-app"), note) > 0 {
		t.Error("an edit that was taken back is still kept as a file")
	}

	for _, tx := range slices.Backward(done) {
		x.Revert(t, tx)
	}
	if after := []string{b.file(t, wiki), b.file(t, ini)}; !slices.Equal(after, before) {
		t.Errorf("files are not as before:\n%s", strings.Join(after, "\n"))
	}
	if left, err := filepath.Glob(filepath.Join(b.dir, "kasoku-*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left", err, left)
	}
	if x.Hash(t) != hash {
		t.Error("the target is not as before")
	}
	b.must("reset", b.dir)
}

// once runs every session of a scenario once, whatever time that takes.
func (b *bench) once(t *testing.T, file, with string) {
	t.Helper()
	scenario, err := load.LoadForRecording(filepath.Join(b.dir, file))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := load.Record(context.Background(), load.Options{Scenario: scenario, URL: b.stack.Load.URL}); err != nil {
		t.Errorf("every session once with %s: %v", with, err)
	}
}

// memcached starts one and adds it to the stack, with a small scenario. The
// case's own files come back at the end of the test.
func (b *bench) memcached(t *testing.T) (port string) {
	t.Helper()
	port = strconv.Itoa(bed.FreePort(t))
	bed.Start(t, t.TempDir(), "memcached", "/usr/bin/memcached", "-u", "www-data", "-l", "127.0.0.1", "-p", port, "-U", "0")
	bed.Await(t, "127.0.0.1:"+port)
	file := filepath.Join(b.dir, "kasoku.yaml")
	was := b.file(t, file)
	text := strings.Replace(was, "\nload:\n", fmt.Sprintf("\n  - {name: mc, kind: memcached, binary: /usr/bin/memcached, listen: [\"127.0.0.1:%s\"]}\nload:\n", port), 1)
	text = strings.Replace(text, b.dir+"/scenario.yaml", b.dir+"/small.yaml", 1) + "evidence: {profile: \"off\"}\n"
	bed.Write(t, b.dir, "kasoku.yaml", text)
	bed.Write(t, b.dir, "small.yaml", small)
	t.Cleanup(func() { bed.Write(t, b.dir, "kasoku.yaml", was) })
	return port
}

func (b *bench) file(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// selects are the statements that the history of a page takes, when all that
// can be kept was asked for before.
func (b *bench) selects(t *testing.T) int {
	t.Helper()
	const page = "/index.php?title=%E6%97%A5%E6%9C%AC%E3%81%AE%E5%B9%B4%E8%A1%A8&action=history"
	count := func() int {
		f := strings.Fields(b.sql("SHOW GLOBAL STATUS LIKE 'Com_select'"))
		n, err := strconv.Atoi(f[len(f)-1])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	b.get(page)
	b.get(page)
	n := count()
	b.get(page)
	return count() - n
}

// items is what a memcached holds.
func items(t *testing.T, port string) int {
	t.Helper()
	c, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "stats\r\nquit\r\n")
	for s := bufio.NewScanner(c); s.Scan(); {
		if n, ok := strings.CutPrefix(s.Text(), "STAT curr_items "); ok {
			count, err := strconv.Atoi(n)
			if err != nil {
				t.Fatal(err)
			}
			return count
		}
	}
	t.Fatal("memcached tells no curr_items")
	return 0
}

// files counts the regular files below a folder that hold the text.
func files(t *testing.T, folder, text string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), text) {
			n++
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return n
}
