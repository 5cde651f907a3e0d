package wiki_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/load"
	"kasoku/internal/prove"
)

// TestWiki: readers and editors get right answers, an edit is seen by all, reset
// takes it back, a wrong answer is found out, and down leaves nothing. With LONG=1 the
// wiki has its whole history; how long that is, TestRevisions tells.
func TestWiki(t *testing.T) {
	if testing.Short() {
		t.Skip("a real wiki")
	}
	size := "small"
	if os.Getenv("LONG") != "" {
		size = "full"
	}
	t.Setenv("KASOKU_WIKI_SIZE", size)
	b := up(t)
	before := b.count("revision")
	if want := written(t, size); before < want {
		t.Errorf("%d revisions, want at least the %d that were written", before, want)
	}
	b.opcache(true) // a page costs a third; settings is about the wiki without it

	// Every session once, from its begin to its end, whatever time that takes.
	scenario, err := load.LoadForRecording(filepath.Join(b.dir, "scenario.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := load.Record(context.Background(), load.Options{Scenario: scenario, URL: b.stack.Load.URL}); err != nil {
		t.Fatalf("every session once: %v", err)
	}
	if after := b.count("revision"); after != before+1 {
		t.Errorf("%d revisions before the edit and %d after", before, after)
	}
	// The editors are bots, whose edits are left out otherwise.
	recent := "/wiki/" + url.PathEscape("特別:最近の更新") + "?hidebots=0"
	if !strings.Contains(b.get(recent), "Note ") {
		t.Error("the recent changes do not show the edit")
	}
	b.must("reset", b.dir)
	if after := b.count("revision"); after != before {
		t.Errorf("%d revisions at first and %d after reset", before, after)
	}
	if page := b.get(recent); strings.Contains(page, "Note ") || !strings.Contains(page, "mw-changeslist-line") {
		t.Error("the recent changes after reset are not those of before")
	}

	b.opcache(false)
	t.Run("settings", b.settings)
	b.opcache(true)
	// The checks' own write is seen by their readers, and only then.
	checks, err := load.LoadScenario(b.stack.Checks.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	w, err := load.NewWitness(load.Options{Scenario: checks, URL: b.stack.Load.URL})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := prove.Stale(t.Context(), w, prove.StaleOptions{Limit: time.Minute, Writes: 1, Settle: time.Millisecond}); err != nil || r.Outcome != prove.Held {
		t.Errorf("%s: %s %+v, %v", r.Outcome, r.Text, r.Problems, err)
	}
	b.must("reset", b.dir)

	// Windows that become longer until there are answers: a wiki as found is slow,
	// and another's work may make it slower.
	for got, window := 0, time.Second; got < 5; window *= 2 {
		if window > 2*time.Minute {
			t.Fatalf("only %d answers", got)
		}
		result := b.drive(window)
		if result.Mismatches+result.Errors+result.Timeouts > 0 {
			b.explain(result)
			t.Fatalf("%d right, %d mismatches, %d errors, %d time-outs", result.Succeeded, result.Mismatches, result.Errors, result.Timeouts)
		}
		got += int(result.Succeeded)
	}

	// A main page that nobody announced is a wrong answer.
	b.sql("UPDATE text JOIN content ON content_address = CONCAT('tt:', old_id) JOIN slots ON slot_content_id = content_id" +
		" JOIN page ON page_latest = slot_revision_id SET old_text = CONCAT(old_text, 'stray')" +
		" WHERE page_namespace = 0 AND page_title = 'メインページ'; DELETE FROM objectcache")
	for window := time.Second; b.drive(window).Mismatches == 0; window *= 2 {
		if window > 2*time.Minute {
			t.Fatal("the scenario did not notice that the main page differs")
		}
	}
	b.goesAway()
}

// TestRevisions: the whole wiki has at least 20,000 revisions, as one in use for years.
func TestRevisions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second and more")
	}
	if n := written(t, "full"); n < 20000 {
		t.Errorf("%d revisions, want at least 20,000", n)
	}
}

// written is how many revisions content/generate.php writes for a wiki of that size.
func written(t *testing.T, size string) int {
	t.Helper()
	cmd := exec.Command("php", "content/generate.php", t.TempDir())
	cmd.Env = append(os.Environ(), "KASOKU_WIKI_SIZE="+size)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var pages, revisions int
	if _, err := fmt.Sscanf(string(out), "%d pages, %d revisions", &pages, &revisions); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return revisions
}

// opcache switches PHP's OPcache on or off, as KASOKU_WIKI_OPCACHE of case.sh does.
func (b *bench) opcache(on bool) {
	b.t.Helper()
	from, to := "opcache.enable = 0", "opcache.revalidate_freq = 0"
	if !on {
		from, to = to, from
	}
	path := filepath.Join(b.dir, "etc", "php", "php.ini")
	was := b.file(b.t, path)
	if strings.Count(was, "\n"+from+"\n") != 1 {
		b.t.Fatalf("%s does not hold one line %q", path, from)
	}
	bed.Write(b.t, filepath.Dir(path), "php.ini", strings.Replace(was, "\n"+from+"\n", "\n"+to+"\n", 1))
	b.must("restart", b.dir)
}

// drive runs the scenario once.
func (b *bench) drive(window time.Duration) *load.Result {
	b.t.Helper()
	scenario, err := load.LoadScenario(filepath.Join(b.dir, "scenario.yaml"))
	if err != nil {
		b.t.Fatal(err)
	}
	result, err := load.Run(context.Background(), load.Options{
		Scenario: scenario, URL: b.stack.Load.URL, Workload: 2, Warmup: 100 * time.Millisecond, Window: window,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// explain logs what went wrong.
func (b *bench) explain(result *load.Result) {
	for _, s := range result.Samples {
		b.t.Logf("%s %s/%s %s: want %s, got %s\n%.300s", s.Kind, s.Session, s.Step, s.Request, s.Expected, s.Got, s.Body)
	}
}

// get returns a page as a reader without cookies gets it.
func (b *bench) get(path string) string {
	b.t.Helper()
	resp, err := http.Get(b.stack.Load.URL + path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: status %d, %v", path, resp.StatusCode, err)
	}
	return string(text)
}

// sql runs a statement as the operator and returns what it prints.
func (b *bench) sql(statement string) string {
	b.t.Helper()
	out, err := exec.Command("mariadb", "--defaults-file="+filepath.Join(b.dir, "secrets", "client.cnf"), "-N", "wiki", "-e", statement).CombinedOutput()
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", statement, err, out)
	}
	return strings.TrimSpace(string(out))
}

// count counts the rows of a table, or of a part of one.
func (b *bench) count(table string) int {
	b.t.Helper()
	text := b.sql(fmt.Sprintf("SELECT COUNT(*) FROM %s", table))
	n, err := strconv.Atoi(text)
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}
