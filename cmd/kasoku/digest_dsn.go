package main

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"

	"kasoku/internal/stack"
)

// explainTarget is the database that statements are explained on.
type explainTarget struct {
	login  stack.Login
	schema string
}

// driverDSN is user@tcp(host:port)/schema or user@unix(/path)/schema, as Go's
// driver has it.
var driverDSN = regexp.MustCompile(`^(?:([^@:/()]+)(:[^@()]*)?@)?(tcp|unix)\(([^()]+)\)(?:/([^?]*))?(?:\?(.*))?$`)

// parseDSN reads "mysql://user@host:3306/schema", "user@tcp(host:3306)/schema",
// "user@unix(/run/mysqld/mysqld.sock)/schema" or "user@host/schema". A password
// stands in a file or the environment, named as in kasoku.yaml: ?password_file=,
// ?password_env= or ?defaults_file=; without any, MYSQL_PWD of the environment.
func parseDSN(s string) (*explainTarget, error) {
	var user, password, address, socket, schema, rest string
	if m := driverDSN.FindStringSubmatch(s); m != nil {
		user, password, schema, rest = m[1], m[2], m[5], m[6]
		if address = m[4]; m[3] == "unix" {
			address, socket = "", m[4]
		}
	} else {
		if !strings.Contains(s, "://") {
			s = "mysql://" + s
		}
		u, err := url.Parse(s)
		switch {
		case err != nil:
			return nil, fmt.Errorf("it is no address of a database") // the parser would cite it, with a password
		case u.Scheme != "mysql" && u.Scheme != "mariadb":
			return nil, fmt.Errorf("%q is none of MariaDB and MySQL", u.Scheme)
		}
		user, address, schema, rest = u.User.Username(), u.Host, strings.TrimPrefix(u.Path, "/"), u.RawQuery
		password, _ = u.User.Password()
	}
	if password != "" && password != ":" {
		return nil, fmt.Errorf("a password on the command line can be read by everybody on this machine")
	}
	values, err := url.ParseQuery(rest)
	if err != nil {
		return nil, fmt.Errorf("what follows ? is no list of settings")
	}
	t := &explainTarget{schema: schema, login: stack.Login{User: user, Socket: socket}}
	for key := range values {
		v := values.Get(key)
		switch key {
		case "password_file":
			t.login.PasswordFile = v
		case "password_env":
			t.login.PasswordEnv = v
		case "defaults_file":
			t.login.DefaultsFile = v
		case "socket":
			t.login.Socket = v
		default:
			return nil, fmt.Errorf("there is no setting %q; choose from password_file, password_env, defaults_file and socket", key)
		}
	}
	if t.login.Socket == "" && address != "" {
		if _, _, err := net.SplitHostPort(address); err != nil {
			address = net.JoinHostPort(strings.Trim(address, "[]"), "3306")
		}
		t.login.Address = address
	}
	if _, ok := os.LookupEnv("MYSQL_PWD"); ok && t.login.PasswordFile+t.login.PasswordEnv+t.login.DefaultsFile == "" {
		t.login.PasswordEnv = "MYSQL_PWD"
	}
	switch {
	case t.login.User == "" && t.login.DefaultsFile == "":
		return nil, fmt.Errorf("no user is named")
	case t.login.Address == "" && t.login.Socket == "" && t.login.DefaultsFile == "":
		return nil, fmt.Errorf("no host and no socket is named")
	}
	return t, nil
}
