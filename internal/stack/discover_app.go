package stack

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// apps finds the applications: PHP below the document roots of nginx
// and Apache, and servers that nginx, Apache or Varnish pass requests to.
func (d *discovery) apps(ctx context.Context) {
	d.linkedSockets(ctx)
	var apps []*instance
	far := map[*instance]*discovery{} // of those on other hosts
	for _, php := range d.found {
		if php.svc.Kind != PHPFPM {
			continue
		}
		for _, root := range d.phpRoots(ctx, php) {
			if slices.ContainsFunc(apps, func(a *instance) bool { return a.svc.Root == root && a.svc.RunsIn == php.svc.Name }) {
				continue
			}
			app := &instance{svc: Service{Kind: App, Host: d.place.Name, Root: root, RunsIn: php.svc.Name}}
			apps = append(apps, app)
		}
	}
	apps = append(apps, d.embedded(ctx)...)
	var passedTo []string
	for _, web := range d.found {
		passedTo = append(passedTo, web.backends...)
		for _, b := range web.backends {
			at, endpoint := d, b
			if o, port := d.hostAt(ctx, b); o != nil {
				at = o
				if _, there := o.owner(ctx, b); !there {
					endpoint = "127.0.0.1:" + port // where one on all addresses listens, too
				}
				if slices.ContainsFunc(o.found, func(k *instance) bool { return k.listensAt([]string{b}, d.callsFor(ctx, o)) }) {
					continue
				}
			}
			known := slices.DeleteFunc(slices.Clone(apps), func(a *instance) bool { return a.svc.Host != at.place.Name })
			if app := at.appServer(ctx, web, endpoint, append(known, at.found...)); app != nil {
				apps = append(apps, app)
				far[app] = at
			}
		}
	}
	for _, app := range apps {
		d := cmp.Or(far[app], d)
		app.svc.Name = d.freeName("app")
		d.found = append(d.found, app)
		if app.svc.RunsIn == "" {
			d.settled(ctx, app, passedTo)
			d.control(ctx, app)
			d.inferRoot(ctx, app)
			d.build(ctx, app)
		}
		if app.svc.RunsIn == "" && app.svc.Control.Method == MethodProcess {
			d.startEnvironment(ctx, app)
		}
		d.settings(ctx, app)
		d.environment(ctx, app, d.stores())
	}
	for _, d := range d.all {
		d.sort()
	}
}

// sort puts apps before what they talk to, as a request passes the services.
func (d *discovery) sort() {
	rank := func(in *instance) int {
		if in.svc.IsHAProxy() {
			return -1
		}
		return map[Kind]int{Memcached: 2, Redis: 2, MariaDB: 3, MySQL: 3, App: 1}[in.svc.Kind]
	}
	slices.SortStableFunc(d.found, func(a, b *instance) int { return rank(a) - rank(b) })
}

// phpRoots returns the application folders whose scripts run in the php-fpm.
func (d *discovery) phpRoots(ctx context.Context, php *instance) []string {
	endpoints := php.svc.Listen
	if len(endpoints) == 0 {
		endpoints = readSettings(ctx, d.h, &php.svc).endpoints
	}
	var out []string
	for _, web := range d.found {
		for _, root := range d.rootsOf(ctx, web, endpoints) {
			if r := d.appRoot(ctx, root); !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	if len(out) == 0 {
		d.note("Neither nginx nor Apache passes requests to %s, so its application was not found; add an app with root, settings and runs_in: %s.", php.svc.Name, php.svc.Name)
	}
	return out
}

// rootsOf returns the document roots from which a web server passes requests to
// one of the endpoints. An error was noted when the instance was found.
func (d *discovery) rootsOf(ctx context.Context, web *instance, endpoints []string) []string {
	switch web.svc.Kind {
	case Nginx:
		if cfg, err := d.loadNginx(ctx, &web.svc); err == nil {
			return d.documentRoots(&web.svc, cfg, endpoints)
		}
	case Apache:
		if cfg, err := d.loadApache(ctx, web); err == nil && len(endpoints) > 0 {
			return d.apacheRoots(ctx, cfg, endpoints)
		}
	default: // the others serve no files
	}
	return nil
}

// publicFolders are usual names of the part of an application that the web
// server shows; appMarkers lie beside it in the application's own folder.
var (
	publicFolders = []string{"public", "web", "www", "html", "htdocs", "public_html", "webroot", "docroot", "pub"}
	appMarkers    = []string{"composer.json", ".env", "artisan", "vendor", "src", "app", "lib", "includes", "config", "conf", "bin", "templates"}
)

// appRoot goes from the document root up to the application's folder.
func (d *discovery) appRoot(ctx context.Context, documentRoot string) string {
	parent := filepath.Dir(documentRoot)
	if !slices.Contains(publicFolders, filepath.Base(documentRoot)) || strings.Count(parent, "/") < 2 {
		return documentRoot
	}
	for _, m := range appMarkers {
		if exists(ctx, d.h, path.Join(parent, m)) {
			return parent
		}
	}
	return documentRoot
}

// appServer makes an instance of the process that listens on the endpoint, if
// that is none of the known.
func (d *discovery) appServer(ctx context.Context, web *instance, endpoint string, known []*instance) *instance {
	for _, k := range known {
		if reaches([]string{endpoint}, k.svc.Listen) {
			return nil
		}
	}
	bound := realEndpoint(ctx, d.h, endpoint)
	pid, ok := d.owner(ctx, bound)
	if !ok {
		d.note("%s passes requests to %s, where no process of this machine was seen to listen.", web.svc.Name, endpoint)
		return nil
	}
	p := d.procs.byPID[pid]
	// The topmost process of the same program is the server's main process.
	exe := link(ctx, d.h, p.pid, "exe")
	for parent := d.procs.byPID[p.ppid]; parent != nil && parent.pid > 1 && exe != "" && link(ctx, d.h, parent.pid, "exe") == exe && parent.comm == p.comm; parent = d.procs.byPID[p.ppid] {
		p = parent
	}
	in := &instance{master: p, pids: d.procs.family(p.pid)}
	in.svc = Service{Kind: App, Host: d.place.Name, Binary: exe, Root: link(ctx, d.h, p.pid, "cwd")}
	if in.svc.Root == "/" {
		in.svc.Root = ""
	}
	if err := d.readSockets(ctx, in); err != nil || !reaches([]string{bound}, in.svc.Listen) {
		in.svc.Listen = append(in.svc.Listen, bound) // a child's, that requests come to
	}
	if endpoint != bound {
		in.svc.Listen = append(in.svc.Listen, endpoint)
	}
	return in
}

// owner finds the process that listens on an endpoint.
func (d *discovery) owner(ctx context.Context, endpoint string) (int, bool) {
	if d.allOwners == nil {
		d.allOwners = map[string]int{}
		table, err := readListeners(ctx, d.h, d.procs.sorted()[0].pid)
		if err != nil {
			return 0, false
		}
		for _, p := range d.procs.sorted() {
			if len(p.cmdline) == 0 {
				continue // a kernel thread
			}
			sockets, _ := table.of(ctx, d.h, []int{p.pid})
			for _, s := range sockets {
				if _, taken := d.allOwners[s.endpoint()]; s.listening && !taken {
					d.allOwners[s.endpoint()] = p.pid
				}
			}
		}
	}
	for e, pid := range d.allOwners {
		if sameEndpoint(e, endpoint) {
			return pid, true
		}
	}
	return 0, false
}

// stores lists the discovered databases and caches.
func (d *discovery) stores() []store {
	var out []store
	for _, in := range d.found {
		if in.svc.IsDatabase() || in.svc.Kind == Memcached || in.svc.Kind == Redis {
			out = append(out, newStore(in))
		}
	}
	return out
}

// links fills in who talks to whom: addresses in configurations, then
// connections that stand now.
func (d *discovery) links(ctx context.Context) {
	peers := d.unixPeers(ctx)
	add := func(from, to *instance) {
		if from != to && !slices.Contains(from.svc.TalksTo, to.svc.Name) && from.svc.RunsIn != to.svc.Name {
			from.svc.TalksTo = append(from.svc.TalksTo, to.svc.Name)
		}
	}
	for _, from := range d.found {
		for _, to := range d.found {
			if reaches(from.backends, to.svc.Listen) {
				add(from, to)
			}
			for _, s := range from.sockets {
				if s.connected && s.path == "" && s.remote.IsValid() && !reaches([]string{s.local.String()}, from.svc.Listen) &&
					reaches([]string{s.remote.String()}, to.svc.Listen) {
					add(d.appIn(from), to)
				}
				if at := peers[s.inode]; at != "" && slices.Contains(to.svc.Listen, "unix:"+at) {
					add(d.appIn(from), to)
				}
			}
		}
	}
	for _, o := range d.others() {
		d.farLinks(ctx, o, add)
	}
	if ctx.Err() != nil {
		return
	}
	for _, in := range d.found {
		d.takeDefaults(in)
		if in.svc.Kind == App && len(in.svc.TalksTo) == 0 && !in.worker {
			d.note("%s: whom it talks to was not found; fill in talks_to.", in.svc.Name)
		}
	}
}

// farLinks fills in who talks to services on another host.
func (d *discovery) farLinks(ctx context.Context, o *discovery, add func(from, to *instance)) {
	calls := d.callsFor(ctx, o)
	for _, from := range d.found {
		for _, to := range o.found {
			if to.listensAt(from.backends, calls) {
				add(from, to)
			}
			for _, s := range from.sockets {
				if s.connected && s.path == "" && s.remote.IsValid() && !reaches([]string{s.local.String()}, from.svc.Listen) &&
					to.listensAt([]string{s.remote.String()}, calls) {
					add(d.appIn(from), to)
				}
			}
		}
	}
}

// appIn is the app that runs in the instance, if there is exactly one.
func (d *discovery) appIn(in *instance) *instance {
	var apps []*instance
	for _, a := range d.found {
		if a.svc.RunsIn == in.svc.Name {
			apps = append(apps, a)
		}
	}
	if len(apps) == 1 {
		return apps[0]
	}
	if len(apps) > 1 {
		d.note("Several apps run in %s; which of them holds its connections is not known.", in.svc.Name)
	}
	return in
}

// store is a database or cache as settings files may name it.
type store struct {
	name, port string
	database   bool
	sockets    []string
}

func newStore(in *instance) store {
	s := store{name: in.svc.Name, database: in.svc.IsDatabase()}
	for _, l := range in.svc.Listen {
		if p, ok := strings.CutPrefix(l, "unix:"); ok {
			s.sockets = append(s.sockets, p)
		} else if i := strings.LastIndexByte(l, ':'); i >= 0 && s.port == "" {
			s.port = l[i+1:]
		}
	}
	return s
}
