package web

import (
	"bytes"
	"fmt"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/ini"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// planWebSocket moves the connection between nginx and PHP-FPM from loopback
// TCP to a unix socket, in the phases of docs/reference/changes.md, "Moving an endpoint":
// PHP-FPM listens on both, nginx is switched, the port is closed. Before them,
// connections that nginx keeps get an idle time if they have none, and lose it
// last on the way back, so that PHP-FPM's reloads do not wait for them.
func planWebSocket(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	web, fpm := in.Stack.Service(f.Service), in.Stack.Service(f.Subject["fpm"])
	pool := f.Subject["pool"]
	socket, err := socketPath(in, fpm, pool)
	if err != nil {
		return nil, err
	}
	if planning.HostOf(web) != planning.HostOf(fpm) {
		return nil, fmt.Errorf("%s is on %s and %s on %s: a unix socket connects programs of one host", web.Name, planning.HostOf(web), fpm.Name, planning.HostOf(fpm))
	}
	if err := nobodyElse(in, web, fpm, pool, f.Subject["port"]); err != nil {
		return nil, err
	}
	rights, err := socketRights(in, web, fpm)
	if err != nil {
		return nil, err
	}
	// Both pools may be busy while requests move over; the second one starts
	// its processes on demand.
	if room, use := planning.SpareMemory(in, fpm), in.Evidence.Services[fpm.Name].RSS; room != 0 && room < use {
		return nil, fmt.Errorf("two pools for the time of the move may take %d MiB more, and %d are left", use/planning.MiB, max(room, 0)/planning.MiB)
	}
	asFound := in.Snapshot
	var all []change.Change
	phase := func(changes []change.Change, err error) error {
		for i := range changes {
			changes[i].Phase = phaseAfter(all)
		}
		all = append(all, changes...)
		in.Snapshot = planning.WithChanges(in.Snapshot, changes)
		return err
	}
	if err := phase(Edit(in, web.Name, change.Reload, f.Text, func(conf *nginx.Config, _ *nginx.Directive) error {
		return endIdle(conf, f.Subject["port"])
	})); err != nil {
		return nil, err
	}
	if err := phase(editPools(in, asFound, fpm, f.Text, func(conf *ini.Config) error { return secondPool(conf, pool, socket, rights) })); err != nil {
		return nil, err
	}
	if err := phase(Edit(in, web.Name, change.Reload, f.Text, func(conf *nginx.Config, _ *nginx.Directive) error {
		return repoint(conf, f.Subject["port"], "unix:"+socket)
	})); err != nil {
		return nil, err
	}
	if err := phase(editPools(in, asFound, fpm, f.Text, func(conf *ini.Config) error { return oneSocket(conf, pool, socket, rights) })); err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.php-socket:" + web.Name + ":" + fpm.Name + ":" + pool,
		Title: fmt.Sprintf("Connect %s to %s through a unix socket", web.Name, fpm.Name), Changes: all}}, nil
}

// phaseAfter is the phase that follows all changes so far.
func phaseAfter(changes []change.Change) int {
	n := 0
	for _, c := range changes {
		n = max(n, c.Phase+1)
	}
	return n
}

// nobodyElse refuses a pool that other web servers connect to.
func nobodyElse(in planning.Input, web, fpm *stack.Service, pool, port string) error {
	for _, other := range in.Stack.OfKind(stack.Nginx) {
		conf, err := diagnose.NginxConfig(in.Snapshot, other)
		if other == web || err != nil {
			continue
		}
		near := planning.HostOf(other) == planning.HostOf(fpm)
		if near && reaches(conf, port) || !near && reachesFrom(conf, port) {
			return fmt.Errorf("%s connects to the port of pool %s too", other.Name, pool)
		}
	}
	return nil
}

// editPools plans PHP-FPM's files: those as found with an edit, in place of
// those as they are by then. A reload hands listening sockets on.
func editPools(in planning.Input, asFound *evidence.Snapshot, fpm *stack.Service, why string, edit func(conf *ini.Config) error) ([]change.Change, error) {
	conf, err := diagnose.FPMConfig(asFound, fpm)
	if err != nil {
		return nil, err
	}
	if err := edit(conf); err != nil {
		return nil, err
	}
	want := conf.Changed()
	host := planning.HostOf(fpm)
	for p, found := range asFound.Files[host] {
		_, edited := want[p]
		now := in.Snapshot.Files[host][p].Content
		if !edited && !bytes.Equal(now, found.Content) {
			want[p] = found.Content
		}
		if edited && bytes.Equal(now, want[p]) {
			delete(want, p)
		}
	}
	for p := range want {
		if f := asFound.Files[host][p]; f.Service != fpm.Name && f.Service != "" {
			delete(want, p) // nginx's, by the phase before
		}
	}
	return planning.FileChanges(in.Snapshot, fpm, want, change.Reload, why)
}

// tcpOnly have no meaning on a socket, or would overrule listen.owner there
// (PHP manual, "FPM configuration").
var tcpOnly = []string{"listen.acl_users", "listen.acl_groups"}

// secondPool adds a pool on the socket that is as the first.
func secondPool(conf *ini.Config, pool, socket string, rights [][2]string) error {
	second := "kasoku-" + pool
	if slices.Contains(conf.Sections(), second) {
		return fmt.Errorf("there is a pool %s already", second)
	}
	for _, key := range conf.Keys(pool) {
		v, ok := conf.Get(pool, key)
		if !ok || slices.Contains(tcpOnly, key) || key == "listen.allowed_clients" {
			continue
		}
		if err := conf.Set(second, key, strings.ReplaceAll(v.Text, "$pool", pool)); err != nil {
			return err
		}
	}
	sets := append(onSocket(conf, pool, socket, rights), [2]string{"pm", "ondemand"})
	for _, kv := range sets {
		if err := conf.Set(second, kv[0], kv[1]); err != nil {
			return err
		}
	}
	return letFinish(conf)
}

// letFinish lets requests under way end before their process does; the default
// 0 ends them at once (PHP manual, "process_control_timeout"). It holds from
// the first reload on, which itself still obeys what was there before.
func letFinish(conf *ini.Config) error {
	if v, ok := conf.Get("global", "process_control_timeout"); ok && strings.TrimRight(v.Text, "smhd") != "0" {
		return nil
	}
	return conf.Set("global", "process_control_timeout", "10s")
}

// onSocket are the settings of a pool that listens on the socket.
func onSocket(conf *ini.Config, pool, socket string, rights [][2]string) [][2]string {
	sets := append([][2]string{{"listen", socket}}, rights...)
	// A full queue makes a TCP client wait, but a client of a unix socket fails
	// at once (unix(7), EAGAIN), so the queue must be long. The kernel cuts it
	// at net.core.somaxconn.
	if v, ok := conf.Get(pool, "listen.backlog"); !ok || tooShort(v.Text) {
		sets = append(sets, [2]string{"listen.backlog", strconv.Itoa(planning.SocketBacklog)})
	}
	return sets
}

// oneSocket gives the socket to the pool as it was found.
func oneSocket(conf *ini.Config, pool, socket string, rights [][2]string) error {
	for _, kv := range onSocket(conf, pool, socket, rights) {
		if err := conf.Set(pool, kv[0], kv[1]); err != nil {
			return err
		}
	}
	for _, key := range tcpOnly {
		if err := conf.Unset(pool, key); err != nil {
			return err
		}
	}
	return letFinish(conf)
}

func tooShort(backlog string) bool {
	n, err := strconv.Atoi(backlog)
	return err != nil || n >= 0 && n < planning.SocketBacklog // a negative one is the kernel's limit
}

// socketRights lets nginx's workers connect, and nobody else.
func socketRights(in planning.Input, web, fpm *stack.Service) ([][2]string, error) {
	user, known := in.Snapshot.Users[planning.HostOf(web)+"/"+web.Name]
	if !known {
		return nil, fmt.Errorf("the user of %s's workers is not known, so the socket cannot be handed to it", web.Name)
	}
	if planning.MachineOf(in, fpm).Root {
		return [][2]string{{"listen.owner", planning.NameOr(user.Name, user.UID)}, {"listen.group", planning.NameOr(user.Group, user.GID)}, {"listen.mode", "0660"}}, nil
	}
	own, known := in.Snapshot.Users[planning.HostOf(fpm)+"/"+fpm.Name]
	if !known || own.UID != user.UID {
		return nil, fmt.Errorf("%s runs as another user than %s and only root can hand the socket over", web.Name, fpm.Name)
	}
	return nil, nil
}

func reaches(conf *nginx.Config, port string) bool {
	for _, u := range diagnose.Upstreams(conf) {
		if p, ok := diagnose.Loopback(u.Address); ok && p == port {
			return true
		}
	}
	return false
}

// reachesFrom: an nginx on another host passes requests to some other host's
// port, which may be the pool's.
func reachesFrom(conf *nginx.Config, port string) bool {
	for _, u := range diagnose.Upstreams(conf) {
		addresses := []string{u.Address}
		if u.Block != nil {
			addresses = nil
			for _, s := range u.Block.Find("server") {
				addresses = append(addresses, s.Args[:min(1, len(s.Args))]...)
			}
		}
		for _, a := range addresses {
			_, p, err := net.SplitHostPort(a)
			if _, own := diagnose.Loopback(a); err == nil && p == port && !own {
				return true
			}
		}
	}
	return false
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
func socketPath(in planning.Input, fpm *stack.Service, pool string) (string, error) {
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
	return planning.SocketPath(dir, fpm.Name+"-"+pool)
}
