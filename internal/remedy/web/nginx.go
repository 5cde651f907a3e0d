// Package web plans changes of web servers.
package web

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/ui"
)

// Edit loads the configuration, lets edit change it, and plans the files.
func Edit(in planning.Input, service string, act change.Activation, why string, edit func(conf *nginx.Config, server *nginx.Directive) error) ([]change.Change, error) {
	svc := in.Stack.Service(service)
	conf, err := diagnose.NginxConfig(in.Snapshot, svc)
	if err != nil {
		return nil, err
	}
	server := diagnose.VisitedServer(in.Stack, svc, conf)
	if server == nil {
		return nil, fmt.Errorf("%s: no server block listens where load.url points, nor behind a balancer there", service)
	}
	if err := edit(conf, server); err != nil {
		return nil, err
	}
	return planning.FileChanges(in.Snapshot, svc, conf.Changed(), act, why)
}

// SetDirective changes a directive where it applies from, or adds it to block.
func SetDirective(block *nginx.Directive, name string, args ...string) error {
	if d := block.First(name); d != nil {
		return d.SetArgs(args...)
	}
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = nginx.Quote(a)
	}
	return block.Append(name + " " + strings.Join(quoted, " ") + ";")
}

// planNginxWorkers tries the other usual number of workers.
func planNginxWorkers(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	current, err := strconv.Atoi(f.Subject["current"])
	if err != nil {
		return nil, err
	}
	at := func(n int) ([]change.Change, error) {
		return Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, _ *nginx.Directive) error {
			return SetTop(conf, "worker_processes", strconv.Itoa(n))
		})
	}
	n := planning.CPUsOf(in, f.Service)
	if current == n {
		n = 1
	}
	if err := keepsRoom(in, f.Service, n); err != nil {
		return nil, err
	}
	changes, err := at(n)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: fmt.Sprintf("nginx.workers:%s:%d", f.Service, n),
		Title: fmt.Sprintf("Run %s with %s instead of %d", f.Service, ui.Plural(n, "worker", "workers"), current), Changes: changes}}, nil
}

// SetTop sets a directive of the main context; a new one goes to the top.
func SetTop(conf *nginx.Config, name string, args ...string) error {
	if d := conf.Root.First(name); d != nil {
		return d.SetArgs(args...)
	}
	if len(conf.Root.Children) == 0 {
		return SetDirective(conf.Root, name, args...)
	}
	text := name
	for _, a := range args {
		text += " " + nginx.Quote(a)
	}
	return conf.Root.Children[0].InsertBefore(text + ";")
}

// fileLimit is how many files a worker may open: as configured, else as the
// kernel told of the running processes; 0 if neither is known.
func fileLimit(in planning.Input, conf *nginx.Config, service string) int {
	if d := conf.Root.First("worker_rlimit_nofile"); d != nil && len(d.Args) > 0 {
		n, _ := strconv.Atoi(d.Args[0])
		return n
	}
	return in.Evidence.Services[service].FileLimit
}

// letOpen lets a worker open n files, where its limit is lower. Only a master that
// runs as root can raise it (setrlimit(2)); an unknown limit is taken for 1,024, the
// usual soft limit.
func letOpen(in planning.Input, conf *nginx.Config, service string, n int) error {
	limit := fileLimit(in, conf, service)
	if limit == 0 {
		limit = 1024
	}
	if limit >= n {
		return nil
	}
	if svc := in.Stack.Service(service); svc != nil && !planning.MachineOf(in, svc).Root {
		return fmt.Errorf("a worker of %s may open %d files and would need %d, which only a master that runs as root can give it; raise it where the service is started (LimitNOFILE= in its unit)", service, limit, n)
	}
	return SetTop(conf, "worker_rlimit_nofile", strconv.Itoa(n))
}

// connections is how many a worker may have: as configured, else nginx's default.
func connections(conf *nginx.Config) int {
	if events := conf.Root.First("events"); events != nil {
		if d := events.First("worker_connections"); d != nil && len(d.Args) == 1 {
			if n, err := strconv.Atoi(d.Args[0]); err == nil {
				return n
			}
		}
	}
	return 512
}

func planConnections(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	// Four for each user, spread unevenly over workers, and never below 1024.
	n := max(1024, 4*in.Evidence.Load.Workload)
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, _ *nginx.Directive) error {
		if err := letOpen(in, conf, f.Service, 2*n); err != nil {
			return err
		}
		events := conf.Root.First("events")
		if events == nil {
			return fmt.Errorf("%s has no events block", f.Service)
		}
		return SetDirective(events, "worker_connections", strconv.Itoa(n))
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: fmt.Sprintf("nginx.connections:%s:%d", f.Service, n), Changes: changes,
		Title: fmt.Sprintf("Give each worker of %s %d connections", f.Service, n)}}, nil
}

// planDelivery closes the gaps that diagnose.DeliveryGaps lists. The changes
// are independent and safe, so they are one experiment.
func planDelivery(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	var gaps map[string]string
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		gaps = diagnose.DeliveryGaps(conf, server)
		http := server.Parent
		for _, want := range [][2]string{{"sendfile", "on"}, {"tcp_nopush", "on"}, {"keepalive_timeout", "65s"}, {"keepalive_requests", "10000"}} {
			name, value := want[0], want[1]
			_, missing := gaps[name]
			if name == "tcp_nopush" && gaps["sendfile"] != "" && !diagnose.OnOff(server, "tcp_nopush", false) {
				missing = true
			}
			if !missing || name == "tcp_nopush" && corkStalls(in) {
				continue
			}
			where := http
			if d := server.Effective(name); d != nil {
				where = d.Parent
			}
			if err := SetDirective(where, name, value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(changes) == 0 && gaps["tcp_nopush"] != "" {
		return nil, fmt.Errorf("tcp_nopush would hold back the end of answers above 64 KiB over loopback")
	}
	if len(changes) == 0 {
		return nil, fmt.Errorf("only the connection to the application is left, see nginx.keep-php")
	}
	return []planning.Plan{{ID: "nginx.delivery:" + f.Service, Title: "Let " + f.Service + " deliver with less work (sendfile, keep-alive)", Changes: changes}}, nil
}

// loopbackPacket is what one packet holds over loopback, bytes (its MTU is 65,536).
const loopbackPacket = 64 << 10

// corkStalls reports whether answers larger than a packet go over loopback: what is left
// of such a one is held back by tcp_nopush (TCP_CORK, tcp(7)) until the rest is taken.
// nginx 1.22, one worker, `wrk -t1 -c4`: 100 KiB 22,258/s without and 16,901/s with it,
// 200 KiB 10,551 and 8,832. Clients that delay their acknowledgement wait 40 ms for it.
func corkStalls(in planning.Input) bool {
	u, err := url.Parse(in.Stack.Load.URL)
	if err != nil {
		return false
	}
	if _, loopback := diagnose.Loopback(net.JoinHostPort(u.Hostname(), "80")); !loopback {
		return false
	}
	for _, r := range in.Evidence.Routes {
		if r.Count > 0 && r.Bytes/r.Count > loopbackPacket {
			return true
		}
	}
	for _, a := range in.Evidence.Load.Assets {
		if a.Size > loopbackPacket {
			return true
		}
	}
	return false
}

// cachedFiles is how many files a worker keeps open at most.
const cachedFiles = 10000

// planFileCache keeps files open. They count in the worker's limit beside two for each
// connection; above it every request would fail with 500 (EMFILE), so the limit is
// raised with it, or nothing is planned.
func planFileCache(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		if err := letOpen(in, conf, f.Service, cachedFiles+2*connections(conf)); err != nil {
			return err
		}
		for _, d := range [][]string{{"open_file_cache", fmt.Sprintf("max=%d", cachedFiles), "inactive=20s"}, {"open_file_cache_valid", "30s"},
			{"open_file_cache_min_uses", "2"}, {"open_file_cache_errors", "on"}} {
			if err := SetDirective(server.Parent, d[0], d[1:]...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.file-cache:" + f.Service, Trades: []regulation.Trade{regulation.Staleness}, Changes: changes,
		Title: "Let " + f.Service + " keep files open (open_file_cache)"}}, nil
}

// planAccessLog gives the logs that apply to the server a buffer.
func planAccessLog(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		first := server.Effective("access_log")
		if first == nil {
			return fmt.Errorf("%s writes to its compiled-in log; name it with access_log first", f.Service)
		}
		files := map[string]bool{}
		for _, d := range first.Parent.Find("access_log") {
			if !diagnose.Unbuffered(d) {
				continue
			}
			if strings.Contains(d.Args[0], "$") {
				return fmt.Errorf("the name of log %s holds a variable, such a log cannot have a buffer", d.Args[0])
			}
			files[d.Args[0]] = true
		}
		return bufferLogs(conf, files)
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.access-log:" + f.Service, Trades: []regulation.Trade{regulation.Observability}, Changes: changes,
		Title: "Let " + f.Service + " write its access log in blocks"}}, nil
}

// bufferLogs changes every line that writes one of these files: nginx refuses
// a file that has a buffer in one place and none in another.
func bufferLogs(conf *nginx.Config, files map[string]bool) error {
	var err error
	conf.Root.Walk(func(d *nginx.Directive) bool {
		if err != nil || d.Name != "access_log" || !diagnose.Unbuffered(d) || !files[d.Args[0]] {
			return err == nil
		}
		args := append([]string(nil), d.Args...)
		if len(args) == 1 {
			args = append(args, "combined")
		}
		err = d.SetArgs(append(args, "buffer=64k", "flush=1s")...)
		return err == nil
	})
	return err
}
