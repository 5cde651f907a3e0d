package web

import (
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// planAccept lets every worker take new connections as they come.
func planAccept(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	values := map[string]string{"accept_mutex": "off", "use": "epoll", "multi_accept": "on"}
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, _ *nginx.Directive) error {
		events := conf.Root.First("events")
		if events == nil {
			return fmt.Errorf("%s has no events block", f.Service)
		}
		for name := range strings.FieldsSeq(f.Subject["directives"]) {
			if err := SetDirective(events, name, values[name]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.accept:" + f.Service + ":" + strings.ReplaceAll(f.Subject["directives"], " ", "+"),
		Title: "Let workers of " + f.Service + " take connections as they come", Changes: changes}}, nil
}

// planSendfileChunk bounds what one call may send, so that a large file does
// not hold a worker. 512k is what the game's engineers set (C19); nginx's own
// default since 1.21.4 is 2m.
func planSendfileChunk(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(_ *nginx.Config, server *nginx.Directive) error {
		return setWhere(server, server.Parent, "sendfile_max_chunk", "512k")
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.sendfile-chunk:" + f.Service, Title: "Send large files of " + f.Service + " in pieces", Changes: changes}}, nil
}

// planReset frees what the kernel keeps for clients that stopped reading.
func planReset(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(_ *nginx.Config, server *nginx.Directive) error {
		return setWhere(server, server.Parent, "reset_timedout_connection", "on")
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.reset:" + f.Service, Title: "Give up connections of " + f.Service + " whose clients timed out", Changes: changes}}, nil
}

// planFileLimit lets each worker open more files. A worker may hold two for
// each connection: the client's and the application's or the file's.
func planFileLimit(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	if svc == nil || svc.Kind != stack.Nginx {
		return nil, nil
	}
	now := in.Evidence.Services[f.Service].FileLimit
	n := 0
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, _ *nginx.Directive) error {
		// setrlimit(2): only root raises the hard limit, and the soft one of a
		// master that is not root stays below it.
		if !planning.MachineOf(in, svc).Root {
			return fmt.Errorf("only a master that runs as root can raise its workers' limit of %d files; raise it where the service is started (LimitNOFILE= in its unit)", now)
		}
		n = max(4*now, 2*connections(conf))
		return SetTop(conf, "worker_rlimit_nofile", strconv.Itoa(n))
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: fmt.Sprintf("nginx.file-limit:%s:%d", f.Service, n), Changes: changes,
		Title: fmt.Sprintf("Let each worker of %s open %d files instead of %d", f.Service, n, now)}}, nil
}

// planBuffers holds answers of the application in memory until the client has
// taken them.
func planBuffers(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	largest, err := strconv.ParseInt(f.Subject["largest"], 10, 64)
	if err != nil {
		return nil, err
	}
	// One buffer is four pages; twice the largest answer, because the mean of a
	// route hides its longest ones; a mebibyte at most for a connection.
	const one, most = 16 << 10, 64
	count := min(max((2*largest+one-1)/one, 16), most)
	if room := planning.SpareMemory(in, in.Stack.Service(f.Service)); room > 0 && int64(in.Evidence.Load.Workload)*count*one > room {
		return nil, fmt.Errorf("buffers of %d KiB for each of %d users do not fit into the %d MiB that are left", count*one>>10, in.Evidence.Load.Workload, room>>20)
	}
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		used := map[string]bool{"fastcgi": len(diagnose.Upstreams(conf)) > 0, "proxy": len(diagnose.ProxyUpstreams(conf)) > 0}
		done := false
		for _, module := range []string{"fastcgi", "proxy"} {
			if !used[module] {
				continue
			}
			done = true
			for _, s := range [][]string{{module + "_buffer_size", "16k"}, {module + "_buffers", strconv.FormatInt(count, 10), "16k"}, {module + "_busy_buffers_size", "32k"}} {
				if err := setWhere(server, server.Parent, s[0], s[1:]...); err != nil {
					return err
				}
			}
		}
		if !done {
			return fmt.Errorf("%s passes requests on in a way that is not known here", f.Service)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: fmt.Sprintf("nginx.buffers:%s:%d", f.Service, count),
		Title: fmt.Sprintf("Hold answers of up to %d KiB in %s's memory", count*one>>10, f.Service), Changes: changes}}, nil
}

// planBodies holds request bodies in memory; each of the users may send one at a time.
func planBodies(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	each, _ := diagnose.Bytes(diagnose.BodyBuffer)
	if room := planning.SpareMemory(in, in.Stack.Service(f.Service)); room > 0 && int64(in.Evidence.Load.Workload)*each > room {
		return nil, fmt.Errorf("%d KiB for each of %d users do not fit into the %d MiB that are left", each>>10, in.Evidence.Load.Workload, room>>20)
	}
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(_ *nginx.Config, server *nginx.Directive) error {
		return setWhere(server, server.Parent, "client_body_buffer_size", diagnose.BodyBuffer)
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.body-buffers:" + f.Service + ":" + diagnose.BodyBuffer,
		Title: fmt.Sprintf("Hold what clients send, up to %d KiB, in %s's memory", each>>10, f.Service), Changes: changes}}, nil
}

// planStaticLog writes no line for a file that was sent.
func planStaticLog(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(_ *nginx.Config, server *nginx.Directive) error {
		for p := range strings.SplitSeq(f.Subject["paths"], "\n") {
			loc := nginx.MatchLocation(server, p)
			if loc == nil || !diagnose.Logs(loc) {
				continue
			}
			own := loc.Find("access_log")
			if len(own) > 1 {
				return fmt.Errorf("location %s writes several logs", strings.Join(loc.Args, " "))
			}
			if err := SetDirective(loc, "access_log", "off"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.static-log:" + f.Service, Title: "Log no files that " + f.Service + " sends", Changes: changes}}, nil
}
