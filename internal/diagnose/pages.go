package diagnose

import (
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/load"
)

// CacheablePage reports whether what strangers got of a page can be kept for
// the next one: it was seen more than once, changed less often than it was
// asked for, sets no cookie, and other kinds of strangers got the same.
func CacheablePage(p load.PageSample) bool {
	return p.Status == 200 && p.Confirmed && p.Private == "" && !p.SetsCookie && p.Count >= 2 && 2*p.Changes < p.Count
}

// CacheableFile reports whether every sampled answer for a file was the same
// for everybody, and the application does not say that it may not be kept.
func CacheableFile(a load.StaticSample) bool {
	return fixed(a) && a.Count >= 2 && !controls(a, "private", "no-store", "no-cache")
}

// Shared reports whether the application itself says that an answer may be
// kept for others, whatever cookie they send (RFC 9111, 3 and 5.2.2.9).
func Shared(a load.StaticSample) bool {
	return controls(a, "public")
}

// controls reports whether an answer's Cache-Control holds one of the words.
func controls(a load.StaticSample, words ...string) bool {
	for _, h := range a.Headers {
		name, value, _ := strings.Cut(h, ": ")
		if !strings.EqualFold(name, "Cache-Control") {
			continue
		}
		for d := range strings.SplitSeq(value, ",") {
			word, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(d)), "=")
			if slices.Contains(words, strings.TrimSpace(word)) {
				return true
			}
		}
	}
	return false
}

// PagePattern is the regular expression for $request_uri that fits this URL of
// a page and no other.
func PagePattern(url string) string { return "^" + regexp.QuoteMeta(url) + "$" }

// FilePattern fits a file's path with any query: two queries are two entries
// of a cache.
func FilePattern(path string) string { return "^" + regexp.QuoteMeta(path) + `(?:\?.*)?$` }

// manyOfARoute: so many URLs of one route that were all cacheable, and none
// that was not, stand for the route.
const manyOfARoute = 10

// PagePatterns are the regular expressions for the cacheable pages of a run,
// sorted: one for each URL, or one for a route of which many were looked at.
func PagePatterns(pages []load.PageSample, want func(load.PageSample) bool) []string {
	good, bad := map[string][]string{}, map[string]bool{}
	for _, p := range pages {
		switch {
		case CacheablePage(p) && want(p):
			good[p.Route] = append(good[p.Route], p.URL)
		case p.Confirmed || p.SetsCookie || p.Changes > 0:
			bad[p.Route] = true
		}
	}
	var out []string
	for route, urls := range good {
		if re := routePattern(route, urls); re != "" && !bad[route] && len(urls) >= manyOfARoute {
			out = append(out, re)
			continue
		}
		for _, u := range urls {
			out = append(out, PagePattern(u))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// routeVariable is ${name} in a scenario's path, or :name and * in a learnt route.
var routeVariable = regexp.MustCompile(`\$\{[^}]*\}|:[A-Za-z_]\w*|\*`)

// routePattern fits the URLs of a route without a query, "" if it would not
// fit those that were seen.
func routePattern(route string, urls []string) string {
	_, path, ok := strings.Cut(route, " ")
	if !ok || !strings.HasPrefix(path, "/") {
		return ""
	}
	re, from := "^", 0
	for _, at := range routeVariable.FindAllStringIndex(path, -1) {
		re += regexp.QuoteMeta(path[from:at[0]]) + `[^/?]+`
		from = at[1]
	}
	re += regexp.QuoteMeta(path[from:]) + "$"
	compiled, err := regexp.Compile(re)
	if err != nil || from == 0 {
		return ""
	}
	for _, u := range urls {
		if !compiled.MatchString(u) {
			return ""
		}
	}
	return re
}

// passes are the directives that hand a request to an application, by the
// prefix of their module's directives.
var passes = []string{"fastcgi", "proxy", "uwsgi", "scgi"}

// PassOf is how a location hands requests on: "fastcgi" for fastcgi_pass; "" if
// it answers itself.
func PassOf(loc *nginx.Directive) string {
	for _, p := range passes {
		if loc.First(p+"_pass") != nil {
			return p
		}
	}
	return ""
}

// PassedBy returns the location, or the server, that hands uri to an
// application, following try_files and index to where they lead when no file
// is there; nil if none does or that cannot be known.
func PassedBy(server *nginx.Directive, uri string) *nginx.Directive {
	uri, _, _ = strings.Cut(uri, "?")
	for range 3 { // a front controller is one step away
		loc := nginx.MatchLocation(server, uri)
		if loc == nil {
			loc = server
		}
		if PassOf(loc) != "" {
			return loc
		}
		next := ""
		if d := loc.Effective("try_files"); d != nil && len(d.Args) > 1 {
			next = d.Args[len(d.Args)-1]
		} else if d := loc.Effective("index"); d != nil && strings.HasSuffix(uri, "/") && len(d.Args) > 0 {
			next = uri + d.Args[0]
		}
		switch {
		case strings.HasPrefix(next, "@"):
			for _, l := range server.Find("location") {
				if len(l.Args) == 1 && l.Args[0] == next && PassOf(l) != "" {
					return l
				}
			}
			return nil
		case !strings.HasPrefix(next, "/"):
			return nil
		}
		uri, _, _ = strings.Cut(next, "?")
	}
	return nil
}

// Names of what Kasoku writes into nginx for a cache of pages.
const (
	PageMap   = "$kasoku_page"  // which kind of page a URL is
	CacheMap  = "$kasoku_cache" // the zone to use for a request, or off
	CacheZone = "kasoku_pages"
)

// MapBlock returns the map that gives a variable its value; nil if there is none.
func MapBlock(conf *nginx.Config, variable string) *nginx.Directive {
	for _, http := range conf.Root.Find("http") {
		for _, m := range http.Find("map") {
			if len(m.Args) == 2 && m.Args[1] == variable {
				return m
			}
		}
	}
	return nil
}

// CachedAt tells whether a location keeps answers: "" it does not, else the
// zone, or CacheMap if the cache is Kasoku's own.
func CachedAt(loc *nginx.Directive) string {
	d := loc.Effective(PassOf(loc) + "_cache")
	if d == nil || len(d.Args) == 0 || d.Args[0] == "off" {
		return ""
	}
	return d.Args[0]
}

// kept reports whether nginx keeps answers to uri already: by a cache that
// somebody else set up, or by Kasoku's with a pattern that fits.
func kept(conf *nginx.Config, loc *nginx.Directive, uri string) bool {
	switch CachedAt(loc) {
	case "":
		return false
	case CacheMap:
	default:
		return true
	}
	m := MapBlock(conf, PageMap)
	if m == nil {
		return false
	}
	return slices.ContainsFunc(m.Children, func(d *nginx.Directive) bool {
		re, ok := strings.CutPrefix(d.Name, "~")
		if !ok {
			return false
		}
		compiled, err := regexp.Compile(re)
		return err == nil && compiled.MatchString(uri)
	})
}
