package stack

import (
	"net"
	"net/netip"

	"kasoku/internal/accesslog"
)

// Values of EvidenceConfig.Profile.
const (
	ProfileAuto = "auto"
	ProfileOff  = "off"
)

func (s *Stack) validateEvidence(d *document) {
	e := s.Evidence
	for key, address := range map[string]string{"otlp": e.OTLP, "otlp_grpc": e.OTLPGRPC} {
		if address == "" {
			continue
		}
		if msg := checkEndpoint(address); msg != "" {
			d.report("evidence."+key, "%s", msg)
			continue
		}
		host, _, err := net.SplitHostPort(address)
		ip, perr := netip.ParseAddr(host)
		if err != nil || host != "localhost" && (perr != nil || !ip.IsLoopback()) {
			d.report("evidence."+key, "%q is not on this machine's loopback; spans are taken from there only, write e.g. 127.0.0.1:4318", address)
		}
	}
	if _, err := accesslog.NewRoutes(accesslog.RouteOptions{Patterns: e.Routes}); err != nil {
		d.report("evidence.routes", "%v", err)
	}
	if e.Profile != "" && e.Profile != ProfileAuto && e.Profile != ProfileOff {
		d.report("evidence.profile", "%q is not known; write auto or off", e.Profile)
	}
}
