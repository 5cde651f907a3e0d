package pagecache

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
)

// overriding are headers by which some frameworks take another URL or method
// than the request line's; a request with one is not looked up.
var overriding = []string{"x-original-url", "x-rewrite-url", "x-http-method-override"}

// identifying are headers by which clients, and servers that let them in, often
// say who asks; a request with one is not looked up and its answer not kept,
// though the scenario sends none. What the server with the cache itself tells
// the application (proxy_set_header) is not the client's and does not count.
var identifying = []string{"x-api-key", "x-auth-token", "x-access-token", "x-session-id", "x-user-id", "x-remote-user", "remote-user",
	"x-forwarded-user", "x-forwarded-email", "x-client-cert", "ssl-client-cert"}

// forwarded are headers by which applications behind a balancer learn how they
// were asked; they are part of the key, so that nobody gets an answer made for
// another host or scheme.
var forwarded = []string{"x-forwarded-host", "x-forwarded-proto", "x-forwarded-port", "x-forwarded-prefix"}

// privateMap is the variable that tells which answers are not kept.
const privateMap = "$kasoku_private"

// bars are the headers, beside Authorization and Cookie, of which none may be in
// a request that is looked up; telling are the scenario's.
func bars(telling []string) []string {
	var out []string
	for _, h := range slices.Concat(overriding, identifying, telling) {
		if h != "authorization" && h != "cookie" && !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

func variable(header string) string {
	return "$http_" + strings.ReplaceAll(strings.ToLower(header), "-", "_")
}

// barring are the variables that are empty for a request that may be looked up;
// the cookie's is not among them.
func barring(telling []string) []string {
	out := []string{"$http_authorization"}
	for _, h := range bars(telling) {
		out = append(out, variable(h))
	}
	return out
}

// maps decide what is looked up and what is not kept.
func maps(telling []string, valid time.Duration) string {
	return fmt.Sprintf(`map $request_uri %s {
    default 0;
}
%s
%s
map "$upstream_http_x_accel_expires|$upstream_http_expires|$upstream_http_cache_control" $kasoku_dated {
    default 1;
    "~^\|\|" 0;
    "~*^\|.*max-age\s*=" 0;
}`, diagnose.PageMap, looked(barring(telling)), private(valid))
}

// looked is the map of what is looked up. A request that tells who asks never
// meets the cache: for it the zone is off, so that it is passed on as if there
// were none.
func looked(barring []string) string {
	none := strings.Repeat("|", len(barring)+1)
	return fmt.Sprintf(`map "%[1]s|%[2]s|$http_cookie" %[3]s {
    default off;
    "%[4]s%[5]s" %[6]s;
    "~^%[7]s%[8]s" %[6]s;
}`, diagnose.PageMap, strings.Join(barring, "|"), diagnose.CacheMap, pageKind, none, diagnose.CacheZone, fileKind, regexp.QuoteMeta(none))
}

// private is the map of what is not kept. nginx takes the first expression that
// matches; s-maxage counts before max-age (RFC 9111, 5.2.2.10), which is often 0
// beside it, for browsers.
func private(valid time.Duration) string {
	return fmt.Sprintf(`map $upstream_http_cache_control %[1]s {
    default 0;
    "~*(^|[,\s])(private|no-store|no-cache)" 1;
    "~*(^|[,\s])s-maxage\s*=\s*\"?(%[2]s)(\D|$)" 1;
    "~*(^|[,\s])s-maxage\s*=" 0;
    "~*(^|[,\s])max-age\s*=\s*\"?(%[2]s)(\D|$)" 1;
}`, privateMap, below(int(valid/time.Second)))
}

// below is a regular expression for the whole numbers from 0 to n-1, n > 0, as
// max-age has them: an answer that the application lets live shorter than it
// would be kept is not kept at all.
func below(n int) string {
	text := fmt.Sprint(n)
	var parts []string
	if len(text) > 1 {
		parts = append(parts, fmt.Sprintf(`\d{1,%d}`, len(text)-1))
	}
	for i := range text {
		if text[i] == '0' {
			continue
		}
		part := text[:i] + fmt.Sprintf("[0-%c]", text[i]-1)
		if rest := len(text) - i - 1; rest > 0 {
			part += fmt.Sprintf(`\d{%d}`, rest)
		}
		parts = append(parts, part)
	}
	return "0*(" + strings.Join(parts, "|") + ")"
}

// renew brings a cache that is there up to date. What barred a request goes on
// to do so: who sent it may still ask, though the scenario does not.
func renew(conf *nginx.Config, telling []string, valid time.Duration) error {
	m := diagnose.MapBlock(conf, diagnose.CacheMap)
	if m == nil {
		return fmt.Errorf("there is a map of %s and none of %s; take the rest of the cache out", diagnose.PageMap, diagnose.CacheMap)
	}
	var all []string
	for _, v := range append(strings.Split(m.Args[0], "|"), barring(telling)...) {
		if v != "" && v != diagnose.PageMap && v != "$http_cookie" && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	if err := rewrite(conf, diagnose.CacheMap, looked(all)); err != nil {
		return err
	}
	if err := rewrite(conf, privateMap, private(valid)); err != nil {
		return err
	}
	return keepFor(conf, valid)
}

// rewrite puts a map in the place of the one that is there. Lines that somebody
// added to it may bar more than Kasoku knows of, and are not thrown away.
func rewrite(conf *nginx.Config, name, text string) error {
	old := diagnose.MapBlock(conf, name)
	if old == nil {
		return fmt.Errorf("there is no map of %s although %s is there; take the rest of the cache out", name, diagnose.PageMap)
	}
	if len(old.Children) != strings.Count(text, ";") {
		return fmt.Errorf("%s:%d: the map of %s has not the lines that Kasoku wrote; add these pages by hand", old.File.Path, old.Line, name)
	}
	if err := old.InsertBefore(text); err != nil {
		return err
	}
	return old.Remove()
}

// keepFor sets for how long all locations that use the cache keep an answer.
func keepFor(conf *nginx.Config, valid time.Duration) error {
	var errs []error
	conf.Root.Walk(func(d *nginx.Directive) bool {
		module, ok := strings.CutSuffix(d.Name, "_cache")
		if !ok || !slices.Equal(d.Args, []string{diagnose.CacheMap}) {
			return true
		}
		for _, v := range d.Parent.Find(module + "_cache_valid") {
			if len(v.Args) == 2 && v.Args[0] == "200" {
				errs = append(errs, v.SetArgs("200", fmt.Sprintf("%ds", int(valid/time.Second))))
			}
		}
		return true
	})
	return errors.Join(errs...)
}

// enter adds what is not in PageMap yet.
func enter(conf *nginx.Config, entries []wanted) error {
	m := diagnose.MapBlock(conf, diagnose.PageMap)
	if m == nil {
		return fmt.Errorf("the map of pages was not made")
	}
	for _, e := range entries {
		if m.First("~"+e.pattern) != nil {
			continue
		}
		if err := m.Append(nginx.Quote("~"+e.pattern) + " " + e.kind + ";"); err != nil {
			return err
		}
	}
	return nil
}
