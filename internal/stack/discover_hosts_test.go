package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

// part is a host made of some processes of this machine, with addresses of its
// own.
type part struct {
	*host.Local
	name  string
	pids  map[int]bool
	files map[string]string
}

func (p *part) Name() string { return p.name }

func (p *part) List(ctx context.Context, dir string) ([]host.FileInfo, error) {
	list, err := p.Local.List(ctx, dir)
	if dir != "/proc" {
		return list, err
	}
	return slices.DeleteFunc(list, func(e host.FileInfo) bool {
		pid, err := strconv.Atoi(path.Base(e.Path))
		return err == nil && !p.pids[pid]
	}), err
}

func (p *part) ReadFile(ctx context.Context, name string) ([]byte, error) {
	if text, ok := p.files[name]; ok {
		return []byte(text), nil
	}
	return p.Local.ReadFile(ctx, name)
}

// Run has no shell, so that processes are listed one by one, by List.
func (p *part) Run(ctx context.Context, c host.Command) (host.Result, error) {
	if c.Argv[0] == "sh" {
		return host.Result{}, errors.New("no shell")
	}
	return p.Local.Run(ctx, c)
}

func newPart(t *testing.T, name, address string, cs ...*Controller) *part {
	t.Helper()
	ctx := context.Background()
	p := &part{Local: host.NewLocal(), name: name, pids: map[int]bool{}, files: map[string]string{
		"/proc/net/fib_trie":        "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 127.0.0.1\n        /32 host LOCAL\n     |-- " + address + "\n        /32 host LOCAL\n     |-- 10.0.0.0\n        /24 link UNICAST\n",
		"/proc/net/if_inet6":        "00000000000000000000000000000001 01 80 10 80       lo\n",
		"/proc/sys/kernel/hostname": name + "\n",
		"/etc/hosts":                "127.0.0.1 localhost\n127.0.0.2 database.internal # the database\n"}}
	procs, err := readProcesses(ctx, p.Local)
	must(t, err)
	for _, c := range cs {
		pids, err := c.PIDs(ctx)
		must(t, err)
		for _, pid := range append(procs.family(pids[0]), pids...) {
			p.pids[pid] = true
		}
	}
	return p
}

// Two hosts: nginx, PHP-FPM and the application on web1 (127.0.0.1), MariaDB,
// memcached and an application server on db1 (127.0.0.2). Who talks to whom is
// found across them.
func TestDiscoverHosts(t *testing.T) {
	await.SkipShort(t)
	ctx := context.Background()
	l := newLab(t)
	webPort, dbPort, cachePort, apiPort := freePort(t), freePort(t), freePort(t), freePort(t)
	l.write("site/public/index.php", "<?php echo getmypid();")
	l.write("site/conf/settings.ini", "[database]\nhost = 127.0.0.2\nport = "+dbPort+"\npassword = geheim\n")
	l.write("site/conf/cache.php", "<?php return ['servers' => ['database.internal:"+cachePort+"']];")
	l.write("site/conf/other.ini", "[database]\nhost = 127.0.0.1\nport = "+dbPort+"\n") // no database is there
	l.write("api/server.sh", "exec php -S 127.0.0.2:"+apiPort+"\n")
	web := l.nginx(webPort, fmt.Sprintf(`root %s/site/public;
location / { fastcgi_pass unix:%s; fastcgi_param SCRIPT_FILENAME $document_root/index.php; fastcgi_param REQUEST_METHOD $request_method; }
location /api { proxy_pass http://127.0.0.2:%s/; }`, l.dir, l.path("php.sock"), apiPort))
	db := l.mariadb(dbPort)
	conf, err := os.ReadFile(l.path("my.cnf"))
	must(t, err)
	l.write("my.cnf", strings.Replace(string(conf), "bind-address = 127.0.0.1", "bind-address = 127.0.0.2", 1))
	db.svc.Listen = []string{"127.0.0.2:" + dbPort}
	php := l.fpm(l.path("php.sock"))
	cache := l.add(Service{Name: "cache", Kind: Memcached, Listen: []string{"127.0.0.2:" + cachePort}, Control: Control{
		Start: []string{need(t, "memcached"), "-u", "nobody", "-l", "127.0.0.2", "-p", cachePort}}})
	api := l.add(Service{Name: "api", Kind: App, Root: l.path("api"), Listen: []string{"127.0.0.2:" + apiPort}, Binary: need(t, "php"), Control: Control{
		Start: []string{"sh", "server.sh"}}})
	for _, c := range []*Controller{db, php, cache, api, web} {
		must(t, c.Start(ctx))
	}
	s, notes, err := DiscoverHosts(ctx, []Place{{Name: LocalHost, Host: newPart(t, "local", "10.9.9.9")},
		{Name: "web1", Config: HostConfig{SSH: "root@web1.example.com"}, Host: newPart(t, "web1", "127.0.0.1", web, php)},
		{Name: "db1", Config: HostConfig{SSH: "root@127.0.0.2"}, Host: newPart(t, "db1", "127.0.0.2", db, cache, api)}})
	must(t, err)
	find := func(what string, ok func(*Service) bool) *Service {
		t.Helper()
		for i := range s.Services {
			if ok(&s.Services[i]) {
				return &s.Services[i]
			}
		}
		t.Fatalf("%s was not found in %+v\nnotes: %q", what, s.Services, notes)
		return nil
	}
	kind := func(k Kind) *Service { return find(string(k), func(x *Service) bool { return x.Kind == k }) }
	site := find("the PHP app", func(x *Service) bool { return x.RunsIn != "" })
	server := find("the app server", func(x *Service) bool { return x.Kind == App && x.RunsIn == "" })
	for _, c := range []struct{ what, got, want string }{
		{"host of nginx", kind(Nginx).Host, "web1"}, {"host of php-fpm", kind(PHPFPM).Host, "web1"}, {"host of the PHP app", site.Host, "web1"},
		{"host of mariadb", kind(MariaDB).Host, "db1"}, {"host of memcached", kind(Memcached).Host, "db1"}, {"host of the app server", server.Host, "db1"},
		{"nginx talks to", fmt.Sprint(kind(Nginx).TalksTo), fmt.Sprint([]string{kind(PHPFPM).Name, server.Name})},
		{"settings", fmt.Sprint(site.Settings), fmt.Sprint([]string{l.path("site/conf/cache.php"), l.path("site/conf/other.ini"), l.path("site/conf/settings.ini")})},
		{"the PHP app talks to", fmt.Sprint(slices.Sorted(slices.Values(site.TalksTo))), fmt.Sprint([]string{kind(Memcached).Name, kind(MariaDB).Name})},
		{"the app server's folder", server.Root, l.path("api")},
		{"hosts", fmt.Sprint(s.Hosts), fmt.Sprint(map[string]HostConfig{"web1": {SSH: "root@web1.example.com"}, "db1": {SSH: "root@127.0.0.2"}})},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
	if !slices.ContainsFunc(notes, func(n string) bool {
		return strings.HasPrefix(n, "web1: "+site.Name+": ") && strings.Contains(n, "other.ini names a database that was not found")
	}) {
		t.Errorf("other.ini names this host's own address, where no database is: %q", notes)
	}
	s.Name, s.Dir = "found", l.dir
	text, err := s.Render()
	must(t, err)
	again, err := Load(l.write("kasoku.yaml", string(text)))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if again.Service(server.Name).Host != "db1" || again.Service(site.Name).Root != l.path("site") || strings.Contains(string(text), "geheim") {
		t.Errorf("written and loaded:\n%s", text)
	}
}

func TestHostNameOf(t *testing.T) {
	for to, want := range map[string]string{"root@db1.example.com": "db1", "db1": "db1", "ssh://me@web:2222": "web", "root@10.0.0.2": "10.0.0.2", "root@fe80::1": "fe80--1"} {
		if got := HostNameOf(to); got != want || !serviceName.MatchString(got) {
			t.Errorf("%s is called %q, want %q", to, got, want)
		}
	}
}

func TestAsSeenFrom(t *testing.T) {
	calls := []string{"10.0.0.2", "db1", "db1.example.com"}
	for text, want := range map[string]string{
		"host=10.0.0.2;port=3306":         "host=127.0.0.1;port=3306",
		"host=10.0.0.20":                  "host=10.0.0.20",
		"DB_HOST=db1\nDB_NAME=db10\n":     "DB_HOST=127.0.0.1\nDB_NAME=db10\n",
		"mysql://u:p@db1.example.com/x":   "mysql://u:p@127.0.0.1/x",
		"'127.0.0.1:3306', 'localhost:1'": "'elsewhere.invalid:3306', 'elsewhere.invalid:1'",
	} {
		if got := asSeenFrom(text, calls); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestParseInet6(t *testing.T) {
	got := parseInet6([]byte("fe800000000000000000000000000001 02 40 20 80     eth0\n20010db8000000000000000000000007 02 40 00 80     eth0\n"))
	if !slices.Equal(got, []string{"2001:db8::7"}) {
		t.Errorf("%v", got)
	}
}
