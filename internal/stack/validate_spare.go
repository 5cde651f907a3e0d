package stack

import "slices"

// validateSpare: a spare does the work of a service of its own kind, on another
// host.
func (s *Stack) validateSpare(d *document, path string, svc *Service) {
	if svc.SpareFor == "" {
		return
	}
	path += ".spare_for"
	main := s.another(d, path, svc, svc.SpareFor)
	switch {
	case main == nil: // reported
	case svc.IsDatabase() && (svc.Kind != MariaDB || main.Kind != MariaDB):
		d.report(path, "data can move from a MariaDB to a MariaDB only; this is %s for %s", svc.Kind, main.Kind)
	case svc.IsDatabase() && slices.ContainsFunc(s.Services, func(o Service) bool { return o.IsDatabase() && o.Name != svc.Name && o.SpareFor == svc.SpareFor }):
		d.report(path, "another database is spare for %q already; its data moves to one", svc.SpareFor)
	case main.Kind != svc.Kind || !slices.Contains([]Kind{PHPFPM, App, Apache, MariaDB}, svc.Kind) || svc.RunsIn != "" || main.RunsIn != "":
		d.report(path, "a php-fpm can be spare for a php-fpm, an Apache for an Apache, an app with processes of its own for such an app; this is %s for %s", svc.Kind, main.Kind)
	case main.SpareFor != "":
		d.report(path, "%q is itself a spare; write the service that it is spare for, %q", svc.SpareFor, main.SpareFor)
	case main.HostName() == svc.HostName():
		d.report(path, "both are on host %s, where a second service of the same work gives nothing; it belongs on another host", svc.HostName())
	}
}
