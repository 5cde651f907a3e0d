package diagnose

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// eachNginx calls judge for every nginx service whose configuration parses.
func (m *model) eachNginx(judge func(svc *stack.Service, conf *nginx.Config) []Finding) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range m.in.Stack.OfKind(stack.Nginx) {
		conf, err := NginxConfig(m.in.Snapshot, svc)
		if err != nil {
			why = fmt.Sprintf("%s: %v", svc.Name, err)
			continue
		}
		out = append(out, judge(svc, conf)...)
	}
	return out, why
}

// eachFront is eachNginx for what is a matter of the server block that the
// load is sent to.
func (m *model) eachFront(judge func(svc *stack.Service, conf *nginx.Config, server *nginx.Directive) []Finding) ([]Finding, string) {
	seen, known := false, false
	out, why := m.eachNginx(func(svc *stack.Service, conf *nginx.Config) []Finding {
		known = true
		server := VisitedServer(m.in.Stack, svc, conf)
		if server == nil {
			return nil
		}
		seen = true
		return judge(svc, conf, server)
	})
	if known && !seen && why == "" {
		why = fmt.Sprintf("no server block listens where load.url (%s) points, nor behind a balancer there", m.in.Stack.Load.URL)
	}
	return out, why
}

// throughApp reports whether nginx hands uri to an application.
func throughApp(server *nginx.Directive, uri string) bool {
	loc := nginx.MatchLocation(server, uri)
	if loc == nil {
		loc = server
	}
	for _, name := range []string{"fastcgi_pass", "proxy_pass", "uwsgi_pass", "scgi_pass"} {
		if loc.First(name) != nil {
			return true
		}
	}
	return false
}

// fixed reports whether every sampled answer was the same public file.
func fixed(a load.StaticSample) bool {
	return a.Status == 200 && !a.Varied && !a.SetsCookie && a.Private == ""
}

// withoutCookie is a sample whose cookie only whoever has none gets: the web server may send
// the file without it, as the page that names the file sets it. A cache may not keep the answer.
func withoutCookie(a load.StaticSample) load.StaticSample {
	a.SetsCookie = a.SetsCookie && !a.CookieOnce
	return a
}

func judgeStatic(m *model) ([]Finding, string) {
	return m.eachFront(func(svc *stack.Service, _ *nginx.Config, server *nginx.Directive) []Finding {
		var paths []string
		var count int64
		var took float64
		for _, a := range m.asked.Assets {
			f, isFile := m.in.Snapshot.StaticFiles[a.Path]
			if !fixed(withoutCookie(a)) || !isFile || !f.Readable || f.Host != "" && f.Host != hostOf(svc) || !throughApp(server, a.Path) {
				continue
			}
			paths = append(paths, a.Path)
			count += a.Count
			took += a.Total.Seconds()
		}
		if len(paths) == 0 {
			return nil
		}
		sort.Strings(paths)
		all := float64(m.asked.Requests)
		f := Finding{Service: svc.Name, Title: ui.Plural(len(paths), "static file is", "static files are") + " sent by the application",
			Text: fmt.Sprintf("%d of %.0f requests (%.0f %%) fetch files that lie unchanged on the host, yet %s passes them to the application; they take %.2f s of latency in all.",
				count, all, 100*float64(count)/all, svc.Name, took),
			Evidence: paths, Subject: map[string]string{"paths": strings.Join(paths, "\n")}}
		// At most the application does nothing any more for these requests, and
		// the web server no longer hands them on.
		app := map[string]float64{svc.Name: m.perReq[svc.Name]}
		for _, s := range m.in.Stack.OfKind(stack.PHPFPM, stack.App) {
			app[s.Name] = m.perReq[s.Name]
		}
		cpu := 0.0
		for _, c := range app {
			cpu += c
		}
		share := m.shareOf(float64(count), took, cpu)
		for name := range app {
			app[name] *= share
		}
		f = f.bounded(m.boundOf(app))
		return []Finding{f}
	})
}

func judgeLoopbackWeb(m *model) ([]Finding, string) {
	return m.eachNginx(func(svc *stack.Service, conf *nginx.Config) []Finding {
		var out []Finding
		seen := map[string]bool{}
		for _, u := range Upstreams(conf) {
			port, ok := Loopback(u.Address)
			if !ok || seen[port] {
				continue
			}
			for _, fpm := range m.in.Stack.OfKind(stack.PHPFPM) {
				pools, err := FPMPools(m.in.Snapshot, fpm)
				if err != nil || hostOf(fpm) != hostOf(svc) {
					continue
				}
				for _, p := range pools {
					if pp, ok := Loopback(p.Listen); !ok || pp != port {
						continue
					}
					seen[port] = true
					f := Finding{Service: svc.Name, Title: fmt.Sprintf("%s talks to %s over loopback TCP", svc.Name, fpm.Name),
						Text: fmt.Sprintf("fastcgi_pass is %s; both ends are on one host. The kernel spends %s per request in all, and %d sockets were in TIME_WAIT at the end.",
							u.Address, seconds(m.at(svc.Name).sysCPU), m.at(svc.Name).sys.TimeWait),
						Evidence: []string{svc.Config, fpm.Config},
						Subject:  map[string]string{"address": u.Address, "fpm": fpm.Name, "pool": p.Name, "port": port}}
					f = f.bounded(m.boundKernelOf(1, svc.Name))
					out = append(out, f)
				}
			}
		}
		return out
	})
}

// judgeLoopbackHTTP: an application on the same host is asked by TCP (L03).
func judgeLoopbackHTTP(m *model) ([]Finding, string) {
	return m.eachNginx(func(svc *stack.Service, conf *nginx.Config) []Finding {
		var out []Finding
		seen := map[string]bool{}
		for _, u := range ProxyUpstreams(conf) {
			for _, address := range u.Addresses() {
				port, ok := Loopback(address)
				app := appAt(m.in.Stack, svc, port)
				if !ok || u.Scheme != "http" || app == nil || seen[port] {
					continue
				}
				seen[port] = true
				f := Finding{Service: svc.Name, Title: fmt.Sprintf("%s talks to %s over loopback TCP", svc.Name, app.Name),
					Text: fmt.Sprintf("proxy_pass leads to %s; both ends are on one host. The kernel spends %s per request in all, and %d sockets were in TIME_WAIT at the end.",
						address, seconds(m.at(svc.Name).sysCPU), m.at(svc.Name).sys.TimeWait),
					Evidence: []string{svc.Config, "endpoints of " + app.Name},
					Subject:  map[string]string{"app": app.Name, "port": port}}
				f = f.bounded(m.boundKernelIn(1, svc.Name, app.Name))
				out = append(out, f)
			}
		}
		return out
	})
}

// appAt is the application with processes of its own that listens on a port of
// the web server's host; nil if none does.
func appAt(st *stack.Stack, web *stack.Service, port string) *stack.Service {
	for _, app := range st.OfKind(stack.App) {
		if app.RunsIn != "" || app.IsHAProxy() || hostOf(app) != hostOf(web) {
			continue
		}
		if slices.ContainsFunc(app.Listen, func(l string) bool { p, ok := Loopback(l); return ok && p == port }) {
			return app
		}
	}
	return nil
}

// NginxWorkers returns worker_processes as a number.
func NginxWorkers(conf *nginx.Config, cpus int) int {
	d := conf.Root.First("worker_processes")
	if d == nil || len(d.Args) == 0 {
		return 1 // nginx's default
	}
	if n, err := strconv.Atoi(d.Args[0]); err == nil {
		return n
	}
	return cpus
}

func judgeNginxWorkers(m *model) ([]Finding, string) {
	return m.eachNginx(func(svc *stack.Service, conf *nginx.Config) []Finding {
		n := NginxWorkers(conf, m.online(svc.Name))
		if n == m.online(svc.Name) && n == 1 {
			return nil
		}
		f := Finding{Service: svc.Name, Title: fmt.Sprintf("%s has %s on %.3g CPUs", svc.Name, ui.Plural(n, "worker", "workers"), m.at(svc.Name).cpus),
			Text: fmt.Sprintf("worker_processes is %d; %s uses %s of CPU per request. One worker per CPU is the rule, one alone is better when others need the CPUs: found by trying.",
				n, svc.Name, seconds(m.perReq[svc.Name])),
			Evidence: []string{svc.Config}, Subject: map[string]string{"current": strconv.Itoa(n)}}
		if used := m.perReq[svc.Name] * m.x; used >= 0.85*float64(n) {
			f = f.bounded(m.boundWait()) // a worker is one thread and its CPU is full
		} else {
			f = f.bounded(m.boundBy(svc.Name, m.perReq[svc.Name]))
		}
		return []Finding{f}
	})
}

func judgeNginxConnections(m *model) ([]Finding, string) {
	return m.eachNginx(func(svc *stack.Service, conf *nginx.Config) []Finding {
		per := 512 // nginx's default
		if ev := conf.Root.First("events"); ev != nil {
			if d := ev.First("worker_connections"); d != nil && len(d.Args) > 0 {
				if n, err := strconv.Atoi(d.Args[0]); err == nil {
					per = n
				}
			}
		}
		// A proxied request holds two connections.
		if room := per * NginxWorkers(conf, m.online(svc.Name)); float64(room) < 2*m.n {
			f := Finding{Service: svc.Name, Title: svc.Name + " has too few connections",
				Text: fmt.Sprintf("%d connections in all for %.0f users, each of which may hold two.", room, m.n), Evidence: []string{svc.Config}}
			f = f.bounded(m.boundWait())
			return []Finding{f}
		}
		return nil
	})
}

// DeliveryGaps lists settings of nginx that make it do more work per answer
// than it needs, as written now. The key is the directive.
func DeliveryGaps(conf *nginx.Config, server *nginx.Directive) map[string]string {
	gaps := map[string]string{}
	if server == nil {
		return gaps
	}
	if !OnOff(server, "sendfile", false) {
		gaps["sendfile"] = "files are copied through user space (sendfile is off)"
	} else if !OnOff(server, "tcp_nopush", false) {
		gaps["tcp_nopush"] = "header and file leave in separate packets (tcp_nopush is off)"
	}
	if d := server.Effective("keepalive_timeout"); d != nil && len(d.Args) > 0 && strings.TrimRight(d.Args[0], "s") == "0" {
		gaps["keepalive_timeout"] = "clients must connect anew for each request (keepalive_timeout is 0)"
	}
	if d := server.Effective("keepalive_requests"); d != nil && len(d.Args) > 0 {
		if n, err := strconv.Atoi(d.Args[0]); err == nil && n < 1000 {
			gaps["keepalive_requests"] = fmt.Sprintf("connections are closed after %d requests (keepalive_requests)", n)
		}
	}
	if len(Upstreams(conf)) > 0 && !keepsUpstreams(conf) {
		gaps["fastcgi_keep_conn"] = "the application is connected to anew for each request (fastcgi_keep_conn is off)"
	}
	return gaps
}

func keepsUpstreams(conf *nginx.Config) bool {
	for _, u := range Upstreams(conf) {
		if u.Directive.Parent == nil || !OnOff(u.Directive.Parent, "fastcgi_keep_conn", false) || u.Block == nil || u.Block.First("keepalive") == nil {
			return false
		}
	}
	return true
}

func judgeNginxDelivery(m *model) ([]Finding, string) {
	return m.eachFront(func(svc *stack.Service, conf *nginx.Config, server *nginx.Directive) []Finding {
		gaps := DeliveryGaps(conf, server)
		if len(gaps) == 0 {
			return nil
		}
		var texts []string
		for _, t := range gaps {
			texts = append(texts, t)
		}
		sort.Strings(texts)
		f := Finding{Service: svc.Name, Title: svc.Name + " does more per answer than it needs",
			Text: strings.Join(texts, "; ") + ".", Evidence: []string{svc.Config}}
		f = f.bounded(m.boundKernelIn(1, svc.Name))
		return []Finding{f}
	})
}

func judgeFileCache(m *model) ([]Finding, string) {
	return m.eachFront(func(svc *stack.Service, _ *nginx.Config, server *nginx.Directive) []Finding {
		if server.Effective("open_file_cache") != nil {
			return nil
		}
		var count int64
		for _, a := range m.asked.Assets {
			if fixed(a) && !throughApp(server, a.Path) {
				count += a.Count
			}
		}
		if count == 0 {
			return nil
		}
		f := Finding{Service: svc.Name, Title: svc.Name + " opens each static file anew",
			Text: fmt.Sprintf("%d of %d requests are for files that %s opens, stats and closes each time (no open_file_cache). With it a replaced file may be served old for open_file_cache_valid.",
				count, m.asked.Requests, svc.Name), Evidence: []string{svc.Config}}
		f = f.bounded(m.boundBy(svc.Name, m.perReq[svc.Name]*float64(count)/float64(m.asked.Requests)))
		return []Finding{f}
	})
}

func judgeAccessLog(m *model) ([]Finding, string) {
	return m.eachFront(func(svc *stack.Service, _ *nginx.Config, server *nginx.Directive) []Finding {
		if d := server.Effective("access_log"); d != nil && !slices.ContainsFunc(d.Parent.Find("access_log"), Unbuffered) {
			return nil
		}
		f := Finding{Service: svc.Name, Title: svc.Name + " writes its log line by line",
			Text: "access_log has no buffer, so each request is one write. With a buffer, lines reach the log later and the last ones are lost in a crash.", Evidence: []string{svc.Config}}
		f = f.bounded(m.boundBy(svc.Name, m.perReq[svc.Name]))
		return []Finding{f}
	})
}
