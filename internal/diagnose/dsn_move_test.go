package diagnose

import "testing"

// A database's address is replaced wherever settings name it, and nothing else is.
func TestMoveDatabase(t *testing.T) {
	near := DatabasePlace{Port: "3306", Socket: "/run/m.sock", Addresses: []string{"10.0.0.1", "web1"}}
	far, other := near, near
	far.Remote, other.Port = true, "3307"
	for _, c := range []struct {
		name string
		from DatabasePlace
		text string
		want string // "" if nothing is found
	}{
		{"PDO by loopback", near, `'mysql:host=127.0.0.1;port=3306;dbname=app'`, `'mysql:host=10.0.0.2;port=3306;dbname=app'`},
		{"PDO by socket", near, `mysql:unix_socket=/run/m.sock;dbname=app`, `mysql:host=10.0.0.2;port=3306;dbname=app`},
		{"PDO by another server's socket", near, `mysql:unix_socket=/run/x.sock;dbname=app`, ""},
		{"PDO without a host means the socket", near, `mysql:dbname=app`, `mysql:host=10.0.0.2;port=3306;dbname=app`},
		{"PDO by the host's name", near, `mysql:host=web1;dbname=app`, `mysql:host=10.0.0.2;port=3306;dbname=app`},
		{"PDO to another machine", near, `mysql:host=10.0.0.9;dbname=app`, ""},
		{"loopback of another host", far, `mysql:host=127.0.0.1;dbname=app`, ""},
		{"from another host by address", far, `mysql:host=10.0.0.1;dbname=app`, `mysql:host=10.0.0.2;port=3306;dbname=app`},
		{"another port", other, `mysql:host=127.0.0.1;port=3306;dbname=app`, ""},
		{"its own port", other, `mysql:host=127.0.0.1;port=3307;dbname=app`, `mysql:host=10.0.0.2;port=3306;dbname=app`},
		{"Go's driver", near, `DSN=a:b@tcp(127.0.0.1:3306)/app`, `DSN=a:b@tcp(10.0.0.2:3306)/app`},
		{"Go's driver by socket", near, `DSN=a:b@unix(/run/m.sock)/app`, `DSN=a:b@tcp(10.0.0.2:3306)/app`},
		{"an env file", near, "DB_NAME=x\nDB_HOST=localhost\nDB_PASSWORD=localhost\n", "DB_NAME=x\nDB_HOST=10.0.0.2\nDB_PASSWORD=localhost\n"},
		{"an env file with a port", near, "DB_HOST=127.0.0.1:3306\n", "DB_HOST=10.0.0.2:3306\n"},
		{"a pool", near, "env[DB_HOST] = 127.0.0.1\n", "env[DB_HOST] = 10.0.0.2\n"},
		{"WordPress", near, "define( 'DB_HOST', 'localhost' );", "define( 'DB_HOST', '10.0.0.2' );"},
		{"MediaWiki", near, `$wgDBserver = "localhost";`, `$wgDBserver = "10.0.0.2";`},
		{"a cache's host", near, "REDIS_HOST=localhost\n", ""},
	} {
		got, n := MoveDatabase([]byte(c.text), c.from, "10.0.0.2", "3306")
		switch {
		case c.want == "" && (n != 0 || string(got) != c.text):
			t.Errorf("%s: %d, %s", c.name, n, got)
		case c.want != "" && (n != 1 || string(got) != c.want):
			t.Errorf("%s: %d, %s, want %s", c.name, n, got, c.want)
		}
	}
}
