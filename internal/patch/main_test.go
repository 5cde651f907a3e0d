package patch

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"kasoku/internal/await"
	"kasoku/internal/host/hosttest"
)

// sharedDir holds what tests share: the server and the programs that were compiled.
var sharedDir string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if sharedDir, err = os.MkdirTemp("", "patch"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(sharedDir)
	defer func() {
		if server != nil {
			_ = server.Process.Kill()
			_ = server.Wait()
		}
	}()
	return m.Run()
}

// server is the MariaDB that tests share once one has asked for it.
var server *exec.Cmd

// serverBase starts it and gives the DSN of what it holds, without a database.
var serverBase = sync.OnceValues(func() (string, error) {
	data, socket := filepath.Join(sharedDir, "data"), filepath.Join(sharedDir, "s")
	if err := hosttest.MariaDBData(data, "", "8M"); err != nil {
		return "", err
	}
	argv := []string{"--no-defaults", "--datadir=" + data, "--socket=" + socket, "--skip-networking", "--pid-file=" + filepath.Join(sharedDir, "pid"),
		"--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M", "--tmpdir=" + sharedDir}
	if os.Getuid() == 0 {
		argv = append(argv, "--user=root")
	}
	server = exec.Command("mariadbd", argv...)
	return "root@unix(" + socket + ")/", server.Start()
})

// mariadb is the DSN of a new database with the tables of the plain corpus.
func mariadb(t *testing.T) string {
	t.Helper()
	base, err := serverBase()
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", base+"?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	await.NoError(t, "the server answers", db.Ping)
	schema, err := os.ReadFile(filepath.Join("testdata", "corpus", "plain", "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE OR REPLACE DATABASE app; USE app; " + string(schema)); err != nil {
		t.Fatal(err)
	}
	return base + "app"
}
