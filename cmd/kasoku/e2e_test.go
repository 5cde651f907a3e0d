package main

import (
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/report"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// TestWholeStory takes one service through everything a user does.
func TestWholeStory(t *testing.T) {
	c := shareCase(t)
	c.shorten()
	c.quicken()
	found := c.state()

	// A session with little time keeps at least the index that is left.
	out, errs := c.want(ui.OK, "tune", "--budget", "100s", "-d", "1s", "--json")
	m := decode[report.Model](t, out)
	if m.Session.State != "done" || len(m.Kept()) == 0 || m.Score.Factor < 1.5 {
		t.Fatalf("session %+v\n%s", m.Session, errs)
	}
	// On a busy machine two runs may differ by half; what is lost by a restart
	// would be lost whole.
	if s := m.Session; s.AfterRestart < s.Final/2 && s.AfterRestart < 3*s.AsFound {
		t.Errorf("after a restart %.0f, before %.0f, as found %.0f points/s", s.AfterRestart, s.Final, s.AsFound)
	}
	c.want(ui.OK, "verify")
	c.reports(m)
	c.secrets()

	// One page about one run. (Of the service as found it takes five times as
	// long: single requests are followed, and each takes seconds.)
	tuned := c.state()
	out, _ = c.want(ui.OK, "run", "-d", "1s")
	for _, word := range []string{"score", "route", "statement", "Binds"} {
		if !strings.Contains(out, word) {
			t.Errorf("run does not tell %q:\n%s", word, out)
		}
	}
	c.same(tuned, "after run")
	out, _ = c.want(ui.OK, "diagnose")
	if !strings.Contains(out, "bound:") {
		t.Errorf("diagnose tells no bound:\n%s", out)
	}

	// Everything back, hash for hash.
	c.want(ui.OK, "undo", "--all")
	c.same(found, "after undo --all")
	c.want(ui.OK, "verify")
	c.agentReads(c.firstDiagnostic(), "CREATE INDEX")
	out, _ = c.want(ui.OK, "run", "-d", "1s", "--score-only", "--json")
	again := decode[struct{ Scored store.Run }](t, out)
	if again.Scored.Score > 3*m.Session.AsFound {
		t.Errorf("as found %.1f, after undo %.1f points/s", m.Session.AsFound, again.Scored.Score)
	}
}

// reports writes every form and the export.
func (c *theCase) reports(m report.Model) {
	c.t.Helper()
	for _, name := range []string{"r.html", "r.md", "r.json"} {
		c.want(ui.OK, "report", "-o", name)
		b, err := os.ReadFile(filepath.Join(c.dir, name))
		if err != nil {
			c.t.Fatal(err)
		}
		// Markdown and HTML escape what would be markup.
		if !strings.Contains(html.UnescapeString(strings.ReplaceAll(string(b), `\`, "")), m.Kept()[0].Plan.Title) {
			c.t.Errorf("%s does not name the first kept step", name)
		}
		if strings.Contains(string(b), "http://cdn") || strings.Contains(string(b), "<script src") {
			c.t.Errorf("%s needs the network", name)
		}
	}
	c.want(ui.OK, "export", "exported")
	if _, err := os.Stat(filepath.Join(c.dir, "exported", "README.md")); err != nil {
		c.t.Error(err)
	}
	c.want(ui.BadInput, "export", "exported")
	out, _ := c.want(ui.OK, "history")
	if !strings.Contains(out, "kasoku undo") {
		c.t.Errorf("history does not tell how to undo:\n%s", out)
	}
}

// secrets: no password is in the store, the reports or the runs' output.
// (The journal keeps the bytes of files that hold them, for their undo.)
func (c *theCase) secrets() {
	c.t.Helper()
	password, err := os.ReadFile(filepath.Join(c.dir, "secrets", "db_admin"))
	if err != nil {
		c.t.Fatal(err)
	}
	app := readPassword(c.t, filepath.Join(c.dir, "app/config/app.ini"))
	files, err := filepath.Glob(filepath.Join(c.dir, ".kasoku", "kasoku.db*"))
	if err != nil || len(files) == 0 {
		c.t.Fatal("no store", err)
	}
	for _, f := range append(files, filepath.Join(c.dir, "r.html"), filepath.Join(c.dir, "r.md"), filepath.Join(c.dir, "r.json")) {
		b, err := os.ReadFile(f)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, secret := range []string{strings.TrimSpace(string(password)), app} {
			if strings.Contains(string(b), secret) {
				c.t.Errorf("%s holds a password", f)
			}
		}
	}
}

func readPassword(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(b), "\n") {
		if v, ok := strings.CutPrefix(line, `password = "`); ok {
			return strings.TrimSuffix(v, `"`)
		}
	}
	t.Fatal("no password in " + file)
	return ""
}

// TestVerdictsOfTry: what somebody proposes is judged, and the exit code tells.
func TestVerdictsOfTry(t *testing.T) {
	c := shareCase(t)
	c.shorten()
	found := c.state()

	// A candidate that answers wrongly is out at once, with the answer.
	anyPassword := "--- a/src/login.php\n+++ b/src/login.php\n" + replaceDiff(t, filepath.Join(c.dir, "app/src/login.php"), "password_hash_of($password, $user['salt']) === $user['password_hash']", "true")
	if err := os.WriteFile(filepath.Join(c.dir, "wrong.diff"), []byte(anyPassword), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs := c.want(ui.WrongAnswers, "try", "--patch", "wrong.diff", "--dir", "app", "-d", "2s", "--json")
	got := decode[report.TryResult](t, out)
	if got.Runs > 2 || !strings.Contains(got.Reason, "expected") || got.Broken == nil || !strings.Contains(got.Broken.Sample, "POST /login") {
		t.Errorf("after %d runs: %s: %+v\n%s", got.Runs, got.Reason, got.Broken, errs)
	}
	c.same(found, "after a wrong candidate")

	// nginx refuses it itself: nothing was activated.
	out, errs = c.want(ui.BadInput, "try", "--set", "web.keepalive_timeout=banana", "-d", "1s")
	if n := strings.Count(out+errs, "directive invalid value"); n != 1 || !strings.Contains(out, "keepalive_timeout") {
		t.Errorf("the cause is told %d times:\n%s\n%s", n, out, errs)
	}
	c.same(found, "after a configuration that nginx refuses")

	// The strict regulation is for everybody.
	_, errs = c.want(ui.BadInput, "try", "--set", "db.innodb_flush_log_at_trx_commit=0")
	if !strings.Contains(errs, "durability") {
		t.Errorf("the refusal does not name the trade:\n%s", errs)
	}
	c.same(found, "after a refused proposal")

	// A change that does nothing is no improvement.
	code, out, _ := c.run("try", "--set", "web.keepalive_timeout=66", "-d", "500ms")
	if code == ui.OK {
		t.Errorf("a change that does nothing was found to improve:\n%s", out)
	}
	c.same(found, "after a change that does nothing")
}

// replaceDiff is a unified diff without context that replaces one line.
func replaceDiff(t *testing.T, file, old, new string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "new")
	text := strings.Replace(string(b), old, new, 1)
	if text == string(b) {
		t.Fatalf("%s does not hold %q", file, old)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command("diff", "-u", file, path).Output() // 1 means they differ
	_, rest, _ := strings.Cut(string(out), "\n")
	_, rest, _ = strings.Cut(rest, "\n")
	return rest
}

// TestKilledSession: SIGKILL in the middle of a session, at several moments;
// the next command puts back what was half done.
func TestKilledSession(t *testing.T) {
	c := shareCase(t)
	c.shorten()
	c.quicken()
	found := c.state()
	for _, after := range []time.Duration{0, 300 * time.Millisecond, time.Second, 3 * time.Second} {
		cmd := exec.Command(c.kasoku, "tune", "--budget", "40s", "-d", "1s", "--new", "--quiet")
		cmd.Dir = c.dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		journal := filepath.Join(c.dir, ".kasoku/journal/journal.jsonl")
		size := fileSize(journal)
		until(t, "a change under way", time.Minute, func() bool { return fileSize(journal) > size+200 })
		if after > 0 {
			<-time.After(after)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		c.want(ui.OK, "recover")
		c.want(ui.OK, "undo", "--all")
		c.same(found, "killed after "+after.String())
	}
}

func fileSize(p string) int64 {
	info, err := os.Stat(p)
	if err != nil {
		return 0
	}
	return info.Size()
}

// TestInterrupt: Ctrl-C puts the target back, ends with 130, and the session
// can be taken up again.
func TestInterrupt(t *testing.T) {
	c := shareCase(t)
	c.shorten()
	c.quicken()
	found := c.state()
	cmd := exec.Command(c.kasoku, "tune", "--budget", "4m", "-d", "1s", "--quiet")
	cmd.Dir = c.dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the first experiment", 2*time.Minute, c.trying)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != ui.Interrupted {
		t.Errorf("ended with %d, want %d", code, ui.Interrupted)
	}
	c.same(found, "after Ctrl-C")
	out, _ := c.want(ui.OK, "history", "--json")
	if !strings.Contains(out, `"interrupted"`) {
		t.Errorf("history does not tell that it was interrupted:\n%s", out)
	}
	_, errs := c.want(ui.OK, "tune", "--budget", "10s", "-d", "1s", "--no-restart", "--json")
	if !strings.Contains(errs, "Take up session") {
		t.Errorf("the session was not taken up:\n%s", errs)
	}
	c.want(ui.OK, "undo", "--all")
	c.same(found, "after undo --all")
}
