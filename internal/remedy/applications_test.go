package remedy_test

import (
	"slices"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/knownapp"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

const settingsFile = "/srv/wiki/LocalSettings.php"

const settings = "<?php\n$wgMainCacheType = CACHE_NONE;\n$wgMemCachedServers = [];\n"

// wiki is the small site with MediaWiki as its application, alone in PHP-FPM;
// its settings may be changed.
func wiki(text string) remedy.Input {
	in := remedytest.World(map[string]string{settingsFile: text})
	app := in.Stack.Service("app")
	app.Root, app.Settings = "/srv/wiki", []string{settingsFile}
	in.Stack.Regulation.ApplicationSettings = true
	in.Stack.Regulation.Allow = remedytest.AllTrades()
	in.Snapshot.Known = map[string]knownapp.Found{"app": {ID: "mediawiki", Version: "1.39.17", Settings: []string{settingsFile}, Calls: []knownapp.Call{
		{Area: knownapp.ObjectCache, Name: "$wgMainCacheType"}, {Area: knownapp.ObjectCache, Name: "$wgCacheDirectory"}, {Area: knownapp.PageCache, Name: "$wgUseFileCache"}}}}
	return in
}

func memcached(in remedy.Input, listen ...string) {
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "mc", Kind: stack.Memcached, Listen: listen})
}

// of is the plan with that ID; why is what was said instead.
func of(t *testing.T, in remedy.Input, id string) (p *remedy.Plan, why string) {
	t.Helper()
	_, res := remedytest.Plan(t, in)
	if i := slices.IndexFunc(res.Plans, func(p remedy.Plan) bool { return p.ID == id }); i >= 0 {
		return &res.Plans[i], ""
	}
	why = strings.Join(res.Skipped, "\n")
	for _, r := range res.Refusals {
		if r.Plan.ID == id {
			why += "\nrefused: " + r.Why
		}
	}
	return nil, why
}

// after is the settings file as a plan leaves it.
func after(t *testing.T, p *remedy.Plan) string {
	t.Helper()
	for _, c := range p.Changes {
		if c.Path == settingsFile {
			if c.Service != "app" || c.Activate != change.Reload || string(c.Before.Content) == "" {
				t.Errorf("the change is of %s by %v", c.Service, c.Activate)
			}
			return string(c.After.Content)
		}
	}
	t.Fatalf("%s does not change the settings: %+v", p.ID, p.Changes)
	return ""
}

// A spare host that answers nothing has no files of its own.
func TestMediaWikiFileCacheWithSpare(t *testing.T) {
	const id = "mediawiki.file-cache:app"
	in := wiki(settings)
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "php2", Kind: stack.PHPFPM, Host: "app1", SpareFor: "php"})
	if p, why := of(t, in, id); p == nil {
		t.Errorf("not planned beside an idle spare: %s", why)
	}
	in.Evidence.Services["php2"] = evidence.ServiceUse{Processes: 3}
	if p, why := of(t, in, id); p != nil || !strings.Contains(why, "PHP runs in 2 services") {
		t.Errorf("planned %v beside a spare that answers: %s", p != nil, why)
	}
}

func TestMediaWikiObjectCache(t *testing.T) {
	const mc, apcu = "mediawiki.object-cache:app:memcached:mc", "mediawiki.object-cache:app:apcu"
	in := wiki(settings)
	memcached(in, "unix:/run/mc.sock", "127.0.0.1:11300")
	in.Snapshot.PHP["php"]["apc.enabled"] = "On"
	for id, want := range map[string]string{
		mc:   "<?php\n$wgMainCacheType = CACHE_MEMCACHED;\n$wgMemCachedServers = [ '127.0.0.1:11300' ];\n$wgSessionCacheType = CACHE_DB;\n",
		apcu: "<?php\n$wgMainCacheType = CACHE_ACCEL;\n$wgMemCachedServers = [];\n$wgSessionCacheType = CACHE_DB;\n",
	} {
		p, why := of(t, in, id)
		if p == nil {
			t.Errorf("%s is not planned: %s", id, why)
			continue
		}
		if got := after(t, p); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", id, got, want)
		}
	}
	own := wiki(settings + "$wgSessionCacheType = 'redis';\n")
	memcached(own, "127.0.0.1:11300")
	if p, why := of(t, own, mc); p == nil || !strings.Contains(after(t, p), "$wgSessionCacheType = 'redis';") {
		t.Errorf("the wiki's own store of sessions: %s", why)
	}
}

// Where PHP has no APCu it is installed before the switch, if that is permitted.
func TestMediaWikiInstallsAPCu(t *testing.T) {
	const id = "mediawiki.object-cache:app:apcu"
	in := wiki(settings)
	in.Snapshot.Packages = map[string][]evidence.Package{"local": {{Name: "php8.2-cli"}, {Name: "php8.2-fpm", Programs: []string{"php"}}}}
	if p, why := of(t, in, id); p != nil || !strings.Contains(why, "php8.2-apcu would have to be installed") {
		t.Errorf("planned %t although the regulation does not permit packages: %s", p != nil, why)
	}
	in.Stack.Regulation.Install = true
	p, why := of(t, in, id)
	if p == nil {
		t.Fatal(why)
	}
	if len(p.Prepare) != 1 || len(p.Prepare[0]) != 1 {
		t.Fatalf("prepare %+v", p.Prepare)
	}
	if c := p.Prepare[0][0]; c.Kind != change.KindPackage || c.Package.Name != "php8.2-apcu" || c.Service != "php" || c.Activate != change.Restart {
		t.Errorf("prepare %+v", c)
	}
	if got := after(t, p); !strings.Contains(got, "$wgMainCacheType = CACHE_ACCEL;") {
		t.Error(got)
	}
	in.Snapshot.PHP["php"]["apc.enabled"] = "On"
	if p, why := of(t, in, id); p == nil || len(p.Prepare) > 0 {
		t.Errorf("APCu that is there: %+v, %s", p, why)
	}
}

func TestMediaWikiRefuses(t *testing.T) {
	const mc, texts, pages = "mediawiki.object-cache:app:memcached:mc", "mediawiki.cache-directory:app", "mediawiki.file-cache:app"
	for _, c := range []struct {
		why, id string
		bad     func(in *remedy.Input)
		says    string
	}{
		{"the regulation does not permit it", texts, func(in *remedy.Input) { in.Stack.Regulation.ApplicationSettings = false }, "application_settings"},
		{"the application may not be touched", texts, func(in *remedy.Input) { in.Stack.Regulation.NoTouch = []string{"app"} }, "no_touch"},
		{"stale pages are not allowed", pages, func(in *remedy.Input) { in.Stack.Regulation.Allow = nil }, "staleness"},
		{"its settings are not named", texts, func(in *remedy.Input) { in.Stack.Service("app").Settings = nil }, "LocalSettings.php in kasoku.yaml"},
		{"nothing to keep objects in", mc, func(in *remedy.Input) {
			in.Stack.Services = slices.DeleteFunc(in.Stack.Services, func(s stack.Service) bool { return s.Kind == stack.Memcached })
		}, "no memcached"},
		{"memcached on a socket only", mc, func(in *remedy.Input) { in.Stack.Service("mc").Listen = []string{"unix:/run/mc.sock"} }, "no unix sockets"},
		{"who runs PHP is not known", texts, func(in *remedy.Input) { delete(in.Snapshot.Users, "local/php") }, "user of php's workers"},
		{"not root", texts, func(in *remedy.Input) { in.Snapshot.Root = false }, "only root"},
		{"PHP is kept in its folders", texts, func(in *remedy.Input) { in.Snapshot.PHP["php"]["open_basedir"] = "/srv/wiki" }, "open_basedir"},
		{"the web server shows all above", texts, func(in *remedy.Input) {
			f := in.Snapshot.Files["local"][remedytest.NginxPath]
			f.Content = []byte(strings.Replace(string(f.Content), "/srv/public", "/srv", 1))
			in.Snapshot.Files["local"][remedytest.NginxPath] = f
		}, "is shown by the web server"},
		{"set in a block", mc, func(in *remedy.Input) {
			f := in.Snapshot.Files["local"][settingsFile]
			f.Content = []byte("<?php\nif ( $x ) { $wgMainCacheType = CACHE_NONE; }\n")
			in.Snapshot.Files["local"][settingsFile] = f
		}, "line 2 may set it too"},
		{"PHP in two services", pages, func(in *remedy.Input) {
			in.Snapshot.Apache = map[string]evidence.ApacheBuild{"httpd": {PHPVersion: "8.2"}}
			in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "httpd", Kind: stack.Apache, Config: "/etc/nginx/none"})
		}, "2 services"},
	} {
		in := wiki(settings)
		memcached(in, "127.0.0.1:11300")
		if p, why := of(t, in, c.id); p == nil {
			t.Fatalf("%s is not planned at all: %s", c.id, why)
		}
		c.bad(&in)
		if p, why := of(t, in, c.id); p != nil || !strings.Contains(why, c.says) {
			t.Errorf("%s: planned %t, %s", c.why, p != nil, why)
		}
	}
}

// Folders lie outside of what the web server shows, and belong to PHP's user.
func TestMediaWikiFolder(t *testing.T) {
	in := wiki(settings)
	in.Stack.Service("app").Root = "/srv/public/wiki"
	p, why := of(t, in, "mediawiki.cache-directory:app")
	if p == nil {
		t.Fatal(why)
	}
	if len(p.Prepare) != 1 || len(p.Changes) != 1 || !p.Changes[0].SameTime || !remedy.Joinable(*p) {
		t.Fatalf("%+v", p)
	}
	if c := p.Prepare[0][0]; c.Kind != change.KindDir || c.Path != "/srv/kasoku-texts-app" || c.After.Mode != 0o700 || c.After.UID != 33 {
		t.Errorf("%+v", c)
	}
	if got, want := after(t, p), settings+"$wgCacheDirectory = '/srv/kasoku-texts-app';\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
