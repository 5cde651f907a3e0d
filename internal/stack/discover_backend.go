package stack

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var loadedIni = regexp.MustCompile(`(?m)^Loaded Configuration File => (/.*)$`)

func (d *discovery) phpFPM(ctx context.Context, in *instance) {
	svc := &in.svc
	svc.Config = svc.namedConfig(in.master)
	if svc.Config == "" {
		d.note("The configuration of %s (process %d) is not in its title; fill in config.", svc.Name, in.master.pid)
	}
	if m := loadedIni.FindStringSubmatch(d.output(ctx, svc.Binary, "-i")); m != nil {
		svc.PHPIni = strings.TrimSpace(m[1])
	}
	// The title does not show php-fpm's -c. A php.ini beside a configuration of
	// one's own is what such a one is started with.
	if beside := filepath.Join(filepath.Dir(svc.Config), "php.ini"); svc.Config != "" && beside != svc.PHPIni && exists(ctx, d.h, beside) {
		d.note("%s: php_ini is a guess (%s lies beside its configuration); check it.", svc.Name, beside)
		svc.PHPIni = beside
	}
	svc.Control.Start = fpmArgv(svc, svc.Binary)
}

// optionFiles are where MariaDB and MySQL look for options without
// --defaults-file (mariadbd --help --verbose lists them).
var optionFiles = []string{"/etc/my.cnf", "/etc/mysql/my.cnf", "/usr/etc/my.cnf"}

func (d *discovery) database(ctx context.Context, in *instance) {
	svc := &in.svc
	if !strings.Contains(strings.ToLower(d.output(ctx, svc.Binary, "--version")), "mariadb") {
		svc.Kind = MySQL
	}
	svc.Config = svc.namedConfig(in.master)
	_, without := flagValue(in.master.cmdline, "--no-defaults")
	if svc.Config == "" && !without {
		for _, f := range optionFiles {
			if exists(ctx, d.h, f) {
				svc.Config = f
				break
			}
		}
	}
	if svc.Config == "" {
		d.note("%s runs without an option file; write one and fill in config.", svc.Name)
	}
	svc.Control.Start = d.commandLine(in)
	if pid, ok := flagValue(in.master.cmdline, "--pid-file"); ok {
		svc.Control.PIDFile = pid
	}
	if parent := d.procs.byPID[in.master.ppid]; parent != nil && strings.HasSuffix(strings.SplitN(parent.title()+" ", " ", 2)[0], "safe") {
		d.note("%s was started by %s; Kasoku starts the server itself, without it.", svc.Name, parent.comm)
	}
	d.login(ctx, in)
}

// login looks for a way in that needs no password in kasoku.yaml: root through
// the socket, or the [client] section of ~/.my.cnf.
func (d *discovery) login(ctx context.Context, in *instance) {
	svc := in.svc
	var tries []Login
	for _, l := range svc.Listen {
		if path, ok := strings.CutPrefix(l, "unix:"); ok {
			tries = append(tries, Login{User: "root", Socket: path})
			break
		}
	}
	if home := strings.TrimSpace(d.output(ctx, "sh", "-c", `printf %s "$HOME"`)); home != "" && exists(ctx, d.h, home+"/.my.cnf") {
		tries = append(tries, Login{DefaultsFile: home + "/.my.cnf"})
	}
	for _, l := range tries {
		svc.Login = &l
		db, err := OpenDB(ctx, d.h, &svc)
		if err != nil {
			continue
		}
		if err := db.Close(); err == nil {
			in.svc.Login = &l
			return
		}
	}
	d.note("%s: no login works without a password (root through the socket, ~/.my.cnf); fill in login.", svc.Name)
}

func (d *discovery) memcached(ctx context.Context, in *instance) {
	if p, ok := optionAfter(in.master.cmdline, "-P"); ok {
		in.svc.Control.PIDFile = p
	}
	// Debian's unit starts it with the options of this file.
	const debian = "/etc/memcached.conf"
	data, err := d.h.ReadFile(ctx, debian)
	if err != nil {
		return
	}
	var words []string
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			words = append(words, strings.Fields(line)...)
		}
	}
	port, _ := optionAfter(words, "-p")
	if port != "" && slices.ContainsFunc(in.svc.Listen, func(l string) bool { return strings.HasSuffix(l, ":"+port) }) {
		in.svc.Config = debian
	}
}

func (d *discovery) redis(ctx context.Context, in *instance) {
	svc := &in.svc
	for _, l := range svc.Listen {
		conn, err := dial(ctx, d.h, l)
		if err != nil {
			continue
		}
		answer, err := ask(conn, "INFO server\r\n", 16<<10)
		_ = conn.Close()
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(answer)) {
			if v, ok := strings.CutPrefix(strings.TrimSpace(line), "config_file:"); ok {
				svc.Config = v
			}
		}
		break
	}
	if svc.Config == "" {
		d.note("%s does not tell its configuration file; fill in config, and control.start if it has none.", svc.Name)
	}
	// Redis writes its address over its command line.
	svc.Control.Start = defaultStart(svc, svc.Binary)
	if svc.Control.Start == nil && len(svc.Listen) > 0 {
		svc.Control.Start = redisArgv(svc)
	}
	if data, err := d.h.ReadFile(ctx, svc.Config); svc.Config != "" && err == nil {
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(line); len(f) == 2 && f[0] == "pidfile" {
				svc.Control.PIDFile = strings.Trim(f[1], `"'`)
			}
		}
	}
}

// redisArgv starts a Redis without configuration where it listens now.
func redisArgv(svc *Service) []string {
	host, port, ok := strings.Cut(connectAddress(svc.Listen[0]), ":")
	if !ok || strings.HasPrefix(svc.Listen[0], "unix:") {
		return nil
	}
	return []string{svc.Binary, "--bind", host, "--port", fmt.Sprint(port)}
}
