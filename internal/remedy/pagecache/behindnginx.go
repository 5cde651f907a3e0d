package pagecache

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/nginx"
)

// clientAddress is in the name or the value of a variable of nginx that tells
// where a request comes from.
var clientAddress = regexp.MustCompile(`\$(?:\{?(?:binary_remote_addr|remote_addr|realip_remote_addr|http_(?:[a-z_]*forwarded_for|forwarded|[a-z_]*(?:real|client)_ip)|proxy_add_x_forwarded_for|geoip\w*)\b)`)

func nginxAdmission(conf *nginx.Config) admission {
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
	var out admission
	conf.Root.Walk(func(d *nginx.Directive) bool {
		out.leads = append(out.leads, leadsTo(d)...)
		byAddress := (d.Name == "allow" || d.Name == "deny") && len(d.Args) == 1 && d.Args[0] != "all" || d.Name == "if" && tells(d.Args)
		if byAddress {
			a := locationOf(d)
			a.rule = fmt.Sprintf("%s:%d: %s %s decides by the client's address", d.File.Path, d.Line, d.Name, strings.Join(d.Args, " "))
			out.areas = append(out.areas, a)
		}
		return true
	})
	return out
}

// leadsTo is what a directive of nginx leads URLs to in the same server.
func leadsTo(d *nginx.Directive) []lead {
	var targets []string
	switch d.Name {
	case "try_files", "index":
		targets = d.Args
	case "rewrite":
		if len(d.Args) > 1 {
			targets = d.Args[1:2]
		}
	case "error_page":
		targets = d.Args[max(len(d.Args)-1, 0):]
	}
	var out []lead
	for _, t := range targets {
		switch {
		case t == "$uri" || t == "$uri/" || strings.HasPrefix(t, "=") || strings.HasPrefix(t, "@") || strings.Contains(t, "://"):
			continue // the URL itself, a status, a location that is an area of all, another server
		case strings.HasPrefix(t, "/") || strings.HasPrefix(t, "$"):
			out = append(out, known(t, "$"))
		default:
			out = append(out, lead{"/" + t, true}) // of an index: in whatever folder
		}
	}
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
