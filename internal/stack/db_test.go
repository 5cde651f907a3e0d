package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

func TestDatabase(t *testing.T) {
	await.SkipShort(t)
	ctx := context.Background()
	l := newLab(t)
	port := freePort(t)
	c := l.mariadb(port)
	svc := c.svc

	svc.Login = &Login{User: "root"}
	if _, err := OpenDB(ctx, l.h, svc); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("not running: %v", err)
	}
	svc.Login = nil
	if _, err := OpenDB(ctx, l.h, svc); err == nil || !strings.Contains(err.Error(), "has no login") {
		t.Errorf("no login: %v", err)
	}

	must(t, c.Check(ctx))
	must(t, c.Start(ctx)) // healthy by its greeting
	svc.Login = &Login{User: "root", Socket: l.path("db/my.sock")}
	db, err := OpenDB(ctx, l.h, svc)
	must(t, err)
	// A server that drops idle clients soon keeps Kasoku's connection.
	if _, err := db.ExecContext(ctx, "SET GLOBAL wait_timeout = 1"); err != nil {
		t.Fatal(err)
	}
	impatient, err := OpenDB(ctx, l.h, svc)
	must(t, err)
	kept, err := impatient.Conn(ctx)
	must(t, err)
	var patience int
	if err := kept.QueryRowContext(ctx, "SELECT @@wait_timeout").Scan(&patience); err != nil || patience != 28800 {
		t.Errorf("the server drops it after %d s, %v", patience, err)
	}
	must(t, kept.Close())
	must(t, impatient.Close())
	for _, q := range []string{
		"CREATE USER kasoku@127.0.0.1 IDENTIFIED BY 'gehe#im \"x'",
		"GRANT ALL ON *.* TO kasoku@127.0.0.1",
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	must(t, db.Close())
	testLogins(ctx, t, l, svc, port)

	before, err := c.PIDs(ctx)
	must(t, err)
	must(t, c.Restart(ctx))
	after, err := c.PIDs(ctx)
	if err != nil || before[0] == after[0] {
		t.Errorf("restart: %v → %v, %v", before, after, err)
	}
	if err := c.Reload(ctx); err == nil || !strings.Contains(err.Error(), "restart it") {
		t.Errorf("reload: %v", err)
	}

	good, err := os.ReadFile(l.path("my.cnf"))
	must(t, err)
	l.write("my.cnf", string(good)+"innodb_bufer_pool_size = 8M\n")
	if err := c.Check(ctx); err == nil || !strings.Contains(err.Error(), "unknown variable 'innodb_bufer_pool_size=8M'") {
		t.Errorf("check: %v", err)
	}
	must(t, c.Stop(ctx))
	if err := c.Start(ctx); err == nil || !strings.Contains(err.Error(), "innodb_bufer_pool_size") {
		t.Errorf("start with a broken configuration: %v", err)
	}
}

// testLogins tries each source of a password, right and wrong.
func testLogins(ctx context.Context, t *testing.T, l *lab, svc *Service, port string) {
	const password = `gehe#im "x`
	right := l.write("right", password+"\n")
	wrong := l.write("wrong", "falsch\n")
	defaults := l.write("client.cnf", fmt.Sprintf("[client]\nuser = kasoku\npassword = '%s'\nhost = 127.0.0.1\nport = %s\n", password, port))
	t.Setenv("KASOKU_TEST_PASSWORD", password)
	for _, row := range []struct {
		name  string
		login Login
		want  string // of the error; "" for none
	}{
		{"file", Login{User: "kasoku", PasswordFile: right}, ""},
		{"environment", Login{User: "kasoku", PasswordEnv: "KASOKU_TEST_PASSWORD"}, ""},
		{"defaults file", Login{DefaultsFile: defaults}, ""},
		{"wrong password", Login{User: "kasoku", PasswordFile: wrong}, "the server refuses the user or the password"},
		{"no password", Login{User: "kasoku"}, "the server refuses the user or the password"},
		{"no file", Login{User: "kasoku", PasswordFile: l.path("none")}, "does not exist"},
		{"no variable", Login{User: "kasoku", PasswordEnv: "KASOKU_TEST_NONE"}, "KASOKU_TEST_NONE (password_env) is not set"},
		{"no defaults file", Login{DefaultsFile: l.path("none")}, "does not exist"},
		{"not an option file", Login{DefaultsFile: right}, "is not an option file"},
		{"no user", Login{DefaultsFile: l.write("empty.cnf", "[client]\nhost = 127.0.0.1\n")}, "names a user"},
		{"wrong address", Login{User: "kasoku", PasswordFile: right, Address: "127.0.0.1:1"}, "cannot be reached"},
	} {
		svc.Login = &row.login
		db, err := OpenDB(ctx, l.h, svc)
		if err == nil {
			var one int
			if err := db.QueryRowContext(ctx, "SELECT 1").Scan(&one); err != nil || one != 1 {
				t.Errorf("%s: query: %d, %v", row.name, one, err)
			}
			must(t, db.Close())
		}
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
		if err != nil && (strings.Contains(err.Error(), "gehe") || strings.Contains(err.Error(), "falsch")) {
			t.Errorf("%s: the error holds the password: %v", row.name, err)
		}
	}
	svc.Login = &Login{User: "kasoku", PasswordFile: right}
}

func TestSecretNeverPrints(t *testing.T) {
	cr := credentials{user: "root", password: newSecret("geheim")}
	j, err := json.Marshal(struct{ P *secret }{&cr.password})
	must(t, err)
	for _, s := range []string{fmt.Sprint(cr.password), fmt.Sprintf("%v %+v %#v %v %q", cr, cr, cr, cr.password, []any{cr.password}), string(j)} {
		if strings.Contains(s, "geheim") {
			t.Errorf("printed: %s", s)
		}
	}
	if cr.password.text() != "geheim" || (secret{}).text() != "" {
		t.Error("the password is lost")
	}
}

func TestOpenDBOfSomethingElse(t *testing.T) {
	_, err := OpenDB(context.Background(), host.NewLocal(), &Service{Name: "web", Kind: Nginx})
	if err == nil || errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "is not a database") {
		t.Errorf("%v", err)
	}
}
