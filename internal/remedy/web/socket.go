package web

import (
	"fmt"
	"net"
	"path"
	"strconv"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// planWebSocket moves the connection between nginx and PHP-FPM from loopback
// TCP to a unix socket: both ends in one plan.
func planWebSocket(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
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
	if planning.HostOf(web) != planning.HostOf(fpm) {
		return nil, fmt.Errorf("%s is on %s and %s on %s: a unix socket connects programs of one host", web.Name, planning.HostOf(web), fpm.Name, planning.HostOf(fpm))
	}
	for _, other := range in.Stack.OfKind(stack.Nginx) {
		conf, err := diagnose.NginxConfig(in.Snapshot, other)
		if other == web || err != nil {
			continue
		}
		near := planning.HostOf(other) == planning.HostOf(fpm)
		if near && reaches(conf, f.Subject["port"]) || !near && reachesFrom(conf, f.Subject["port"]) {
			return nil, fmt.Errorf("%s connects to the port of pool %s too", other.Name, pool)
		}
	}
	rights, err := socketRights(in, web, fpm)
	if err != nil {
		return nil, err
	}
	sets := append([][2]string{{"listen", socket}}, rights...)
	// A full queue makes a TCP client wait, but a client of a unix socket fails
	// at once (unix(7), EAGAIN), so the queue must be long. The kernel cuts it
	// at net.core.somaxconn.
	if v, ok := conf.Get(pool, "listen.backlog"); !ok || tooShort(v.Text) {
		sets = append(sets, [2]string{"listen.backlog", strconv.Itoa(socketBacklog)})
	}
	for _, kv := range sets {
		if err := conf.Set(pool, kv[0], kv[1]); err != nil {
			return nil, err
		}
	}
	// They have no meaning for TCP, but on a socket they would overrule
	// listen.owner (PHP manual, "FPM configuration").
	for _, key := range []string{"listen.acl_users", "listen.acl_groups"} {
		if err := conf.Unset(pool, key); err != nil {
			return nil, err
		}
	}
	changes, err := planning.FileChanges(in.Snapshot, fpm, conf.Changed(), change.Restart, f.Text)
	if err != nil {
		return nil, err
	}
	webChanges, err := Edit(in, web.Name, change.Reload, f.Text, func(conf *nginx.Config, _ *nginx.Directive) error {
		return repoint(conf, f.Subject["port"], "unix:"+socket)
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.php-socket:" + web.Name + ":" + fpm.Name + ":" + pool,
		Title:   fmt.Sprintf("Connect %s to %s through a unix socket", web.Name, fpm.Name),
		Changes: append(changes, webChanges...)}}, nil
}

// socketBacklog is the default of net.core.somaxconn since Linux 5.4.
const socketBacklog = 4096

func tooShort(backlog string) bool {
	n, err := strconv.Atoi(backlog)
	return err != nil || n >= 0 && n < socketBacklog // a negative one is the kernel's limit
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
	p := path.Join(dir, "kasoku-"+fpm.Name+"-"+pool+".sock")
	// sun_path holds 107 bytes and a zero (unix(7)).
	if len(p) > 107 {
		return "", fmt.Errorf("%s is too long for a socket's name (107 bytes)", p)
	}
	return p, nil
}
