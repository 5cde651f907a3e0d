package evidence

import (
	"path"

	"kasoku/internal/stack"
)

// isHAProxy: the service is an app whose program is HAProxy. Kasoku has no
// editor for its configuration, so its log gets no times by itself.
func isHAProxy(svc *stack.Service) bool {
	if svc.Kind != stack.App {
		return false
	}
	if path.Base(svc.Binary) == "haproxy" {
		return true
	}
	return len(svc.Control.Start) > 0 && path.Base(svc.Control.Start[0]) == "haproxy"
}

// haproxyLine is what a person adds to HAProxy's configuration so that its log
// has each request with its times (configuration manual, "option httplog"; the
// default format has only addresses).
const haproxyLine = "add the line 'option httplog' to its frontend (or to defaults)"

// haproxyAdvice is what to do about a log without requests or times; "" for
// other services.
func haproxyAdvice(svc *stack.Service) string {
	if !isHAProxy(svc) {
		return ""
	}
	return "; HAProxy: " + haproxyLine
}
