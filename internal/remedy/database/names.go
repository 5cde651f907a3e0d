package database

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy/planning"
)

// chooseNames settles skip_name_resolve, if no account needs names: with it a
// host that is a name never matches, and 'localhost' only through the socket
// (MariaDB documentation, "skip_name_resolve").
func chooseNames(v view) (choice, error) {
	if v.db.Accounts == nil {
		return choice{}, fmt.Errorf("%s: its accounts could not be read (mysql.user), so it is not known whether they need host names", v.svc.Name)
	}
	for _, a := range v.db.Accounts {
		if why := needsName(a, v.db.Accounts); why != "" {
			return choice{}, fmt.Errorf("%s: %s", v.svc.Name, why)
		}
	}
	k := knob{variable: "skip_name_resolve", why: "no account is by a host's name"}
	return choice{k, set{name: k.variable, value: "ON", option: "ON"}, "OFF"}, nil
}

// ownAccounts come with the servers and log in through the socket or not at all.
var ownAccounts = []string{"root", "mysql", "mariadb.sys", "mysql.sys", "mysql.session", "mysql.infoschema", "debian-sys-maint", "healthcheck"}

// needsName says why an account could no longer log in; "" if it can.
func needsName(a evidence.Account, all []evidence.Account) string {
	if slices.Contains(ownAccounts, a.User) {
		return "" // root@hostname is of the installation
	}
	twin := func(match func(host string) bool) bool {
		return slices.ContainsFunc(all, func(b evidence.Account) bool { return b.User == a.User && match(b.Host) })
	}
	anywhere := func(host string) bool { return host == "%" }
	switch {
	case byAddress(a.Host):
		return ""
	case a.Host == "localhost":
		if twin(func(h string) bool { return anywhere(h) || h == "127.0.0.1" || h == "127.%" || h == "127.0.0.%" }) {
			return ""
		}
		return fmt.Sprintf("'%s'@'localhost' has no twin at 127.0.0.1, so it could no longer log in over TCP", a.User)
	case twin(anywhere):
		return "" // with the rights of '%', which the run's answers show to be enough or not
	}
	return fmt.Sprintf("'%s'@'%s' is by a host's name", a.User, a.Host)
}

// byAddress: an address, a netmask or a pattern of digits.
func byAddress(host string) bool {
	if net.ParseIP(host) != nil {
		return true
	}
	return strings.Trim(host, "0123456789.%_/:abcdefABCDEF") == "" && strings.ContainsAny(host, "%.:/")
}

func planNames(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	v, err := newView(in, f)
	if err != nil {
		return nil, err
	}
	c, err := chooseNames(v)
	if err != nil {
		return nil, err
	}
	return v.plan("mariadb.names", "No host names", f.Text, []choice{c}, nil)
}
