package diagnose

import (
	"strings"
	"testing"
)

func TestDatabaseAddresses(t *testing.T) {
	for _, c := range []struct {
		name, text string
		host, port string
		loopback   bool
		socket     string // after the move; "" if nothing is found
	}{
		{"PDO with host and port", `dsn = "mysql:host=127.0.0.1;port=13306;dbname=app;charset=utf8mb4"`, "127.0.0.1", "13306", true,
			`dsn = "mysql:unix_socket=/run/m.sock;dbname=app;charset=utf8mb4"`},
		{"PDO without a port means 3306", `$dsn = 'mysql:dbname=app;host=127.0.0.1';`, "127.0.0.1", "3306", true,
			`$dsn = 'mysql:dbname=app;unix_socket=/run/m.sock';`},
		{"PDO's localhost is a socket already", `mysql:host=localhost;dbname=app`, "localhost", "3306", false,
			`mysql:unix_socket=/run/m.sock;dbname=app`},
		{"PDO on another machine stays", `mysql:host=10.0.0.5;dbname=app`, "10.0.0.5", "3306", false,
			`mysql:unix_socket=/run/m.sock;dbname=app`},
		{"PDO with a socket is no address", `mysql:unix_socket=/run/m.sock;dbname=app`, "", "", false, ""},
		{"Go's driver", `DSN=app:pw@tcp(127.0.0.1:3307)/app?parseTime=true`, "127.0.0.1", "3307", true,
			`DSN=app:pw@unix(/run/m.sock)/app?parseTime=true`},
		{"Go's driver by name", `app:pw@tcp(localhost)/app`, "localhost", "3306", true, `app:pw@unix(/run/m.sock)/app`},
		{"prose is no address", `we use mysql: it is a database`, "", "", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := DatabaseAddresses([]byte(c.text))
			if c.socket == "" {
				if len(got) != 0 {
					t.Fatalf("found %+v", got)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("found %d addresses", len(got))
			}
			a := got[0]
			if a.Host != c.host || a.Port != c.port || a.Loopback() != c.loopback {
				t.Errorf("got %+v, loopback %v", a, a.Loopback())
			}
			if moved := strings.Replace(c.text, a.Text, a.WithSocket("/run/m.sock"), 1); moved != c.socket {
				t.Errorf("got  %s\nwant %s", moved, c.socket)
			}
		})
	}
}

func FuzzDatabaseAddresses(f *testing.F) {
	f.Add(`mysql:host=127.0.0.1;port=1;dbname=x @tcp(127.0.0.1:2)`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, a := range DatabaseAddresses([]byte(s)) {
			if !strings.Contains(s, a.Text) {
				t.Fatalf("%q is not in %q", a.Text, s)
			}
			a.WithSocket("/s")
		}
	})
}
