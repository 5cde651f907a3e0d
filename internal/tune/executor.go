package tune

import (
	"context"
	"database/sql"
	"fmt"

	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// OpenExecutor opens the journal in dir for a stack whose services are on this
// machine. Errors are those of change.Open.
func OpenExecutor(ctx context.Context, dir string, st *stack.Stack, hosts map[string]host.Host) (*change.Executor, error) {
	service := func(name string) (*stack.Service, error) {
		if svc := st.Service(name); svc != nil {
			return svc, nil
		}
		return nil, fmt.Errorf("no service %q in %s", name, st.Path)
	}
	return change.Open(ctx, change.Options{Dir: dir, Stack: st, Hosts: hosts,
		Control: func(name string) (change.Controller, error) {
			svc, err := service(name)
			if err != nil {
				return nil, err
			}
			return stack.NewController(hosts[stack.LocalHost], st, svc)
		},
		DB: func(ctx context.Context, name string) (*sql.DB, error) {
			svc, err := service(name)
			if err != nil {
				return nil, err
			}
			return stack.OpenDB(ctx, hosts[stack.LocalHost], svc)
		}})
}
