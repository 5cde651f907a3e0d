package stack

import (
	"context"
	"fmt"

	"kasoku/internal/host"
)

// Resolve returns what a login comes to: user, password and, if a defaults file
// names one, the endpoint. For handing a login to a process that cannot read
// where it stands; never for printing or storing.
func (l *Login) Resolve(ctx context.Context, h host.Host) (user, password, endpoint string, err error) {
	cr, err := l.credentials(ctx, h)
	if err != nil {
		return "", "", "", fmt.Errorf("resolve a login: %w", err)
	}
	return cr.user, cr.password.text(), cr.endpoint, nil
}

// Give makes the login use what Resolve returned elsewhere, instead of looking
// where it says. It is not printed, marshalled or stored.
func (l *Login) Give(user, password, endpoint string) {
	l.given = &credentials{user: user, password: newSecret(password), endpoint: endpoint}
}
