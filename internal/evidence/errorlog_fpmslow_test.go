package evidence

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

func TestFPMSlowLogKinds(t *testing.T) {
	other := strings.ReplaceAll(string(fixture(t, "fpm_slow.log")), "usleep", "flock")
	kinds, more, err := ParseFPMSlowLog(bytes.NewReader(slices.Concat([]byte(other), fixture(t, "fpm_slow.log"), fixture(t, "fpm_slow.log"))), "php")
	if err != nil || more != 0 || len(kinds) != 2 {
		t.Fatal(kinds, more, err)
	}
	want := LogLine{Service: "php", Level: "warning", Count: 6, Text: "slow request: in usleep() /srv/app/index.php:2, begun by /srv/app/index.php:4"}
	if kinds[0].Text != want.Text || kinds[0].Count != want.Count || kinds[0].Level != want.Level || kinds[0].Service != want.Service || kinds[1].Count != 3 {
		t.Errorf("%+v", kinds)
	}
}

func TestFPMSlowLogsOfPools(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "fpm.conf")
	text := "[global]\nerror_log = /var/log/fpm.log\n" +
		"[www]\nrequest_slowlog_timeout = 5s\nslowlog = /var/log/$pool.slow\n" +
		"[near]\nrequest_slowlog_timeout = 10\nslowlog = log/near.slow\n" +
		"[off]\nrequest_slowlog_timeout = 0s\nslowlog = /var/log/off.slow\n" +
		"[unset]\nslowlog = /var/log/unset.slow\n" +
		"[nowhere]\nrequest_slowlog_timeout = 1s\n" +
		"[instrument]\nrequest_slowlog_timeout = 1s\nslowlog = /dev/shm/kasoku-php-php-1/slow.log\n"
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	svc := &stack.Service{Name: "php", Kind: stack.PHPFPM, Config: config, Prefix: "/srv/fpm"}
	if got := fpmSlowLogs(t.Context(), host.NewLocal(), svc); !slices.Equal(got, []string{"/var/log/www.slow", "/srv/fpm/log/near.slow"}) {
		t.Errorf("%q", got)
	}
}

// TestFPMSlowLogLive: what a real pool logs of itself in the window is told with
// the function that the request was in; what it logged before is not.
func TestFPMSlowLogLive(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("PHP-FPM as a user cannot trace its processes everywhere")
	}
	bin, err := program("php-fpm8.*")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "kfs") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	writeFiles(t, dir, map[string]string{
		"fpm.conf": "[global]\nerror_log = " + dir + "/fpm.err\n[www]\nuser = www-data\ngroup = www-data\nlisten = " + dir + "/php.sock\npm = static\npm.max_children = 1\n" +
			"request_slowlog_timeout = 1s\nslowlog = " + dir + "/slow.log\n",
		"index.php": "<?php\nfunction brood() {\n    usleep(2500000);\n}\nbrood();\necho 'ok';\n",
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-F", "-y", dir+"/fpm.conf")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
	ask := func() error {
		_, err := fastcgiGet(t.Context(), host.NewLocal(), dir+"/php.sock", dir+"/index.php", "", 30*time.Second)
		return err
	}
	if err := within("php-fpm answers", ask); err != nil {
		t.Fatal(err)
	}
	ev := observeAll(t, errorSources, setFor(stack.Service{Name: "php", Kind: stack.PHPFPM, Host: "local", Binary: bin, Config: dir + "/fpm.conf"}, cmd.Process.Pid), func() {
		if err := ask(); err != nil {
			t.Error(err)
		}
	})
	want := "slow request: in usleep() " + dir + "/index.php:3, begun by " + dir + "/index.php:5"
	if i := slices.IndexFunc(ev.Logs, func(l LogLine) bool { return l.Text == want }); i < 0 || ev.Logs[i].Count != 1 {
		t.Errorf("%+v, want %s once", ev.Logs, want)
	}
}
