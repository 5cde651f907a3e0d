package stack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/host"
)

// cacheTimeout bounds the login to a cache; what the connection is used for
// sets its own deadlines.
const cacheTimeout = 5 * time.Second

// Endpoints are where a service listens by its present configuration, else by
// kasoku.yaml: "127.0.0.1:8080", "unix:/run/x.sock".
func Endpoints(ctx context.Context, h host.Host, svc *Service) []string {
	return readSettings(ctx, h, svc).endpoints
}

// SameEndpoint reports whether a connection to one endpoint reaches a server
// on the other; see sameEndpoint.
func SameEndpoint(a, b string) bool { return sameEndpoint(a, b) }

// ListenEndpoint turns the address of an nginx listen directive into an
// endpoint; "" if it is none.
func ListenEndpoint(address string) string { return nginxEndpoint(address) }

// Dial connects to an endpoint as seen from the host, in at most 5 s.
func Dial(ctx context.Context, h host.Host, endpoint string) (net.Conn, error) {
	return dial(ctx, h, endpoint)
}

// DialCache connects to a memcached or Redis service. With a Login it logs in
// to Redis by AUTH (the user is optional: without one it is "default"). The
// connection has no deadline. Errors never hold the password.
func DialCache(ctx context.Context, h host.Host, svc *Service) (net.Conn, error) {
	if svc.Kind != Memcached && svc.Kind != Redis {
		return nil, fmt.Errorf("connect to %s: a %s service is not a cache", svc.Name, svc.Kind)
	}
	endpoint, err := cacheEndpoint(ctx, h, svc)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", svc.Name, err)
	}
	conn, err := dial(ctx, h, endpoint)
	if err != nil {
		return nil, fmt.Errorf("connect to %s at %s: %w; is it running, and does it listen there?", svc.Name, endpoint, err)
	}
	if svc.Kind != Redis || svc.Login == nil {
		return conn, nil
	}
	if err := svc.Login.authRedis(ctx, h, conn); err != nil {
		conn.Close()
		return nil, fmt.Errorf("log in to %s at %s: %w", svc.Name, endpoint, err)
	}
	return conn, nil
}

// cacheEndpoint is where to log in: as the Login says, else where the present
// configuration has it listen, else Listen[0].
func cacheEndpoint(ctx context.Context, h host.Host, svc *Service) (string, error) {
	switch {
	case svc.Login != nil && svc.Login.Socket != "":
		return "unix:" + svc.Login.Socket, nil
	case svc.Login != nil && svc.Login.Address != "":
		return svc.Login.Address, nil
	}
	if all := Endpoints(ctx, h, svc); len(all) > 0 {
		return all[0], nil
	}
	return "", errors.New("it is not known where the server listens; write listen")
}

// authRedis sends AUTH [user] password (Redis manual, AUTH).
func (l *Login) authRedis(ctx context.Context, h host.Host, conn net.Conn) error {
	cr, err := l.credentials(ctx, h)
	if err != nil && !errors.Is(err, errNoUser) {
		return err
	}
	words := []string{"AUTH"}
	if cr.user != "" {
		words = append(words, cr.user)
	}
	if cr.password.text() == "" && cr.user == "" {
		return nil // only an address was given
	}
	words = append(words, cr.password.text())
	if err := conn.SetDeadline(time.Now().Add(cacheTimeout)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, RedisCommand(words...)); err != nil {
		return err
	}
	// Redis sends nothing more before it is asked, so nothing is lost in the
	// buffer.
	line, err := bufio.NewReaderSize(conn, 512).ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(line, "+OK") {
		code, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "-")), " ")
		return fmt.Errorf("the server refuses the user or the password (%s); check login in kasoku.yaml", code)
	}
	return conn.SetDeadline(time.Time{})
}

// RedisCommand writes one command in Redis's protocol (RESP, an array of bulk
// strings).
func RedisCommand(words ...string) string {
	var b strings.Builder
	b.WriteString("*" + strconv.Itoa(len(words)) + "\r\n")
	for _, w := range words {
		b.WriteString("$" + strconv.Itoa(len(w)) + "\r\n" + w + "\r\n")
	}
	return b.String()
}
