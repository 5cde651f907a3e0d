package change

import (
	"context"
	"fmt"
	"slices"

	"kasoku/internal/stack"
)

// runner is the service whose processes run the given one: an app that runs in
// php-fpm is activated with it.
func (x *Executor) runner(service string) string {
	if x.options.Stack != nil {
		if s := x.options.Stack.Service(service); s != nil && s.RunsIn != "" {
			return s.RunsIn
		}
	}
	return service
}

// control returns the Controller of a service.
func (x *Executor) control(service string) (Controller, error) {
	if c := x.controls[service]; c != nil {
		x.prefer(c, service)
		return c, nil
	}
	if x.options.Control == nil {
		return nil, fmt.Errorf("%s: no control over services was given", service)
	}
	c, err := x.options.Control(service)
	if err != nil {
		return nil, err
	}
	x.controls[service] = c
	x.prefer(c, service)
	return c, nil
}

// rank orders kinds of which the stack does not say who talks to whom: what
// serves others comes first.
var rank = map[stack.Kind]int{stack.MariaDB: 0, stack.MySQL: 0, stack.Memcached: 1, stack.Redis: 1,
	stack.App: 2, stack.PHPFPM: 2, stack.Apache: 3, stack.Nginx: 3, stack.Varnish: 4}

// ordered sorts services so that each comes after those that it talks to: the
// serving side of a moved endpoint is up before its clients look for it.
func (x *Executor) ordered(services []string) []string {
	s := x.options.Stack
	if s == nil {
		return slices.Sorted(slices.Values(services))
	}
	all := slices.Clone(s.Services)
	slices.SortStableFunc(all, func(a, b stack.Service) int { return rank[a.Kind] - rank[b.Kind] })
	calls := map[string][]string{}
	for _, svc := range all {
		from := x.runner(svc.Name)
		for _, to := range svc.TalksTo {
			calls[from] = append(calls[from], x.runner(to))
		}
	}
	var out []string
	done := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if done[name] { // also ends circles
			return
		}
		done[name] = true
		for _, to := range calls[name] {
			visit(to)
		}
		if slices.Contains(services, name) {
			out = append(out, name)
		}
	}
	for _, svc := range all {
		visit(x.runner(svc.Name))
	}
	for _, name := range slices.Sorted(slices.Values(services)) {
		visit(name) // not in the stack
	}
	return out
}

// keys of a map from service to activation, in order of activation.
func (x *Executor) inOrder(need map[string]Activation) []string {
	var services []string
	for name := range need {
		services = append(services, name)
	}
	return x.ordered(services)
}

// holders are the services whose connections would be dead because what they hold
// them to is restarted (the value), and which are not restarted anyhow.
func (x *Executor) holders(ctx context.Context, need map[string]Activation) map[string]string {
	out := map[string]string{}
	if x.options.Holders == nil || x.options.Stack == nil {
		return out
	}
	for _, store := range x.inOrder(need) {
		svc := x.options.Stack.Service(store)
		if need[store] != Restart || svc == nil || !svc.IsDatabase() && svc.Kind != stack.Redis && svc.Kind != stack.Memcached {
			continue
		}
		for _, holder := range x.options.Holders(ctx, store) {
			switch why := x.options.Stack.Regulation.Refuses(nil, nil, []string{holder}); {
			case need[holder] == Restart:
			case why != "":
				x.warn("%s holds connections to %s, which is restarted, but is not restarted itself: %s; it may answer with errors", holder, store, why)
			default:
				x.say("%s holds connections to %s, so it is restarted, too", holder, store)
				out[holder] = store
			}
		}
	}
	return out
}

// activate makes one service take its changes on.
func (x *Executor) activate(ctx context.Context, service string, how Activation) error {
	c, err := x.control(service)
	if err != nil {
		return err
	}
	x.say("%s: %s", service, how)
	switch how {
	case Reload:
		err = c.Reload(ctx)
	case Restart:
		err = c.Restart(ctx)
		x.forget(service) // its connections are dead
	case None:
	}
	return err
}

// refusedError is what a service's own checker says; a kind of ErrRefused.
type refusedError struct{ err error }

func (e *refusedError) Error() string      { return e.err.Error() }
func (e *refusedError) Unwrap() error      { return e.err }
func (*refusedError) Is(target error) bool { return target == ErrRefused }

func (x *Executor) check(ctx context.Context, service string) error {
	c, err := x.control(service)
	if err == nil {
		if err = c.Check(ctx); err != nil {
			err = &refusedError{err}
		}
	}
	return err
}

func (x *Executor) waitHealthy(ctx context.Context, service string) error {
	c, err := x.control(service)
	if err == nil {
		err = c.WaitHealthy(ctx)
	}
	return err
}

// state is what a service's Stater tells; "" if its Controller is none.
func (x *Executor) state(ctx context.Context, service string) (string, error) {
	c, err := x.control(service)
	if err != nil {
		return "", err
	}
	s, ok := c.(Stater)
	if !ok {
		return "", nil
	}
	was, err := s.State(ctx)
	return string(was), err
}

// down ends a service that did not run before Kasoku activated it.
func (x *Executor) down(ctx context.Context, service string, was stack.State) error {
	c, err := x.control(service)
	if err != nil {
		return err
	}
	s, ok := c.(Stater)
	if !ok {
		return nil
	}
	x.say("%s: stop, as it was %s before", service, was)
	x.forget(service)
	return s.PutBack(ctx, was)
}

// revive activates a service on its way back: if the gentle way fails, it is
// restarted, because it may be dead.
func (x *Executor) revive(ctx context.Context, service string, how Activation) error {
	if err := x.check(ctx, service); err != nil {
		return err
	}
	err := x.activate(ctx, service, how)
	if err == nil {
		err = x.waitHealthy(ctx, service)
	}
	if err == nil || how == Restart {
		return err
	}
	x.say("%s: %v; restarting it", service, err)
	if err := x.activate(ctx, service, Restart); err != nil {
		return err
	}
	return x.waitHealthy(ctx, service)
}
