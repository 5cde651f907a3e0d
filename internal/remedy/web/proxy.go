package web

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/appserver"
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
		different := map[string]bool{}
		for _, u := range diagnose.ProxyUpstreams(conf) {
			different[u.Directive.Args[0]] = true
		}
		workers := diagnose.NginxWorkers(conf, planning.CPUsOf(in, f.Service)) * len(different)
		done, names, why := 0, map[string]string{}, error(nil)
		for _, u := range diagnose.ProxyUpstreams(conf) {
			if u.Anew() == "" {
				continue
			}
			if err := canKeep(u); err != nil {
				why = err
				continue
			}
			keep, err := keepFor(in, u, workers)
			if err != nil {
				why = err
				continue
			}
			if err := keepProxy(conf, server, u, names, keep); err != nil {
				return err
			}
			done++
		}
		if done == 0 && why == nil {
			return errors.New("connections are kept as far as its files say")
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

// kept are idle connections: how many, and how long each, "" for nginx's 60 s.
type kept struct {
	most int
	idle string
}

// keepFor is how many idle connections may be kept to an upstream by each of so many
// holders, which are nginx's workers times its upstreams. Where each connection takes a
// process of the application (Starman, Apache's prefork, and whatever has several
// processes and is not known), kept ones would starve others: at most half of those that
// answer, and for a moment only.
func keepFor(in planning.Input, u diagnose.ProxyUpstream, holders int) (kept, error) {
	out := kept{most: keepHTTP}
	for _, app := range behind(in, u) {
		// The parent of several processes starts and ends them; it answers nothing.
		n := in.Evidence.Services[app.Name].Processes - 1
		server, err := diagnose.AppServerOf(in.Snapshot, app)
		if err == nil && server != nil {
			switch idle := server.IdleConnections(); idle {
			case appserver.IdleFree:
				continue
			case appserver.IdleCloses:
				return kept{}, fmt.Errorf("%s closes each connection itself (%s)", app.Name, server.Name)
			case appserver.IdleHolds:
				n = max(server.Slots(), 1)
			}
		} else if n < 1 {
			continue // one process, which serves them all
		}
		out.idle = keepUpstreamIdle
		if out.most = min(out.most, n/2/holders); out.most < 1 {
			return kept{}, fmt.Errorf("%s has %d processes that answer: too few for kept connections of %d workers", app.Name, n, holders)
		}
	}
	return out, nil
}

// behind are the applications that an upstream passes to; all that it may be, where
// none is known to listen at its addresses.
func behind(in planning.Input, u diagnose.ProxyUpstream) []*stack.Service {
	var all, those []*stack.Service
	for _, app := range in.Stack.OfKind(stack.App, stack.Apache) {
		if app.RunsIn != "" {
			continue
		}
		all = append(all, app)
		if slices.ContainsFunc(u.Addresses(), func(a string) bool {
			return slices.ContainsFunc(app.Listen, func(l string) bool { return stack.SameEndpoint(a, l) })
		}) {
			those = append(those, app)
		}
	}
	if len(those) > 0 {
		return those
	}
	return all
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

func keepProxy(conf *nginx.Config, server *nginx.Directive, u diagnose.ProxyUpstream, names map[string]string, keep kept) error {
	if u.Block != nil {
		if err := keep.write(u.Block); err != nil {
			return err
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

// lines of an upstream block.
func (k kept) lines() []string {
	out := []string{fmt.Sprintf("keepalive %d;", k.most)}
	if k.idle != "" {
		out = append(out, "keepalive_timeout "+k.idle+";")
	}
	return out
}

// newUpstream writes a block for an address in front of a server block.
func (k kept) newUpstream(server *nginx.Directive, name, address string) error {
	return server.InsertBefore(fmt.Sprintf("upstream %s {\n    server %s;\n    %s\n}", name, nginx.Quote(address), strings.Join(k.lines(), "\n    ")))
}

// write gives a block that keeps none its lines. What was written there had no effect
// while each request closed its connection: more than may be kept is made less.
func (k kept) write(block *nginx.Directive) error {
	d := block.First("keepalive")
	if d == nil {
		if err := block.Append(k.lines()[0]); err != nil {
			return err
		}
	} else if n, err := strconv.Atoi(strings.Join(d.Args[:min(1, len(d.Args))], "")); k.idle != "" && (err != nil || n > k.most) {
		if err := d.SetArgs(strconv.Itoa(k.most)); err != nil {
			return err
		}
	}
	if k.idle == "" || block.First("keepalive_timeout") != nil {
		return nil
	}
	return block.Append(k.lines()[1])
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
func nameUpstream(conf *nginx.Config, server *nginx.Directive, u diagnose.ProxyUpstream, names map[string]string, keep kept) error {
	if names[u.Address] == "" {
		if n := timesShown(conf, server); n > 1 {
			return fmt.Errorf("%s:%d is included in %d places; an upstream there would be named twice", server.File.Path, server.Line, n)
		}
		names[u.Address] = freeName(conf, "upstream", "kasoku_http")
		if err := keep.newUpstream(server, names[u.Address], u.Address); err != nil {
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
