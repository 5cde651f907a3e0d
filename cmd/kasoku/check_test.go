package main

import (
	"bytes"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"kasoku/internal/report"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// TestOrdinaryUser: Kasoku runs as www-data with a limited database account on
// real servers. It says what it lacks, the commands that it prints grant that,
// and then it works.
func TestOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to become another user")
	}
	c := startCase(t)
	t.Setenv(stateDirEnv, "") // where an ordinary user's is
	c.shorten()
	c.calm()
	o := newOrdinary(c)

	// The journal is its own, else it may change nothing.
	code, out, errs := o.run("check", "--json")
	r := decode[stack.Rights](t, out)
	if code != ui.Target || r.User != "www-data" || !strings.Contains(errs, "may change nothing") {
		t.Errorf("ended with %d as %s\n%s", code, r.User, errs)
	}
	lacking := map[string]stack.Right{}
	for _, x := range r.Lacking() {
		lacking[string(x.Need)+" "+x.Service+" "+x.Object] = x
	}
	conf := filepath.Join(c.dir, "etc/nginx/nginx.conf")
	for _, want := range []string{"write web " + conf, "reload web *", "restart db *", "variable db *", "index db login", "observe db PROCESS", "kernel  *", "units  *", "packages  *"} {
		if lacking[want].Why == "" || lacking[want].Grant == "" {
			t.Errorf("it does not say that it lacks %q, and what grants it: %+v", want, lacking[want])
		}
	}
	if text := out + errs; strings.Contains(text, o.password) {
		t.Error("the password is told")
	}
	code, _, errs = o.run("tune", "--budget", "20s", "-d", "500ms")
	if code != ui.Target || !strings.Contains(errs, "lacking") {
		t.Errorf("tune with no rights ended with %d\n%s", code, errs)
	}

	// What it prints is what grants.
	for key, x := range lacking {
		switch {
		case x.Service == "db" && strings.HasPrefix(x.Grant, "GRANT "):
			c.sql(x.Grant)
		case strings.HasPrefix(key, "write web"):
			c.must(exec.Command("sh", "-c", strings.ReplaceAll(x.Grant, "sudo ", "")))
		}
	}
	o.ownNginx()
	code, out, errs = o.run("check", "--json")
	if code != ui.OK {
		t.Fatalf("ended with %d\n%s%s", code, out, errs)
	}
	r = decode[stack.Rights](t, out)
	for _, x := range r.Lacking() {
		if x.Service == "web" || x.Service == "db" && (x.Need == stack.NeedIndex || x.Need == stack.NeedVariable) {
			t.Errorf("granted, and still lacking: %+v", x)
		}
	}

	// What it may do it does, what it may not it refuses before it starts.
	found := c.state()
	code, out, errs = o.run("try", "--set", "web.keepalive_timeout=66", "-d", "500ms", "--json")
	// Half a second tells nothing about the change, so it may be any verdict of
	// one that does nothing, but no answer is wrong: although nothing resets the
	// data, no run meets the users whom an earlier one locked out.
	if code != ui.OK && code != ui.NoDifference && code != ui.Regressed && code != ui.Inconclusive {
		t.Errorf("ended with %d\n%s%s", code, out, errs)
	}
	for _, s := range decode[report.TryResult](t, out).Samples {
		if s.Mismatches > 0 {
			t.Errorf("run %d: %d of %d answers were wrong: %s", s.RunID, s.Mismatches, s.Requests, s.Broken)
		}
	}
	c.same(found, "after a try by www-data")
	ran := o.runs()
	code, out, errs = o.run("try", "--set", "php.pm.max_children=9", "-d", "500ms")
	if code != ui.Target || !strings.Contains(errs, "pool.d/www.conf belongs to another user or group") || !strings.Contains(errs, "sudo chown www-data:") {
		t.Errorf("ended with %d\n%s%s", code, out, errs)
	}
	if now := o.runs(); now != ran {
		t.Errorf("it made %d runs before it refused", now-ran)
	}
	c.same(found, "after a refused try")
}

// ordinary is www-data with a project of its own.
type ordinary struct {
	*theCase
	dir, password string
	uid, gid      int
}

func newOrdinary(c *theCase) *ordinary {
	c.t.Helper()
	o := &ordinary{theCase: c, dir: filepath.Join(c.dir, "ordinary"), password: "pl4nted-limited-account"}
	u, err := user.Lookup("www-data")
	if err != nil {
		c.t.Fatal(err)
	}
	o.uid, _ = strconv.Atoi(u.Uid)
	o.gid, _ = strconv.Atoi(u.Gid)
	c.must(exec.Command("install", "-d", "-o", "www-data", "-g", "www-data", o.dir))
	c.must(exec.Command("install", "-m", "755", c.kasoku, filepath.Join(c.dir, "kasoku")))
	c.sql("CREATE USER limited@localhost IDENTIFIED BY '" + o.password + "'; GRANT SELECT ON login.* TO limited@localhost")
	text := o.read("kasoku.yaml")
	from := strings.Index(text, "      user: kasoku")
	to := strings.Index(text, "load:")
	text = text[:from] + "      user: limited\n      password_env: LIMITED_PASSWORD\n      socket: " + filepath.Join(c.dir, "run/mariadb/mysqld.sock") + "\n" + text[to:]
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "  reset:") { // it needs root
			kept = append(kept, line)
		}
	}
	if err := os.WriteFile(filepath.Join(o.dir, "kasoku.yaml"), []byte(strings.Join(kept, "\n")), 0o644); err != nil {
		c.t.Fatal(err)
	}
	return o
}

// runs is how many runs are kept.
func (o *ordinary) runs() int {
	o.t.Helper()
	st, err := store.Open(filepath.Join(o.dir, ".kasoku"))
	if err != nil {
		o.t.Fatal(err)
	}
	defer st.Close()
	runs, err := st.Runs(store.RunFilter{})
	if err != nil {
		o.t.Fatal(err)
	}
	return len(runs)
}

func (o *ordinary) read(name string) string {
	o.t.Helper()
	b, err := os.ReadFile(filepath.Join(o.theCase.dir, name))
	if err != nil {
		o.t.Fatal(err)
	}
	return string(b)
}

// ownNginx makes the front door a process of www-data.
func (o *ordinary) ownNginx() {
	o.t.Helper()
	root := o.theCase.dir
	o.must(exec.Command("sh", "-c", "cd "+root+"; kill -QUIT $(cat run/nginx.pid); while [ -e run/nginx.pid ]; do sleep 0.05; done; chown -R www-data: run/nginx.pid tmp log/nginx* log/access* 2>/dev/null; chown www-data: run log"))
	cmd := exec.Command("nginx", "-p", filepath.Join(root, "etc/nginx/"), "-c", filepath.Join(root, "etc/nginx/nginx.conf"))
	o.become(cmd)
	o.must(cmd)
}

func (o *ordinary) become(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)}}
	cmd.Dir = o.dir
}

func (o *ordinary) run(args ...string) (code int, stdout, stderr string) {
	o.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(filepath.Join(o.theCase.dir, "kasoku"), args...)
	o.become(cmd)
	cmd.Env = append(os.Environ(), "LIMITED_PASSWORD="+o.password, "HOME="+o.dir)
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the code tells
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}
