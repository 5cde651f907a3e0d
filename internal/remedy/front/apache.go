package front

import (
	"fmt"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/apache"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// addressWords are variables that tell of the connection itself, which will be
// nginx's: Apache's expressions and rewrite rules know them by these names
// (Apache 2.4 manual, "Expressions"; mod_rewrite, RewriteCond). REMOTE_ADDR is
// the client's all the same.
var addressWords = regexp.MustCompile(`\b(?:SERVER_ADDR|REMOTE_PORT|CONN_REMOTE_ADDR)\b`)

// understood refuses what would be something else behind nginx, or what this
// plan does not know how to take along.
func (b *builder) understood() error {
	var bad error
	refuse := func(d *apache.Directive, format string, args ...any) {
		where := ""
		if d.File != nil {
			where = fmt.Sprintf("%s:%d: ", d.File.Path, d.Line)
		}
		bad = fmt.Errorf(where+format, args...)
	}
	b.conf.Root.Walk(func(d *apache.Directive) bool {
		if d.State == apache.Inactive || bad != nil {
			return false
		}
		name := strings.ToLower(d.Name)
		switch {
		case name == "sslengine" && !slices.Equal(d.Args, []string{"off"}):
			refuse(d, "it answers over TLS, whose keys and certificates this remedy does not move")
		case strings.HasPrefix(name, "remoteip"):
			refuse(d, "%s takes clients' addresses from a header already, so something else stands in front", d.Name)
		case slices.ContainsFunc(d.Args, func(a string) bool { return strings.HasPrefix(a, "ws://") || strings.HasPrefix(a, "wss://") }):
			refuse(d, "%s passes WebSockets on, which need a location of their own in nginx", d.Name)
		case addressWords.MatchString(strings.Join(d.Args, " ")):
			refuse(d, "%s depends on the address or port of the connection, which will be nginx's", d.Name)
		}
		return bad == nil
	})
	build := b.in.Snapshot.Apache[b.svc.Name]
	if build.AccessFilesLeft > 0 && bad == nil {
		bad = fmt.Errorf("%d .htaccess files of %s were not read, so whether one depends on the connection, which will be nginx's, is not known", build.AccessFilesLeft, b.svc.Name)
	}
	for _, file := range build.AccessFiles {
		text := b.in.Snapshot.Files[planning.HostOf(b.svc)][file].Content
		if w := addressWords.Find(text); bad == nil && w != nil {
			bad = fmt.Errorf("%s: %s is of the connection, which will be nginx's", file, w)
		}
	}
	return bad
}

// move plans that Apache listens on loopback only and takes the client's
// address from nginx.
func (b *builder) move() ([]change.Change, error) {
	listen, err := b.only()
	if err != nil {
		return nil, err
	}
	if b.inner, err = b.free(); err != nil {
		return nil, err
	}
	if err := listen.SetArgs(append([]string{b.inner}, listen.Args[1:]...)...); err != nil {
		return nil, err
	}
	if err := b.moveVirtualHost(); err != nil {
		return nil, err
	}
	var links []apache.Link
	if !b.conf.Loads("remoteip_module") {
		mods, err := diagnose.ApacheModules(b.in.Snapshot, b.svc)
		if err != nil {
			return nil, err
		}
		if links, err = mods.Enable("remoteip"); err != nil {
			return nil, err
		}
	}
	if err := b.conf.Root.Append(fromFront); err != nil {
		return nil, err
	}
	out, err := planning.FileChanges(b.in.Snapshot, b.svc, b.conf.Changed(), change.Restart, b.why)
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		out = append(out, change.Change{Kind: change.KindLink, Host: planning.HostOf(b.svc), Service: b.svc.Name, Activate: change.Restart,
			Path: l.Path, Link: &change.Link{Target: l.Target, Remove: l.Remove}, Why: b.why, Command: "a2enmod " + strings.TrimSuffix(path.Base(l.Path), path.Ext(l.Path))})
	}
	return out, nil
}

// fromFront makes the client's address that of the header which nginx sets
// anew in each request, for access rules, logs and the application (Apache 2.4
// manual, mod_remoteip). mod_remoteip takes the header out again, and what
// clients themselves send as X-Forwarded-For stays what it was. Only what comes
// from loopback is believed, and only loopback reaches Apache.
const fromFront = `
# nginx in front tells the client's address
RemoteIPHeader ` + clientHeader + `
RemoteIPInternalProxy 127.0.0.1`

// clientHeader is how nginx tells whom it asks for.
const clientHeader = "X-Real-IP"

// only is the one Listen of the server, which clients ask.
func (b *builder) only() (*apache.Directive, error) {
	endpoints, err := stack.ApacheEndpoints(b.conf)
	if err != nil {
		return nil, err
	}
	listens := b.conf.Root.Find("Listen")
	if len(endpoints) != 1 || len(listens) != 1 {
		return nil, fmt.Errorf("%s listens at %s; only one address is moved", b.svc.Name, strings.Join(endpoints, ", "))
	}
	d := listens[0]
	if len(d.Args) > 1 && !strings.EqualFold(d.Args[1], "http") {
		return nil, fmt.Errorf("%s:%d: %s speaks %s there", d.File.Path, d.Line, b.svc.Name, d.Args[1])
	}
	b.outer = endpoints[0]
	if asked := planning.FrontAddress(b.in.Stack); port(asked) != port(b.outer) {
		return nil, fmt.Errorf("load.url asks %s and %s listens at %s, so something else stands in front", asked, b.svc.Name, b.outer)
	}
	return d, nil
}

// moveVirtualHost lets the only virtual host answer at the inner address, too.
// The first address stays, because the port that Apache tells of itself where a
// request names none is that of the first.
func (b *builder) moveVirtualHost() error {
	hosts := b.conf.VirtualHosts()
	if len(hosts) == 0 {
		return nil
	}
	if len(hosts) > 1 {
		var names []string
		for _, v := range hosts {
			name := strings.Join(v.Args, " ")
			if n := v.First("ServerName"); n != nil && len(n.Args) > 0 {
				name = n.Args[0]
			}
			names = append(names, name)
		}
		return fmt.Errorf("%s has %d virtual hosts (%s); this remedy knows one", b.svc.Name, len(hosts), strings.Join(names, ", "))
	}
	v, bound := hosts[0], false
	b.vhost = v
	if v.State != apache.Active || v.IsMacro() {
		return fmt.Errorf("%s:%d: whether Apache takes this virtual host depends on more than its files", v.File.Path, v.Line)
	}
	for _, a := range v.Args {
		name, p, err := net.SplitHostPort(a)
		switch {
		case err != nil && (a == "*" || a == "_default_"):
			continue // any address and port
		case err == nil && p == "*" && (name == "*" || name == "_default_"):
			continue
		case err == nil && p == port(b.outer):
			bound = true
		default:
			return fmt.Errorf("%s:%d: the virtual host is for %s, and Apache listens at %s", v.File.Path, v.Line, a, b.outer)
		}
	}
	if !bound {
		return nil
	}
	return v.SetArgs(append(slices.Clone(v.Args), b.inner)...)
}

// innerPorts are tried for Apache, from 8080 on: the port that IANA names as an
// alternate for HTTP.
const innerPorts = 20

// free is an endpoint of loopback whose port nobody on the host is known to
// listen at.
func (b *builder) free() (string, error) {
	if len(b.state.Taken) == 0 {
		return "", fmt.Errorf("which ports are free on %s is not known: its sockets could not be read", b.svc.HostName())
	}
	taken := map[string]bool{port(b.outer): true}
	for _, s := range b.in.Stack.Services {
		for _, l := range s.Listen {
			if s.HostName() == b.svc.HostName() {
				taken[port(l)] = true
			}
		}
	}
	for _, e := range b.state.Taken {
		taken[port(e)] = true
	}
	for p := 8080; p < 8080+innerPorts; p++ {
		if name := fmt.Sprint(p); !taken[name] {
			return "127.0.0.1:" + name, nil
		}
	}
	return "", fmt.Errorf("no port from 8080 to %d is free on %s", 8080+innerPorts-1, b.svc.HostName())
}
