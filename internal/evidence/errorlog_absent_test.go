package evidence

import (
	"strings"
	"testing"

	"kasoku/internal/stack"
)

// A service whose log is not known is told, not left out.
func TestErrorLogIsNeverSilent(t *testing.T) {
	for name, svc := range map[string]stack.Service{
		"app": {Kind: stack.App}, "HAProxy": {Kind: stack.App, Binary: "/usr/sbin/haproxy"}, "memcached": {Kind: stack.Memcached}, "Varnish": {Kind: stack.Varnish},
		"a unit": {Kind: stack.App, Control: stack.Control{Unit: "shop.service"}},
	} {
		t.Run(name, func(t *testing.T) {
			svc.Name = "s"
			h := healthOf(observe(t, errorSources, false, svc, func() {}), "error log of s")
			if !strings.Contains(h.Text, "not judged: ") || !strings.Contains(h.Text, "name the file as logs") {
				t.Errorf("%+v", h)
			}
			if unit := svc.Control.Unit; unit != "" && !strings.Contains(h.Text, "`journalctl -u shop.service`") {
				t.Errorf("%+v", h)
			}
		})
	}
	if ev := observe(t, errorSources, false, stack.Service{Name: "s", Kind: stack.App, RunsIn: "php"}, func() {}); len(ev.Health) > 0 {
		t.Errorf("its messages are in another service's log: %+v", ev.Health)
	}
}
