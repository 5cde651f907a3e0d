package login_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// report is the answer of GET /report.
type report struct {
	BannedIPs   []string `json:"banned_ips"`
	LockedUsers []string `json:"locked_users"`
}

func (r report) equal(o report) bool {
	return slices.Equal(r.BannedIPs, o.BannedIPs) && slices.Equal(r.LockedUsers, o.LockedUsers)
}

func reportOf(t *testing.T, base string) report {
	t.Helper()
	a, err := newBrowser(base).ask("GET", "/report", "", "")
	var r report
	if err == nil {
		err = json.Unmarshal([]byte(a.body), &r)
	}
	if err != nil || a.status != 200 || a.kind != "application/json" {
		t.Fatalf("GET /report: %d %s %v\n%s", a.status, a.kind, err, a.body)
	}
	return r
}

// checkStatic: every static file comes with its bytes and its type.
func checkStatic(t *testing.T, b *bench) {
	t.Helper()
	types := map[string]string{".css": "text/css", ".png": "image/png", ".jpg": "image/jpeg"}
	files, err := filepath.Glob("static/*/*")
	if err != nil || len(files) < 7 {
		t.Fatalf("static files: %v %v", files, err)
	}
	for _, file := range files {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a, err := newBrowser(b.stack.Load.URL).ask("GET", strings.TrimPrefix(file, "static"), "", "")
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(a.kind, ";")
		if a.status != 200 || kind != types[filepath.Ext(file)] || a.body != string(want) {
			t.Errorf("%s: %d %s, %d bytes, want %d", file, a.status, a.kind, len(a.body), len(want))
		}
	}
}

// checkPreviousTime: the page shows the second in which the first login was.
func checkPreviousTime(t *testing.T, b *bench) {
	t.Helper()
	w := newBrowser(b.stack.Load.URL)
	from := time.Now().Truncate(time.Second)
	var page answer
	for _, ip := range []string{"10.4.0.1", "10.4.0.2"} {
		if a, err := w.ask("POST", "/login", ip, credentials("user5", "pass5")); err != nil || a.location != "/mypage" {
			t.Fatalf("login: %v %v", a, err)
		}
	}
	page, err := w.ask("GET", "/mypage", "10.4.0.2", "")
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse("2006-01-02 15:04:05 MST", shownTime.FindString(page.body))
	if err != nil || at.Before(from) || at.After(time.Now()) {
		t.Errorf("previous login at %v (%v), want from %v until now", at, err, from)
	}
}

// checkReset: the data returns to its first state while requests are served.
func checkReset(t *testing.T, b *bench, before report) {
	t.Helper()
	if reportOf(t, b.stack.Load.URL).equal(before) {
		t.Error("the story left no trace in the report")
	}
	var stop atomic.Bool
	served := make(chan error, 1)
	go func() {
		for i := 0; !stop.Load(); i++ {
			a, err := newBrowser(b.stack.Load.URL).ask("POST", "/login", "10.5.0.1", credentials("user9", "pass9"))
			if err == nil && a.status != 302 {
				err = fmt.Errorf("login %d during reset: %d %s", i, a.status, a.body)
			}
			if err != nil {
				served <- err
				return
			}
		}
		served <- nil
	}()
	reset := exec.Command(b.stack.Load.Reset[0], b.stack.Load.Reset[1:]...)
	if out, err := reset.CombinedOutput(); err != nil {
		t.Errorf("load.reset: %v\n%s", err, out)
	}
	// It comes before each run, so it must be cheap: it writes what has changed, and
	// makes no table anew. 0.02 s of CPU time on one core.
	if used := reset.ProcessState.UserTime() + reset.ProcessState.SystemTime(); used > time.Second {
		t.Errorf("load.reset used %s of CPU time", used)
	}
	stop.Store(true)
	if err := <-served; err != nil {
		t.Error(err)
	}
	b.must("reset", b.dir)
	if !reportOf(t, b.stack.Load.URL).equal(before) {
		t.Error("reset does not bring the first report back")
	}
	if len(before.BannedIPs) != 200 || len(before.LockedUsers) != 1000 {
		t.Errorf("initial data: %d banned, %d locked, want 200 and 1000", len(before.BannedIPs), len(before.LockedUsers))
	}
	if left, _ := filepath.Glob(filepath.Join(b.dir, "sessions", "sess_*")); len(left) > 1 { // the report's own
		t.Errorf("%d session files after reset", len(left))
	}
	if n := nextLogID(t, b); n != 100001 {
		t.Errorf("first login after reset has log id %d, want 100001", n)
	}
}

// nextLogID logs in once and reads the id of the attempt as the operator, with
// the login of kasoku.yaml.
func nextLogID(t *testing.T, b *bench) (id int) {
	t.Helper()
	if _, err := newBrowser(b.stack.Load.URL).ask("POST", "/login", "10.5.0.2", credentials("user9", "pass9")); err != nil {
		t.Fatal(err)
	}
	return int(b.number("SELECT MAX(id) FROM login_log"))
}

// number asks the database for one.
func (b *bench) number(query string) (n int64) {
	b.t.Helper()
	svc := b.stack.Service("db")
	password, err := os.ReadFile(svc.Login.PasswordFile)
	if err != nil {
		b.t.Fatal(err)
	}
	conf := mysql.NewConfig()
	conf.User, conf.Passwd = svc.Login.User, strings.TrimSpace(string(password))
	conf.Net, conf.Addr, conf.DBName = "tcp", svc.Listen[0], "login"
	db, err := sql.Open("mysql", conf.FormatDSN())
	if err != nil {
		b.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

// checkRestart: sessions and data outlive all processes; up twice is fine.
func checkRestart(t *testing.T, b *bench) {
	t.Helper()
	w := newBrowser(b.stack.Load.URL)
	if a, err := w.ask("POST", "/login", "10.6.0.1", credentials("user13", "pass13")); err != nil || a.location != "/mypage" {
		t.Fatalf("login: %v %v", a, err)
	}
	old := b.processes()
	b.must("restart", b.dir)
	if left := alive(old); len(left) > 0 {
		t.Errorf("restart left processes %v", left)
	}
	w.client.CloseIdleConnections()
	if a, err := w.ask("GET", "/mypage", "", ""); err != nil || !strings.Contains(a.body, "Welcome, user13<") {
		t.Errorf("session after restart: %v %v", a, err)
	}
	pids := b.processes()
	b.must("up", b.dir)
	if again := b.processes(); !slices.Contains(again, slices.Max(pids)) {
		t.Errorf("up of a running case replaced processes: %v, then %v", pids, again)
	}
	b.must("status", b.dir)
}

// checkDown: no process is left, and status says so.
func checkDown(t *testing.T, b *bench) {
	t.Helper()
	pids := b.processes()
	if len(pids) < 4 {
		t.Errorf("only processes %v before down", pids)
	}
	b.must("down", b.dir)
	if left := alive(pids); len(left) > 0 {
		t.Errorf("down left processes %v", left)
	}
	b.must("down", b.dir)
	if out, err := run(t, b.script, "status", b.dir); err == nil {
		t.Errorf("status after down succeeds: %s", out)
	}
}
