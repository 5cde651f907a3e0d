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
// stack.OpenHosts). Errors are those of change.Open.
func OpenExecutor(ctx context.Context, dir string, st *stack.Stack, hosts map[string]host.Host) (*change.Executor, error) {
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
	return change.Open(ctx, change.Options{Dir: dir, Stack: st, Hosts: hosts,
		Control: func(name string) (change.Controller, error) {
			svc, h, err := service(name)
			if err != nil {
				return nil, err
			}
			return stack.NewController(h, st, svc)
		},
		DB: func(ctx context.Context, name string) (*sql.DB, error) {
			svc, h, err := service(name)
			if err != nil {
				return nil, err
			}
			return stack.OpenDB(ctx, h, svc)
		}})
}
