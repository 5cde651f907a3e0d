package tune

import (
	"context"
	"database/sql"
	"fmt"

	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// OpenExecutor opens the journal in dir for a stack and its hosts (see
// stack.OpenHosts). with may
// complete the options. Errors are those of change.Open.
func OpenExecutor(ctx context.Context, dir string, st *stack.Stack, hosts map[string]host.Host, with ...func(*change.Options)) (*change.Executor, error) {
	o := ExecutorOptions(dir, st, hosts)
	for _, f := range with {
		f(&o)
	}
	return change.Open(ctx, o)
}

// ExecutorOptions are what an Executor needs to work on a stack: its hosts, and
// control and database logins of its services.
func ExecutorOptions(dir string, st *stack.Stack, hosts map[string]host.Host) change.Options {
	service := func(name string) (*stack.Service, host.Host, error) {
		svc := st.Service(name)
		if svc == nil {
			return nil, nil, fmt.Errorf("no service %q in %s", name, st.Path)
		}
		h := hosts[svc.HostName()]
		if h == nil {
			return nil, nil, fmt.Errorf("service %s: host %s is not connected", name, svc.HostName())
		}
		return svc, h, nil
	}
	return change.Options{Dir: dir, Stack: st, Hosts: hosts,
		Control: func(name string) (change.Controller, error) {
			svc, h, err := service(name)
			if err != nil {
				return nil, err
			}
			return stack.NewController(h, st, svc)
		},
		Variant: func(name, variant string) (change.Starter, error) {
			svc, h, err := service(name)
			if err != nil {
				return nil, err
			}
			as := svc.As(variant)
			if as == nil {
				return nil, fmt.Errorf("service %s has no implementation %q any more; write it into kasoku.yaml again (services[].variants)", name, variant)
			}
			return stack.NewController(h, st, as)
		},
		Holders: func(ctx context.Context, name string) []string { return stack.HoldersOf(ctx, hosts, st, name) },
		DB: func(ctx context.Context, name string) (*sql.DB, error) {
			svc, h, err := service(name)
			if err != nil {
				return nil, err
			}
			return stack.OpenDB(ctx, h, svc)
		}}
}
