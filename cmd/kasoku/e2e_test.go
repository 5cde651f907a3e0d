package main

import (
	"net"
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
	found := c.state()

	// A session with little time keeps at least the indexes.
	out, errs := c.want(ui.OK, "tune", "--budget", "50s", "-d", "1s", "--json")
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
		if !strings.Contains(string(b), m.Kept()[0].Plan.Title) {
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
	step := decode[store.Step](t, out)
	if step.Verdict.Runs > 2 || !strings.Contains(step.Verdict.Reason, "expected") || !strings.Contains(step.Verdict.Reason, "POST /login") {
		t.Errorf("after %d runs: %s\n%s", step.Verdict.Runs, step.Verdict.Reason, errs)
	}
	c.same(found, "after a wrong candidate")

	// nginx refuses it itself: nothing was activated.
	out, _ = c.want(ui.BadInput, "try", "--set", "web.keepalive_timeout=banana", "-d", "1s")
	if !strings.Contains(out, "keepalive_timeout") {
		t.Errorf("the cause is not told:\n%s", out)
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
	found := c.state()
	cmd := exec.Command(c.kasoku, "tune", "--budget", "50s", "-d", "1s", "--quiet")
	cmd.Dir = c.dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the first experiment", time.Minute, c.trying)
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
	_, errs := c.want(ui.OK, "tune", "--budget", "10s", "-d", "500ms", "--no-restart", "--json")
	if !strings.Contains(errs, "Take up session") {
		t.Errorf("the session was not taken up:\n%s", errs)
	}
	c.want(ui.OK, "undo", "--all")
	c.same(found, "after undo --all")
}

// TestBadSurroundings: every obstacle is a clear error, and nothing changes.
func TestBadSurroundings(t *testing.T) {
	c := shareCase(t)
	c.shorten()
	found := c.state()
	stack := filepath.Join(c.dir, "kasoku.yaml")
	good, err := os.ReadFile(stack)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(old, new string) {
		t.Helper()
		if !strings.Contains(string(good), old) {
			t.Fatalf("kasoku.yaml does not hold %q", old)
		}
		if err := os.WriteFile(stack, []byte(strings.Replace(string(good), old, new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("wrong password", func(t *testing.T) {
		wrong := filepath.Join(t.TempDir(), "pw")
		if err := os.WriteFile(wrong, []byte("not-it-4711"), 0o600); err != nil {
			t.Fatal(err)
		}
		edit("secrets/db_admin", "secrets/../../../../../../../.."+wrong)
		_, out, errs := c.run("run", "-d", "500ms", "--score-only", "--json")
		if !strings.Contains(out+errs, "Access denied") || strings.Contains(out+errs, "not-it-4711") {
			t.Errorf("%s\n%s", out, errs)
		}
	})
	t.Run("somebody else works here", func(t *testing.T) {
		edit("version: 1", "version: 1")
		var cmd *exec.Cmd
		var ended chan error
		start := func() {
			cmd, ended = exec.Command(c.kasoku, "run", "-d", "20s", "--score-only", "--quiet"), make(chan error, 1)
			cmd.Dir = c.dir
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			go func(c *exec.Cmd, ended chan error) { ended <- c.Wait() }(cmd, ended)
		}
		start()
		defer func() { cmd.Process.Kill(); <-ended }()
		until(t, "the lease", 20*time.Second, func() bool {
			select {
			case <-ended: // it came while the command below had the lease
				start()
			case <-time.After(500 * time.Millisecond):
			}
			code, _, errs := c.run("undo", "--all")
			return code == ui.Busy && strings.Contains(errs, "kasoku")
		})
	})
	t.Run("disk full while journaling", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Log("not judged: only root can mount a small file system")
			return
		}
		small := filepath.Join(c.dir, ".kasoku")
		c.want(ui.OK, "recover")
		if err := syscall.Mount("none", small, "tmpfs", 0, "size=300k"); err != nil {
			t.Fatal(err)
		}
		defer syscall.Unmount(small, 0)
		c.want(ui.OK, "recover")
		fill(t, filepath.Join(small, "fill"))
		code, out, errs := c.run("try", "--set", "web.keepalive_timeout=30", "-d", "500ms")
		if code == ui.OK || !strings.Contains(out+errs, "no space left") && !strings.Contains(out+errs, "full") {
			t.Errorf("ended with %d\n%s\n%s", code, out, errs)
		}
	})
	t.Run("port in use", func(t *testing.T) {
		// nginx is told to listen where somebody else does: it must come back
		// with its old configuration.
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		conf := filepath.Join(c.dir, "etc/php/pool.d/www.conf")
		b, err := os.ReadFile(conf)
		if err != nil {
			t.Fatal(err)
		}
		listen := ""
		for _, line := range strings.Split(string(b), "\n") {
			if v, ok := strings.CutPrefix(line, "listen = "); ok {
				listen = v
			}
		}
		code, out, errs := c.run("try", "--set", "php.listen=127.0.0.1:"+port, "-d", "500ms")
		if code != ui.Target || !strings.Contains(out+errs, "php") {
			t.Errorf("ended with %d\n%s\n%s", code, out, errs)
		}
		conn, err := net.DialTimeout("tcp", listen, time.Second)
		if err != nil {
			t.Fatalf("php-fpm is not back: %v", err)
		}
		conn.Close()
	})
	t.Run("no permission", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Log("not judged: needs another user")
			return
		}
		program := filepath.Join(c.dir, "kasoku")
		c.must(exec.Command("install", "-m", "755", c.kasoku, program))
		cmd := exec.Command(program, "-f", stack, "try", "--set", "web.keepalive_timeout=30", "-d", "500ms")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Dir = "/"
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "permi") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	if err := os.WriteFile(stack, good, 0o644); err != nil {
		t.Fatal(err)
	}
	c.same(found, "after all obstacles")
	t.Run("the database is down", func(t *testing.T) {
		c.must(exec.Command("sh", "-c", "kill $(cat "+filepath.Join(c.dir, "run/mariadb/mariadb.pid")+")"))
		pid := filepath.Join(c.dir, "run/mariadb/mariadb.pid")
		until(t, "the database to end", 20*time.Second, func() bool { return fileSize(pid) == 0 })
		code, out, errs := c.run("tune", "--budget", "30s", "-d", "500ms")
		if code != ui.Target || !strings.Contains(out+errs, "database") {
			t.Errorf("ended with %d\n%s\n%s", code, out, errs)
		}
		c.must(exec.Command(caseScript(t), "up", c.dir))
	})
}

func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, n := range []int{4096, 512, 1} {
		block := make([]byte, n)
		for {
			if _, err := f.Write(block); err != nil {
				break
			}
		}
	}
}
