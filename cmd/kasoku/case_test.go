package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
)

// theCase is the login case with real servers, tuned by the real program.
type theCase struct {
	t      *testing.T
	dir    string
	kasoku string
}

// startCase starts the case in a private folder of the test's own.
func startCase(t *testing.T) *theCase {
	t.Helper()
	c := newCase(t)
	c.dir = caseFolder(t)
	t.Cleanup(func() { c.must(exec.Command(caseScript(t), "down", c.dir, "--purge")) })
	c.must(exec.Command(caseScript(t), "up", c.dir))
	return c
}

// newCase is a case without its servers. The program is this one: TestMain
// puts it into PATH as kasoku.
func newCase(t *testing.T) *theCase {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers; run without -short")
	}
	program, err := exec.LookPath("kasoku")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(stateDirEnv, stateDir(t))
	return &theCase{t: t, kasoku: program}
}

// caseFolder is a name for a folder that is not there yet, short for sockets. It is on
// a disk: the regulation's checks of sessions find a database in memory not durable.
func caseFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "kc")
	if err == nil {
		err = os.Remove(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// shared is the case that tests use one after the other: to set it up takes
// longer than most of what they do with it.
var shared struct {
	dir   string
	files map[string][]byte // that tests may write over
	state string
}

// shareCase lends the case that other tests used before, as found: tests put
// it back hash for hash, or the next one gets a new case. It must not be used
// by tests that leave it in another state.
func shareCase(t *testing.T) *theCase {
	t.Helper()
	c := newCase(t)
	if shared.dir != "" {
		c.dir = shared.dir
		for name, text := range shared.files {
			if err := os.WriteFile(filepath.Join(c.dir, name), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.RemoveAll(filepath.Join(c.dir, ".kasoku")); err != nil {
			t.Fatal(err)
		}
		if exec.Command(caseScript(t), "status", c.dir).Run() == nil && c.state() == shared.state {
			c.must(exec.Command(caseScript(t), "reset", c.dir))
			return c
		}
		t.Log("the shared case was not left as found: a new one is started")
		endShared()
	}
	shared.dir, shared.files = caseFolder(t), map[string][]byte{}
	c.dir = shared.dir
	c.must(exec.Command(caseScript(t), "up", c.dir))
	for _, name := range []string{"kasoku.yaml", "scenario.yaml"} {
		b, err := os.ReadFile(filepath.Join(c.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		shared.files[name] = b
	}
	shared.state = c.state()
	return c
}

// endShared takes the shared case away; TestMain calls it at the end.
func endShared() {
	if shared.dir == "" {
		return
	}
	if out, err := exec.Command("../../cases/login/case.sh", "down", shared.dir, "--purge").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "end the shared case: %v\n%s", err, out)
	}
	shared.dir = ""
}

func caseScript(t *testing.T) string {
	t.Helper()
	p, err := filepath.Abs("../../cases/login/case.sh")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (c *theCase) must(cmd *exec.Cmd) {
	c.t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// run calls kasoku in the case's folder.
func (c *theCase) run(args ...string) (code int, stdout, stderr string) {
	c.t.Helper()
	return c.runEnv(nil, args...)
}

func (c *theCase) runEnv(env []string, args ...string) (code int, stdout, stderr string) {
	c.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(c.kasoku, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &out, &errs
	cmd.Env = append(os.Environ(), env...)
	began := time.Now()
	err := cmd.Run()
	c.t.Logf("%s in kasoku %s", time.Since(began).Round(100*time.Millisecond), strings.Join(args, " "))
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// want runs kasoku and fails the test unless it ends with the code.
func (c *theCase) want(code int, args ...string) (stdout, stderr string) {
	c.t.Helper()
	got, out, errs := c.run(args...)
	if got != code {
		c.t.Fatalf("kasoku %v ended with %d, want %d\n%s\n%s", args, got, code, out, errs)
	}
	return out, errs
}

// state is a hash for everything that undo must bring back: bytes, mode and
// owner of every configuration and application file, and the schema.
func (c *theCase) state() string {
	c.t.Helper()
	var lines []string
	for _, sub := range []string{"etc", "app"} {
		err := filepath.WalkDir(filepath.Join(c.dir, sub), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			st := info.Sys().(*syscall.Stat_t)
			lines = append(lines, fmt.Sprintf("%s %x %v %d:%d %s", p, sha256.Sum256(b), info.Mode(), st.Uid, st.Gid, info.ModTime()))
			return nil
		})
		if err != nil {
			c.t.Fatal(err)
		}
	}
	sort.Strings(lines)
	return strings.Join(append(lines, c.schema()), "\n")
}

// schema is what SHOW CREATE TABLE says, without the counter of IDs.
func (c *theCase) schema() string {
	c.t.Helper()
	var out []string
	for _, table := range []string{"users", "login_log"} {
		text := c.sql("SHOW CREATE TABLE login." + table)
		if i := strings.Index(text, "AUTO_INCREMENT="); i >= 0 {
			_, rest, _ := strings.Cut(text[i:], " ")
			text = text[:i] + rest
		}
		out = append(out, text)
	}
	return strings.Join(append(out, c.sql("SHOW GLOBAL VARIABLES WHERE variable_name IN ('innodb_buffer_pool_size','innodb_log_file_size','innodb_flush_log_at_trx_commit','slow_query_log','long_query_time','slow_query_log_file','log_slow_verbosity')")), "\n")
}

// trying reports whether an index of Kasoku's is there: an experiment is under
// way. While the database starts again there is none to be seen. The database is only asked
// once the journal names one: to start a client takes 5 ms of CPU each time.
func (c *theCase) trying() bool {
	c.t.Helper()
	journal, _ := os.ReadFile(filepath.Join(c.dir, ".kasoku/journal/journal.jsonl")) // none yet: none is named
	if !bytes.Contains(journal, []byte(`"kasoku_`)) {
		return false
	}
	out, err := c.ask("SHOW INDEX FROM login.login_log WHERE Key_name LIKE 'kasoku%'; SHOW INDEX FROM login.users WHERE Key_name LIKE 'kasoku%'")
	return err == nil && strings.Contains(out, "kasoku_")
}

func (c *theCase) sql(statement string) string {
	c.t.Helper()
	out, err := c.ask(statement)
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", statement, err, out)
	}
	return out
}

// ask asks the database as the operator; the password comes from a file, as others
// may look at the environment of processes.
func (c *theCase) ask(statement string) (string, error) {
	out, err := exec.Command("mariadb", "--defaults-file="+filepath.Join(c.dir, "secrets", "client.cnf"), "-N", "-e", statement).CombinedOutput()
	return string(out), err
}

// same fails the test and says which lines differ.
func (c *theCase) same(was, when string) {
	c.t.Helper()
	is := c.state()
	if is == was {
		return
	}
	old := map[string]bool{}
	for _, l := range strings.Split(was, "\n") {
		old[l] = true
	}
	for _, l := range strings.Split(is, "\n") {
		if !old[l] {
			c.t.Errorf("%s: not as found: %s", when, l)
		}
	}
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return v
}

// stateDir is a folder for guards, which may write a last word a moment after the
// command that they watched has ended.
func stateDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kasoku-state-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		await.For(t, "remove "+dir, func() bool { return os.RemoveAll(dir) == nil })
	})
	return dir
}
