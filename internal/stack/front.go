package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/host"
)

// FrontState is how a service that may be put in front of another one
// (Service.FrontFor) stands.
type FrontState struct {
	Service Service `json:"service"` // as kasoku.yaml has it
	// InUse: it runs, and its configuration has a server that listens.
	InUse bool `json:"in_use"`
	// Program: its binary is there.
	Program bool `json:"program"`
	// Listen are its endpoints, Behind those of the service that it is for, by
	// their present configurations; none while it is not in use.
	Listen []string `json:"listen,omitempty"`
	Behind []string `json:"behind,omitempty"`
	// Taken are the addresses of TCP that anybody listens at in the network of
	// the service that it is for, sorted; only while it is not in use.
	Taken []string `json:"taken,omitempty"`
}

// FrontLine is the service of kasoku.yaml that permits an nginx, as Debian's
// package brings it, in front of an Apache.
func FrontLine(svc *Service) string {
	return fmt.Sprintf("{name: front, kind: nginx, host: %s, front_for: %s, talks_to: [%s], binary: /usr/sbin/nginx, config: /etc/nginx/nginx.conf, prefix: /usr/share/nginx, control: {unit: nginx.service}}",
		svc.HostName(), svc.Name, svc.Name)
}

// FrontStates looks at every front of the stack, by name; nil if there is none.
func FrontStates(ctx context.Context, hosts map[string]host.Host, s *Stack) (map[string]FrontState, error) {
	var out map[string]FrontState
	for i := range s.Services {
		svc := &s.Services[i]
		h, behind := hosts[svc.HostName()], s.Service(svc.FrontFor)
		if svc.FrontFor == "" || h == nil || behind == nil {
			continue
		}
		f := FrontState{Service: *svc}
		if c, err := NewController(h, s, svc); err == nil {
			bin, err := c.binary(ctx)
			f.Program = err == nil && exists(ctx, h, bin)
			if state, err := c.State(ctx); err == nil && state == Running {
				f.Listen = nginxSettings(ctx, h, svc).endpoints
				f.InUse = len(f.Listen) > 0
			}
		}
		if f.InUse {
			f.Behind = readSettings(ctx, h, behind).endpoints
		} else {
			f.Taken = listeners(ctx, h, s, behind)
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("look at %s: %w", svc.Name, err)
		}
		if out == nil {
			out = map[string]FrontState{}
		}
		out[svc.Name] = f
	}
	return out, nil
}

// listeners are the addresses of TCP that are listened at where a service runs,
// sorted; none if they cannot be read.
func listeners(ctx context.Context, h host.Host, s *Stack, svc *Service) []string {
	c, err := NewController(h, s, svc)
	if err != nil {
		return nil
	}
	m, err := c.master(ctx)
	if err != nil {
		return nil
	}
	table, err := readListeners(ctx, h, m.pid)
	if err != nil {
		return nil
	}
	var out []string
	for _, x := range table {
		if x.listening && x.path == "" {
			out = append(out, x.endpoint())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// WithFronts is the stack as its fronts stand: without those that serve
// nothing; of the others, both they and what is behind them listen where their
// configurations say. The stack itself if there are no fronts.
func (s *Stack) WithFronts(states map[string]FrontState) *Stack {
	if len(states) == 0 {
		return s
	}
	out := *s
	out.Services = slices.DeleteFunc(slices.Clone(s.Services), func(svc Service) bool {
		f, known := states[svc.Name]
		return known && !f.InUse
	})
	for _, f := range states {
		front := out.Service(f.Service.Name)
		if front == nil {
			continue
		}
		front.Listen = f.Listen
		if behind := out.Service(f.Service.FrontFor); behind != nil && len(f.Behind) > 0 {
			behind.Listen = f.Behind
		}
	}
	return &out
}

// apacheSettings tells where an Apache listens by its configuration, which a front
// may move. Where that cannot be told, kasoku.yaml tells it.
func apacheSettings(ctx context.Context, h host.Host, svc *Service) settings {
	opt := apache.Options{Root: svc.Prefix, Version: svc.Version}
	if data, err := h.ReadFile(ctx, path.Join(path.Dir(svc.Config), "envvars")); err == nil {
		opt.Env = apache.Environment(data)
	}
	for i, a := range svc.Control.Start {
		if a == "-D" && i+1 < len(svc.Control.Start) {
			opt.Defines = append(opt.Defines, svc.Control.Start[i+1])
		}
	}
	cfg, err := apache.Load(svc.Config, opt, hostRead(ctx, h), hostGlob(ctx, h))
	if err != nil {
		return settings{}
	}
	endpoints, err := ApacheEndpoints(cfg)
	if err != nil {
		return settings{}
	}
	return settings{endpoints: endpoints}
}

// ApacheEndpoints are where an Apache listens (Listen [ADDRESS:]PORT [protocol];
// Apache 2.4 manual, mpm_common). The error is for lines that cannot be told.
func ApacheEndpoints(cfg *apache.Config) ([]string, error) {
	var out []string
	for _, d := range cfg.Root.Find("Listen") {
		if d.State != apache.Active || len(d.Args) == 0 || strings.Contains(d.Args[0], "$") {
			return nil, fmt.Errorf("%s:%d: whether and where Apache listens there depends on more than its files", d.File.Path, d.Line)
		}
		e := d.Args[0]
		if allDigits(e) {
			e = "0.0.0.0:" + e // of IPv6, too, where there is that
		}
		name, port, err := net.SplitHostPort(e)
		if err != nil || !allDigits(port) {
			return nil, fmt.Errorf("%s:%d: %q is no endpoint", d.File.Path, d.Line, d.Args[0])
		}
		if name == "" || name == "*" {
			name = "0.0.0.0"
		}
		if e = net.JoinHostPort(name, port); !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("there is no Listen in Apache's configuration")
	}
	return out, nil
}

// movedDial dials for health.url. An Apache with something in front answers
// elsewhere than clients ask; the same request then goes to where it listens,
// so that its own health is told and not that of what is in front.
func (c *Controller) movedDial(ctx context.Context) func(ctx context.Context, network, address string) (net.Conn, error) {
	if c.svc.Kind != Apache || c.svc.Behind == "" {
		return c.h.DialContext
	}
	endpoints := apacheSettings(ctx, c.h, c.svc).endpoints
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		here := func(e string) bool {
			_, p, _ := net.SplitHostPort(e)
			return p == port
		}
		if err == nil && len(endpoints) > 0 && !slices.ContainsFunc(endpoints, here) {
			address = connectAddress(endpoints[0])
		}
		return c.h.DialContext(ctx, network, address)
	}
}
