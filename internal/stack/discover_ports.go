package stack

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
)

// freePorts is the file that says which ports the system gives to programs that ask for
// none in particular.
const freePorts = "/proc/sys/net/ipv4/ip_local_port_range"

// settled leaves out of an application's endpoints those whose port the system gave it by
// itself (RMI, a debugger, a test agent): after a restart it has another, and the
// service would count as broken. So does it leave out unix sockets that nobody but the
// application's own user may connect to: they are how it is controlled (Gunicorn 25 makes
// one in the user's home), and no way to send it a request. What a web server passes requests to
// stays, and so does what the command line or the environment names, and all where there is
// nothing else.
func (d *discovery) settled(ctx context.Context, app *instance, named []string) {
	data, err := d.h.ReadFile(ctx, freePorts)
	if err != nil {
		return
	}
	var low, high int
	if _, err := fmt.Sscan(string(data), &low, &high); err != nil {
		return
	}
	said := []byte(strings.Join(app.master.cmdline, "\x00"))
	if env, err := d.h.ReadFile(ctx, fmt.Sprintf("/proc/%d/environ", app.master.pid)); err == nil {
		said = append(append(said, 0), env...)
	}
	kept := slices.DeleteFunc(slices.Clone(app.svc.Listen), func(endpoint string) bool {
		passed := slices.ContainsFunc(named, func(b string) bool { return sameEndpoint(b, endpoint) })
		if file, ok := strings.CutPrefix(endpoint, "unix:"); ok {
			return !passed && !bytes.Contains(said, []byte(file)) && d.private(ctx, file)
		}
		_, port, err := net.SplitHostPort(endpoint)
		n, notNumber := strconv.Atoi(port)
		if err != nil || notNumber != nil || n < low || n > high {
			return false
		}
		return !passed && !bytes.Contains(said, []byte(port))
	})
	if len(kept) > 0 {
		app.svc.Listen = kept
	}
}

// private reports whether only its own user may connect to a socket: others may neither
// write to it (unix(7)) nor enter its folder.
func (d *discovery) private(ctx context.Context, socket string) bool {
	for file, bits := range map[string]fs.FileMode{socket: 0o022, path.Dir(socket): 0o011} {
		if info, err := d.h.Stat(ctx, file); err == nil && info.Mode&bits == 0 {
			return true
		}
	}
	return false
}
