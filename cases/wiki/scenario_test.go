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

	"kasoku/internal/load"
)

// TestScenario: readers and editors get right answers, an edit is seen by all,
// a wrong answer is found out, and reset takes the edits back.
func TestScenario(t *testing.T) {
	t.Parallel()
	b := up(t)
	before := b.count("revision")
	if before < 20000 {
		t.Errorf("%d revisions, want at least 20,000", before)
	}
	result := b.drive(4, 6*time.Second)
	if result.Mismatches+result.Errors+result.Timeouts > 0 || result.Succeeded == 0 || result.Score <= 0 {
		t.Errorf("%d right, %d mismatches, %d errors, %d time-outs, score %g", result.Succeeded, result.Mismatches, result.Errors, result.Timeouts, result.Score)
		for _, s := range result.Samples {
			t.Logf("%s %s/%s %s: want %s, got %s\n%.300s", s.Kind, s.Session, s.Step, s.Request, s.Expected, s.Got, s.Body)
		}
	}

	// The window is short for a wiki as found: so one edit by hand, with what the
	// scenario's steps send.
	b.one("editor")
	if after := b.count("revision"); after <= before {
		t.Errorf("%d revisions before the edits and %d after", before, after)
	}
	if page := b.get("/wiki/" + url.PathEscape("特別:最近の更新")); !strings.Contains(page, "Note ") {
		t.Error("the recent changes do not show the edit")
	}
	b.must("reset", b.dir)
	if after := b.count("revision"); after != before {
		t.Errorf("%d revisions at first and %d after reset", before, after)
	}
	if page := b.get("/wiki/" + url.PathEscape("特別:最近の更新")); strings.Contains(page, "Note ") || !strings.Contains(page, "mw-changeslist-line") {
		t.Error("the recent changes after reset are not those of before")
	}

	// An article that nobody announced is a wrong answer.
	b.sql("UPDATE text JOIN revision ON old_id = (SELECT CAST(SUBSTR(content_address, 4) AS INT) FROM content JOIN slots ON slot_content_id = content_id WHERE slot_revision_id = rev_id)" +
		" JOIN page ON rev_id = page_latest SET old_text = CONCAT(old_text, 'stray') WHERE page_title = 'メインページ'; DELETE FROM objectcache")
	if result := b.drive(2, 2*time.Second); result.Mismatches == 0 {
		t.Error("the scenario did not notice that the main page differs")
	}
}

// drive runs the scenario once.
func (b *bench) drive(workload int, window time.Duration) *load.Result {
	b.t.Helper()
	return b.runScenario(filepath.Join(b.dir, "scenario.yaml"), workload, window)
}

func (b *bench) runScenario(path string, workload int, window time.Duration) *load.Result {
	b.t.Helper()
	scenario, err := load.LoadScenario(path)
	if err != nil {
		b.t.Fatal(err)
	}
	result, err := load.Run(context.Background(), load.Options{
		Scenario: scenario, URL: b.stack.Load.URL, Workload: workload, Warmup: 100 * time.Millisecond, Window: window,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// one runs the scenario with one session only, until it was done at least once.
func (b *bench) one(session string) {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, "scenario.yaml"))
	if err != nil {
		b.t.Fatal(err)
	}
	// Another session would have to be picked a thousand times less often.
	only := strings.ReplaceAll(string(text), "  - name: "+session+"\n    weight: 1\n", "  - name: "+session+"\n    weight: 1000000\n")
	if only == string(text) {
		b.t.Fatalf("scenario.yaml has no session %s of weight 1", session)
	}
	path := filepath.Join(b.dir, session+".yaml")
	if err := os.WriteFile(path, []byte(only), 0o644); err != nil {
		b.t.Fatal(err)
	}
	for range 20 {
		result := b.runScenario(path, 1, 3*time.Second)
		if result.Mismatches+result.Errors+result.Timeouts > 0 {
			for _, s := range result.Samples {
				b.t.Logf("%s %s/%s %s: want %s, got %s\n%.300s", s.Kind, s.Session, s.Step, s.Request, s.Expected, s.Got, s.Body)
			}
			b.t.Fatalf("session %s: %d mismatches, %d errors, %d time-outs", session, result.Mismatches, result.Errors, result.Timeouts)
		}
		if b.count("recentchanges WHERE rc_id > (SELECT value FROM case_marks WHERE name = 'recentchange')") > 0 {
			return
		}
	}
	b.t.Fatalf("no edit came about in 20 runs of session %s", session)
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
