package nginx

import (
	"regexp"
	"strings"
)

// MatchLocation returns the location block of a server that nginx takes for a
// request to uri, or nil if the request stays at server level. The rule is
// nginx's own (ngx_http_core_find_location): an exact location at once; else
// the longest prefix is remembered and its nested locations asked; unless the
// prefix says ^~, regular expressions follow in the order written, and the
// first that matches wins. uri is a request's path; a query string is cut off
// and the path normalised as nginx does it.
//
// Of a location with a prefix that ends in a slash and is passed on, nginx
// answers the URI without the slash by a redirect; that location is returned.
// Rewrites and internal redirects (index, try_files) are not followed.
func MatchLocation(server *Directive, uri string) *Directive {
	if server == nil {
		return nil
	}
	merge := true
	if m := server.Effective("merge_slashes"); m != nil && len(m.Args) == 1 {
		merge = m.Args[0] != "off"
	}
	_, found := find(server, normalise(uri, merge), nil)
	return found
}

type outcome int

const (
	declined outcome = iota // nothing here
	prefixed                // a prefix matched, a regular expression may still win
	final
)

// find is ngx_http_core_find_location for the locations directly in block;
// current is what applies if none of them does.
func find(block *Directive, uri string, current *Directive) (outcome, *Directive) {
	static, regexes := locations(block)
	result, current := findStatic(static, uri, current)
	noRegex := false
	if result == prefixed {
		noRegex = modifier(current) == "^~"
		result, current = find(current, uri, current)
	}
	if result == final || noRegex {
		return result, current
	}
	for _, r := range regexes {
		if matches(r, uri) {
			_, inner := find(r, uri, r)
			return final, inner
		}
	}
	return result, current
}

func findStatic(static []*Directive, uri string, current *Directive) (outcome, *Directive) {
	var longest, redirect *Directive
	for _, d := range static {
		mod, name := LocationName(d)
		switch {
		case name == uri && mod == "=":
			return final, d
		case mod != "=" && strings.HasPrefix(uri, name) && (longest == nil || len(name) > len(nameOf(longest))):
			longest = d
		}
		if name == uri+"/" && passesOn(d) {
			redirect = d
		}
	}
	switch {
	case longest != nil && nameOf(longest) == uri:
		return prefixed, longest
	case redirect != nil:
		return final, redirect
	case longest != nil:
		return prefixed, longest
	}
	return declined, current
}

// passesOn reports whether nginx redirects a location's name without its last
// slash to the one with it.
func passesOn(d *Directive) bool {
	for _, k := range d.Children {
		switch k.Name {
		case "proxy_pass", "fastcgi_pass", "uwsgi_pass", "scgi_pass", "memcached_pass", "grpc_pass":
			return true
		}
	}
	return false
}

// locations lists the unnamed locations directly in block.
func locations(block *Directive) (static, regexes []*Directive) {
	for _, d := range block.Children {
		if d.Name != "location" || !d.IsBlock {
			continue
		}
		switch mod, name := LocationName(d); {
		case mod == "~" || mod == "~*":
			regexes = append(regexes, d)
		case mod == "" && strings.HasPrefix(name, "@"):
		case name == "" && mod == "" && len(d.Args) == 0:
		default:
			static = append(static, d)
		}
	}
	return static, regexes
}

func modifier(d *Directive) string { mod, _ := LocationName(d); return mod }
func nameOf(d *Directive) string   { _, name := LocationName(d); return name }

// LocationName splits a location's arguments as ngx_http_core_location does:
// the modifier may be a word of its own or stand directly before the name.
func LocationName(d *Directive) (mod, name string) {
	if len(d.Args) >= 2 {
		return d.Args[0], d.Args[1]
	}
	if len(d.Args) == 0 {
		return "", ""
	}
	for _, mod := range []string{"=", "^~", "~*", "~"} {
		if name, ok := strings.CutPrefix(d.Args[0], mod); ok {
			return mod, name
		}
	}
	return "", d.Args[0]
}

// matches reports whether a location's regular expression matches uri. One
// that cannot be read does not match; nginx would not have started with it.
func matches(d *Directive, uri string) bool {
	mod, expr := LocationName(d)
	fold := mod == "~*"
	if re, err := compilePCRE(expr, fold); err == nil {
		if found, sure := re.match(uri); sure {
			return found
		}
	}
	if fold {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr) // never slow, but by runes and without look-around
	return err == nil && re.MatchString(uri)
}

// normalise decodes a request's path as ngx_http_parse_complex_uri does:
// %XX, . and .. segments, and runs of slashes if merge is set.
func normalise(uri string, merge bool) string {
	if i := strings.IndexAny(uri, "?#"); i >= 0 {
		uri = uri[:i]
	}
	decoded := percentDecode(uri)
	var out []string
	parts := strings.Split(decoded, "/")
	for i, p := range parts {
		last := i == len(parts)-1
		switch {
		case p == "." || p == "" && merge && i > 0 && !last:
			if last {
				out = append(out, "")
			}
		case p == "..":
			if len(out) > 1 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, p)
		}
	}
	path := strings.Join(out, "/")
	if !strings.HasPrefix(path, "/") {
		return "/" + path
	}
	return path
}

func percentDecode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi >= 0 && lo >= 0 {
				b.WriteByte(byte(hi<<4 | lo))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func unhex(c byte) int {
	if c >= 'A' && c <= 'F' {
		c += 'a' - 'A'
	}
	return strings.IndexByte("0123456789abcdef", c)
}
