package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const standbyYAML = `version: 1
hosts: {h2: {ssh: h2}}
services:
  - {name: shop, kind: app, root: /srv/shop, runs_in: php, talks_to: [db]}
  - {name: php, kind: php-fpm, config: /etc/fpm.conf}
  - {name: db, kind: %[2]s, config: /etc/my.cnf, login: {user: root}}
  - {name: db2, kind: %[3]s, host: %[1]s, config: /etc/my.cnf, spare_for: db, login: {user: root}%[4]s}
load: {scenario: s.yaml, url: "http://127.0.0.1"}
`

func standbyStack(t *testing.T, args ...any) (*Stack, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kasoku.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, standbyYAML, args...), 0o644); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}

// The data of a MariaDB can move to one MariaDB of another host.
func TestDatabaseSpareFor(t *testing.T) {
	for _, c := range []struct{ host, main, spare, more, says string }{
		{"h2", "mariadb", "mariadb", "", ""},
		{"local", "mariadb", "mariadb", "", "both are on host local"},
		{"h2", "mysql", "mariadb", "", "from a MariaDB to a MariaDB only; this is mariadb for mysql"},
		{"h2", "mariadb", "mysql", "", "from a MariaDB to a MariaDB only; this is mysql for mariadb"},
		{"h2", "mariadb", "mariadb", "}\n  - {name: db3, kind: mariadb, host: h2, config: /etc/my.cnf, spare_for: db, login: {user: root}", "already; its data moves to one"},
	} {
		st, err := standbyStack(t, c.host, c.main, c.spare, c.more)
		switch {
		case c.says == "" && (err != nil || !st.Service("db2").IsStandby()):
			t.Errorf("%+v: %v", c, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Of a pair only the one that is written to is a service of the stack, and whoever
// talks to the other talks to that.
func TestWithStandbys(t *testing.T) {
	st, err := standbyStack(t, "h2", "mariadb", "mariadb", "")
	if err != nil {
		t.Fatal(err)
	}
	state := StandbyState{Service: *st.Service("db2")}
	got := st.WithStandbys(map[string]StandbyState{"db2": state})
	if got.Service("db2") != nil || got.Service("db") == nil || !slices.Equal(got.HostNames(), []string{"h2", "local"}) || len(got.Followers) != 1 {
		t.Errorf("not in use: %+v", got.Services)
	}
	state.InUse = true
	got = st.WithStandbys(map[string]StandbyState{"db2": state})
	if got.Service("db") != nil || got.Service("db2").SpareFor != "" || got.Service("shop").TalksTo[0] != "db2" || got.Followers[0].Name != "db" {
		t.Errorf("in use: %+v", got.Services)
	}
	if again := got.WithStandbys(map[string]StandbyState{"db2": state}); len(again.Followers) != 1 || again.Service("db2") == nil {
		t.Errorf("looked at twice: %+v", again.Services)
	}
	if st.Service("db2").SpareFor != "db" || st.Service("shop").TalksTo[0] != "db" || len(st.Followers) != 0 {
		t.Errorf("the stack itself was changed: %+v", st.Services)
	}
}
