package pagecache

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/nginx"
)

// clientAddress is a variable of nginx that tells where a request comes from.
var clientAddress = regexp.MustCompile(`\$(?:binary_remote_addr|remote_addr|realip_remote_addr|proxy_protocol_addr|proxy_add_x_forwarded_for|geoip\w*|http_forwarded\b|http_\w*(?:` + addressHeaders + `))`)

// choosingByVariable are directives that do something else for another value of a
// variable.
var choosingByVariable = []string{"if", "proxy_pass", "fastcgi_pass", "uwsgi_pass", "scgi_pass", "grpc_pass", "root", "alias", "return", "try_files", "rewrite"}

// bare writes ${name} as $name.
var bare = strings.NewReplacer("${", "$", "}", "")

func nginxAdmission(conf *nginx.Config) admission {
	told := toldByAddress(conf)
	var out admission
	conf.Root.Walk(func(d *nginx.Directive) bool {
		out.take(d)
		if decidesOfClients(d, told) {
			a := locationOf(d)
			a.rule = fmt.Sprintf("%s:%d: %s %s decides by the client's address", d.File.Path, d.Line, d.Name, strings.Join(d.Args, " "))
			out.areas = append(out.areas, a)
		}
		return true
	})
	return out
}

// toldByAddress are variables that come of the client's address.
func toldByAddress(conf *nginx.Config) []string {
	var told []string
	for {
		before := len(told)
		note := func(name string) {
			if strings.HasPrefix(name, "$") && !slices.Contains(told, name) {
				told = append(told, name)
			}
		}
		conf.Root.Walk(func(d *nginx.Directive) bool {
			n := len(d.Args)
			switch {
			case d.Name == "geo" && n > 0:
				note(d.Args[n-1])
			case d.Name == "geoip2":
				for _, k := range d.Children {
					note(k.Name)
				}
			case (d.Name == "map" || d.Name == "split_clients") && n == 2:
				if tells(d.Args[:1], told) || slices.ContainsFunc(d.Children, func(k *nginx.Directive) bool { return tells(k.Args, told) }) {
					note(d.Args[1])
				}
			case d.Name == "set" && n == 2 && tells(d.Args[1:], told):
				note(d.Args[0])
			}
			return true
		})
		if len(told) == before {
			return told
		}
	}
}

// tells reports whether one of the arguments tells where a request comes from.
func tells(args, told []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		a = bare.Replace(a)
		return clientAddress.MatchString(a) || slices.ContainsFunc(told, func(v string) bool { return strings.Contains(a, v) })
	})
}

// decidesOfClients reports whether a directive gives or refuses pages by the
// client's address, or lets something else than nginx decide.
func decidesOfClients(d *nginx.Directive, told []string) bool {
	switch {
	case d.Name == "allow" || d.Name == "deny":
		get := d.Parent != nil && d.Parent.Name == "limit_except" && slices.Contains(d.Parent.Args, "GET")
		return !get && !slices.Equal(d.Args, []string{"all"})
	case slices.Contains(others, d.Name):
		return !slices.Equal(d.Args, []string{"off"})
	}
	return slices.Contains(choosingByVariable, d.Name) && tells(d.Args, told)
}

// take notes what a directive leads URLs to in the same server.
func (adm *admission) take(d *nginx.Directive) {
	var targets []string
	switch d.Name {
	case "index":
		for _, a := range d.Args {
			if strings.HasPrefix(a, "/") {
				targets = append(targets, a)
			} else {
				adm.behind = append(adm.behind, "/"+a)
			}
		}
	case "try_files":
		targets = d.Args
	case "rewrite":
		if n := len(d.Args); n > 1 && d.Args[n-1] != "permanent" && d.Args[n-1] != "redirect" {
			targets = d.Args[1:2]
		}
	case "error_page":
		targets = d.Args[max(len(d.Args)-1, 0):]
	}
	for _, t := range targets {
		rest, same := strings.CutPrefix(bare.Replace(t), "$uri")
		switch {
		case same && (rest == "" || rest == "/"), strings.HasPrefix(t, "="), strings.HasPrefix(t, "@"), strings.Contains(t, "://"):
			// The URL itself, a status, a location that is an area of all, another server.
		case same && !strings.Contains(rest, "$"):
			adm.behind = append(adm.behind, rest)
		default:
			adm.leads = append(adm.leads, known(t, "$"))
		}
	}
}

// locationOf is the innermost location around a directive of nginx.
func locationOf(d *nginx.Directive) area {
	for at := d.Parent; at != nil; at = at.Parent {
		if at.Name != "location" {
			continue
		}
		status := at.First("stub_status") != nil
		modifier, name := nginx.LocationName(at)
		switch {
		case strings.HasPrefix(name, "@"):
			return area{}
		case strings.HasPrefix(modifier, "~"):
			if modifier == "~*" {
				name = "(?i)" + name
			}
			re, err := regexp.Compile(name)
			if err != nil {
				return area{}
			}
			return area{regex: re, status: status}
		}
		return area{prefix: name, exact: modifier == "=", status: status}
	}
	return area{}
}
