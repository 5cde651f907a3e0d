package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

// server is a Perl program that listens, and holds a connection to a database's
// socket if one is given.
const server = `use IO::Socket::INET; use IO::Socket::UNIX;
my ($port, $title, $db) = @ARGV;
my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1:$port", ReuseAddr => 1) or die $!;
my $d = $db ? IO::Socket::UNIX->new(Peer => $db) : undef; die "no database" if $db && !$d;
$0 = $title if $title;
while (my $c = $s->accept) { close $c }
`

// Applications as people run them: one whose process shows a title and talks to its
// database by a socket; one that works in / and has its database in the environment;
// a compiled one, beside whose program lies what it is made from.
func TestDiscoverApplications(t *testing.T) {
	await.SkipShort(t)
	ctx := context.Background()
	l := newLab(t)
	webPort, dbPort, titled, plain, built := freePort(t), freePort(t), freePort(t), freePort(t), freePort(t)
	l.write("title.pl", server)
	l.write("shop/bin/server.pl", server)
	l.write("goapp/server.pl", server)
	l.write("goapp/go.mod", "module shop\n")
	l.write("goapp/.env", "SHOP_DB_USER=shop\nSHOP_DB_NAME=warehouse\n")
	l.write("shop/.env", "SHOP_DB_NAME=nowhere\n")
	perl, err := os.ReadFile(need(t, "perl"))
	must(t, err)
	must(t, os.WriteFile(l.path("goapp/shopd"), perl, 0o755))
	web := l.nginx(webPort, fmt.Sprintf(`location /a { proxy_pass http://127.0.0.1:%s; } location /b { proxy_pass http://127.0.0.1:%s; } location /c { proxy_pass http://127.0.0.1:%s; }`, titled, plain, built))
	must(t, l.mariadb(dbPort).Start(ctx))
	must(t, os.Mkdir(l.path("db/data/warehouse"), 0o755))
	for _, c := range []*Controller{web,
		l.add(Service{Name: "titled", Kind: App, Listen: []string{"127.0.0.1:" + titled}, Control: Control{
			Start: []string{"env", "-C", "/", need(t, "perl"), l.path("title.pl"), titled, "shop master in " + l.path("shop"), l.path("db/my.sock")}}}),
		l.add(Service{Name: "plain", Kind: App, Listen: []string{"127.0.0.1:" + plain}, Control: Control{
			Start: []string{"env", "-C", "/", "DB_HOST=127.0.0.1", "DB_PORT=" + dbPort, "DB_PASSWORD=geheim", need(t, "perl"), l.path("shop/bin/server.pl"), plain}}}),
		l.add(Service{Name: "built", Kind: App, Listen: []string{"127.0.0.1:" + built}, Control: Control{
			Start: []string{l.path("goapp/shopd"), l.path("goapp/server.pl"), built}}}),
	} {
		must(t, c.Start(ctx))
	}
	s, notes, err := Discover(ctx, l.h)
	must(t, err)
	at := func(port string) Service {
		i := slices.IndexFunc(s.Services, func(x Service) bool { return slices.Contains(x.Listen, "127.0.0.1:"+port) })
		if i < 0 {
			t.Fatalf("nothing at %s in %+v", port, s.Services)
		}
		return s.Services[i]
	}
	db := at(dbPort).Name
	if a := at(titled); !slices.Equal(a.TalksTo, []string{db}) || len(a.Control.Start) > 0 {
		t.Errorf("the one with a title: %+v", a)
	}
	if text := strings.Join(notes, "\n"); !strings.Contains(text, "shows a title") || !strings.Contains(text, "shop master") {
		t.Errorf("nobody says that a title starts nothing: %s", text)
	}
	if a := at(plain); !slices.Equal(a.TalksTo, []string{db}) || a.Root != l.path("shop") || len(a.Control.Start) == 0 {
		t.Errorf("the plain one: %+v", a)
	}
	want := Build{Dir: l.path("goapp"), Command: []string{"go", "build", "-o", "shopd", "."}, Products: []string{"shopd"}}
	if a := at(built); a.Build == nil || fmt.Sprint(*a.Build) != fmt.Sprint(want) {
		t.Errorf("the built one: %+v, want build %+v", a, want)
	}
	if a := at(built); !slices.Equal(a.TalksTo, []string{db}) || !slices.Contains(a.Settings, l.path("goapp/.env")) {
		t.Errorf("whose settings name a database and no server: talks to %v, settings %v", a.TalksTo, a.Settings)
	}
	if a := at(plain); len(a.Settings) > 0 {
		t.Errorf("settings that name a database that is not there: %v", a.Settings)
	}
	// Applications of other tests on this machine may talk to nobody.
	unknown := func(note string) bool {
		return strings.Contains(note, "fill in settings") && strings.Contains(note, l.path(""))
	}
	if text := strings.Join(notes, "\n"); slices.ContainsFunc(notes, unknown) || !strings.Contains(text, "which names its database warehouse") {
		t.Errorf("all of them talk to the database: %s", text)
	}
	out, err := s.Render()
	must(t, err)
	if strings.Contains(string(out), "geheim") || !strings.Contains(string(out), "command: [go, build, ") {
		t.Errorf("written out:\n%s", out)
	}
}

// homed is a host on which everybody's home is a folder.
type homed struct {
	host.Host
	home string
}

func (h homed) Run(ctx context.Context, c host.Command) (host.Result, error) {
	if len(c.Argv) > 2 && strings.Contains(c.Argv[2], "getent") {
		return host.Result{Stdout: []byte(h.home + "\n")}, nil
	}
	return h.Host.Run(ctx, c)
}

// Where PATH holds no Go tool, as under sudo, a build names the one that its owner has.
func TestGoToolOfTheOwner(t *testing.T) {
	home := t.TempDir()
	tool := filepath.Join(home, "local/golang/bin/go")
	must(t, os.MkdirAll(filepath.Dir(tool), 0o755))
	must(t, os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755))
	sh := t.TempDir()
	must(t, os.Symlink("/bin/sh", filepath.Join(sh, "sh")))
	d := &discovery{h: homed{host.NewLocal(), home}}
	t.Setenv("PATH", sh)
	got := d.goTool(t.Context(), home)
	if _, err := os.Stat("/usr/local/go/bin/go"); err != nil && got != tool {
		t.Errorf("%s, want %s", got, tool)
	}
	if !filepath.IsAbs(got) || filepath.Base(got) != "go" {
		t.Errorf("%s is no path of the tool", got)
	}
	must(t, os.Symlink(tool, filepath.Join(sh, "go")))
	if got := d.goTool(t.Context(), home); got != "go" {
		t.Errorf("%s, although PATH has it", got)
	}
}

func TestUnixPeers(t *testing.T) {
	got := parseUnixPeers(`u_str ESTAB 0 0 /run/mysqld/mysqld.sock 19012 * 19011
u_str ESTAB 0 0 * 19011 * 19012
u_str LISTEN 0 80 /run/mysqld/mysqld.sock 17000 * 0
u_dgr ESTAB 0 0 /run/systemd/notify 2000 * 0
`)
	if len(got) != 1 || got[19011] != "/run/mysqld/mysqld.sock" {
		t.Errorf("%v", got)
	}
}

// A Makefile makes a program if it has a target of its name, alone or among others.
func TestMakes(t *testing.T) {
	l := newLab(t)
	d := &discovery{h: l.h}
	l.write("Makefile", ".PHONY: all\nCC := go\nall: shop\nshop other: main.go\n\tgo build -o shop .\nnope := 1\n")
	for target, want := range map[string]bool{"shop": true, "other": true, "all": true, "nope": false, "main": false} {
		if got := d.makes(t.Context(), l.path("Makefile"), target); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
}

// A name that only ssh knows is no address for load: the host's own is taken.
func TestResolvable(t *testing.T) {
	d := &discovery{place: Place{Name: LocalHost}}
	far := &discovery{place: Place{Name: "h1"}, addresses: []string{"::1", "10.1.2.3", "h1"}}
	d.all = []*discovery{d, far}
	svc := &Service{Host: "h1"}
	for address, want := range map[string]string{"no-such-host.invalid:80": "10.1.2.3:80", "127.0.0.1:8080": "127.0.0.1:8080", "localhost:80": "localhost:80"} {
		if got := d.resolvable(t.Context(), svc, address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// Where hosts are named, services of this machine stay only if something connects them
// with those hosts, over however many others.
func TestStrangersAreLeftOut(t *testing.T) {
	in := func(name, runsIn string, talksTo ...string) *instance {
		return &instance{svc: Service{Name: name, RunsIn: runsIn, TalksTo: talksTo}}
	}
	here := &discovery{place: Place{Name: LocalHost}, found: []*instance{in("web", "", "app"), in("app", "php", "db"), in("php", ""), in("cache2", ""), in("db2", "")}}
	there := &discovery{place: Place{Name: "h1"}, found: []*instance{in("db", "")}}
	here.note("db2 needs a login.")
	here.note("web is there.")
	all := []*discovery{here, there}
	leaveOutStrangers(all)
	var got []string
	for _, x := range here.found {
		got = append(got, x.svc.Name)
	}
	if strings.Join(got, " ") != "web app php" || len(there.found) != 1 {
		t.Errorf("left: %v", got)
	}
	if text := strings.Join(here.notes, "\n"); strings.Contains(text, "db2 needs") || !strings.Contains(text, "cache2, db2 of this machine") || !strings.Contains(text, "web is there") {
		t.Errorf("notes: %q", text)
	}
	// What is free without them is theirs.
	here = &discovery{place: Place{Name: LocalHost}, found: []*instance{in("db", ""), in("web", "")}}
	there = &discovery{place: Place{Name: "h1"}, found: []*instance{in("web2", "", "app2"), in("app2", "php3", "db2", "db3"), in("php3", ""), in("db2", ""), in("db3", "")}}
	all = []*discovery{here, there}
	here.all, there.all = all, all
	there.note("app2 talks to db3: a guess from /etc/db3.conf.")
	leaveOutStrangers(all)
	renumber(all)
	var names []string
	for _, x := range there.found {
		names = append(names, strings.Join(append([]string{x.svc.Name, x.svc.RunsIn}, x.svc.TalksTo...), ","))
	}
	if got, want := strings.Join(names, " "), "web,,app app,php,db,db2 php, db, db2,"; got != want {
		t.Errorf("named %s, want %s", got, want)
	}
	if there.notes[0] != "app talks to db2: a guess from /etc/db3.conf." || !strings.HasPrefix(here.notes[len(here.notes)-1], "db, web of this machine") {
		t.Errorf("notes %q, %q", here.notes, there.notes)
	}
	alone := &discovery{place: Place{Name: LocalHost}, found: []*instance{in("db", "")}}
	leaveOutStrangers([]*discovery{alone})
	if len(alone.found) != 1 {
		t.Error("without named hosts everything is meant")
	}
}
