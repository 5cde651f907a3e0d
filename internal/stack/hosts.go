package stack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/host/ssh"
)

// openTimeout is how long connecting to one host may stand still: ssh with a jump host takes
// seconds, and the helper of some ten megabytes minutes on a slow line, while it moves.
const openTimeout = 60 * time.Second

// errStill ends connecting that does not go on.
var errStill = fmt.Errorf("nothing moved for %s; is the line up, and does ssh get there without a question?", openTimeout)

// openSSH connects to a host; tests put other hosts in its place.
var openSSH = func(ctx context.Context, o ssh.Options) (host.Host, func() error, error) {
	h, err := ssh.Open(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	return h, h.Close, nil
}

// HostNames are the hosts that services run on, sorted. The machine that
// Kasoku runs on is among them only if a service runs there.
func (s *Stack) HostNames() []string {
	var out []string
	for i := range s.Services {
		out = append(out, s.Services[i].HostName())
	}
	for i := range s.Followers {
		out = append(out, s.Followers[i].HostName())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// FrontHost is the host that a run's System is about: this machine if a
// service runs on it, else that of the first service.
func (s *Stack) FrontHost() string {
	for i := range s.Services {
		if s.Services[i].HostName() == LocalHost {
			return LocalHost
		}
	}
	if len(s.Services) > 0 {
		return s.Services[0].HostName()
	}
	return LocalHost
}

// OpenHosts connects to every host that a service runs on, all at once, and
// returns them by name with the one named "local", which is always there. The
// error names each host that could not be reached; then none is open. closeAll
// ends the connections and may be called twice.
func OpenHosts(ctx context.Context, s *Stack) (hosts map[string]host.Host, closeAll func() error, err error) {
	hosts = map[string]host.Host{LocalHost: host.NewLocal()}
	var mu sync.Mutex
	var closers []func() error
	var wg sync.WaitGroup
	names := s.HostNames()
	failed := make([]error, len(names))
	for i, name := range names {
		if name == LocalHost {
			continue
		}
		wg.Go(func() {
			h, end, err := openHost(ctx, name, s.Hosts[name])
			if err != nil {
				failed[i] = err
				return
			}
			mu.Lock()
			defer mu.Unlock()
			hosts[name] = h
			closers = append(closers, end)
		})
	}
	wg.Wait()
	closeAll = sync.OnceValue(func() error {
		var errs []error
		for _, end := range closers {
			errs = append(errs, end())
		}
		return errors.Join(errs...)
	})
	if err := errors.Join(failed...); err != nil {
		return nil, nil, errors.Join(err, closeAll())
	}
	return hosts, closeAll, nil
}

func openHost(ctx context.Context, name string, c HostConfig) (host.Host, func() error, error) {
	h, end, err := OpenHost(ctx, name, c)
	if err != nil {
		return nil, nil, fmt.Errorf("open host %s (ssh %s): %w", name, c.SSH, err)
	}
	return h, end, nil
}

// OpenHost connects to one host by the name that kasoku.yaml gives it.
func OpenHost(ctx context.Context, name string, c HostConfig) (h host.Host, end func() error, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	still := time.AfterFunc(openTimeout, func() { cancel(errStill) })
	defer still.Stop()
	h, end, err = openSSH(ctx, ssh.Options{Name: name, Destination: c.SSH, ConfigFile: c.SSHConfig, Sudo: c.Sudo,
		Moved: func() { still.Reset(openTimeout) }})
	if err != nil && errors.Is(context.Cause(ctx), errStill) {
		err = fmt.Errorf("%w: %w", errStill, err)
	}
	return h, end, err
}
