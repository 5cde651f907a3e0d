package evidence

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/host/ssh"
	"kasoku/internal/host/sshtest"
	"kasoku/internal/stack"
	disposable "kasoku/lab"
	"kasoku/lab/labtest"
)

func TestParseJournal(t *testing.T) {
	lines := []string{
		`{"__CURSOR":"1","MESSAGE":"Started shop.service.","PRIORITY":"6","_TRANSPORT":"journal"}`,
		`{"__CURSOR":"2","MESSAGE":"2026/01/02 03:04:05 ERROR cart 17 is gone","PRIORITY":"6","_TRANSPORT":"stdout"}`,
		`{"__CURSOR":"3","MESSAGE":"2026/01/02 03:04:06 ERROR cart 23 is gone","PRIORITY":"6","_TRANSPORT":"stdout"}`,
		`{"__CURSOR":"4","MESSAGE":"    at cart (/srv/shop.js:12)","PRIORITY":"6","_TRANSPORT":"stdout"}`,
		`{"__CURSOR":"5","MESSAGE":[112,97,115,115,119,111,114,100,61,255,120],"PRIORITY":"3","_TRANSPORT":"syslog"}`,
		`{"__CURSOR":"6","MESSAGE":null,"PRIORITY":"3","_TRANSPORT":"syslog"}`,
		"… 12 MiB were left out …",
		`{"__CURSOR":"7","MESSAGE":"shop.service: Main process exited, code=killed, status=9/KILL\nmore","PRIORITY":"5","_TRANSPORT":"journal"}`,
		`{"__CURSOR":"8","MESSAGE":"after the window","PRIORITY":"3","_TRANSPORT":"syslog"}`,
	}
	kinds, more, unread := parseJournal([]byte(strings.Join(lines, "\n")), "7", "shop")
	var got []string
	for _, k := range kinds {
		got = append(got, strings.Repeat("*", int(k.Count))+k.Level+": "+k.Text)
	}
	want := "**error: cart 17 is gone|*error: password=…|*notice: Started shop.service.|*notice: shop.service: Main process exited, code=killed, status=9/KILL"
	if text := strings.Join(got, "|"); text != want || more != 0 || unread != 1 {
		t.Errorf("%s\nwant %s\n%d more, %d unread", text, want, more, unread)
	}
}

// TestJournalLive reads the journal of a unit on a host that systemd runs.
func TestJournalLive(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a disposable host takes too long for -short")
	}
	programs := sshtest.Programs(t)
	l := labtest.Up(t, disposable.Options{Count: 1, Program: filepath.Join(programs, "kasoku-linux-"+runtime.GOARCH), Off: []string{"mariadb", "memcached", "nginx", "php8.2-fpm", "redis-server", "supervisor"}})
	h, err := ssh.Open(context.Background(), ssh.Options{Name: "lab", Destination: "h1", ConfigFile: l.SSHConfig, Programs: programs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	sh := func(script string) {
		t.Helper()
		res, err := h.Run(t.Context(), host.Command{Argv: []string{"sh", "-c", script}, Timeout: time.Minute})
		if err != nil || res.ExitCode != 0 {
			t.Fatalf("%s: %v %s", script, err, res.Stderr)
		}
	}
	sh(`cat >/etc/systemd/system/shop.service <<'END'
[Service]
ExecStart=/bin/sh -c 'echo "2026-01-02 03:04:05 ERROR before the window"; while :; do if [ -e /run/say ]; then echo "2026-01-02 03:04:05 ERROR cart $$ is gone" >&2; rm /run/say; fi; sleep 0.1; done'
END
systemctl daemon-reload; systemctl start shop.service; sleep 1`)
	st := &stack.Stack{Services: []stack.Service{
		{Name: "shop", Kind: stack.App, Host: "lab", Control: stack.Control{Unit: "shop.service"}},
		{Name: "other", Kind: stack.App, Host: "lab", Control: stack.Control{Unit: "never-there.service"}},
	}}
	s := setting{st: st, hosts: map[string]host.Host{"lab": h}}
	for _, c := range []struct {
		work, text string
		logs       int
	}{{"true", "nothing in the journal of shop.service", 0}, {"touch /run/say; while [ -e /run/say ]; do sleep 0.1; done; sleep 1; journalctl --sync", "messages in the journal of shop.service: 1, of kinds: 1", 1}} {
		ev := observeAll(t, errorSources, s, func() { sh(c.work) })
		if got := healthOf(ev, "error log of shop"); !got.OK || got.Text != c.text {
			t.Errorf("%+v, want %q", got, c.text)
		}
		if len(ev.Logs) != c.logs || c.logs == 1 && (ev.Logs[0].Level != "error" || !strings.HasPrefix(ev.Logs[0].Text, "cart ")) {
			t.Errorf("%+v", ev.Logs)
		}
		if got := healthOf(ev, "error log of other"); !strings.Contains(got.Text, "the journal has no entry of never-there.service") {
			t.Errorf("%+v", got)
		}
	}
}
