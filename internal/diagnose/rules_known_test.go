package diagnose

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/knownapp"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/trace"
)

// known makes the app of healthy one of the known applications, with these
// settings called for.
func known(id string, names ...string) func(*Input) {
	return func(in *Input) {
		f := knownapp.Found{ID: id, Version: "1.0"}
		for _, n := range names {
			f.Calls = append(f.Calls, knownapp.Call{Area: knownapp.ByID(id).Knob(n).Area, Name: n, Where: "/srv/app/settings"})
		}
		in.Snapshot.Known = map[string]knownapp.Found{"app": f}
	}
}

// walked adds look-ups in MediaWiki's tables, and others, to what was followed.
func walked(in *Input) {
	const texts, page = "SELECT lc_value FROM `mw_l10n_cache` WHERE lc_lang = ? AND lc_key = ? LIMIT ?", "SELECT page_id FROM page WHERE page_title = ?"
	in.Evidence.Requests.Routes[0].Calls = []trace.CallClass{
		{Service: "db", System: trace.SQL, What: texts, PerRequest: 136}, {Service: "db", System: trace.SQL, What: page, PerRequest: 12}}
	for _, what := range []string{texts, page} {
		in.Evidence.Requests.Patterns = append(in.Evidence.Requests.Patterns, trace.Pattern{Kind: trace.NPlusOne, Measures: []string{"I04"}, Method: "GET", Route: "/",
			Service: "db", System: trace.SQL, What: what, PerRequest: 12, Most: 20, Could: 1, Requests: 3, With: 3})
	}
}

func rulesOf(t *testing.T, in Input) (ids []string, byRule map[string]Finding) {
	t.Helper()
	d, err := Diagnose(in)
	if err != nil {
		t.Fatal(err)
	}
	byRule = map[string]Finding{}
	for _, f := range d.Findings {
		ids = append(ids, f.Rule)
		byRule[f.Rule] = f
	}
	return ids, byRule
}

func times(all []string, what string) int {
	n := 0
	for _, s := range all {
		if s == what {
			n++
		}
	}
	return n
}

// Look-ups in tables that are caches are one finding; others stay their own.
func TestLookupsAreOneFinding(t *testing.T) {
	plain := healthy()
	walked(&plain)
	if ids, _ := rulesOf(t, plain); times(ids, "request.n+1") != 2 || times(ids, "request.many-calls") != 1 || slices.Contains(ids, "app.object-cache") {
		t.Errorf("of an unknown application: %v", ids)
	}
	wiki := healthy()
	walked(&wiki)
	known("mediawiki", "$wgMainCacheType", "$wgCacheDirectory")(&wiki)
	ids, byRule := rulesOf(t, wiki)
	if times(ids, "request.n+1") != 1 || times(ids, "request.many-calls") != 0 || times(ids, "app.object-cache") != 1 {
		t.Errorf("of a MediaWiki: %v", ids)
	}
	f := byRule["app.object-cache"]
	for _, want := range []string{"$wgMainCacheType", "$wgCacheDirectory", "136 to 136 statements per request", "GET /"} {
		if !strings.Contains(f.Text, want) {
			t.Errorf("%q is not in: %s", want, f.Text)
		}
	}
	if !strings.Contains(byRule["request.n+1"].Text, "FROM page") {
		t.Errorf("the other pattern: %s", byRule["request.n+1"].Text)
	}
	// With an object cache of its own the table is no longer excused.
	set := healthy()
	walked(&set)
	known("mediawiki")(&set)
	if ids, _ := rulesOf(t, set); times(ids, "request.n+1") != 2 {
		t.Errorf("of a MediaWiki with an object cache: %v", ids)
	}
}

// What a setting expects in front of the application decides whether it is told.
func TestKnownFront(t *testing.T) {
	in := healthy()
	known("mediawiki", "$wgUseFileCache", "$wgUseCdn")(&in)
	_, byRule := rulesOf(t, in)
	if text := byRule["app.page-cache"].Text; strings.Contains(text, "$wgUseFileCache") || !strings.Contains(text, "$wgUseCdn") {
		t.Errorf("behind Varnish: %s", text)
	}
	in.Stack.Services = slices.DeleteFunc(in.Stack.Services, func(s stack.Service) bool { return s.Kind == stack.Varnish })
	_, byRule = rulesOf(t, in)
	if text := byRule["app.page-cache"].Text; !strings.Contains(text, "$wgUseFileCache") || strings.Contains(text, "$wgUseCdn") {
		t.Errorf("alone: %s", text)
	}
}

// A cache of whole pages spares what strangers ask for, and only what it keeps.
func TestKnownPages(t *testing.T) {
	page := func(url, route string, strangers, known int64) load.PageSample {
		return load.PageSample{URL: url, Route: route, Status: 200, Count: strangers, Known: known}
	}
	for name, c := range map[string]struct {
		pages []load.PageSample
		want  float64
	}{
		"nothing is told":        {nil, 1},
		"routes are not told":    {[]load.PageSample{page("/wiki/A", "", 9, 0)}, 1},
		"read by strangers":      {[]load.PageSample{page("/wiki/A", "read", 9, 0), page("/index.php?title=A&diff=3", "compare", 9, 0)}, 0.75},
		"history":                {[]load.PageSample{page("/index.php?title=A&action=history", "compare", 9, 0)}, 0.25},
		"nobody reads unnamed":   {[]load.PageSample{page("/wiki/A", "read", 0, 9)}, 0},
		"all, and what is wrong": {[]load.PageSample{page("/wiki/A", "read", 9, 0), page("/wiki/B", "compare", 1, 0), page("/%zz", "other", 1, 0)}, 1},
	} {
		in := healthy()
		known("mediawiki", "$wgUseFileCache")(&in)
		in.Evidence.Load.Requests = 1000
		in.Evidence.Load.Routes = []load.RouteResult{{Route: "read", Requests: 400, Total: 6 * time.Second}, {Route: "compare", Requests: 250, Total: 2 * time.Second}}
		in.Evidence.Load.Pages = c.pages
		m, err := newModel(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.pagePart(knownapp.ByID("mediawiki"), []knownapp.Call{{Name: "$wgUseFileCache"}}); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The settings of PHP inside Apache are judged as those of PHP-FPM are.
func TestModPHPSettings(t *testing.T) {
	in := healthy()
	in.Snapshot.Apache = map[string]evidence.ApacheBuild{"httpd": {PHPVersion: "8.2"}}
	in.Snapshot.PHP["httpd"] = map[string]string{"opcache.enable": "Off", "realpath_cache_size": "16K"}
	in.Evidence.Services["httpd"] = evidence.ServiceUse{CPU: 5}
	ids, byRule := rulesOf(t, in)
	if byRule["php.opcache-off"].Service != "httpd" || byRule["php.realpath"].Service != "httpd" {
		t.Errorf("found %v", ids)
	}
	in.Stack.Service("httpd").Status = "http://127.0.0.1/opcache"
	in.Evidence.Counters["httpd"] = evidence.CounterDelta{Value: map[string]string{"opcache.cache_full": "true"}}
	if _, byRule := rulesOf(t, in); byRule["php.opcache-full"].Service != "httpd" {
		t.Errorf("a full OPcache: %+v", byRule["php.opcache-full"])
	}
	delete(in.Snapshot.PHP, "httpd")
	d, err := Diagnose(in)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(d.NotJudged, func(n NotJudged) bool { return n.Rule == "php.opcache-off" && strings.Contains(n.Why, "httpd") }) {
		t.Errorf("not judged: %v", d.NotJudged)
	}
}
