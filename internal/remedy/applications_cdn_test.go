package remedy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/knownapp"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

const (
	frontVCL     = "/etc/varnish/default.vcl"
	debianWiki   = "<?php\n$wgScriptPath = \"/mediawiki\";\n$wgServer = \"http://wiki.example\";\n"
	shortAddress = "$wgScriptPath = \"\";\n$wgArticlePath = \"/wiki/$1\";\n"
)

// behindVarnish is the small site with a MediaWiki behind a Varnish.
func behindVarnish(text string) remedy.Input {
	in := wiki(text)
	in.Snapshot.Known["app"] = knownapp.Found{ID: "mediawiki", Version: "1.39.17", Settings: []string{settingsFile}, Calls: []knownapp.Call{{Area: knownapp.PageCache, Name: "$wgUseCdn"}}}
	in.Stack.Load.URL = "http://wiki.example:6081"
	in.Stack.Service("web").TalksTo = []string{"php"}
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "front", Kind: stack.Varnish, Config: frontVCL, Listen: []string{"0.0.0.0:6081"}, TalksTo: []string{"web"}})
	in.Snapshot.Files["local"][frontVCL] = evidence.File{Content: []byte(plainVCL), Service: "front", Writable: true}
	in.Stack.Regulation.Staleness = 5 * time.Minute
	return in
}

func setFile(in remedy.Input, path, text string) {
	f := in.Snapshot.Files["local"][path]
	f.Content = []byte(text)
	in.Snapshot.Files["local"][path] = f
}

// The Varnish learns of PURGE before MediaWiki is told to send it, each by a
// minimum of lines; it is started anew both ways.
func TestMediaWikiCdn(t *testing.T) {
	in := behindVarnish(debianWiki + shortAddress)
	in.Evidence.Load.TellingHeaders = []string{"x-tenant"}
	for _, url := range []string{"/wiki/A", "/index.php?title=A&action=history", "/index.php?title=A", "/wiki/A?x=1", "/wiki/B"} {
		p := strangersPage(url)
		if url == "/wiki/B" {
			p.Changes = 7
		}
		in.Evidence.Load.Pages = append(in.Evidence.Load.Pages, p)
	}
	p, why := of(t, in, "mediawiki.cdn:app:front:300s")
	if p == nil {
		t.Fatal(why)
	}
	if got, want := after(t, p), debianWiki+shortAddress+"$wgUseCdn = true;\n$wgCdnServers = [ '127.0.0.1:6081' ];\n$wgCdnServersNoPurge = [ '127.0.0.1' ];\n"; got != want {
		t.Errorf("settings:\n%s\nwant\n%s", got, want)
	}
	first, last := p.Changes[0], p.Changes[len(p.Changes)-1]
	if len(p.Changes) != 2 || first.Path != frontVCL || first.Phase != 0 || first.Activate != change.Restart || last.Path != settingsFile || last.Phase != 1 || !last.SameTime {
		t.Errorf("changes %+v", p.Changes)
	}
	remedytest.Has(t, string(first.After.Content), plainVCL, "acl kasoku_purgers {\n    \"127.0.0.1\";\n}", "return (synth(405,", `req.url ~ {"^(?:/index\.php(?:[/?]|$)|/wiki/)"}`,
		`{"^(?:/wiki/[^?]+|/index\.php\?title=[^&]+&action=history)$"}`, `req.http.host != "wiki.example"`, "req.http.Authorization || ", "req.http.x-api-key || ", "req.http.x-tenant", `!~ "^s-maxage=18000,"`, "set beresp.ttl = 300s;")
	if p.Fresh == nil || strings.Join(p.Fresh.URLs, " ") != "/wiki/B /wiki/A /index.php?title=A&action=history" || p.Fresh.MaxAge != 2*time.Second || !p.EditsSettings || !p.Fills {
		t.Errorf("fresh %+v, settings %v, fills %v", p.Fresh, p.EditsSettings, p.Fills)
	}
	if strings.Contains(p.Title, "jobs") {
		t.Error(p.Title)
	}
}

// What the wiki and the regulation say of ages, addresses and jobs counts.
func TestMediaWikiCdnSettings(t *testing.T) {
	for _, c := range []struct {
		why   string
		id    string
		text  string
		limit time.Duration
		has   string // of the settings
		not   string
		vcl   string
	}{
		{"a limit above MediaWiki's own", "18000s", debianWiki, 24 * time.Hour, "$wgUseCdn = true;", "wgCdnMaxAge", "set beresp.ttl = 18000s;"},
		{"no limit named: the default", "2s", debianWiki, 0, "", "wgCdnMaxAge", "set beresp.ttl = 2s;"},
		{"the wiki's own age, which tells what is purged", "7200s", debianWiki + "$wgCdnMaxAge = 7200;\n", 24 * time.Hour, "$wgCdnMaxAge = 7200;", "18000", `^s-maxage=7200,`},
		{"the wiki's own age is shorter, and tells nothing", "60s", debianWiki + "$wgCdnMaxAge = 60;\n", time.Hour, "$wgCdnMaxAge = 18000;", "= 60;", `^s-maxage=18000,`},
		{"the wiki's own age is that of what is not purged", "3600s", debianWiki + "$wgCdnMaxAge = 3600;\n", 24 * time.Hour, "$wgCdnMaxAge = 18000;", "3600", `^s-maxage=18000,`},
		{"the wiki's own age is above that of new pages", "18000s", debianWiki + "$wgCdnMaxAge = 2678400;\n", 24 * time.Hour, "$wgCdnMaxAge = 18000;", "2678400", `set beresp.ttl = 18000s;`},
		{"no short addresses", "300s", debianWiki, 5 * time.Minute, "", "", `{"^(?:/mediawiki/index\.php(?:/[^?]+|\?title=[^&]+)|/mediawiki/index\.php\?title=[^&]+&action=history)$"}`},
		{"pages in a query", "300s", debianWiki + "$wgArticlePath = \"$wgScriptPath/index.php?title=$1\";\n", 5 * time.Minute, "", "", `{"^(?:/mediawiki/index\.php\?title=[^&]+|/mediawiki`},
		{"purged by an inner address", "300s", "<?php\n$wgServer = 'https://wiki.example';\n$wgInternalServer = 'http://wiki.example';\n", 5 * time.Minute, "", "", `"wiki.example"`},
		{"an empty list", "300s", debianWiki + "$wgCdnServers = [];\n", 5 * time.Minute, "$wgCdnServers = [ '127.0.0.1:6081' ];", "[];", ""},
	} {
		in := behindVarnish(c.text)
		in.Stack.Regulation.Staleness = c.limit
		p, why := of(t, in, "mediawiki.cdn:app:front:"+c.id)
		if p == nil {
			t.Errorf("%s: not planned: %s", c.why, why)
			continue
		}
		if got := after(t, p); !strings.Contains(got, c.has) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s:\n%s", c.why, got)
		}
		if got := remedytest.After(*p, frontVCL); !strings.Contains(got, c.vcl) {
			t.Errorf("%s: no %s in\n%s", c.why, c.vcl, got)
		}
	}
	in := behindVarnish(debianWiki + "$wgJobRunRate = 0;\n")
	if p, why := of(t, in, "mediawiki.cdn:app:front:300s"); p == nil || !strings.Contains(p.Title, "when somebody runs the jobs ($wgJobRunRate is 0)") {
		t.Errorf("nobody runs jobs: %+v, %s", p, why)
	}
}

// On another host the two call each other by their hosts' addresses.
func TestMediaWikiCdnOnAnotherHost(t *testing.T) {
	in := behindVarnish(debianWiki)
	in.Stack.Service("front").Host = "edge"
	in.Snapshot.Files["edge"] = map[string]evidence.File{frontVCL: in.Snapshot.Files["local"][frontVCL]}
	delete(in.Snapshot.Files["local"], frontVCL)
	if p, why := of(t, in, "mediawiki.cdn:app:front:300s"); p != nil || !strings.Contains(why, "no address is known") {
		t.Errorf("planned %v: %s", p != nil, why)
	}
	in.Snapshot.Addresses = map[string][]string{"edge": {"10.0.0.1", "203.0.113.1"}, "local": {"10.0.0.2", "172.17.0.1"}}
	p, why := of(t, in, "mediawiki.cdn:app:front:300s")
	if p == nil {
		t.Fatal(why)
	}
	remedytest.Has(t, after(t, p), "$wgCdnServers = [ '10.0.0.1:6081' ];", "$wgCdnServersNoPurge = [ '10.0.0.1' ];")
	remedytest.Has(t, remedytest.After(*p, frontVCL), "acl kasoku_purgers {\n    \"10.0.0.2\";\n}")
}

func TestMediaWikiCdnRefuses(t *testing.T) {
	const id = "mediawiki.cdn:app:front:300s"
	settings := func(more string) func(in *remedy.Input) {
		return func(in *remedy.Input) { setFile(*in, settingsFile, debianWiki+more) }
	}
	vcl := func(more string) func(in *remedy.Input) {
		return func(in *remedy.Input) { setFile(*in, frontVCL, plainVCL+more) }
	}
	for _, c := range []struct {
		why  string
		bad  func(in *remedy.Input)
		says string
	}{
		{"the regulation does not permit settings", func(in *remedy.Input) { in.Stack.Regulation.ApplicationSettings = false }, "application_settings"},
		{"clients ask something before it", func(in *remedy.Input) { in.Stack.Load.URL = "http://wiki.example" }, "does not ask front"},
		{"nobody says that it leads there", func(in *remedy.Input) { in.Stack.Service("front").TalksTo = nil }, "talks_to"},
		{"another Varnish", func(in *remedy.Input) {
			in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "second", Kind: stack.Varnish})
		}, "2 Varnishes"},
		{"PHP in two services", func(in *remedy.Input) {
			in.Snapshot.Apache = map[string]evidence.ApacheBuild{"httpd": {PHPVersion: "8.2"}}
			in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "httpd", Kind: stack.Apache, Config: "/etc/nginx/none"})
		}, "2 services"},
		{"it listens at ::1 only", func(in *remedy.Input) { in.Stack.Service("front").Listen = []string{"[::1]:6081"} }, "call each other is not known"},
		{"the wiki's address is computed", settings("$wgServer = WebRequest::detectServer();\n"), "$wgServer is not plainly set"},
		{"PURGE by TLS", settings("$wgServer = 'https://wiki.example';\n"), "set $wgInternalServer"},
		{"a host that browsers write otherwise", settings("$wgServer = 'http://Wiki.example';\n"), "as browsers send it"},
		{"the default port is named", settings("$wgServer = 'http://wiki.example:80';\n"), "as browsers send it"},
		{"an inner address that nobody asks", settings("$wgInternalServer = 'http://inner.example';\n"), "readers ask wiki.example"},
		{"an inner address that is computed", settings("$wgInternalServer = f();\n"), "$wgInternalServer is not plainly set"},
		{"index.php is somewhere", settings("$wgScriptPath = f();\n"), "$wgScriptPath is not plainly set"},
		{"pages are somewhere", settings("$wgArticlePath = f();\n"), "$wgArticlePath is not plainly set"},
		{"pages among files", settings("$wgArticlePath = '/$1';\n"), "beside the wiki's own files"},
		{"ages are computed", settings("$wgCdnMaxAge = 60 * 60;\n"), "$wgCdnMaxAge is not plainly set"},
		{"other proxies", settings("$wgCdnServers = [ '10.9.9.9' ];\n"), "names other proxies"},
		{"set in a block", settings("if ( $x ) { $wgUseCdn = false; }\n"), "may set it too"},
		{"the VCL chooses hosts", vcl("sub vcl_recv { set req.backend_hint = app; }\n"), "backend_hint"},
		{"the VCL looks up by more", vcl("sub vcl_hash { hash_data(req.http.X-Device); }\n"), "vcl_hash"},
		{"the VCL asks for a password", vcl(ownRules["a password"].vcl), ownRules["a password"].says},
		{"the VCL asks for addresses in a header", vcl(ownRules["an address in a header"].vcl), ownRules["an address in a header"].says},
		{"the VCL sends to HTTPS", vcl(ownRules["to HTTPS, in a sub"].vcl), ownRules["to HTTPS, in a sub"].says},
		{"the VCL gives the request to another", vcl(ownRules["another VCL"].vcl), ownRules["another VCL"].says},
		{"something on MediaWiki's host asks it for everybody", func(in *remedy.Input) {
			in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "tls", Kind: stack.Nginx, Config: "/etc/nginx/none", TalksTo: []string{"front"}})
		}, "tls talks to front from the host of php"},
		{"the web server behind it asks it, too", func(in *remedy.Input) { in.Stack.Service("web").TalksTo = []string{"php", "front"} }, "web talks to front"},
		{"below a second", func(in *remedy.Input) { in.Stack.Regulation.Staleness = 500 * time.Millisecond }, "less than 1s"},
	} {
		in := behindVarnish(debianWiki)
		if p, why := of(t, in, id); p == nil {
			t.Fatalf("it is not planned at all: %s", why)
		}
		c.bad(&in)
		if p, why := of(t, in, id); p != nil || !strings.Contains(why, c.says) {
			t.Errorf("%s: planned %t, %s", c.why, p != nil, why)
		}
	}
	ordinary := behindVarnish(debianWiki)
	setFile(ordinary, frontVCL, ordinaryVCL)
	ordinary.Stack.Service("php").TalksTo = append(ordinary.Stack.Service("php").TalksTo, "front") // PURGE
	ordinary.Stack.Services = append(ordinary.Stack.Services, stack.Service{Name: "tls", Kind: stack.Nginx, Host: "edge", Config: "/etc/nginx/none", TalksTo: []string{"front"}})
	if p, why := of(t, ordinary, id); p == nil {
		t.Errorf("not planned with an ordinary VCL, and a proxy elsewhere: %s", why)
	}
	strict := behindVarnish(debianWiki)
	strict.Stack.Regulation.Allow = nil
	if p, why := of(t, strict, "mediawiki.cdn:app:front:2s"); p != nil || !strings.Contains(why, "staleness") {
		t.Errorf("planned %t although stale pages are not allowed: %s", p != nil, why)
	}
	// Without a Varnish it is nobody's matter.
	in := behindVarnish(debianWiki)
	in.Stack.Services = slices.DeleteFunc(in.Stack.Services, func(s stack.Service) bool { return s.Kind == stack.Varnish })
	if p, why := of(t, in, id); p != nil || strings.Contains(why, "mediawiki.cdn") {
		t.Errorf("planned %t without a Varnish: %s", p != nil, why)
	}
}
