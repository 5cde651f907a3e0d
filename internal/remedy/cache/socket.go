package cache

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/php"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// planSocket moves the clients of a memcached or Redis on their own host to a
// unix socket: both ends in one plan.
func planSocket(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	clients := diagnose.CacheClients(in.Stack, in.Snapshot, svc)
	if err := allKnown(in, svc, clients); err != nil {
		return nil, err
	}
	socket, folder, err := socketPath(in, svc)
	if err != nil {
		return nil, err
	}
	server, restarts, err := listenOnSocket(in, svc, clients, socket, f.Text)
	if err != nil {
		return nil, err
	}
	ends, err := repoint(in, svc, clients, f.Subject["port"], socket, f.Text)
	if err != nil {
		return nil, err
	}
	if svc.Kind == stack.Redis {
		// Redis listens on both, so clients are switched when the socket is there.
		for i := range ends {
			ends[i].Phase = 1
		}
	}
	p := planning.Plan{ID: "cache.socket:" + svc.Name, Title: fmt.Sprintf("Connect clients of %s through a unix socket", svc.Name),
		Changes: slices.Concat(folder, server, ends)}
	if restarts {
		p.Trades = restartTrades(in, svc)
	}
	return []planning.Plan{p}, nil
}

// allKnown makes sure that every client of a memcached, which gives its port
// up, is one that can be switched. Redis keeps its port, so one is enough.
func allKnown(in planning.Input, svc *stack.Service, clients []diagnose.CacheClient) error {
	if len(clients) == 0 {
		return fmt.Errorf("no settings that Kasoku can edit name %s's port: not session.save_path, nor the settings of an application in kasoku.yaml", svc.Name)
	}
	if svc.Kind == stack.Redis {
		return nil
	}
	for i := range in.Stack.Services {
		s := &in.Stack.Services[i]
		if !slices.Contains(s.TalksTo, svc.Name) {
			continue
		}
		if planning.HostOf(s) != planning.HostOf(svc) {
			return fmt.Errorf("%s on %s talks to %s too: a unix socket connects programs of one host, and memcached cannot listen on both", s.Name, planning.HostOf(s), svc.Name)
		}
		name := s.Name
		if s.RunsIn != "" {
			name = s.RunsIn
		}
		if !slices.ContainsFunc(clients, func(c diagnose.CacheClient) bool { return c.Service == name }) {
			return fmt.Errorf("%s talks to %s, but its settings do not name the port; memcached cannot listen on both", s.Name, svc.Name)
		}
	}
	return nil
}

// socketPath is beside the server's pid file, where it may write and which
// exists before it starts. Where another user wrote that file, as a script does that
// then becomes the server under the server's own name, it is in a new folder.
func socketPath(in planning.Input, svc *stack.Service) (socket string, folder []change.Change, err error) {
	dir := ""
	switch {
	case in.Snapshot.Users[planning.HostOf(svc)+"/"+svc.Name].NotByPID:
		made, _, err := planning.SocketFolder(in, svc, planning.LastingFolders)
		if err != nil {
			return "", nil, err
		}
		dir, folder = made.Path, []change.Change{made}
	case svc.Control.PIDFile != "":
		dir = path.Dir(svc.Control.PIDFile)
	case svc.Kind == stack.Memcached:
		dir = "/run/memcached" // Debian's, with its pid file
	default:
		conf, err := diagnose.RedisConfig(in.Snapshot, svc)
		if err != nil {
			return "", nil, err
		}
		dir = "/run/redis" // Debian's RuntimeDirectory
		if v, ok := conf.Get("pidfile"); ok && len(v.Args) == 1 && path.IsAbs(v.Args[0]) {
			dir = path.Dir(v.Args[0])
		}
	}
	if socket, err = planning.SocketPath(dir, svc.Name); err != nil {
		return "", nil, err
	}
	if strings.ContainsAny(socket, " \t\"'#,?&:") {
		return "", nil, fmt.Errorf("%s holds signs that the clients' settings could not hold", socket)
	}
	return socket, folder, nil
}

// socketMode lets the clients' users connect: only the owner where they are the
// server's user, its group where they are in it, else everybody, as with the
// loopback port before.
func socketMode(in planning.Input, svc *stack.Service, clients []diagnose.CacheClient) string {
	key := planning.HostOf(svc) + "/"
	server, known := in.Snapshot.Users[key+svc.Name]
	mode := "700"
	for _, c := range clients {
		u, ok := in.Snapshot.Users[key+c.Service]
		switch {
		case !known || !ok:
			return "777"
		case u.UID == server.UID || u.UID == 0:
		case u.GID == server.GID || slices.Contains(u.Groups, server.GID):
			mode = "770"
		default:
			return "777"
		}
	}
	return mode
}

// listenOnSocket has the server listen on the socket; restarts is false if it
// does so already.
func listenOnSocket(in planning.Input, svc *stack.Service, clients []diagnose.CacheClient, socket, why string) (changes []change.Change, restarts bool, err error) {
	if svc.Config == "" {
		return nil, false, fmt.Errorf("%s: name its configuration file in kasoku.yaml (config)", svc.Name)
	}
	mode := socketMode(in, svc, clients)
	if svc.Kind == stack.Memcached {
		conf, err := diagnose.MemcachedConfig(in.Snapshot, svc)
		if err != nil {
			return nil, false, err
		}
		sets := [][2]string{{"-s", socket}, {"-a", "0" + mode}}
		// 1024 is memcached's own (memcached(1), -b).
		if v, ok := conf.Get("-b"); !ok || smaller(v.Text, planning.SocketBacklog) {
			sets = append(sets, [2]string{"-b", strconv.Itoa(planning.SocketBacklog)})
		}
		for _, kv := range sets {
			if _, err := conf.Set(kv[0], kv[1]); err != nil {
				return nil, false, err
			}
		}
		changes, err = planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, why)
		return changes, true, err
	}
	conf, err := diagnose.RedisConfig(in.Snapshot, svc)
	if err != nil {
		return nil, false, err
	}
	if v, ok := conf.Get("unixsocket"); ok && len(v.Args) == 1 && v.Args[0] != "" && v.Args[0] != socket {
		return nil, false, fmt.Errorf("%s listens on %s already; point its clients there", svc.Name, v.Args[0])
	}
	sets := [][2]string{{"unixsocket", socket}, {"unixsocketperm", mode}}
	if v, ok := conf.Get("tcp-backlog"); !ok || len(v.Args) == 1 && smaller(v.Args[0], planning.SocketBacklog) {
		sets = append(sets, [2]string{"tcp-backlog", strconv.Itoa(planning.SocketBacklog)}) // of its socket too (Redis, server.c: anetUnixServer)
	}
	for _, kv := range sets {
		if _, err := conf.Set(kv[0], kv[1]); err != nil {
			return nil, false, err
		}
	}
	changes, err = planning.FileChanges(in.Snapshot, svc, conf.Changed(), change.Restart, why)
	return changes, true, err
}

func smaller(text string, than int) bool {
	n, err := strconv.Atoi(text)
	return err != nil || n < than
}

// repoint gives every place that names the cache's port the socket.
func repoint(in planning.Input, svc *stack.Service, clients []diagnose.CacheClient, port, socket, why string) ([]change.Change, error) {
	var out []change.Change
	var failed error
	with := func(scheme string) func(diagnose.CacheAddress) string {
		return func(a diagnose.CacheAddress) string {
			if a.Port != port {
				return a.Text
			}
			if a.Scheme == "" {
				a.Scheme = scheme
			}
			text := a.WithSocket(svc.Kind, socket)
			if text == "" {
				failed = fmt.Errorf("how a client that writes %s names a socket is not known", a.Text)
				return a.Text
			}
			return text
		}
	}
	done, written := map[string]bool{}, map[string]bool{}
	for _, c := range clients {
		key := c.Service + "\n" + c.File
		if done[key] {
			continue
		}
		done[key] = true
		client := in.Stack.Service(c.Service)
		if c.File == "" {
			scheme := "" // a bare address of phpredis is a tcp:// one
			if svc.Kind == stack.Redis {
				scheme = "tcp"
			}
			path := diagnose.ReplaceCacheAddresses(in.Snapshot.PHP[c.Service]["session.save_path"], with(scheme))
			changes, err := php.Set(in, client, [][2]string{{"session.save_path", path}}, why)
			if err != nil {
				return nil, err
			}
			out = append(out, changes...)
			continue
		}
		act := change.Restart
		if client.Kind == stack.PHPFPM {
			act = change.Reload // scripts read it at each request; processes may hold connections
		}
		if written[c.File] { // by a client that shares it
			out = append(out, change.Change{Kind: change.KindRestart, Host: planning.HostOf(client), Service: client.Name, Activate: act, Why: why})
			continue
		}
		written[c.File] = true
		one, err := repointFile(in, svc, client, c.File, act, with(""), why)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, failed
}

// repointFile gives the addresses in a client's settings what with says.
func repointFile(in planning.Input, svc, client *stack.Service, file string, act change.Activation, with func(diagnose.CacheAddress) string, why string) (change.Change, error) {
	content := string(in.Snapshot.Files[planning.HostOf(svc)][file].Content)
	content, err := withTransport(content, diagnose.ReplaceCacheAddresses(content, with))
	if err != nil {
		return change.Change{}, fmt.Errorf("%s: %w", file, err)
	}
	return planning.FileChange(in.Snapshot, client, file, []byte(content), act, why)
}

// restartTrades is what a restart of the cache loses: sessions that are kept in
// it, and with a Redis that saves nothing all that it holds.
func restartTrades(in planning.Input, svc *stack.Service) []regulation.Trade {
	var out []regulation.Trade
	volatile := svc.Kind == stack.Memcached
	if svc.Kind == stack.Redis {
		values := in.Evidence.Counters[svc.Name].Value
		save, known := values["config.save"]
		volatile = !known || strings.TrimSpace(save) == "" && values["aof_enabled"] != "1"
	}
	if volatile && php.HoldsSessions(in.Stack, in.Snapshot, svc) {
		out = append(out, regulation.SessionDurability)
	}
	if volatile && svc.Kind == stack.Redis {
		out = append(out, regulation.Durability)
	}
	return out
}
