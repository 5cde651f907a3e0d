package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/host/ssh"
	"kasoku/internal/stack"
	"kasoku/lab"
)

// access is how the target is reached.
type access struct {
	Config string `json:"config"` // for ssh -F; the victims' own copy
	Kasoku string `json:"kasoku"`
	Lab    string `json:"lab"`
	// Programs is a folder with the program for the target.
	Programs string `json:"programs"`
}

// sh runs a script on the target, beside Kasoku's own connection.
func (a access) sh(ctx context.Context, script string) error {
	_, err := a.ask(ctx, script)
	return err
}

// shLimit of one script.
const shLimit = time.Minute

func (a access) ask(ctx context.Context, script string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, shLimit)
	defer cancel()
	c := exec.CommandContext(ctx, "ssh", "-F", a.Config+beside, "-S", a.Config+beside+".sock", "-o", "ControlMaster=auto", "-o", "ControlPersist=60",
		"-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=3", hostName, "sh -s")
	c.Stdin = strings.NewReader("set -e\n" + script + "\n")
	var errout strings.Builder
	c.Stderr = &errout
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("on the target: %w: %s%s", err, out, errout.String())
	}
	return string(out), nil
}

// beside ends the name of the ssh configuration that faults do not look for.
const beside = "-beside"

// reboot cuts the power and waits until the host is up again.
func (a access) reboot(ctx context.Context) error {
	l, err := lab.Open("", a.Lab)
	if err != nil {
		return err
	}
	err = l.Reboot(ctx, hostName, true)
	// The connection beside is dead, and does not know it yet.
	exec.CommandContext(ctx, "ssh", "-F", a.Config+beside, "-S", a.Config+beside+".sock", "-O", "exit", hostName).Run()
	return err
}

// session is an opened project.
type session struct {
	exec   *change.Executor
	faulty *hosttest.Faulty
	host   *ssh.Host
	// borrowed: the host stays open for the next session.
	borrowed bool
}

func (s *session) close() {
	s.exec.Close()
	if !s.borrowed {
		s.host.Close()
	}
}

// open opens the journal of a project whose only host is the target.
func (a access) open(ctx context.Context, project string, trace func(string)) (*session, error) {
	h, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	s, err := a.openOn(ctx, h, project, trace)
	if err != nil {
		h.Close()
	}
	return s, err
}

func (a access) connect(ctx context.Context) (*ssh.Host, error) {
	return ssh.Open(ctx, ssh.Options{Name: hostName, Destination: hostName, ConfigFile: a.Config, Programs: a.Programs})
}

// open opens a project over the connection that the matrix keeps, which makes
// itself anew when it was cut.
func (t *target) open(ctx context.Context, project string) (*session, error) {
	s, err := t.access.openOn(ctx, t.host, project, nil)
	if err == nil {
		s.borrowed = true
	}
	return s, err
}

func (a access) openOn(ctx context.Context, h *ssh.Host, project string, trace func(string)) (*session, error) {
	s := &session{host: h, faulty: hosttest.NewFaulty(h)}
	st := &stack.Stack{Name: "faults", Hosts: map[string]stack.HostConfig{hostName: {SSH: hostName, SSHConfig: a.Config}},
		Services: []stack.Service{
			{Name: "web", Kind: stack.Nginx, Host: hostName, Binary: "/usr/sbin/nginx", Config: "/etc/nginx/nginx.conf", Listen: []string{"127.0.0.1:8080"},
				Control: stack.Control{Method: stack.MethodSystemd, Unit: "nginx.service"}, Health: stack.Health{Timeout: 10 * time.Second}},
			{Name: "db", Kind: stack.MariaDB, Host: hostName, Binary: "/usr/sbin/mariadbd", Config: "/etc/mysql/my.cnf", Listen: []string{"unix:/run/mysqld/mysqld.sock"},
				Control: stack.Control{Method: stack.MethodSystemd, Unit: "mariadb.service"}, Health: stack.Health{Timeout: 20 * time.Second},
				Login: &stack.Login{User: "kasoku", PasswordFile: "/var/lib/faults/password", Socket: "/run/mysqld/mysqld.sock"}},
			appService(),
		}}
	var err error
	s.exec, err = change.Open(ctx, change.Options{Dir: project, Stack: st, Hosts: map[string]host.Host{"local": host.NewLocal(), hostName: s.faulty},
		Control: func(name string) (change.Controller, error) {
			return stack.NewController(s.faulty, st, st.Service(name))
		},
		Variant: func(name, variant string) (change.Starter, error) {
			return stack.NewController(s.faulty, st, st.Service(name).As(variant))
		},
		DB: func(ctx context.Context, name string) (*sql.DB, error) {
			return stack.OpenDB(ctx, s.faulty, st.Service(name))
		},
		Trace: trace})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// target is the disposable host.
type target struct {
	access access
	lab    *lab.Lab
	host   *ssh.Host
	dir    string
}

// packages that the host is made of.
var packages = []string{"nginx-light", "mariadb-server", "git", "curl"}

// progress of starting the host.
func progress(s settings, log io.Writer) func(string) {
	return func(line string) {
		if s.verbose || !strings.HasPrefix(line, "apt-get") {
			fmt.Fprintln(log, "faults:", line)
		}
	}
}

func openTarget(ctx context.Context, s settings, log io.Writer) (*target, error) {
	kasoku, err := filepath.Abs(s.kasoku)
	if err != nil {
		return nil, err
	}
	if old, err := lab.Open("", s.lab); err == nil { // of a run that was killed
		if err := old.Down(ctx); err != nil {
			return nil, err
		}
	}
	l, err := lab.Up(ctx, lab.Options{Name: s.lab, Count: 1, Packages: packages, Program: kasoku, Base: s.base, Progress: progress(s, log)})
	if err != nil {
		return nil, err
	}
	t := &target{lab: l}
	if t.dir, err = os.MkdirTemp("", "kf"); err == nil {
		t.access = access{Config: filepath.Join(t.dir, "ssh_config"), Kasoku: kasoku, Lab: l.Name, Programs: filepath.Join(t.dir, "programs")}
		err = errors.Join(copyConfig(l.SSHConfig, t.access.Config), os.Mkdir(t.access.Programs, 0o755),
			os.Symlink(kasoku, filepath.Join(t.access.Programs, "kasoku-linux-"+runtime.GOARCH)))
	}
	if err == nil {
		err = t.keepHelper(ctx)
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// keepHelper leaves the program on the target, so that a case need not copy it.
func (t *target) keepHelper(ctx context.Context) (err error) {
	if t.host, err = t.access.connect(ctx); err != nil {
		return err
	}
	return t.host.Keep(ctx)
}

// copyConfig makes the two copies of the ssh configuration.
func copyConfig(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(to, b, 0o600), os.WriteFile(to+beside, b, 0o600))
}

func (t *target) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if t.host != nil {
		t.host.Close()
	}
	exec.CommandContext(ctx, "ssh", "-F", t.access.Config+beside, "-S", t.access.Config+beside+".sock", "-O", "exit", hostName).Run()
	t.lab.Down(ctx)
	os.RemoveAll(t.dir)
}

// wait until the host answers and its database is up, or has failed and waits
// for Kasoku to put it back.
func (t *target) wait(ctx context.Context) error {
	deadline := time.Now().Add(time.Minute)
	for {
		err := t.access.sh(ctx, `case $(systemctl is-active mariadb || true) in
active) mariadb -e 'SELECT 1' >/dev/null;;
failed|inactive) [ -z "$(systemctl list-jobs --no-legend)" ];;
*) false;;
esac`)
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(settle)
	}
}

// setUp makes the target as found.
func (t *target) setUp(ctx context.Context, k *kind) error {
	return t.access.sh(ctx, asFound+k.setUp)
}

// asFound is idempotent.
const asFound = `
umask 022
put() { printf '%b' "$2" > "$1.new"; chmod 640 "$1.new"; touch -d '2011-11-11 11:11:11' "$1.new"; mv "$1.new" "$1"; }
put ` + sitePath + ` 'server { listen 127.0.0.1:8080; return 200 before; }\n'
put ` + iniPath + ` '[mariadbd]\nmax_connections = 151\n'
chmod 644 ` + iniPath + `
put ` + sysctlPath + ` 'net.ipv4.tcp_fin_timeout = 60\n'
rm -rf /srv/kasoku-faults /srv/faults-flag
mkdir -p /var/lib/faults; printf secret-of-faults > /var/lib/faults/password; chmod 600 /var/lib/faults/password
sysctl -qw net.ipv4.tcp_fin_timeout=60
systemctl reset-failed 2>/dev/null || true
systemctl start mariadb
systemctl is-active -q nginx || systemctl start nginx
nginx -t -q && systemctl reload nginx
for i in $(seq 50); do [ "$(curl -s 127.0.0.1:8080/)" = before ] && break; sleep 0.1; done
sleep 0.2 # for another 0.1 s nginx's old workers answer beside the new ones
mariadb -e "CREATE USER IF NOT EXISTS kasoku@localhost IDENTIFIED BY 'secret-of-faults'; ALTER USER kasoku@localhost ACCOUNT UNLOCK; GRANT ALL ON *.* TO kasoku@localhost;
SET GLOBAL max_connections = 151; CREATE DATABASE IF NOT EXISTS faults; DROP TABLE IF EXISTS faults.t;
CREATE TABLE faults.t (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(100), KEY old (b(20)) COMMENT 'o''clock') ENGINE=InnoDB;
INSERT INTO faults.t (a, b) SELECT seq, seq FROM faults.seq_1_to_500"
`

// see is everything that must come back.
func (t *target) see(ctx context.Context, k *kind) (string, error) {
	return t.access.ask(ctx, seeAll+k.see)
}

// seeAll shows a file's time only if it is the one of the beginning. The next
// number of a table is left out: MariaDB counts on after a crash.
const seeAll = `
all() { find /etc/nginx /etc/mysql /etc/sysctl.d /srv -not -path '*/.git/*' "$@" | sort -z; }
all -type d -printf '%p %y %m %U %G\0' | tr '\0' '\n'
all \( -type f -o -type l \) -printf '%p %y %m %U %G %T@\0' | sed -zE '/ 1[0-3][0-9]{8}[.][0-9]*$/!s/[0-9.]*$/new/' | tr '\0' '\n'
all -type f -print0 | xargs -0 sha256sum
all -type f -print0 | xargs -0 grep -ls 'someone else' | sed 's/^/someone else in /'
for i in $(seq 50); do pgrep -f 'nginx: [w]orker process is shutting down' >/dev/null || break; sleep 0.1; done
echo "serves $(curl -s 127.0.0.1:8080/)"
echo "web $(systemctl is-active nginx)"
mariadb -NBre "SHOW GLOBAL VARIABLES LIKE 'max_connections'; SHOW CREATE TABLE faults.t" | sed 's/ AUTO_INCREMENT=[0-9]*//'
sysctl net.ipv4.tcp_fin_timeout
`

// rehearse applies, keeps and undoes the change without a fault.
func (t *target) rehearse(ctx context.Context, k *kind) (before, after string, steps []string, err error) {
	if before, err = t.see(ctx, k); err != nil {
		return
	}
	project, err := os.MkdirTemp(t.dir, "p")
	if err != nil {
		return
	}
	defer os.RemoveAll(project)
	v := task{Kind: k.name, Fault: "none", Project: filepath.Join(project, ".kasoku"), Target: t.access}
	var ended string
	if steps, ended, err = v.start(ctx); err != nil || ended != "kept" {
		return before, "", nil, errors.Join(fmt.Errorf("without a fault it %s", ended), err)
	}
	if after, err = t.see(ctx, k); err != nil {
		return
	}
	o := outcome{state: change.StateKept}
	if err = t.asFound(ctx, k, before, v, &o); err == nil && o.problem != "" {
		err = errors.New(o.problem)
	}
	return before, after, steps, err
}
