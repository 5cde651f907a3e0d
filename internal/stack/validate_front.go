package stack

// validateFront: a front is an nginx before an Apache of its own host, and there
// is one for each.
func (s *Stack) validateFront(d *document, path string, svc *Service) {
	if svc.FrontFor == "" {
		return
	}
	path += ".front_for"
	behind := s.another(d, path, svc, svc.FrontFor)
	switch {
	case behind == nil: // reported
	case svc.Kind != Nginx || behind.Kind != Apache:
		d.report(path, "an nginx can be put in front of an Apache; this is %s for %s", svc.Kind, behind.Kind)
	case svc.HostName() != behind.HostName():
		d.report(path, "%q is on host %s, this one on %s; Apache then is behind loopback, which only its own host reaches", behind.Name, behind.HostName(), svc.HostName())
	case behind.Behind != "" && behind.Behind != svc.Name:
		d.report(path, "%q may already be put in front of %q; keep one", behind.Behind, behind.Name)
	case len(svc.Listen) > 0:
		d.report(path, "it listens where %q does once it is in front; remove listen", behind.Name)
	}
}
