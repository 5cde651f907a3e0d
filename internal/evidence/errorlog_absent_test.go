package evidence

import (
	"os/exec"
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
			want := "name the file as logs"
			if svc.Control.Unit != "" {
				if _, err := exec.LookPath("journalctl"); err != nil {
					t.Skip("no journalctl")
				}
				want = "the journal has no entry of shop.service"
			}
			h := healthOf(observe(t, errorSources, false, svc, func() {}), "error log of s")
			if !strings.Contains(h.Text, "not judged: ") || !strings.Contains(h.Text, want) {
				t.Errorf("%+v", h)
			}
		})
	}
	if ev := observe(t, errorSources, false, stack.Service{Name: "s", Kind: stack.App, RunsIn: "php"}, func() {}); len(ev.Health) > 0 {
		t.Errorf("its messages are in another service's log: %+v", ev.Health)
	}
}
