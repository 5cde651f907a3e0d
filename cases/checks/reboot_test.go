package checks

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/host/sshtest"
	"kasoku/internal/prove"
	"kasoku/lab"
	"kasoku/lab/labtest"
)

const notesPHP = `<?php
$db = new mysqli('127.0.0.1', 'app', 'app', 'app');
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    $s = $db->prepare('INSERT INTO notes VALUES (?)');
    $s->bind_param('s', $_POST['text']);
    $s->execute();
    http_response_code(201);
    exit;
}
if (!isset($_GET['text'])) {
    exit('alive');
}
$s = $db->prepare('SELECT text FROM notes WHERE text = ?');
$s->bind_param('s', $_GET['text']);
$s->execute();
$row = $s->get_result()->fetch_row();
echo $row ? 'yes, ' . htmlspecialchars($row[0]) : 'no';
`

const notesNginx = `server {
    listen 80 default_server;
    location / {
        include fastcgi_params;
        fastcgi_param SCRIPT_FILENAME /srv/app/index.php;
        fastcgi_pass unix:/run/notes.sock;
    }
}
`

// setUp is run on the host: the packages' own services with their own units.
const setUp = `set -e
V=$(ls /etc/php | head -1)
mkdir -p /srv/app
cat >/srv/app/index.php <<'END'
` + notesPHP + `END
cat >/etc/nginx/sites-enabled/default <<'END'
` + notesNginx + `END
sed -i 's#^listen = .*#listen = /run/notes.sock#' /etc/php/$V/fpm/pool.d/www.conf
systemctl enable -q mariadb nginx php$V-fpm
systemctl restart mariadb php$V-fpm nginx
mariadb -e "CREATE DATABASE app; CREATE TABLE app.notes (text VARCHAR(40) PRIMARY KEY) ENGINE=InnoDB;
CREATE USER app@127.0.0.1 IDENTIFIED BY 'app'; GRANT ALL ON app.* TO app@127.0.0.1;
CREATE USER kasoku@localhost IDENTIFIED BY 'of-the-lab'; GRANT ALL ON *.* TO kasoku@localhost"
printf of-the-lab >/srv/secret
chmod 600 /srv/secret
echo $V`

const hostYAML = `version: 1
name: notes
hosts: {h1: {ssh: h1, ssh_config: %SSH%}}
services:
  - name: web
    kind: nginx
    host: h1
    binary: /usr/sbin/nginx
    config: /etc/nginx/nginx.conf
    prefix: /usr/share/nginx
    listen: ["0.0.0.0:80"]
    talks_to: [php]
    control: {unit: nginx.service}
  - name: php
    kind: php-fpm
    host: h1
    binary: /usr/sbin/php-fpm%V%
    config: /etc/php/%V%/fpm/php-fpm.conf
    listen: ["unix:/run/notes.sock"]
    talks_to: [db]
    control: {unit: php%V%-fpm.service}
  - name: db
    kind: mariadb
    host: h1
    binary: /usr/sbin/mariadbd
    config: /etc/mysql/my.cnf
    listen: ["127.0.0.1:3306", "unix:/run/mysqld/mysqld.sock"]
    control: {unit: mariadb.service}
    login: {user: kasoku, password_file: /srv/secret, socket: /run/mysqld/mysqld.sock}
load: {scenario: scenario.yaml, url: "http://%ADDRESS%", allow: [%ADDRESS%]}
checks: {scenario: checks.yaml, reboot: [h1], back_within: 90s}
tune: {max_foreign_cpu: 1}
`

// TestReboot: a disposable host is rebooted without warning. Everything comes
// back by itself; with a service that is not enabled it does not, and that one
// is named.
func TestReboot(t *testing.T) {
	t.Parallel() // a booting host is mostly waited for
	dir := bed.Folder(t)
	program := filepath.Join(sshtest.Programs(t), "kasoku-linux-"+runtime.GOARCH)
	l := labtest.Up(t, lab.Options{Count: 1, Program: program, Off: []string{"memcached", "redis-server", "supervisor"}})
	h, err := l.Host("h1")
	if err != nil {
		t.Fatal(err)
	}
	version, err := l.SSH(t.Context(), "h1", setUp)
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("%SSH%", l.SSHConfig, "%V%", strings.TrimSpace(version), "%ADDRESS%", h.Address)
	bed.Write(t, dir, "kasoku.yaml", fill.Replace(hostYAML))
	bed.Write(t, dir, "scenario.yaml", "version: 1\nname: notes\nworkload: 2\nsessions:\n  - name: s\n    steps:\n      - {request: GET /, think: 5ms, expect: {contains: [alive]}}\n")
	bed.Write(t, dir, "checks.yaml", strings.NewReplacer("POST /notes", "POST /", "GET /note?", "GET /?").Replace(checksYAML))

	reboot := func() (r prove.Result, code int) {
		t.Helper()
		var out, said bytes.Buffer
		cmd := exec.CommandContext(t.Context(), program, "-f", filepath.Join(dir, "kasoku.yaml"), "--json", "prove", "--only", "reboot", "-d", "1s")
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := l.Start(cmd); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the exit code tells
		var all struct {
			Checks []prove.Result `json:"checks"`
		}
		if err := json.Unmarshal(out.Bytes(), &all); err != nil || len(all.Checks) != 1 {
			t.Fatalf("exit code %d, %v\n%s%s", cmd.ProcessState.ExitCode(), err, out.String(), said.String())
		}
		r = all.Checks[0]
		t.Logf("%s: %s %+v %v", r.Outcome, r.Text, r.Problems, r.Notes)
		return r, cmd.ProcessState.ExitCode()
	}
	before := bootOf(t, l)
	r, code := reboot()
	// The score of a host that shares its processors with others says little;
	// that it was measured is what matters here. One that falls short by little
	// is measured after another reboot, with writes of its own.
	for _, p := range r.Problems {
		if !strings.Contains(p.What, "the score is") {
			t.Errorf("%+v", p)
		}
	}
	if r.Writes == 0 || r.Writes%10 != 0 || r.Reads != 2*r.Writes || r.BackAfter <= 0 || r.After <= 0 || r.Before <= 0 || bootOf(t, l) == before {
		t.Errorf("%+v", r)
	}
	if want := map[prove.Outcome]int{prove.Held: 0, prove.Failed: 15}[r.Outcome]; code != want {
		t.Errorf("%s, exit code %d", r.Outcome, code)
	}

	// The service that stays down is waited for that long, and the host must be there before.
	if _, err := l.SSH(t.Context(), "h1", "systemctl disable -q mariadb"); err != nil {
		t.Fatal(err)
	}
	bed.Write(t, dir, "kasoku.yaml", strings.ReplaceAll(fill.Replace(hostYAML), "back_within: 90s", "back_within: 45s"))
	r, code = reboot()
	named := false
	for _, p := range r.Problems {
		named = named || p.By == "db on h1" && strings.Contains(p.What, "db is stopped after the reboot")
	}
	if r.Outcome != prove.Failed || code != 15 || !named {
		t.Errorf("a service that is not enabled: exit code %d, %s: %s %+v", code, r.Outcome, r.Text, r.Problems)
	}
	// It was started afterwards, so that nothing stays down.
	if state, err := l.SSH(t.Context(), "h1", "systemctl is-active mariadb"); err != nil || strings.TrimSpace(state) != "active" {
		t.Errorf("the database was left %q, %v", state, err)
	}
}

func bootOf(t *testing.T, l *lab.Lab) string {
	t.Helper()
	id, err := l.SSH(t.Context(), "h1", "cat /proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(id)
}
