package pagecache

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// area is a part of a server's URLs for which it lets clients in by address.
type area struct {
	rule   string         // file, line and directive
	prefix string         // the paths that begin with it; "" for all
	exact  bool           // prefix is the whole path
	regex  *regexp.Regexp // instead of prefix
	status bool           // only the server's own status is there: no page leads to it
}

// lead is where a server itself leads a URL to, such as the index of a folder or
// what a rule rewrites it to: the areas that it lies in count for the URL, too.
type lead struct {
	text  string // the path, as far as it is known
	whole bool   // it is known to its end
}

// admission is what decides about addresses in one server.
type admission struct {
	areas  []area
	leads  []lead
	behind []string // what a page's path is tried with at its end: an index, a suffix
}

// touches reports whether a page may come under the area's rule.
func (adm admission) touches(a area, pattern string) bool {
	page := plain(pattern)
	if a.has(page) {
		return true
	}
	if a.status {
		return false
	}
	path, _, _ := strings.Cut(page.text, "?")
	return slices.ContainsFunc(adm.leads, a.has) || slices.ContainsFunc(adm.behind, func(end string) bool {
		if !strings.HasPrefix(end, "/") {
			return a.has(lead{path + end, page.whole})
		}
		return a.has(lead{strings.TrimSuffix(path, "/") + end, page.whole})
	})
}

// AdmittedBehind refuses pages that another server than the cache gives by the
// client's address: that server is not asked for a kept page, so who it would turn
// away would get what it gave to somebody else. patterns are the regular
// expressions of the kept URLs. cache is the service that keeps them.
//
// HAProxy, and what an application decides by itself, are not looked at.
func AdmittedBehind(in planning.Input, cache string, patterns []string) error {
	for _, svc := range behind(in.Stack, cache) {
		adm, err := admissionOf(in, svc)
		if err != nil {
			return fmt.Errorf("%s: whether it gives pages by the client's address is not known: %w", svc.Name, err)
		}
		for _, a := range adm.areas {
			if slices.ContainsFunc(patterns, func(p string) bool { return adm.touches(a, p) }) {
				return fmt.Errorf("%s, and %s would not be asked for a kept page; give the rule to %s", a.rule, svc.Name, cache)
			}
		}
	}
	return nil
}

// behind are the services that a request for a page may come to from the cache:
// those that kasoku.yaml says it talks to, and on from there. Where it says
// nothing, all that do not talk to the cache.
func behind(s *stack.Stack, cache string) []*stack.Service {
	next := func(name string) []string {
		svc := s.Service(name)
		if svc == nil {
			return nil
		}
		return slices.DeleteFunc(append([]string{svc.FrontFor, svc.RunsIn}, svc.TalksTo...), func(name string) bool { return name == "" })
	}
	reached := next(cache)
	for i := 0; i < len(reached); i++ {
		for _, name := range next(reached[i]) {
			if !slices.Contains(reached, name) {
				reached = append(reached, name)
			}
		}
	}
	var out []*stack.Service
	for i := range s.Services {
		svc := &s.Services[i]
		if svc.Name != cache && (slices.Contains(reached, svc.Name) || len(reached) == 0 && !slices.Contains(svc.TalksTo, cache)) {
			out = append(out, svc)
		}
	}
	return out
}

func admissionOf(in planning.Input, svc *stack.Service) (admission, error) {
	switch svc.Kind {
	case stack.Apache:
		conf, err := diagnose.ApacheConfig(in.Snapshot, svc)
		if err != nil {
			return admission{}, err
		}
		return apacheAdmission(in, svc, conf), nil
	case stack.Nginx:
		conf, err := diagnose.NginxConfig(in.Snapshot, svc)
		if err != nil {
			return admission{}, err
		}
		return nginxAdmission(conf), nil
	case stack.Varnish:
		conf, err := diagnose.VarnishConfig(in.Snapshot, svc)
		if err != nil {
			return admission{}, err
		}
		return admission{}, Chooses(conf)
	default: // keeps no pages
	}
	return admission{}, nil
}

// has reports whether what begins with a text may lie in the area.
func (a area) has(l lead) bool {
	text, whole := l.text, l.whole
	if uri, _, query := strings.Cut(text, "?"); query {
		text, whole = uri, true
	}
	decoded, err := url.PathUnescape(text)
	if err != nil || !strings.HasPrefix(decoded, "/") {
		return true
	}
	clean := path.Clean(decoded)
	if strings.HasSuffix(decoded, "/") && clean != "/" {
		clean += "/"
	}
	switch {
	case a.regex != nil:
		return !whole || a.regex.MatchString(clean)
	case a.exact && whole:
		return clean == a.prefix
	}
	return strings.HasPrefix(clean, a.prefix) || strings.HasPrefix(clean+"/", a.prefix) || !whole && strings.HasPrefix(a.prefix, clean)
}

// plain is what all matches of a regular expression begin with; the whole path if
// nothing but a query comes after it.
func plain(pattern string) lead {
	rest := strings.TrimPrefix(pattern, "^")
	var b strings.Builder
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		switch {
		case c == '\\' && i+1 < len(rest) && !isWord(rest[i+1]):
			i++
			c = rest[i]
		case rest[i:] == "$" || strings.HasPrefix(rest[i:], `(?:\?`):
			return lead{b.String(), true}
		case strings.IndexByte(`.+*?()|[]{}^$\`, c) >= 0:
			text := b.String()
			if strings.IndexByte("?*{", c) >= 0 && text != "" {
				text = text[:len(text)-1] // what comes before may be absent
			}
			return lead{text, false}
		}
		b.WriteByte(c)
	}
	return lead{b.String(), false}
}

// addressHeaders matches the names of headers and variables by which a proxy or a
// balancer tells the client's address. Those for host and scheme are part of a
// page's key.
const addressHeaders = `forwarded[-_]for|(?:real|client|connecting)[-_]ip|http_forwarded\b|\bforwarded\b(?:[^-_]|$)`

// known is a text up to its first variable, which begins with one of marks.
func known(text, marks string) lead {
	if i := strings.IndexAny(text, marks); i >= 0 {
		return lead{text[:i], false}
	}
	return lead{text, true}
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
