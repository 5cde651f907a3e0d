package diagnose

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// standbyOf is the database that kasoku.yaml names for another one's data; nil if
// none, or if that is in use already.
func (m *model) standbyOf(db string) *evidence.Standby {
	for _, s := range m.in.Snapshot.Standbys {
		if s.Service.SpareFor == db && !s.InUse {
			return &s
		}
	}
	return nil
}

// apart tells the remedy what it takes to move a database's data to another host:
// spare, its address and main_address (where each is reached from the other),
// clients (addresses that applications connect from) and apps (service and
// settings file, a pair on each line). why is what only the operator can do.
func (m *model) apart(f Finding, main *stack.Service) (_ Finding, why string) {
	s, db := m.standbyOf(main.Name), m.in.Snapshot.Databases[main.Name]
	spare := &s.Service
	switch {
	case db == nil:
		return f, fmt.Sprintf("the variables of %s are not known", main.Name)
	case s.Why != "":
		return f, fmt.Sprintf("%s %s", spare.Name, s.Why)
	case !s.Program || s.Variables == nil:
		return f, fmt.Sprintf("%s does not answer (%s); install mariadb-server there, start it, and give Kasoku a login", spare.Name, s.Error)
	case s.DataFree > 0 && 2*db.DataBytes+(256<<20) > s.DataFree: // data and its binary log
		return f, fmt.Sprintf("%s has %d MiB of data, and the disk of %s only %d MiB left; twice the data and 256 MiB are needed", main.Name, db.DataBytes>>20, spare.Name, s.DataFree>>20)
	case m.in.Stack.Load.Reset.Set():
		return f, "load.reset brings the data back in the database that would be left; take it out, and let the scenario draw other rows (pools)"
	}
	for _, e := range []struct {
		svc  *stack.Service
		vars map[string]string
	}{{main, db.Variables}, {spare, s.Variables}} {
		if On(e.vars["skip_networking"]) {
			return f, fmt.Sprintf("%s takes no connections over the network (skip_networking)", e.svc.Name)
		}
	}
	here, there := m.in.Snapshot.Addresses[main.HostName()], m.in.Snapshot.Addresses[spare.HostName()]
	mainAt, spareAt := nearest(there, here), nearest(here, there)
	if mainAt == "" || spareAt == "" {
		return f, fmt.Sprintf("no addresses are known by which %s and %s reach each other", main.HostName(), spare.HostName())
	}
	clients, apps, why := m.appsOf(main, spare, db)
	if why != "" {
		return f, why
	}
	return f.with("spare", spare.Name).with("database", main.Name).with("address", net.JoinHostPort(spareAt, s.Variables["port"])).
		with("main_address", net.JoinHostPort(mainAt, db.Variables["port"])).with("clients", strings.Join(clients, " ")).with("apps", strings.Join(apps, "\n")), ""
}

// Place is where settings of an application may say that a database is.
func Place(snap *evidence.Snapshot, app, db *stack.Service) DatabasePlace {
	vars := snap.Databases[db.Name].Variables
	return DatabasePlace{Port: vars["port"], Socket: vars["socket"], Addresses: snap.Addresses[db.HostName()], Remote: app.HostName() != db.HostName()}
}

// appsOf are the addresses from which a database is asked, and the settings that
// say where it is. All of them must be known: who is left behind could write no
// more.
func (m *model) appsOf(main, spare *stack.Service, db *evidence.Database) (clients, apps []string, why string) {
	for i := range m.in.Stack.Services {
		app := &m.in.Stack.Services[i]
		runs := m.in.Stack.Service(app.RunsIn)
		if !slices.Contains(app.TalksTo, main.Name) && (runs == nil || app.Kind != stack.App || !slices.Contains(runs.TalksTo, main.Name)) {
			continue
		}
		if app.Kind != stack.App {
			if !slices.ContainsFunc(m.in.Stack.Services, func(s stack.Service) bool { return s.RunsIn == app.Name && s.Kind == stack.App }) {
				return nil, nil, fmt.Sprintf("%s talks to %s, and no app in kasoku.yaml tells where it names it (kind: app, runs_in: %s, settings)", app.Name, main.Name, app.Name)
			}
			continue
		}
		names := 0
		for _, file := range app.Settings {
			if _, n := MoveDatabase(m.in.Snapshot.Files[app.HostName()][file].Content, Place(m.in.Snapshot, app, main), "0.0.0.0", db.Variables["port"]); n > 0 {
				apps, names = append(apps, app.Name+" "+file), names+n
			}
		}
		if names == 0 {
			return nil, nil, fmt.Sprintf("no settings of %s name %s in a form that is known (a PDO or Go DSN, DB_HOST and the like); write the file into its settings in kasoku.yaml", app.Name, main.Name)
		}
		from := nearest(m.in.Snapshot.Addresses[spare.HostName()], m.in.Snapshot.Addresses[app.HostName()])
		if from == "" {
			return nil, nil, fmt.Sprintf("no address is known by which %s would reach %s", app.HostName(), spare.Name)
		}
		if !slices.Contains(clients, from) {
			clients = append(clients, from)
		}
	}
	if len(apps) == 0 {
		return nil, nil, fmt.Sprintf("no app in kasoku.yaml talks to %s (talks_to)", main.Name)
	}
	return clients, apps, ""
}
