package stack

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/kind/rubyapp"
)

// embedded makes instances of the applications that a web server starts and ends
// itself: PHP in Apache, Passenger in Apache and nginx, mod_wsgi. Their processes are
// the server's, and they are restarted with it.
func (d *discovery) embedded(ctx context.Context) []*instance {
	out := d.modPHP(ctx)
	for _, web := range d.found {
		var roots []string
		switch web.svc.Kind {
		case Apache:
			if cfg, err := d.loadApache(ctx, web); err == nil { // an error was noted when the instance was found
				roots = append(d.apachePassenger(ctx, cfg), d.wsgiRoots(ctx, cfg)...)
			}
		case Nginx:
			if cfg, err := d.loadNginx(ctx, &web.svc); err == nil {
				roots = d.nginxPassenger(ctx, &web.svc, cfg)
			}
		default: // the others start no applications
		}
		for _, root := range roots {
			if !slices.ContainsFunc(out, func(a *instance) bool { return a.svc.Root == root && a.svc.RunsIn == web.svc.Name }) {
				out = append(out, &instance{svc: Service{Kind: App, Host: d.place.Name, Root: root, RunsIn: web.svc.Name}})
			}
		}
	}
	return out
}

// apachePassenger are the folders of applications that Passenger runs in Apache: those
// that PassengerAppRoot names, and those that a document root or an alias shows the
// public part of.
func (d *discovery) apachePassenger(ctx context.Context, cfg *apache.Config) []string {
	if !cfg.Loads("passenger_module") {
		return nil
	}
	var out []string
	add := func(root string) {
		if root != "" && !slices.Contains(out, root) {
			out = append(out, root)
		}
	}
	cfg.Root.Walk(func(dir *apache.Directive) bool {
		if dir.State == apache.Inactive {
			return false
		}
		switch strings.ToLower(dir.Name) {
		case "passengerapproot":
			if len(dir.Args) == 1 && filepath.IsAbs(dir.Args[0]) {
				add(filepath.Clean(dir.Args[0]))
			}
		case "documentroot":
			if len(dir.Args) == 1 {
				add(d.startedFrom(ctx, dir.Args[0]))
			}
		case "alias":
			if len(dir.Args) == 2 {
				add(d.startedFrom(ctx, dir.Args[1]))
			}
		}
		return true
	})
	return out
}

// nginxPassenger is apachePassenger for nginx (passenger_enabled, passenger_app_root).
func (d *discovery) nginxPassenger(ctx context.Context, svc *Service, cfg *nginx.Config) []string {
	var out []string
	cfg.Root.Walk(func(dir *nginx.Directive) bool {
		if dir.Name != "passenger_enabled" || len(dir.Args) != 1 || dir.Args[0] != "on" || dir.Parent == nil {
			return true
		}
		root := ""
		if r := dir.Parent.Effective("passenger_app_root"); r != nil && len(r.Args) == 1 {
			root = filepath.Clean(r.Args[0])
		} else if r := dir.Parent.Effective("root"); r != nil && len(r.Args) == 1 && !strings.Contains(r.Args[0], "$") {
			root = d.startedFrom(ctx, underPrefix(svc, r.Args[0]))
		}
		if filepath.IsAbs(root) && !slices.Contains(out, root) {
			out = append(out, root)
		}
		return true
	})
	return out
}

// startedFrom is the folder of the application whose public part is shown, where the
// folder itself may be a link; "" if none is to be started there.
func (d *discovery) startedFrom(ctx context.Context, public string) string {
	if !filepath.IsAbs(public) {
		return ""
	}
	public = filepath.Clean(public)
	places := []string{public}
	if info, err := d.h.Stat(ctx, public); err == nil && info.Target != "" {
		places = append(places, resolveUnder(path.Dir(public), info.Target))
	}
	for _, at := range places {
		for _, f := range rubyapp.PassengerFiles {
			if exists(ctx, d.h, path.Join(path.Dir(at), f)) {
				return path.Dir(at)
			}
		}
	}
	return ""
}
