package index

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kasoku/internal/host/hosttest"

	_ "github.com/go-sql-driver/mysql"

	"kasoku/internal/await"
)

// startMariaDB starts a private server until the end of the test.
func startMariaDB(t testing.TB) *sql.DB {
	t.Helper()
	for _, name := range []string{"mariadbd"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("this test needs MariaDB's server: %v; run `make deps`", err)
		}
	}
	dir, err := os.MkdirTemp(memory(), "kidx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, "s")
	user := []string{}
	if os.Getuid() == 0 {
		user = []string{"--user=root"}
	}
	if err := hosttest.MariaDBData(data, "", "8M"); err != nil {
		t.Fatal(err)
	}
	server := exec.Command("mariadbd", append([]string{"--no-defaults"}, append(user, "--datadir="+data, "--socket="+socket, "--skip-networking",
		"--pid-file="+filepath.Join(dir, "pid"), "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=8M", "--tmpdir="+dir, "--innodb-flush-log-at-trx-commit=0", "--sync-frm=0", "--innodb-flush-method=nosync")...)...)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- server.Wait() }()
	t.Cleanup(func() { server.Process.Kill(); <-exited })
	db, err := sql.Open("mysql", "root@unix("+socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	said := func() string {
		text, _ := os.ReadFile(filepath.Join(dir, "log"))
		return string(text)
	}
	await.ForOr(t, "MariaDB", said, func() bool {
		select {
		case err := <-exited:
			exited <- err
			t.Fatalf("MariaDB ended: %v\n%s", err, said())
		default:
		}
		return db.Ping() == nil
	})
	return db
}

// memory is a folder without a disk, if there is one: an index is hidden and
// shown thousands of times, and each time is synced.
func memory() string {
	const shm = "/dev/shm"
	if f, err := os.CreateTemp(shm, "k"); err == nil {
		f.Close()
		os.Remove(f.Name())
		return shm
	}
	return ""
}
