package php

import (
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// planKeepSessionStore keeps the connection of the session handler open from
// request to request, if the store takes one connection of every process.
func planKeepSessionStore(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	php := in.Snapshot.PHP[svc.Name]
	store := storeAt(in, stack.Kind(f.Subject["handler"]), php["session.save_path"])
	if store == nil {
		return nil, fmt.Errorf("%s: the store of its sessions is not a service of the stack, so its limit of connections is not known", svc.Name)
	}
	if err := takes(in, store); err != nil {
		return nil, err
	}
	var sets [][2]string
	switch f.Subject["handler"] {
	case "memcached":
		sets = [][2]string{{"memcached.sess_persistent", "1"}}
	case "redis":
		path, ok := persistentPath(php["session.save_path"])
		if !ok {
			return nil, fmt.Errorf("%s: session.save_path %q has a form that is not known", svc.Name, php["session.save_path"])
		}
		sets = [][2]string{{"session.save_path", path}}
	default:
		return nil, fmt.Errorf("%s: the session handler %s has no setting that Kasoku knows", svc.Name, f.Subject["handler"])
	}
	changes, err := Set(in, svc, sets, f.Text)
	return []planning.Plan{{ID: "php.session-persistent:" + svc.Name, Title: "Keep " + svc.Name + "'s connections to the session store open", Changes: changes}}, err
}

// planKeepCache has an application keep its connections to memcached, by the
// name that its environment may give them.
func planKeepCache(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	app, file, store := in.Stack.Service(f.Service), f.Subject["file"], in.Stack.Service(f.Subject["cache"])
	if err := takes(in, store); err != nil {
		return nil, err
	}
	content, _ := diagnose.KeepMemcached(in.Snapshot.Files[planning.HostOf(app)][file].Content, f.Subject["reads"] != "")
	c, err := planning.FileChange(in.Snapshot, app, file, content, change.Reload, f.Text)
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "app.cache-persistent:" + app.Name + ":" + file, EditsSettings: true, Changes: []change.Change{c},
		Title: fmt.Sprintf("Keep connections of %s to %s open", app.Name, store.Name)}}, nil
}

// persistentPath adds persistent=1 to the one server of a phpredis save path
// (phpredis's README, "PHP Session handler"). A bare host:port takes no
// parameters, so it gets its scheme.
func persistentPath(path string) (string, bool) {
	path = strings.TrimSpace(path)
	if path == "" || strings.ContainsAny(path, ", \t") {
		return "", false
	}
	scheme, rest, ok := strings.Cut(path, "://")
	if !ok {
		scheme, rest = "tcp", path
	}
	if scheme != "tcp" && scheme != "unix" {
		return "", false
	}
	joint := "?"
	if strings.Contains(rest, "?") {
		joint = "&"
	}
	return scheme + "://" + rest + joint + "persistent=1", true
}

// storeAt is the stack's cache of the kind that a save path names; the only one
// of its kind where the path is a socket.
func storeAt(in planning.Input, kind stack.Kind, path string) *stack.Service {
	all := in.Stack.OfKind(kind)
	for _, svc := range all {
		for _, l := range diagnose.CacheListens(in.Snapshot, svc) {
			if strings.Contains(path, strings.TrimPrefix(l, "unix:")) {
				return svc
			}
			if port, ok := diagnose.Loopback(l); ok && strings.Contains(path, ":"+port) {
				return svc
			}
		}
	}
	if len(all) == 1 && strings.Contains(path, "/") && !strings.HasPrefix(path, "tcp:") {
		return all[0]
	}
	return nil
}

// takes says whether a cache takes a connection of every PHP process beside
// those that it has: servers × workers must stay below its limit (C13).
func takes(in planning.Input, store *stack.Service) error {
	values := in.Evidence.Counters[store.Name].Value
	limit, now := "max_connections", "curr_connections"
	if store.Kind == stack.Redis {
		limit, now = "maxclients", "connected_clients"
	}
	most, err := strconv.Atoi(values[limit])
	if err != nil {
		return fmt.Errorf("%s: its limit of connections is not known", store.Name)
	}
	have, _ := strconv.Atoi(values[now])
	processes := 0
	for _, svc := range diagnose.PHPServices(in.Stack, in.Snapshot) {
		if svc.Kind == stack.Apache {
			n, err := apacheWorkers(in, svc)
			if err != nil {
				return err
			}
			processes += n
			continue
		}
		pools, err := diagnose.FPMPools(in.Snapshot, svc)
		if err != nil {
			return err
		}
		for _, p := range pools {
			processes += p.MaxChildren
		}
	}
	// A tenth is left for others.
	if need := have + processes; need > most*9/10 {
		return fmt.Errorf("%s takes %d connections; %d processes would keep one each beside the %d that are open", store.Name, most, processes, have)
	}
	return nil
}

// lockWait bounds how long a request waits for the session that another
// request of the same user holds: 30 s, PHP's own max_execution_time. Files
// wait without end; the handlers' defaults give up after less than a second,
// which users would see as lost log-ins.
//
// memcached waits lock_wait_min ms, doubled up to lock_wait_max, lock_retries
// times: 1 + 2 + … + 64 + 293 × 100 ms. phpredis waits lock_wait_time µs, 2,000
// by default, lock_retries times; it does not lock unless told.
var lockWait = map[stack.Kind][][2]string{
	stack.Memcached: {{"memcached.sess_locking", "1"}, {"memcached.sess_lock_wait_min", "1"}, {"memcached.sess_lock_wait_max", "100"}, {"memcached.sess_lock_retries", "300"}},
	stack.Redis:     {{"redis.session.locking_enabled", "1"}, {"redis.session.lock_retries", "15000"}},
}

// planSessionStore moves sessions from files to a memcached or Redis of the
// stack that PHP has the extension for (W05 where sessions are what an
// application can keep there by a setting).
func planSessionStore(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	svc := in.Stack.Service(f.Service)
	php := in.Snapshot.PHP[svc.Name]
	extension := map[stack.Kind]string{stack.Memcached: "memcached.sess_persistent", stack.Redis: "redis.session.locking_enabled"}
	var out []planning.Plan
	var why error
	for _, store := range in.Stack.OfKind(stack.Memcached, stack.Redis) {
		if _, loaded := php[extension[store.Kind]]; !loaded {
			why = fmt.Errorf("%s has no %s extension", svc.Name, store.Kind)
			continue
		}
		if why = keepsAll(in, store); why != nil {
			continue
		}
		if why = takes(in, store); why != nil {
			continue
		}
		path, err := savePath(in, svc, store)
		if why = err; err != nil {
			continue
		}
		sets := [][2]string{{"session.save_handler", string(store.Kind)}, {"session.save_path", path}}
		if store.Kind == stack.Memcached {
			sets = append(sets, [2]string{"memcached.sess_persistent", "1"})
		}
		for _, kv := range lockWait[store.Kind] {
			if diagnose.On(kv[1]) && diagnose.On(php[kv[0]]) || php[kv[0]] == kv[1] {
				continue
			}
			sets = append(sets, kv)
		}
		changes, err := Set(in, svc, sets, f.Text)
		if err != nil {
			return nil, err
		}
		out = append(out, planning.Plan{ID: "php.session-store:" + svc.Name + ":" + store.Name, Title: "Keep sessions of " + svc.Name + " in " + store.Name,
			Why: f.Text + " Whoever is logged in must log in again, once now and after each restart of " + store.Name + ".", Changes: changes})
	}
	if len(out) > 0 {
		why = nil
	}
	return out, why
}

// keepsAll says whether a cache keeps what it is given: sessions that are
// thrown out for lack of memory are log-ins lost.
func keepsAll(in planning.Input, store *stack.Service) error {
	counters, known := in.Evidence.Counters[store.Name]
	if !known {
		return fmt.Errorf("%s: its counters were not read", store.Name)
	}
	bytes := func(name string) int64 {
		n, _ := strconv.ParseInt(counters.Value[name], 10, 64)
		return n
	}
	used, limit, evicted := bytes("bytes"), bytes("limit_maxbytes"), counters.Delta["evictions"]
	if store.Kind == stack.Redis {
		used, limit, evicted = bytes("used_memory"), bytes("maxmemory"), counters.Delta["evicted_keys"]
	}
	if evicted > 0 || limit > 0 && used > limit/2 {
		return fmt.Errorf("%s throws entries out or is more than half full, and sessions would be lost", store.Name)
	}
	return nil
}

// savePath is session.save_path for a store: its socket if it has one on PHP's
// host, else its TCP address.
func savePath(in planning.Input, svc, store *stack.Service) (string, error) {
	if store.Login != nil {
		return "", fmt.Errorf("%s asks for a password, which would stand in php.ini; write session.save_path by hand", store.Name)
	}
	near := planning.HostOf(svc) == planning.HostOf(store)
	address := ""
	for _, l := range diagnose.CacheListens(in.Snapshot, store) {
		if strings.HasPrefix(l, "unix:") && near {
			address = strings.TrimPrefix(l, "unix:")
			break
		}
		if _, loop := diagnose.Loopback(l); (loop && near || !loop && !strings.HasPrefix(l, "unix:")) && address == "" {
			address = l
		}
	}
	switch {
	case address == "":
		return "", fmt.Errorf("%s cannot be reached from %s's host", store.Name, svc.Name)
	case store.Kind == stack.Memcached:
		return address, nil
	case strings.HasPrefix(address, "/"):
		return "unix://" + address + "?persistent=1", nil
	}
	return "tcp://" + address + "?persistent=1", nil
}

// apacheWorkers is how many processes with PHP an Apache may have.
func apacheWorkers(in planning.Input, svc *stack.Service) (int, error) {
	conf, err := diagnose.ApacheConfig(in.Snapshot, svc)
	if err != nil {
		return 0, err
	}
	v, err := conf.Value("MaxRequestWorkers", nil)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(v.Text)
	if err != nil {
		return 0, fmt.Errorf("%s: MaxRequestWorkers %q is no number", svc.Name, v.Text)
	}
	return n, nil
}

// HoldsSessions reports whether some PHP of the stack keeps its sessions in
// the cache, so that a restart of the cache ends them.
func HoldsSessions(st *stack.Stack, snap *evidence.Snapshot, cache *stack.Service) bool {
	in := planning.Input{Stack: st, Snapshot: snap}
	for _, svc := range diagnose.PHPServices(st, snap) {
		php := snap.PHP[svc.Name]
		if php["session.save_handler"] == string(cache.Kind) && storeAt(in, cache.Kind, php["session.save_path"]) == cache {
			return true
		}
	}
	return false
}
