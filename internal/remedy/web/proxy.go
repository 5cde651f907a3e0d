package web

import (
	"fmt"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// keepHTTP is how many idle connections each worker keeps to an application
// that has no process per connection.
const keepHTTP = 32

// planKeepProxy keeps connections to HTTP applications open.
func planKeepProxy(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		keep, err := keepFor(in, f.Service, conf)
		if err != nil {
			return err
		}
		done, names, why := 0, map[string]string{}, error(nil)
		for _, u := range diagnose.ProxyUpstreams(conf) {
			if u.Anew() == "" {
				continue
			}
			if err := canKeep(u); err != nil {
				why = err
				continue
			}
			if err := keepProxy(conf, server, u, names, keep); err != nil {
				return err
			}
			done++
		}
		if done == 0 {
			return fmt.Errorf("no connection can be kept: %w", why)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.keep-proxy:" + f.Service, Title: "Keep connections from " + f.Service + " to the application open", Changes: changes}}, nil
}

// keepFor is how many idle connections a worker may keep. An application that
// has several processes may serve one connection with each (Starman, Apache's
// prefork), so that kept connections would starve others: at most half.
func keepFor(in planning.Input, service string, conf *nginx.Config) (int, error) {
	keep, workers := keepHTTP, diagnose.NginxWorkers(conf, planning.CPUsOf(in, service))
	for _, app := range in.Stack.OfKind(stack.App, stack.Apache) {
		n := in.Evidence.Services[app.Name].Processes
		if app.RunsIn != "" || n < 2 {
			continue
		}
		if keep = min(keep, n/2/workers); keep < 1 {
			return 0, fmt.Errorf("%s has %d processes: too few for kept connections of %d workers", app.Name, n, workers)
		}
	}
	return keep, nil
}

// canKeep refuses what would mean something else afterwards.
func canKeep(u diagnose.ProxyUpstream) error {
	where := fmt.Sprintf("%s:%d", u.Directive.File.Path, u.Directive.Line)
	switch {
	case u.Location == nil:
		return fmt.Errorf("%s: proxy_pass is inside %q", where, u.Directive.Parent.Name)
	case u.Block == nil && u.Scheme != "http":
		return fmt.Errorf("%s: the name in the TLS handshake follows from proxy_pass", where)
	case u.Block == nil && u.Path != "":
		return fmt.Errorf("%s: proxy_pass has a path", where)
	case u.Block == nil && mentions(u.Location, "$proxy_host", "$proxy_port"):
		return fmt.Errorf("%s: $proxy_host would have another value", where)
	}
	return nil
}

func mentions(at *nginx.Directive, words ...string) bool {
	found := false
	for d := at; d != nil; d = d.Parent {
		d.Walk(func(c *nginx.Directive) bool {
			for _, a := range c.Args {
				for _, w := range words {
					found = found || strings.Contains(a, w)
				}
			}
			return !found
		})
	}
	return found
}

func keepProxy(conf *nginx.Config, server *nginx.Directive, u diagnose.ProxyUpstream, names map[string]string, keep int) error {
	if u.Block != nil {
		if u.Block.First("keepalive") == nil {
			if err := u.Block.Append(fmt.Sprintf("keepalive %d;", keep)); err != nil {
				return err
			}
		}
	} else if err := nameUpstream(conf, server, u, names, keep); err != nil {
		return err
	}
	if err := SetDirective(u.Location, "proxy_http_version", "1.1"); err != nil {
		return err
	}
	// Headers written here replace those of outer blocks as a whole, so they
	// are copied (nginx manual, "proxy_set_header").
	if err := ownHeaders(u.Location); err != nil {
		return err
	}
	if err := setHeader(u.Location, "Connection", "", true); err != nil {
		return err
	}
	if u.Block == nil {
		return sameHost(u)
	}
	return nil
}

// sameHost writes out the Host header that followed from the address: the
// default is $proxy_host, which now is the block's name.
func sameHost(u diagnose.ProxyUpstream) error {
	host := u.Address
	if strings.HasPrefix(host, "unix:") {
		host = "localhost" // ngx_http_proxy_set_vars
	}
	return setHeader(u.Location, "Host", strings.TrimSuffix(host, ":80"), false)
}

// nameUpstream makes an upstream block for a plain address. The default of
// proxy_redirect follows from proxy_pass, so it is written out as it was.
func nameUpstream(conf *nginx.Config, server *nginx.Directive, u diagnose.ProxyUpstream, names map[string]string, keep int) error {
	if names[u.Address] == "" {
		if n := timesShown(conf, server); n > 1 {
			return fmt.Errorf("%s:%d is included in %d places; an upstream there would be named twice", server.File.Path, server.Line, n)
		}
		names[u.Address] = freeName(conf, "upstream", "kasoku_http")
		if err := server.InsertBefore(fmt.Sprintf("upstream %s {\n    server %s;\n    keepalive %d;\n}", names[u.Address], nginx.Quote(u.Address), keep)); err != nil {
			return err
		}
	}
	return passTo(u, names[u.Address])
}

// passTo passes requests to an upstream block instead of the address that
// proxy_pass names, and writes out the proxy_redirect that followed from it.
func passTo(u diagnose.ProxyUpstream, name string) error {
	old := u.Directive.Args[0]
	if err := u.Directive.SetArgs("http://" + name); err != nil {
		return err
	}
	if d := u.Location.Effective("proxy_redirect"); d == nil || len(d.Args) == 1 && d.Args[0] == "default" {
		if d != nil && d.Parent == u.Location {
			return d.SetArgs(old+"/", "/")
		}
		return u.Location.Append("proxy_redirect " + nginx.Quote(old+"/") + " /;")
	}
	return nil
}

// ownHeaders writes the proxy_set_header lines that apply at loc into it.
func ownHeaders(loc *nginx.Directive) error {
	first := loc.Effective("proxy_set_header")
	if first == nil || first.Parent == loc {
		return nil
	}
	for _, h := range first.Parent.Find("proxy_set_header") {
		line := "proxy_set_header"
		for _, a := range h.Args {
			line += " " + nginx.Quote(a)
		}
		if err := loc.Append(line + ";"); err != nil {
			return err
		}
	}
	return nil
}

// setHeader gives a request header a value, or with over false only if none is written.
func setHeader(loc *nginx.Directive, name, value string, over bool) error {
	for _, h := range loc.Find("proxy_set_header") {
		if len(h.Args) == 2 && strings.EqualFold(h.Args[0], name) {
			if !over {
				return nil
			}
			return h.SetArgs(h.Args[0], value)
		}
	}
	return loc.Append("proxy_set_header " + name + " " + nginx.Quote(value) + ";")
}
