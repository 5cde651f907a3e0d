package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kasoku/internal/ui"
)

// planted is a secret, where it lies, and what of Kasoku's may hold it: the
// journal keeps the bytes of configuration files in its folder, mode 0700.
type planted struct {
	where, text string
	inJournal   bool
}

// ok is the exit code of a command that did what it should.
var ok = []int{ui.OK}

// spy plants secrets, lets them pass through logs and statements, and collects what
// is said meanwhile.
type spy struct {
	c       *theCase
	secrets map[string]planted
	said    []string // what it was, and its text, in turn
	stop    context.CancelFunc
	traffic <-chan int
	watch   <-chan []string
}

// spy starts one, on a case that is quickened.
func (c *theCase) spy() *spy {
	c.t.Helper()
	s := &spy{c: c, secrets: c.plant()}
	c.quicken()
	var ctx context.Context
	ctx, s.stop = context.WithCancel(c.t.Context())
	s.watch, s.traffic = watchProcesses(ctx, s.secrets), c.traffic(ctx, s.secrets)
	return s
}

func (s *spy) heard(what, out, errs string) {
	s.said = append(s.said, "stdout of "+what, out, "stderr of "+what, errs)
}

// env is what the stack's logins need.
func (s *spy) env() []string {
	return []string{"PLANTED_REDIS=" + s.secrets["redis"].text, "KASOKU_DEBUG=1"} // what debugging tells is looked at, too
}

// do runs kasoku, which is to end with one of the codes, and returns what it says.
func (s *spy) do(codes []int, args ...string) string {
	s.c.t.Helper()
	code, out, errs := s.c.runEnv(s.env(), args...)
	s.heard(fmt.Sprint(args), out, errs)
	if !slices.Contains(codes, code) {
		s.c.t.Errorf("kasoku %v ended with %d\n%s\n%s", args, code, out, errs)
	}
	return out
}

// ends looks for the secrets in all that was said, in the processes that were
// started, and in the files and folders named.
func (s *spy) ends(files ...string) {
	t := s.c.t
	t.Helper()
	s.stop()
	if n := <-s.traffic; n < 10 {
		t.Errorf("only %d requests and statements with secrets were made", n)
	}
	for _, found := range <-s.watch {
		t.Error(found)
	}
	for i := 0; i < len(s.said); i += 2 {
		for _, secret := range s.secrets {
			if at := strings.Index(s.said[i+1], secret.text); at >= 0 {
				t.Errorf("%s tells the %s: …%s…", s.said[i], secret.where, s.said[i+1][max(0, at-80):min(len(s.said[i+1]), at+40)])
			}
		}
	}
	for _, name := range files {
		s.c.search(name, s.secrets)
	}
}

// plant puts the secrets in place.
func (c *theCase) plant() map[string]planted {
	c.t.Helper()
	own := rand.Text()[:8] // another run of this test on the machine has other secrets
	secrets := map[string]planted{
		"app":       {"database password of the application", readPassword(c.t, filepath.Join(c.dir, "app/config/app.ini")), true},
		"redis":     {"Redis password in the environment", "pl4nted-redis-" + own, false},
		"url":       {"password in a URL of the application's settings", "pl4nted-url-" + own, true},
		"token":     {"token in the query of a request", "pl4nted-token-" + own, false},
		"basic":     {"password of HTTP basic authentication", "pl4nted-basic-" + own, false},
		"statement": {"password in the text of a statement", "pl4nted-sql-" + own, false},
		"defaults":  {"password of another account in an option file", "pl4nted-cnf-" + own, false},
	}
	admin, err := os.ReadFile(filepath.Join(c.dir, "secrets", "db_admin"))
	if err != nil {
		c.t.Fatal(err)
	}
	secrets["file"] = planted{"database password in password_file", strings.TrimSpace(string(admin)), false}
	ini := filepath.Join(c.dir, "app/config/app.ini")
	c.must(exec.Command("sh", "-c", `printf '\n[hooks]\nurl = "https://hook:%s@hooks.example/x"\n' "$1" >>"$2"`, "sh", secrets["url"].text, ini))

	// The login comes from an option file instead.
	cnf := filepath.Join(c.dir, "secrets", "planted.cnf")
	c.sql("CREATE USER planted@localhost IDENTIFIED BY '" + secrets["defaults"].text + "'; GRANT ALL ON *.* TO planted@localhost")
	text := "[client]\nuser = planted\npassword = " + secrets["defaults"].text + "\nsocket = " + filepath.Join(c.dir, "run/mariadb/mysqld.sock") + "\n"
	if err := os.WriteFile(cnf, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}

	// A Redis with a password, started with its configuration.
	port := c.redis(secrets["redis"].text)
	stack := filepath.Join(c.dir, "kasoku.yaml")
	b, err := os.ReadFile(stack)
	if err != nil {
		c.t.Fatal(err)
	}
	yaml := string(b)
	from, to := strings.Index(yaml, "      user: kasoku"), strings.Index(yaml, "load:")
	yaml = yaml[:from] + "      defaults_file: " + cnf + "\n" +
		"  - name: cache\n    kind: redis\n    config: " + filepath.Join(c.dir, "etc/redis.conf") + "\n    listen: [\"127.0.0.1:" + port + "\"]\n    login: {password_env: PLANTED_REDIS}\n" + yaml[to:]
	if err := os.WriteFile(stack, []byte(yaml), 0o644); err != nil {
		c.t.Fatal(err)
	}
	return secrets
}

// patchBesideSecrets is a diff whose context holds every password of the
// application's settings.
func (c *theCase) patchBesideSecrets() string {
	c.t.Helper()
	ini := filepath.Join(c.dir, "app/config/app.ini")
	out, _ := exec.Command("sh", "-c", `sed 's/^\(password = .*\)$/\1\n; kept short/; $a ; the end' "$1" | diff -u --label a/config/app.ini --label b/config/app.ini "$1" -`, "sh", ini).Output() // 1: they differ
	path := filepath.Join(c.dir, "beside.diff")
	if err := os.WriteFile(path, out, 0o600); err != nil || !bytes.Contains(out, []byte("kept short")) {
		c.t.Fatalf("%v: %s", err, out)
	}
	return path
}

func (c *theCase) redis(password string) (port string) {
	c.t.Helper()
	port = strconv.Itoa(20000 + os.Getpid()%10000)
	conf := filepath.Join(c.dir, "etc/redis.conf")
	text := "bind 127.0.0.1\nport " + port + "\ndir " + c.dir + "/tmp\nsave \"\"\nrequirepass " + password + "\n"
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command("redis-server", conf)
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		// Kasoku may have started another one in its place.
		end := exec.Command("redis-cli", "-p", port, "shutdown", "nosave")
		end.Env = append(os.Environ(), "REDISCLI_AUTH="+password)
		_ = end.Run()
	})
	return port
}

// traffic sends requests and statements that hold secrets, as users and other
// programs do, until ctx ends; it returns how many.
func (c *theCase) traffic(ctx context.Context, secrets map[string]planted) <-chan int {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, "kasoku.yaml"))
	if err != nil {
		c.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "\n  url: ")
	base, _, _ := strings.Cut(rest, "\n")
	done := make(chan int, 1)
	go func() {
		n := 0
		for ctx.Err() == nil {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/?api_key="+secrets["token"].text+"&page=1", nil)
			if err == nil {
				req.SetBasicAuth("admin", secrets["basic"].text)
				if res, err := http.DefaultClient.Do(req); err == nil {
					res.Body.Close()
					n++
				}
			}
			cmd := exec.CommandContext(ctx, "mariadb", "--defaults-file="+filepath.Join(c.dir, "secrets/planted.cnf"), "login")
			cmd.Stdin = strings.NewReader("SELECT COUNT(*) FROM users WHERE login = 'x' AND id < 20000 AND password_hash = '" + secrets["statement"].text + "' /* pw=" + secrets["statement"].text + " */;")
			if cmd.Run() == nil {
				n++
			}
			// Some in each run, but not more: they run for minutes, and without an index the
			// statement reads a tenth of the table.
			time.Sleep(600 * time.Millisecond)
		}
		done <- n
	}()
	return done
}

// search looks for the secrets in a file or folder, in its bytes and, if it is
// compressed or a database, in what it holds.
func (c *theCase) search(name string, secrets map[string]planted) {
	c.t.Helper()
	root := filepath.Join(c.dir, name)
	n := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		for _, text := range append([][]byte{data}, unpacked(p, data)...) {
			for _, s := range secrets {
				if !bytes.Contains(text, []byte(s.text)) {
					continue
				}
				if s.inJournal && strings.Contains(p, "/journal/blobs/") && private(filepath.Join(c.dir, ".kasoku")) {
					continue
				}
				if exported := name == "exported" || name == "probe"; s.inJournal && exported && strings.Contains(p, "/files/") {
					continue // the configuration file itself, which the operator asked for
				}
				c.t.Errorf("%s holds the %s", strings.TrimPrefix(p, c.dir+"/"), s.where)
			}
		}
		return nil
	})
	if err != nil || n == 0 {
		c.t.Errorf("searched %d files of %s: %v", n, name, err)
	}
}

func private(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm() == 0o700
}

// unpacked is what zstd, gzip and SQLite files hold.
func unpacked(path string, data []byte) [][]byte {
	var out [][]byte
	switch {
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		if text, err := exec.Command("gzip", "-dc", path).Output(); err == nil {
			out = append(out, text)
		}
	case bytes.HasPrefix(data, []byte("SQLite format 3\x00")):
		out = append(out, storedBlobs(path)...)
	}
	return out
}

// storedBlobs is every value of every table, unpacked where it is compressed.
func storedBlobs(path string) [][]byte {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil
	}
	defer db.Close()
	var out [][]byte
	for _, table := range column(db, "SELECT name FROM sqlite_master WHERE type = 'table'") {
		rows, err := db.Query(`SELECT * FROM "` + string(table) + `"`)
		if err != nil {
			continue
		}
		names, _ := rows.Columns()
		for rows.Next() {
			values, into := make([][]byte, len(names)), make([]any, len(names))
			for i := range values {
				into[i] = &values[i]
			}
			if rows.Scan(into...) != nil {
				continue
			}
			for _, v := range values {
				out = append(out, gunzipped(v))
			}
		}
		rows.Close()
	}
	return out
}

func column(db *sql.DB, query string) [][]byte {
	var out [][]byte
	rows, err := db.Query(query)
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var v []byte
		if rows.Scan(&v) == nil {
			out = append(out, v)
		}
	}
	return out
}

// gunzipped is what is packed, however often; as it is if it is not packed.
func gunzipped(data []byte) []byte {
	for bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			break
		}
		text, err := io.ReadAll(z)
		if err != nil {
			break
		}
		data = text
	}
	return data
}

// TestSearchFinds: the search sees through what the store packs.
func TestSearchFinds(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write([]byte("a needle in a blob")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, ?)", z.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || bytes.Contains(data, []byte("needle")) {
		t.Fatalf("it is not packed: %v", err)
	}
	if all := bytes.Join(unpacked(path, data), nil); !bytes.Contains(all, []byte("needle")) {
		t.Errorf("not found in %q", all)
	}
}
