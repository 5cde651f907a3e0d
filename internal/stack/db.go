package stack

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"kasoku/internal/confedit/ini"
	"kasoku/internal/host"
)

// secret is a password. It is kept behind a function, so that no way of
// printing or marshalling, of it or of a struct around it, can show it.
type secret struct{ reveal func() string }

func newSecret(s string) secret { return secret{func() string { return s }} }

// text is the password itself; only the driver's configuration gets it.
func (s secret) text() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// dbTimeout bounds one connection attempt to a database.
const dbTimeout = 5 * time.Second

// dbSilent bounds the whole of a first login: a server that is stuck accepts
// connections, which the kernel does for it, and says nothing. Longer than dbTimeout,
// as one that only starts, or is busy, does answer in the end. Tests shorten it.
var dbSilent = 30 * time.Second

// OpenDB logs in to a database service and returns a pool of at most two
// connections that are shown to work. Times are not parsed: rows come as the
// server prints them. Errors tell an unreachable server from a refused login,
// and never hold the password.
func OpenDB(ctx context.Context, h host.Host, svc *Service) (*sql.DB, error) {
	if !svc.IsDatabase() {
		return nil, fmt.Errorf("log in to %s: a %s service is not a database", svc.Name, svc.Kind)
	}
	if svc.Login == nil {
		return nil, fmt.Errorf("log in to %s: kasoku.yaml has no login for it; write login: {user: …, password_file: …}", svc.Name)
	}
	cr, err := svc.Login.credentials(ctx, h)
	if err != nil {
		return nil, fmt.Errorf("log in to %s: %w", svc.Name, err)
	}
	endpoint, err := loginEndpoint(ctx, h, svc, cr)
	if err != nil {
		return nil, fmt.Errorf("log in to %s: %w", svc.Name, err)
	}
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd = cr.user, cr.password.text()
	cfg.Net, cfg.Addr = "kasoku", endpoint
	if strings.HasPrefix(endpoint, "unix:") {
		// Through a socket a password may go as it is: caching_sha2_password
		// then needs no key of the server.
		cfg.Net = "unix"
	}
	cfg.DialFunc = func(ctx context.Context, _, addr string) (net.Conn, error) { return dial(ctx, h, addr) }
	cfg.Timeout = dbTimeout
	// A server tuned to drop idle clients would drop this one, too, between the
	// first look at its counters and the last. 28800 s is the servers' default.
	cfg.Params = map[string]string{"wait_timeout": "28800"}
	cfg.Logger = log.New(io.Discard, "", 0) // its errors are returned as well
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("log in to %s: %w", svc.Name, err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(2)
	db.SetMaxIdleConns(2)
	within, cancel := context.WithTimeout(ctx, dbSilent)
	defer cancel()
	if err := db.PingContext(within); err != nil {
		if ctx.Err() == nil && within.Err() != nil {
			err = fmt.Errorf("the server takes connections and says nothing for %s; is it stuck?: %w", dbSilent, err)
		}
		return nil, fmt.Errorf("log in to %s as %s at %s: %w", svc.Name, cr.user, endpoint, errors.Join(explainLogin(err), db.Close()))
	}
	return db, nil
}

// explainLogin adds what to do to the driver's error.
func explainLogin(err error) error {
	var my *mysql.MySQLError
	var op *net.OpError
	switch {
	case errors.As(err, &my) && my.Number == mysqlAccessDenied:
		return fmt.Errorf("the server refuses the user or the password; check login in kasoku.yaml: %w", err)
	case errors.As(err, &my) && my.Number == 1040: // ER_CON_COUNT_ERROR
		return fmt.Errorf("the server has no connection left: %w", err)
	case errors.As(err, &op):
		return fmt.Errorf("the server cannot be reached; is it running, and does it listen there?: %w", err)
	}
	return err
}

// credentials of a login, as resolved.
type credentials struct {
	user     string
	password secret
	endpoint string // from the defaults file; may be empty
}

// credentials reads the password from where the Login says.
func (l *Login) credentials(ctx context.Context, h host.Host) (credentials, error) {
	if l.given != nil {
		return *l.given, nil
	}
	cr := credentials{user: l.User}
	if l.DefaultsFile != "" {
		if err := cr.readDefaults(ctx, h, l.DefaultsFile); err != nil {
			return cr, err
		}
	}
	switch {
	case l.PasswordFile != "":
		data, err := h.ReadFile(ctx, l.PasswordFile)
		if errors.Is(err, fs.ErrNotExist) {
			return cr, fmt.Errorf("password_file %s does not exist; write the password in it, on one line", l.PasswordFile)
		}
		if err != nil {
			return cr, fmt.Errorf("read password_file: %w", err)
		}
		line, _, _ := bytes.Cut(data, []byte("\n"))
		cr.password = newSecret(strings.TrimSuffix(string(line), "\r"))
	case l.PasswordEnv != "":
		v, ok := passwordFromEnv(l.PasswordEnv)
		if !ok {
			return cr, fmt.Errorf("the environment variable %s (password_env) is not set; export it before running kasoku", l.PasswordEnv)
		}
		cr.password = v
	case l.Ask:
		if l.asked.reveal == nil {
			return cr, fmt.Errorf("nobody was asked for the password (login.ask); run kasoku on a terminal, or name password_file or password_env")
		}
		cr.password = l.asked
	}
	if l.User != "" {
		cr.user = l.User
	}
	if cr.user == "" {
		return cr, fmt.Errorf("%w: neither login.user nor the [client] section of %s names a user", errNoUser, l.DefaultsFile)
	}
	return cr, nil
}

// errNoUser: a database needs a user's name, Redis does not. The rest of the
// credentials is there.
var errNoUser = errors.New("no user")

// readDefaults takes what the [client] section of an option file names.
func (cr *credentials) readDefaults(ctx context.Context, h host.Host, path string) error {
	cfg, err := ini.Load(path, ini.MySQL, hostRead(ctx, h), hostGlob(ctx, h))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("defaults_file %s does not exist; write it with a [client] section", path)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("read defaults_file: %w", err)
	}
	if err != nil {
		// The parser's words are left out: they may quote a password.
		return fmt.Errorf("defaults_file %s is not an option file; write [client] and below it user = … and password = …", path)
	}
	get := func(key string) string {
		v, _ := cfg.Get("client", key)
		return v.Text
	}
	cr.user, cr.password = get("user"), newSecret(get("password"))
	switch name, port := get("host"), get("port"); {
	case get("socket") != "" && (name == "" || name == "localhost"):
		cr.endpoint = "unix:" + get("socket")
	case name != "" && name != "localhost" || port != "":
		if port == "" {
			port = "3306"
		}
		if name == "" || name == "localhost" {
			name = "127.0.0.1"
		}
		cr.endpoint = net.JoinHostPort(name, port)
	}
	return nil
}

// loginEndpoint is where to log in: as the Login says, as its defaults file
// says, the service's Listen[0], or what the server's configuration says.
func loginEndpoint(ctx context.Context, h host.Host, svc *Service, cr credentials) (string, error) {
	switch {
	case svc.Login.Socket != "":
		return "unix:" + svc.Login.Socket, nil
	case svc.Login.Address != "":
		return svc.Login.Address, nil
	case cr.endpoint != "":
		return cr.endpoint, nil
	case len(svc.Listen) > 0:
		return svc.Listen[0], nil
	}
	if e := readSettings(ctx, h, svc).endpoints; len(e) > 0 {
		return e[0], nil
	}
	return "", errors.New("it is not known where the server listens; write listen, or login.socket or login.address")
}
