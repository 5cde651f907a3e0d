package remedy

import (
	"fmt"
	"net/url"
	"path"
	"sort"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/regulation"
	"kasoku/internal/stack"
)

// editNginx loads the configuration, lets edit change it, and plans the files.
func editNginx(in Input, service string, act change.Activation, why string, edit func(conf *nginx.Config, server *nginx.Directive) error) ([]change.Change, error) {
	svc := in.Stack.Service(service)
	conf, err := diagnose.NginxConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	server := diagnose.FrontServer(conf, frontAddress(in.Stack))
	if server == nil {
		return nil, fmt.Errorf("%s: no server block listens where load.url points", service)
	}
	if err := edit(conf, server); err != nil {
		return nil, err
	}
	return fileChanges(in.Snapshot, svc, conf.Changed(), act, why)
}

func frontAddress(st *stack.Stack) string {
	u, err := url.Parse(st.Load.URL)
	if err != nil {
		return ""
	}
	if u.Port() == "" {
		return u.Host + ":80"
	}
	return u.Host
}

// setDirective changes a directive where it applies from, or adds it to block.
func setDirective(block *nginx.Directive, name string, args ...string) error {
	if d := block.First(name); d != nil {
		return d.SetArgs(args...)
	}
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = nginx.Quote(a)
	}
	return block.Append(name + " " + strings.Join(quoted, " ") + ";")
}

// planStatic lets nginx send files that it now asks the application for.
// Anything that is not there still goes to the application.
func planStatic(in Input, f diagnose.Finding) ([]Plan, error) {
	groups := map[string][]string{} // document root → URL paths
	for _, p := range strings.Split(f.Subject["paths"], "\n") {
		file := in.Snapshot.StaticFiles[p].Path
		if root, ok := strings.CutSuffix(file, p); ok && root != "" {
			groups[root] = append(groups[root], p)
		}
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("no file's place on the host ends with its URL path")
	}
	roots := make([]string, 0, len(groups))
	for r := range groups {
		roots = append(roots, r)
	}
	sort.Strings(roots)
	changes, err := editNginx(in, f.Service, change.Reload, f.Text, func(_ *nginx.Config, server *nginx.Directive) error {
		for i, root := range roots {
			if err := addStatic(in, server, i, root, groups[root]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []Plan{{ID: "nginx.static:" + f.Service + ":" + strings.Join(roots, "+"),
		Title: fmt.Sprintf("Let %s send %s itself", f.Service, f.Title[:strings.Index(f.Title, " are ")]), Changes: changes}}, nil
}

// unsafeInside are directives whose meaning changes when a location's body is
// copied into a named one (nginx manual, "location", "alias", "try_files").
var unsafeInside = []string{"alias", "try_files", "location", "if", "rewrite", "internal"}

func addStatic(in Input, server *nginx.Directive, n int, root string, paths []string) error {
	origin := nginx.MatchLocation(server, paths[0])
	if origin == nil {
		return fmt.Errorf("the application is called at server level, not in a location")
	}
	var body strings.Builder
	for _, d := range origin.Children {
		for _, name := range unsafeInside {
			if d.Name == name {
				return fmt.Errorf("location %s uses %s, which cannot be moved safely", strings.Join(origin.Args, " "), name)
			}
		}
		if d.IsBlock {
			return fmt.Errorf("location %s holds a block (%s), which cannot be moved safely", strings.Join(origin.Args, " "), d.Name)
		}
		body.WriteString("    " + d.Name)
		for _, a := range d.Args {
			body.WriteString(" " + nginx.Quote(a))
		}
		body.WriteString(";\n")
	}
	types, err := typesOf(in, paths)
	if err != nil {
		return err
	}
	app := fmt.Sprintf("@kasoku_app%d", n)
	text := fmt.Sprintf("location ~ %s {\n    root %s;\n    %s\n    try_files $uri %s;\n}\nlocation %s {\n%s}",
		nginx.Quote(staticPattern(paths)), nginx.Quote(root), types, app, app, body.String())
	return origin.InsertBefore(text)
}

// staticPattern matches files of the sampled folders and extensions only.
func staticPattern(paths []string) string {
	dirs, exts := map[string]bool{}, map[string]bool{}
	for _, p := range paths {
		dirs[strings.TrimPrefix(path.Dir(p), "/")] = true
		exts[strings.TrimPrefix(path.Ext(p), ".")] = true
	}
	return "^/(" + alternatives(dirs) + ")/[^/]+\\.(" + alternatives(exts) + ")$"
}

func alternatives(set map[string]bool) string {
	var out []string
	for s := range set {
		out = append(out, strings.ReplaceAll(s, ".", "\\."))
	}
	sort.Strings(out)
	return strings.Join(out, "|")
}

// typesOf writes the Content-Types as the application sent them.
func typesOf(in Input, paths []string) (string, error) {
	byExt := map[string]string{}
	for _, p := range paths {
		ext, typ := strings.TrimPrefix(path.Ext(p), "."), in.Snapshot.StaticFiles[p].ContentType
		if old, ok := byExt[ext]; ok && old != typ {
			return "", fmt.Errorf("files ending in .%s are sent as %s and as %s", ext, old, typ)
		}
		byExt[ext] = typ
	}
	exts := make([]string, 0, len(byExt))
	for e := range byExt {
		exts = append(exts, e)
	}
	sort.Strings(exts)
	var b strings.Builder
	b.WriteString("types {")
	for _, e := range exts {
		fmt.Fprintf(&b, " %s %s;", nginx.Quote(byExt[e]), e)
	}
	b.WriteString(" }")
	return b.String(), nil
}

// planWebSocket moves the connection between nginx and PHP-FPM from loopback
// TCP to a unix socket: both ends in one plan.
func planWebSocket(in Input, f diagnose.Finding) ([]Plan, error) {
	web, fpm := in.Stack.Service(f.Service), in.Stack.Service(f.Subject["fpm"])
	conf, err := diagnose.FPMConfig(in.Snapshot, fpm)
	if err != nil {
		return nil, err
	}
	pool := f.Subject["pool"]
	socket, err := socketPath(in, fpm, pool)
	if err != nil {
		return nil, err
	}
	sets := [][2]string{{"listen", socket}}
	webUser, known := in.Snapshot.Users[hostOf(web)+"/"+web.Name]
	fpmUser := in.Snapshot.Users[hostOf(fpm)+"/"+fpm.Name]
	if known && webUser.Name != "" && in.Snapshot.Root {
		// Only nginx's workers may connect: as narrow as can be.
		sets = append(sets, [2]string{"listen.owner", webUser.Name}, [2]string{"listen.group", webUser.Group}, [2]string{"listen.mode", "0660"})
	} else if known && webUser.UID != fpmUser.UID {
		return nil, fmt.Errorf("%s runs as another user than %s and only root can hand the socket over", web.Name, fpm.Name)
	}
	for _, kv := range sets {
		if err := conf.Set(pool, kv[0], kv[1]); err != nil {
			return nil, err
		}
	}
	// Only addresses of TCP clients are filtered by this; on a socket it has no meaning.
	changes, err := fileChanges(in.Snapshot, fpm, conf.Changed(), change.Restart, f.Text)
	if err != nil {
		return nil, err
	}
	webChanges, err := editNginx(in, web.Name, change.Reload, f.Text, func(conf *nginx.Config, _ *nginx.Directive) error {
		return repoint(conf, f.Subject["port"], "unix:"+socket)
	})
	if err != nil {
		return nil, err
	}
	return []Plan{{ID: "nginx.php-socket:" + web.Name + ":" + fpm.Name + ":" + pool,
		Title:   fmt.Sprintf("Connect %s to %s through a unix socket", web.Name, fpm.Name),
		Changes: append(changes, webChanges...)}}, nil
}

// repoint gives every fastcgi_pass to a loopback port the new address.
func repoint(conf *nginx.Config, port, address string) error {
	for _, u := range diagnose.Upstreams(conf) {
		if p, ok := diagnose.Loopback(u.Address); !ok || p != port {
			continue
		}
		d := u.Directive
		if u.Server != nil {
			d = u.Server
		}
		args := append([]string{address}, d.Args[1:]...)
		if err := d.SetArgs(args...); err != nil {
			return err
		}
	}
	return nil
}

// socketPath puts the socket beside PHP-FPM's pid file, where that service
// may write and which exists before it starts.
func socketPath(in Input, fpm *stack.Service, pool string) (string, error) {
	dir := ""
	if fpm.Control.PIDFile != "" {
		dir = path.Dir(fpm.Control.PIDFile)
	} else if conf, err := diagnose.FPMConfig(in.Snapshot, fpm); err == nil {
		if v, ok := conf.Get("global", "pid"); ok && path.IsAbs(v.Text) {
			dir = path.Dir(v.Text)
		}
	}
	if dir == "" {
		dir = "/run/php"
	}
	p := path.Join(dir, "kasoku-"+pool+".sock")
	// sun_path holds 107 bytes and a zero (unix(7)).
	if len(p) > 107 {
		return "", fmt.Errorf("%s is too long for a socket's name (107 bytes)", p)
	}
	return p, nil
}

// planNginxWorkers tries the other usual number of workers.
func planNginxWorkers(in Input, f diagnose.Finding) ([]Plan, error) {
	current, err := strconv.Atoi(f.Subject["current"])
	if err != nil {
		return nil, err
	}
	at := func(n int) ([]change.Change, error) {
		return editNginx(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, _ *nginx.Directive) error {
			return setTop(conf, "worker_processes", strconv.Itoa(n))
		})
	}
	n := max(in.Snapshot.CPUs, 1)
	if current == n {
		n = 1
	}
	changes, err := at(n)
	if err != nil {
		return nil, err
	}
	return []Plan{{ID: fmt.Sprintf("nginx.workers:%s:%d", f.Service, n),
		Title: fmt.Sprintf("Run %s with %d worker(s) instead of %d", f.Service, n, current), Changes: changes}}, nil
}

// setTop sets a directive of the main context; a new one goes to the top.
func setTop(conf *nginx.Config, name, value string) error {
	if d := conf.Root.First(name); d != nil {
		return d.SetArgs(value)
	}
	return conf.Root.Children[0].InsertBefore(name + " " + value + ";")
}

func planConnections(in Input, f diagnose.Finding) ([]Plan, error) {
	// Four for each user, spread unevenly over workers, and never below 1024.
	n := max(1024, 4*in.Evidence.Load.Workload)
	changes, err := editNginx(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, _ *nginx.Directive) error {
		if err := setTop(conf, "worker_rlimit_nofile", strconv.Itoa(2*n)); err != nil {
			return err
		}
		events := conf.Root.First("events")
		if events == nil {
			return fmt.Errorf("%s has no events block", f.Service)
		}
		return setDirective(events, "worker_connections", strconv.Itoa(n))
	})
	if err != nil {
		return nil, err
	}
	return []Plan{{ID: fmt.Sprintf("nginx.connections:%s:%d", f.Service, n), Changes: changes,
		Title: fmt.Sprintf("Give each worker of %s %d connections", f.Service, n)}}, nil
}

// keepUpstream is how many idle connections to PHP-FPM each worker keeps: one
// per process of a small pool. More would hold processes of the pool busy.
const keepUpstream = 8

// planDelivery closes the gaps that diagnose.DeliveryGaps lists. The changes
// are independent and safe, so they are one experiment.
func planDelivery(in Input, f diagnose.Finding) ([]Plan, error) {
	var gaps map[string]string
	changes, err := editNginx(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		gaps = diagnose.DeliveryGaps(conf, server)
		http := server.Parent
		for name, value := range map[string]string{"sendfile": "on", "tcp_nopush": "on", "keepalive_timeout": "65s", "keepalive_requests": "10000"} {
			_, missing := gaps[name]
			if name == "tcp_nopush" && gaps["sendfile"] != "" && !diagnose.OnOff(server, "tcp_nopush", false) {
				missing = true
			}
			if !missing {
				continue
			}
			where := http
			if d := server.Effective(name); d != nil {
				where = d.Parent
			}
			if err := setDirective(where, name, value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		return nil, fmt.Errorf("only the connection to the application is left, see nginx.keep-php")
	}
	return []Plan{{ID: "nginx.delivery:" + f.Service, Title: "Let " + f.Service + " deliver with less work (sendfile, keep-alive)", Changes: changes}}, nil
}

// planKeepUpstream keeps connections from nginx to PHP-FPM open.
func planKeepUpstream(in Input, f diagnose.Finding) ([]Plan, error) {
	changes, err := editNginx(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		if diagnose.DeliveryGaps(conf, server)["fastcgi_keep_conn"] == "" {
			return fmt.Errorf("connections to the application are kept already")
		}
		return keepAll(in, conf, server)
	})
	if err != nil {
		return nil, err
	}
	return []Plan{{ID: "nginx.keep-php:" + f.Service, Title: "Keep connections from " + f.Service + " to PHP-FPM open", Changes: changes}}, nil
}

func keepAll(in Input, conf *nginx.Config, server *nginx.Directive) error {
	keep := smallestPool(in)
	names := map[string]string{}
	for _, u := range diagnose.Upstreams(conf) {
		name := names[u.Address]
		if name == "" {
			name = fmt.Sprintf("kasoku_php%d", len(names))
			names[u.Address] = name
			if u.Block != nil {
				if u.Block.First("keepalive") == nil {
					if err := u.Block.Append(fmt.Sprintf("keepalive %d;", keep)); err != nil {
						return err
					}
				}
			} else {
				text := fmt.Sprintf("upstream %s {\n    server %s;\n    keepalive %d;\n}", name, u.Address, keep)
				if err := server.InsertBefore(text); err != nil {
					return err
				}
			}
		}
		if u.Block == nil {
			if err := u.Directive.SetArgs(name); err != nil {
				return err
			}
		}
		if err := setDirective(u.Directive.Parent, "fastcgi_keep_conn", "on"); err != nil {
			return err
		}
	}
	return nil
}

// smallestPool bounds the idle connections kept: each one occupies a process.
func smallestPool(in Input) int {
	n := keepUpstream
	for _, fpm := range in.Stack.OfKind(stack.PHPFPM) {
		pools, err := diagnose.FPMPools(in.Snapshot, fpm)
		if err != nil {
			continue
		}
		for _, p := range pools {
			if p.MaxChildren > 0 {
				n = min(n, max(1, p.MaxChildren/2))
			}
		}
	}
	return n
}

func planFileCache(in Input, f diagnose.Finding) ([]Plan, error) {
	changes, err := editNginx(in, f.Service, change.Reload, f.Text, func(_ *nginx.Config, server *nginx.Directive) error {
		for _, line := range []string{"open_file_cache max=10000 inactive=20s;", "open_file_cache_valid 30s;", "open_file_cache_min_uses 2;", "open_file_cache_errors on;"} {
			if err := server.Parent.Append(line); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []Plan{{ID: "nginx.file-cache:" + f.Service, Trades: []regulation.Trade{regulation.Staleness}, Changes: changes,
		Title: "Let " + f.Service + " keep files open (open_file_cache)"}}, nil
}

func planAccessLog(in Input, f diagnose.Finding) ([]Plan, error) {
	changes, err := editNginx(in, f.Service, change.Reload, f.Text, func(_ *nginx.Config, server *nginx.Directive) error {
		d := server.Effective("access_log")
		if d == nil {
			return fmt.Errorf("%s writes to its compiled-in log; name it with access_log first", f.Service)
		}
		args := append([]string(nil), d.Args...)
		if len(args) == 1 {
			args = append(args, "combined")
		}
		return d.SetArgs(append(args, "buffer=64k", "flush=1s")...)
	})
	if err != nil {
		return nil, err
	}
	return []Plan{{ID: "nginx.access-log:" + f.Service, Trades: []regulation.Trade{regulation.Observability}, Changes: changes,
		Title: "Let " + f.Service + " write its access log in blocks"}}, nil
}
