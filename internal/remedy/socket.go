package remedy

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

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

