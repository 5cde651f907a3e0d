package diagnose

import (
	"fmt"
	"maps"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// runs reports whether a service had processes in the run.
func (m *model) runs(svc *stack.Service) bool { return m.in.Evidence.Services[svc.Name].Processes > 0 }

// unused reports whether a service did nothing in the run: one that is spare, or a web server
// past which a benchmark asks.
func (m *model) unused(svc *stack.Service) bool {
	return svc.SpareFor != "" && m.perReq[svc.Name] == 0 || AskedPast(m.in.Stack, m.in.Evidence, svc)
}

// AskedPast reports whether a benchmark (load.command) asked past a web server: it ran, and used
// none of the CPU that a ten thousandth of what the services used would be.
func AskedPast(st *stack.Stack, ev *evidence.Evidence, svc *stack.Service) bool {
	if st.Load.Command == nil || svc.Kind != stack.Nginx && svc.Kind != stack.Apache {
		return false
	}
	const none = 1e-4
	all := 0.0
	for _, u := range ev.Services {
		all += u.CPU
	}
	own, seen := ev.Services[svc.Name]
	return seen && own.Processes > 0 && all > 0 && own.CPU < none*all
}

// spareNeeds tells the remedy what must be put in place before a spare can
// answer at an address: copy (folders, one a line), pool and client (the pool to
// be like, who may connect), php_ini (files to be like), folders, remoteip (the
// header that tells clients' addresses), unit. why is what only the operator can do.
func (m *model) spareNeeds(f Finding, web *stack.Service, b Balancer, spare *stack.Service, address string) (_ Finding, why string) {
	has, looked := m.in.Snapshot.Spares[spare.Name]
	switch lacks := strings.Join(has.Packages, " "); {
	case lacks != "" && m.runs(spare):
		return f, fmt.Sprintf("%s runs without packages that %s runs from (%s); install them there and restart it", spare.Name, spare.SpareFor, lacks)
	case lacks != "":
		f = f.with("packages", lacks)
	case looked && !has.Program:
		return f, fmt.Sprintf("%s is not on %s; install the package that it is of, and the extensions that the application needs, or let Kasoku do it (regulation: install: true)", spare.Binary, spare.HostName())
	}
	var copies []string
	for _, folder := range slices.Sorted(maps.Keys(has.Code)) {
		switch has.Code[folder] {
		case evidence.CodeDifferent:
			return f, fmt.Sprintf("the files in %s on %s are not those of %s; make them the same", folder, spare.HostName(), spare.SpareFor)
		case evidence.CodeAbsent:
			copies = append(copies, folder)
		}
	}
	if why := m.tiedToHost(spare); why != "" {
		return f, why
	}
	if f, why = m.spareSettings(f, spare); why != "" {
		return f, why
	}
	if len(copies) > 0 {
		f = f.with("copy", strings.Join(copies, "\n"))
	}
	if spare.Kind == stack.PHPFPM {
		if f, why = m.spareListens(f, web, b, spare, address); why != "" {
			return f, why
		}
	}
	if spare.Kind == stack.Apache {
		if f, why = m.sparePHP(f, spare); why != "" {
			return f, why
		}
		if f, why = m.spareClients(f, web, spare); why != "" {
			return f, why
		}
	}
	if !m.runs(spare) {
		f = f.with("unit", stack.UnitName(spare.Control.Unit))
	}
	return f, ""
}

// tiedToHost says which settings of an application mean another machine on
// another host; "" if none is known.
func (m *model) tiedToHost(spare *stack.Service) string {
	for _, app := range m.in.Stack.OfKind(stack.App) {
		if app.RunsIn != spare.SpareFor && app.Name != spare.SpareFor {
			continue
		}
		for _, file := range app.Settings {
			for _, a := range DatabaseAddresses(m.in.Snapshot.Files[app.HostName()][file].Content) {
				if _, near := Loopback(net.JoinHostPort(a.Host, a.Port)); near {
					return fmt.Sprintf("%s names the database as %s:%s, which is another machine on %s; let it listen for that host, and name it by an address that both reach", file, a.Host, a.Port, spare.HostName())
				}
			}
		}
	}
	return ""
}

// spareListens: where no pool of a spare PHP-FPM listens at the address, one is
// written like the pool that is asked now.
func (m *model) spareListens(f Finding, web *stack.Service, b Balancer, spare *stack.Service, address string) (_ Finding, why string) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return f, err.Error()
	}
	pools, err := FPMPools(m.in.Snapshot, spare)
	if err != nil && f.Subject["packages"] == "" { // else they come with the package
		return f, fmt.Sprintf("the pools of %s cannot be read: %v", spare.Name, err)
	}
	for _, p := range pools {
		if sameListener(p.Listen, address, port) {
			return f, ""
		}
	}
	main := m.in.Stack.Service(spare.SpareFor)
	asked, err := FPMPools(m.in.Snapshot, main)
	if err != nil {
		return f, fmt.Sprintf("the pools of %s cannot be read: %v", main.Name, err)
	}
	for _, s := range b.Backends {
		if s.Service != main.Name {
			continue
		}
		_, port, _ := net.SplitHostPort(s.Address)
		for _, p := range asked {
			listen := p.Listen
			if strings.HasPrefix(listen, "/") {
				listen = "unix:" + listen
			}
			if !sameListener(listen, s.Address, port) {
				continue
			}
			dir := m.poolFolder(spare)
			if dir == "" && f.Subject["packages"] != "" && debianFPM.MatchString(spare.Config) {
				dir = path.Join(path.Dir(spare.Config), "pool.d")
			}
			client := nearest(m.in.Snapshot.Addresses[spare.HostName()], m.in.Snapshot.Addresses[web.HostName()])
			if dir == "" || client == "" {
				return f, fmt.Sprintf("no pool of %s listens at %s; add one like %s of %s", spare.Name, address, p.Name, main.Name)
			}
			return f.with("pool", p.Name).with("pool_folder", dir).with("client", client), ""
		}
	}
	return f, fmt.Sprintf("no pool of %s listens at %s, and which pool of %s it should be like is not known", spare.Name, address, main.Name)
}

// debianFPM is where Debian's packages have PHP-FPM's configuration, which
// includes pool.d/*.conf beside it.
var debianFPM = regexp.MustCompile(`^/etc/php/[0-9.]+/fpm/php-fpm\.conf$`)

// poolFolder is the folder that a PHP-FPM includes its pools from, as Debian
// has it; "" if it is not so.
func (m *model) poolFolder(svc *stack.Service) string {
	for _, p := range slices.Sorted(maps.Keys(m.in.Snapshot.Files[svc.HostName()])) {
		if f := m.in.Snapshot.Files[svc.HostName()][p]; f.Service == svc.Name && path.Ext(p) == ".conf" && path.Base(path.Dir(p)) == "pool.d" {
			return path.Dir(p)
		}
	}
	return ""
}
