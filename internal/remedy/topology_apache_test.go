package remedy_test

import (
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/knownapp"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

const (
	iniPath    = "/etc/php/8.2/apache2/php.ini"
	apacheConf = "/etc/apache2/apache2.conf"
)

// apaches is aside with an Apache behind nginx, the wiki in it, and a spare
// Apache on app1 that does not run.
func apaches() remedy.Input {
	in := aside("        location / {\n            proxy_pass http://127.0.0.1:8080;\n        }", "", false)
	in.Stack.Services = append(in.Stack.Services,
		stack.Service{Name: "wiki", Kind: stack.Apache, Host: "web1", Config: apacheConf, Listen: []string{"127.0.0.1:8080"}},
		stack.Service{Name: "pages", Kind: stack.App, Host: "web1", RunsIn: "wiki", Root: "/srv/pages"},
		stack.Service{Name: "wiki2", Kind: stack.Apache, Host: "app1", Config: apacheConf, Listen: []string{"0.0.0.0:80"}, SpareFor: "wiki", Control: stack.Control{Unit: "apache2"}})
	in.Evidence.Services = map[string]evidence.ServiceUse{"web": {CPU: 3}, "db": {CPU: 3}, "wiki": {CPU: 10, Processes: 5}}
	in.Snapshot.Spares = map[string]evidence.Spare{"wiki2": {Program: true, Code: map[string]evidence.CodeState{"/srv/pages": evidence.CodeSame}}}
	in.Snapshot.Apache = map[string]evidence.ApacheBuild{"wiki": {PHPIni: []string{iniPath}}}
	in.Snapshot.Files["web1"][iniPath] = evidence.File{Content: []byte("opcache.enable = 1\n"), Mode: 0o644, Service: "wiki", Writable: true}
	in.Snapshot.Files["app1"][iniPath] = evidence.File{Content: []byte("opcache.enable = 0\n"), Mode: 0o644, Service: "wiki2", Writable: true}
	in.Snapshot.Files["web1"][apacheConf] = evidence.File{Content: []byte("Listen 127.0.0.1:8080\n"), Mode: 0o644, Service: "wiki", Writable: true}
	in.Snapshot.Files["app1"][apacheConf] = evidence.File{Content: []byte("Listen 80\n"), Mode: 0o644, Service: "wiki2", Writable: true}
	in.Snapshot.Files["app1"]["/etc/apache2/mods-available/remoteip.load"] = evidence.File{
		Content: []byte("LoadModule remoteip_module /usr/lib/apache2/modules/mod_remoteip.so\n"), Mode: 0o644, Service: "wiki2", Writable: true}
	return in
}

// A spare Apache gets the php.ini of the one that is asked before it is started,
// and then what makes both hosts equally busy.
func TestSpareApache(t *testing.T) {
	p := remedytest.Want(t, apaches(), "nginx.spare-host")
	if len(p.Prepare) != 1 || len(p.Prepare[0]) != 2 {
		t.Fatalf("prepare %+v", p.Prepare)
	}
	php, unit := p.Prepare[0][0], p.Prepare[0][1]
	if php.Kind != change.KindFile || php.Host != "app1" || php.Path != iniPath || string(php.After.Content) != "opcache.enable = 1\n" || php.Activate != change.None {
		t.Errorf("php.ini: %+v", php)
	}
	if unit.Kind != change.KindUnit || unit.Host != "app1" || unit.Unit.Name != "apache2.service" {
		t.Errorf("unit: %+v", unit)
	}
	changes, err := p.Search.At(100)
	if err != nil {
		t.Fatal(err)
	}
	remedytest.Has(t, remedytest.AfterChanges(changes, remedytest.NginxPath), "server 127.0.0.1:8080 weight=20;", "server 10.0.0.2:80 weight=80;")

	same := apaches()
	same.Snapshot.Files["app1"][iniPath] = same.Snapshot.Files["web1"][iniPath]
	if p := remedytest.Want(t, same, "nginx.spare-host"); len(p.Prepare) != 1 || len(p.Prepare[0]) != 1 {
		t.Errorf("the same php.ini: prepare %+v", p.Prepare)
	}
}

// Where the first Apache takes clients' addresses from nginx, the spare does, too,
// and from nobody else.
func TestSpareApacheKnowsClients(t *testing.T) {
	in := apaches()
	in.Snapshot.Files["web1"][apacheConf] = evidence.File{Content: []byte("Listen 127.0.0.1:8080\nRemoteIPHeader X-Real-IP\nRemoteIPInternalProxy 127.0.0.1\n"), Mode: 0o644, Service: "wiki", Writable: true}
	p := remedytest.Want(t, in, "nginx.spare-host")
	if len(p.Prepare) != 1 {
		t.Fatalf("prepare %+v", p.Prepare)
	}
	text, link := "", ""
	for _, c := range p.Prepare[0] {
		switch {
		case c.Path == apacheConf && c.Host == "app1":
			text = string(c.After.Content)
		case c.Kind == change.KindLink:
			link = c.Path
		}
	}
	remedytest.Has(t, text, "Listen 80\n", "RemoteIPHeader X-Real-IP\nRemoteIPInternalProxy 10.0.0.1")
	if link != "/etc/apache2/mods-enabled/remoteip.load" {
		t.Errorf("the module is switched on by %q", link)
	}
	in.Snapshot.Files["app1"][apacheConf] = evidence.File{Content: []byte("Listen 80\nRemoteIPHeader X-Client\n"), Mode: 0o644, Service: "wiki2", Writable: true}
	wantNotJudged(t, in, "from X-Client")
}

// mediawiki makes the pages a MediaWiki with these settings.
func mediawiki(in remedy.Input, text string) remedy.Input {
	const file = "/srv/pages/LocalSettings.php"
	pages := in.Stack.Service("pages")
	pages.Settings = []string{file}
	in.Snapshot.Files[pages.HostName()][file] = evidence.File{Content: []byte("<?php\n" + text), Mode: 0o640, Service: "pages", Writable: true}
	in.Snapshot.Known = map[string]knownapp.Found{"pages": {ID: "mediawiki", Settings: []string{file}}}
	return in
}

// A folder that Kasoku has made for the texts of the first host is made on the
// other; pages and objects that each host would keep for itself forbid it.
func TestSpareMediaWiki(t *testing.T) {
	in := mediawiki(apaches(), "$wgCacheDirectory = '/srv/kasoku-texts-pages';\n")
	in.Snapshot.Users = map[string]evidence.ProcessUser{"web1/wiki": {UID: 33, GID: 33, Name: "www-data", Group: "www-data"}}
	p := remedytest.Want(t, in, "nginx.spare-host")
	if len(p.Prepare) != 2 || len(p.Prepare[0]) != 1 {
		t.Fatalf("prepare %+v", p.Prepare)
	}
	if c := p.Prepare[0][0]; c.Kind != change.KindDir || c.Host != "app1" || c.Path != "/srv/kasoku-texts-pages" || c.After.Mode != 0o700 || c.After.UID != 33 {
		t.Errorf("folder: %+v", c)
	}
	wantNotJudged(t, mediawiki(apaches(), "$wgUseFileCache = true;\n"), "does not throw away the files of another")
	wantNotJudged(t, mediawiki(apaches(), "$wgMainCacheType = CACHE_ACCEL;\n"), "APCu of one host does not see")
}

// What PHP is set by on one host alone is the operator's.
func TestSpareApacheLacksSettings(t *testing.T) {
	in := apaches()
	delete(in.Snapshot.Files["app1"], iniPath)
	wantNotJudged(t, in, "packages and files of PHP")
}

// wantNotJudged: the spare is not asked, and why is told.
func wantNotJudged(t *testing.T, in remedy.Input, why string) {
	t.Helper()
	in, res := remedytest.Plan(t, in)
	for _, p := range res.Plans {
		if p.Remedy == "nginx.spare-host" {
			t.Errorf("planned %s", p.ID)
		}
	}
	told := false
	for _, n := range in.Diagnosis.NotJudged {
		told = told || n.Rule == "topology.spare" && strings.Contains(n.Why, why)
	}
	if !told {
		t.Errorf("nothing tells %q: %+v", why, in.Diagnosis.NotJudged)
	}
}
