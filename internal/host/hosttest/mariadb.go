package hosttest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// MariaDBData makes dir the data folder of a new MariaDB server, owned by user, or by
// who runs the test if user is "": root has no password, and the redo log has the size
// redoLog, such as "8M", which must be the one that the server is started with. dir may
// be there, empty. It is a copy of one that is made once on a machine and kept in the
// user's cache folder: to make one takes a second or two of CPU.
func MariaDBData(dir, user, redoLog string) error {
	version, err := exec.Command("mariadbd", "--no-defaults", "--version").Output()
	if err != nil {
		return fmt.Errorf("mariadbd: %w; run `make deps`", err)
	}
	return readyData(dir, user, fmt.Sprintf("mariadb %s %s", version, redoLog), func(tmp, data string) error {
		install := []string{"env", "TMPDIR=" + tmp, // servers that share one delete each other's temporary tables
			"mariadb-install-db", "--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db", "--innodb-log-file-size=" + redoLog}
		if os.Getuid() == 0 {
			install = append(install, "--user=root")
		}
		return run(install...)
	})
}

// MySQLData is MariaDBData for a MySQL 8 server, whose program that is; lines are those
// of [mysqld] that it cannot do without.
func MySQLData(dir, user, program, lines string) error {
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	return readyData(dir, user, fmt.Sprintf("mysql %s %d %s %s", program, info.Size(), info.ModTime(), lines), func(tmp, data string) error {
		// One that is cut off is thrown away: nothing of it needs the disk meanwhile.
		conf := filepath.Join(tmp, "install.cnf")
		if err := os.WriteFile(conf, []byte("[mysqld]\n"+lines+"innodb-flush-log-at-trx-commit = 0\ninnodb-doublewrite = OFF\nskip-log-bin\n"), 0o644); err != nil {
			return err
		}
		install := []string{program, "--defaults-file=" + conf, "--initialize-insecure", "--datadir=" + data}
		if os.Getuid() == 0 {
			install = append(install, "--user=root")
		}
		if err := run(install...); err != nil {
			return err
		}
		return os.Remove(filepath.Join(data, "auto.cnf")) // each server gives itself its own identity
	})
}

// readyData makes dir a copy of the folder that install once made in the user's cache
// folder, owned by user, "" for who runs the test. what tells apart folders that differ.
func readyData(dir, user, what string, install func(tmp, data string) error) error {
	ready, err := readyFolder(what, install)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := run("cp", "-a", "--reflink=auto", ready+"/.", dir); err != nil {
		return err
	}
	if user != "" {
		return run("chown", "-R", user+":", dir)
	}
	return nil
}

// readyFolder is the folder that copies are made of.
func readyFolder(what string, install func(tmp, data string) error) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s %d", what, os.Getuid()))
	ready := filepath.Join(cache, "kasoku", "server-data", fmt.Sprintf("%x", key[:6]))
	if err := os.MkdirAll(filepath.Dir(ready), 0o755); err != nil {
		return "", err
	}
	// Tests of several packages may come at the same time.
	lock, err := os.OpenFile(ready+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if _, err := os.Stat(ready); !errors.Is(err, os.ErrNotExist) {
		return ready, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(ready), "new")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	data := filepath.Join(tmp, "data")
	if err := install(tmp, data); err != nil {
		return "", err
	}
	return ready, os.Rename(data, ready)
}

func run(argv ...string) error {
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", argv, err, out)
	}
	return nil
}
