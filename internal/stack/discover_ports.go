package stack

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// freePorts is the file that says which ports the system gives to programs that ask for
// none in particular.
const freePorts = "/proc/sys/net/ipv4/ip_local_port_range"

// settled leaves out of an application's endpoints those whose port the system gave it by
// itself (RMI, a debugger, a test agent): after a restart it has another, and the
// service would count as broken. What a web server passes requests to stays, and so does
// what the command line or the environment names, and all where there is nothing else.
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
		_, port, err := net.SplitHostPort(endpoint)
		n, notNumber := strconv.Atoi(port)
		if err != nil || notNumber != nil || n < low || n > high {
			return false
		}
		passed := slices.ContainsFunc(named, func(b string) bool { return sameEndpoint(b, endpoint) })
		return !passed && !bytes.Contains(said, []byte(port))
	})
	if len(kept) > 0 {
		app.svc.Listen = kept
	}
}
