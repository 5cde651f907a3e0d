package pagecache

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// area is a part of a server's URLs for which it lets clients in by address.
type area struct {
	rule   string         // file, line and directive
	prefix string         // the paths that begin with it; "" for all
	regex  *regexp.Regexp // instead of prefix
}

// AdmittedBehind refuses pages that another server than the cache gives by the
// client's address: that server is not asked for a kept page, so who it would turn
// away would get what it gave to somebody else. patterns are the regular
// expressions of the kept URLs. cache is the service that keeps them.
//
// HAProxy, and what an application decides by itself, are not looked at.
func AdmittedBehind(in planning.Input, cache string, patterns []string) error {
	for _, svc := range behind(in.Stack, cache) {
		areas, err := admittedAt(in, svc)
		if err != nil {
			return fmt.Errorf("%s: whether it gives pages by the client's address is not known: %w", svc.Name, err)
		}
		for _, a := range areas {
			for _, p := range patterns {
				if a.touches(p) {
					return fmt.Errorf("%s, and %s would not be asked for a kept page; give the rule to %s", a.rule, svc.Name, cache)
				}
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
		if svc.FrontFor != "" {
			return append([]string{svc.FrontFor}, svc.TalksTo...)
		}
		return svc.TalksTo
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

func admittedAt(in planning.Input, svc *stack.Service) ([]area, error) {
	switch svc.Kind {
	case stack.Apache:
		conf, err := diagnose.ApacheConfig(in.Snapshot, svc)
		if err != nil {
			return nil, err
		}
		return apacheAreas(in, svc, conf), nil
	case stack.Nginx:
		conf, err := diagnose.NginxConfig(in.Snapshot, svc)
		if err != nil {
			return nil, err
		}
		return nginxAreas(conf), nil
	case stack.Varnish:
		conf, err := diagnose.VarnishConfig(in.Snapshot, svc)
		if err != nil {
			return nil, err
		}
		return nil, Chooses(conf)
	}
	return nil, nil
}

// AdmitsByAddress reports whether a directive of Apache, its name and arguments,
// lets clients in or keeps them out by their address (mod_authz_host,
// mod_access_compat), or by whether they are on the host.
func AdmitsByAddress(words []string) (address, local bool) {
	if len(words) < 2 {
		return false, false
	}
	args := words[1:]
	switch strings.ToLower(words[0]) {
	case "require":
		if strings.EqualFold(args[0], "not") {
			args = args[1:]
		}
		if len(args) == 0 {
			return false, false
		}
		return len(args) > 1 && slices.Contains([]string{"ip", "host", "forward-dns"}, strings.ToLower(args[0])), strings.EqualFold(args[0], "local")
	case "allow", "deny":
		return len(args) > 1 && strings.EqualFold(args[0], "from") && !strings.EqualFold(args[1], "all") && !strings.HasPrefix(strings.ToLower(args[1]), "env="), false
	}
	return false, false
}

// leading are directives by which a URL leads to another folder than its path
// says, so that no folder's URLs are known (Apache 2.4 manual, "Mapping URLs to
// Filesystem Locations").
var leading = []string{"rewriterule", "aliasmatch", "scriptaliasmatch", "virtualdocumentroot", "virtualscriptalias", "action"}

// asksAddress is in a test of Apache that asks where a request comes from
// (Apache 2.4 manual, "Expressions"; mod_rewrite, RewriteCond); -R is short for it.
var asksAddress = regexp.MustCompile(`(?i)\bREMOTE_(?:ADDR|HOST)\b|\bHTTP:(?:[\w-]*(?:Forwarded-For|Real-IP|Client-IP)|Forwarded)\b[^-]|(?:^|\s)-R\s`)

// byVariable are the names of variables that Apache sets by the client's address.
func byVariable(words []string, known []string) []string {
	switch strings.ToLower(words[0]) {
	case "setenvif", "setenvifnocase", "setenvifexpr":
	default:
		return known
	}
	if len(words) < 3 || !asksAddress.MatchString(words[1]) && !asksForwarded.MatchString(words[1]) {
		return known
	}
	for _, w := range words[2:] {
		name, _, _ := strings.Cut(strings.TrimPrefix(w, "!"), "=")
		known = append(known, name)
	}
	return known
}

// asksForwarded is the name of a header that tells the client's address, in a SetEnvIf.
// Forwarded headers for host and scheme are part of a page's key.
var asksForwarded = regexp.MustCompile(`(?i)^(?:[\w-]*(?:Forwarded-For|Real-IP|Client-IP)|Forwarded)$`)

// decides reports whether a directive of Apache gives or refuses pages by the
// client's address. variables are those that byVariable found.
func decides(words, variables []string) bool {
	if address, local := AdmitsByAddress(words); address || local {
		return true
	}
	text := strings.Join(words[1:], " ")
	switch strings.ToLower(words[0]) {
	case "rewritecond", "if", "elseif":
		return asksAddress.MatchString(text)
	case "require", "allow", "deny":
		return asksAddress.MatchString(text) || slices.ContainsFunc(words[1:], func(w string) bool {
			return slices.Contains(variables, strings.TrimPrefix(w, "env="))
		})
	}
	return false
}

func apacheAreas(in planning.Input, svc *stack.Service, conf *apache.Config) []area {
	type rule struct {
		text, folder string // of a .htaccess
		at           *apache.Directive
	}
	var rules []rule
	roots := map[string]string{} // folder: its URL
	mapped := true
	var variables []string
	look := func(words []string, r rule) {
		variables = byVariable(words, variables)
		if decides(words, variables) {
			r.text += strings.Join(words, " ") + " decides by the client's address"
			rules = append(rules, r)
		}
		mapped = mapped && !slices.Contains(leading, strings.ToLower(words[0]))
	}
	conf.Root.Walk(func(d *apache.Directive) bool {
		if d.State == apache.Inactive {
			return false
		}
		switch {
		case d.Is("DocumentRoot") && len(d.Args) == 1:
			roots[path.Clean(d.Args[0])] = "/"
		case (d.Is("Alias") || d.Is("ScriptAlias")) && len(d.Args) == 2:
			roots[path.Clean(d.Args[1])] = d.Args[0]
		case d.Is("Alias") || d.Is("ScriptAlias"):
			mapped = false
		}
		where := ""
		if d.File != nil {
			where = fmt.Sprintf("%s:%d: ", d.File.Path, d.Line)
		}
		look(append([]string{d.Name}, d.Args...), rule{text: where, at: d})
		return true
	})
	for _, file := range in.Snapshot.Apache[svc.Name].AccessFiles {
		for line := range strings.Lines(string(in.Snapshot.Files[planning.HostOf(svc)][file].Content)) {
			if words := strings.Fields(line); len(words) > 0 {
				look(words, rule{text: file + ": ", folder: path.Dir(file)})
			}
		}
	}
	var out []area
	for _, r := range rules {
		if r.at != nil {
			var known *area
			if known, r.folder = section(r.at); known != nil {
				known.rule = r.text
				out = append(out, *known)
				continue
			}
		}
		if !mapped || r.folder == "" {
			out = append(out, area{rule: r.text})
			continue
		}
		for root, prefix := range roots {
			switch {
			case within(root, r.folder):
				out = append(out, area{rule: r.text, prefix: prefix})
			case within(r.folder, root):
				out = append(out, area{rule: r.text, prefix: path.Join(prefix, strings.TrimPrefix(r.folder, root))})
			}
		}
	}
	return out
}

// within reports whether a folder is another or lies in it.
func within(folder, other string) bool {
	return folder == other || strings.HasPrefix(folder, strings.TrimSuffix(other, "/")+"/")
}

// wildcard is of a path that stands for many.
const wildcard = "*?["

// section is where a directive of Apache stands: the URLs of a <Location>, or the
// folder of a <Directory>. Neither is known of any other section.
func section(d *apache.Directive) (*area, string) {
	for at := d.Section(); at != nil && at.Parent != nil; at = at.Section() {
		arg := ""
		if len(at.Args) > 0 {
			arg = at.Args[len(at.Args)-1]
		}
		switch {
		case at.Is("LocationMatch") || at.Is("Location") && len(at.Args) == 2:
			if re, err := regexp.Compile(arg); err == nil {
				return &area{regex: re}, ""
			}
			return &area{}, ""
		case at.Is("Location"):
			if strings.ContainsAny(arg, wildcard) {
				return &area{}, ""
			}
			return &area{prefix: arg}, ""
		case at.Is("Directory") && len(at.Args) == 1 && !strings.ContainsAny(arg, wildcard):
			return nil, path.Clean(arg)
		case at.Is("Directory") || at.Is("DirectoryMatch") || at.Is("VirtualHost"):
			return &area{}, ""
		}
	}
	return &area{}, ""
}

// clientAddress is in the name or the value of a variable of nginx that tells
// where a request comes from.
var clientAddress = regexp.MustCompile(`\$(?:\{?(?:binary_remote_addr|remote_addr|realip_remote_addr|http_(?:[a-z_]*forwarded_for|forwarded|[a-z_]*(?:real|client)_ip)|proxy_add_x_forwarded_for|geoip\w*)\b)`)

func nginxAreas(conf *nginx.Config) []area {
	var told []string // variables that come of the client's address
	tells := func(args []string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			return clientAddress.MatchString(a) || slices.ContainsFunc(told, func(v string) bool { return strings.Contains(a, v) })
		})
	}
	conf.Root.Walk(func(d *nginx.Directive) bool {
		n := len(d.Args)
		if d.Name == "geo" && n > 0 || (d.Name == "map" && n == 2 || d.Name == "set" && n == 2) && tells(d.Args) {
			name := d.Args[n-1]
			if d.Name == "set" {
				name = d.Args[0]
			}
			told = append(told, name)
		}
		return true
	})
	var out []area
	conf.Root.Walk(func(d *nginx.Directive) bool {
		byAddress := (d.Name == "allow" || d.Name == "deny") && len(d.Args) == 1 && d.Args[0] != "all" || d.Name == "if" && tells(d.Args)
		if byAddress {
			a := locationOf(d)
			a.rule = fmt.Sprintf("%s:%d: %s %s decides by the client's address", d.File.Path, d.Line, d.Name, strings.Join(d.Args, " "))
			out = append(out, a)
		}
		return true
	})
	return out
}

// locationOf is the innermost location around a directive of nginx.
func locationOf(d *nginx.Directive) area {
	for at := d.Parent; at != nil; at = at.Parent {
		if at.Name != "location" {
			continue
		}
		modifier, name := nginx.LocationName(at)
		switch {
		case strings.HasPrefix(name, "@"):
			return area{}
		case strings.HasPrefix(modifier, "~"):
			if modifier == "~*" {
				name = "(?i)" + name
			}
			if re, err := regexp.Compile(name); err == nil {
				return area{regex: re}
			}
			return area{}
		}
		return area{prefix: name}
	}
	return area{}
}

// touches reports whether a kept URL may lie in the area: the pattern's own text,
// as far as it is plain, tells.
func (a area) touches(pattern string) bool {
	text, whole := plain(pattern)
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
	if a.regex != nil {
		return !whole || a.regex.MatchString(clean)
	}
	return strings.HasPrefix(clean, a.prefix) || strings.HasPrefix(clean+"/", a.prefix) || !whole && strings.HasPrefix(a.prefix, clean)
}

// plain is the text that all matches of a regular expression begin with, and
// whether it is the whole path: nothing but a query comes after it.
func plain(pattern string) (text string, whole bool) {
	rest := strings.TrimPrefix(pattern, "^")
	var b strings.Builder
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		switch {
		case c == '\\' && i+1 < len(rest) && !isWord(rest[i+1]):
			i++
			c = rest[i]
		case rest[i:] == "$" || strings.HasPrefix(rest[i:], `(?:\?`):
			return b.String(), true
		case strings.IndexByte(`.+*?()|[]{}^$\`, c) >= 0:
			if text = b.String(); strings.IndexByte("?*{", c) >= 0 && text != "" {
				text = text[:len(text)-1] // what comes before may be absent
			}
			return text, false
		}
		b.WriteByte(c)
	}
	return b.String(), false
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
