package remedy_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"kasoku/internal/remedy/remedytest"
)

// nginxTakes fails the test unless nginx accepts a configuration.
func nginxTakes(t *testing.T, conf string) {
	t.Helper()
	nginx, dir := program(t, "/usr/sbin/nginx"), openDir(t)
	write(t, dir+"/nginx.conf", strings.NewReplacer("/tmp/a.log", dir+"/a.log", "/dev/shm/kasoku-pages-web", dir+"/pages").Replace(conf))
	runs(t, conf, nginx, "-t", "-q", "-p", dir, "-c", dir+"/nginx.conf", "-g", "pid "+dir+"/pid; error_log stderr;")
}

// lookedUp are the source and the pattern of the map of what strangers get.
var lookedUp = regexp.MustCompile(`map "(\$kasoku_page[^"]*)" \$kasoku_cache \{\s*default off;\s*"1(\|+)" kasoku_pages;\s*"~\^2((?:\\\|)+)" kasoku_pages;\s*\}`)

// Another session with other users and another limit finds more pages: the cache
// that is there bars both sessions' headers, and keeps nothing for longer.
func TestNginxRenewsItsMaps(t *testing.T) {
	in := pagesWorld(strangersPage("/"))
	in.Evidence.Load.TellingHeaders = []string{"x-shop"}
	p := remedytest.Want(t, in, "nginx.page-cache")
	was := remedytest.After(p, "")
	remedytest.Has(t, was, "|$http_x_shop|$http_cookie\"", "fastcgi_cache_valid 200 299s;")
	remedytest.Put(in, p.Changes)
	in.Evidence.Load.Pages = append(in.Evidence.Load.Pages, strangersPage("/news"))
	same := remedytest.After(remedytest.Want(t, in, "nginx.page-cache"), "")
	if got := strings.Replace(same, "        ~^/news$ 1;\n", "", 1); got != was {
		t.Errorf("more than the page is new:\n%s\nbefore:\n%s", same, was)
	}
	in.Evidence.Load.TellingHeaders, in.Stack.Regulation.Staleness = []string{"x-tenant"}, time.Minute
	text := remedytest.After(remedytest.Want(t, in, "nginx.page-cache"), "")
	remedytest.Has(t, text, "|$http_x_shop|$http_x_tenant|$http_cookie\"", "fastcgi_cache_valid 200 59s;", `(0*(\d{1,1}|[0-4]\d{1}|5[0-8]))`)
	remedytest.HasNot(t, text, "299s", `[0-1]\d{2}`)
	for _, one := range []string{" $kasoku_page {", " $kasoku_cache {", " $kasoku_private {", " $kasoku_dated {", "fastcgi_cache_path"} {
		if strings.Count(text, one) != 1 {
			t.Errorf("not one %q:\n%s", one, text)
		}
	}
	m := lookedUp.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no map:\n%s", text)
	}
	if n := strings.Count(m[1], "|"); len(m[2]) != n || len(m[3]) != 2*n {
		t.Errorf("%d bars in the source, %d and %d in the patterns:\n%s", n, len(m[2]), len(m[3])/2, text)
	}
	nginxTakes(t, text)
}

// Lines of somebody else's in these maps are not thrown away.
func TestNginxLeavesForeignMaps(t *testing.T) {
	for _, more := range []string{"$kasoku_cache {\n\"~example\" off;", "$kasoku_private {\n~no-transform 1;"} {
		in := pagesWorld(strangersPage("/"))
		p := remedytest.Want(t, in, "nginx.page-cache")
		remedytest.Put(in, p.Changes)
		f := in.Snapshot.Files["local"][remedytest.NginxPath]
		name, _, _ := strings.Cut(more, "\n")
		f.Content = []byte(strings.Replace(string(f.Content), name, more, 1))
		in.Snapshot.Files["local"][remedytest.NginxPath] = f
		in.Evidence.Load.Pages = append(in.Evidence.Load.Pages, strangersPage("/news"))
		remedytest.WantNone(t, in, "nginx.page-cache", "has not the lines that Kasoku wrote")
	}
}
