// Package front plans an nginx in front of an Apache that clients talk to
// themselves.
package front

import (
	"fmt"
	"net"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/confedit/apache"
	"kasoku/internal/diagnose"
	"kasoku/internal/host"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/pagecache"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// installing is about how long a package takes from the archive to its place.
const installing = time.Minute

// builder plans one nginx in front of one Apache.
type builder struct {
	in    planning.Input
	svc   *stack.Service // the Apache
	front stack.Service
	state stack.FrontState
	conf  *apache.Config    // of the Apache, edited
	vhost *apache.Directive // its only virtual host, nil if it has none
	why   string

	outer string // where Apache listens and clients ask: "0.0.0.0:80"
	inner string // where it will: "127.0.0.1:8080"
	// installed: nginx's program and configuration are there.
	installed bool
	// standing: nginx runs before the switch, and serves nothing.
	standing bool
}

// plan puts the nginx that kasoku.yaml names in front of the Apache of the
// finding. Apache moves to a port of loopback, and nginx listens where Apache
// did. Where the finding is about pages, nginx keeps them from the start.
func plan(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	b := &builder{in: in, svc: in.Stack.Service(f.Service), why: f.Text}
	if b.svc == nil {
		return nil, fmt.Errorf("the finding names no service of the stack")
	}
	state, named := in.Snapshot.Fronts[f.Subject["front"]]
	if !named {
		return nil, fmt.Errorf("kasoku.yaml names no nginx that may be put in front of %s; to permit it add to services: %s", b.svc.Name, stack.FrontLine(b.svc))
	}
	b.state, b.front = state, state.Service
	var err error
	if b.conf, err = diagnose.ApacheConfig(in.Snapshot, b.svc); err != nil {
		return nil, err
	}
	if err := b.understood(); err != nil {
		return nil, err
	}
	moved, err := b.move()
	if err != nil {
		return nil, err
	}
	out := planning.Plan{ID: "apache.nginx-in-front:" + b.svc.Name,
		Title: fmt.Sprintf("Put nginx in front of %s, which moves from %s to %s", b.svc.Name, b.outer, b.inner)}
	if pagecache.ByAddress(in, b.svc, b.conf) {
		// Who is on the host may ask Apache itself and name any address.
		out.Trades = append(out.Trades, regulation.Security)
	}
	if out.Prepare, err = b.prepare(); err != nil {
		return nil, err
	}
	if !b.installed {
		out.Build = installing
	}
	site, err := b.site()
	if err != nil {
		return nil, err
	}
	switched, err := b.complete(&out, f, site)
	if err != nil {
		return nil, err
	}
	out.Changes = append(moved, switched...)
	return []planning.Plan{out}, nil
}

// complete is what nginx takes on in the switch: its site, with a cache for the
// finding's pages if it is about pages, and another host if it is about that.
func (b *builder) complete(out *planning.Plan, f diagnose.Finding, site []byte) ([]change.Change, error) {
	after, err := b.after(site)
	if err != nil {
		return nil, err
	}
	var changes []change.Change
	switch f.Subject["about"] {
	case diagnose.FrontForPages:
		changes, site, err = b.keepPages(out, after, f, site)
	case diagnose.FrontForHosts:
		site, err = b.spread(out, after, f)
	}
	if err != nil {
		return nil, err
	}
	act := change.Restart // which starts it
	if b.standing {
		act = change.Reload
	}
	changes = append(changes, change.Change{Kind: change.KindFile, Host: planning.HostOf(b.svc), Service: b.front.Name, Activate: act, Path: b.sitePath(), Why: b.why,
		Before: &change.FileState{}, After: &change.FileState{Hash: host.HashOf(site), Content: site, Mode: 0o644, UID: -1, GID: -1}})
	for i := range changes {
		changes[i].Phase = 1
	}
	return changes, nil
}

// port of an endpoint.
func port(endpoint string) string {
	_, p, _ := net.SplitHostPort(endpoint)
	return p
}
