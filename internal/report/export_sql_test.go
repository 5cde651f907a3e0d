package report

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/host/hosttest"

	"kasoku/internal/await"
)

// mariadb starts a server of its own and returns a client for it.
func mariadb(t *testing.T) func(stdin string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "kr")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	user := "mysql"
	if os.Getuid() != 0 {
		user = fmt.Sprint(os.Getuid())
	} else if out, err := exec.Command("chown", "mysql:", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	common := []string{"--no-defaults", "--datadir=" + dir + "/data", "--user=" + user, "--tmpdir=" + dir}
	owner := ""
	if os.Getuid() == 0 {
		owner = user
	}
	if err := hosttest.MariaDBData(dir+"/data", owner, "8M"); err != nil {
		t.Fatal(err)
	}
	server := exec.Command("mariadbd", append(common, "--innodb-log-file-size=8M", "--socket="+dir+"/s", "--skip-networking", "--innodb-buffer-pool-size=8M", "--log-error="+dir+"/log", "--pid-file="+dir+"/pid")...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	ask := func(stdin string) (string, error) {
		cmd := exec.Command("mariadb", "--no-defaults", "-N", "-u", "root", "-S", filepath.Join(dir, "s"))
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	await.Accepts(t, filepath.Join(dir, "s"))
	await.NoError(t, "MariaDB", func() error {
		out, err := ask("SELECT 1")
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	})
	return func(stdin string) string {
		t.Helper()
		out, err := ask(stdin)
		if err != nil {
			t.Fatalf("%v: %s\n%s", err, out, stdin)
		}
		return out
	}
}

// The SQL does on a real server what was kept, and can be run twice.
func TestExportedSQL(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real server; run without -short")
	}
	sql := mariadb(t)
	sql("CREATE DATABASE shop; CREATE TABLE shop.`o``x` (a INT, b VARCHAR(99)); CREATE TABLE shop.t (a INT, KEY old (a)); CREATE TABLE shop.`i``d` (id INT)")
	kept, b := keptOn("/etc/x")
	kept[1].Changes[3].Variable, kept[1].Changes[3].AfterValue = "init_connect", `SELECT 'it''s', "\\"`
	dir := t.TempDir()
	if _, err := Export(dir, kept, b, ExportOptions{Format: FormatSQL}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "changes.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		sql(string(text))
		if got := sql("SELECT GROUP_CONCAT(column_name, IFNULL(sub_part, '') ORDER BY seq_in_index) FROM information_schema.statistics WHERE index_name = 'kasoku_a'"); got != "a,b10\n" {
			t.Errorf("the index is on %q", got)
		}
		if got := sql("SELECT COUNT(*) FROM information_schema.statistics WHERE index_name = 'old'"); got != "0\n" {
			t.Errorf("the old index is there: %q", got)
		}
		if got := sql("SELECT @@table_open_cache; SELECT HEX(@@init_connect)"); got != fmt.Sprintf("4000\n%X\n", kept[1].Changes[3].AfterValue) {
			t.Errorf("variables: %q", got)
		}
	}
}
