package tune

import (
	"strings"
	"testing"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/foreign"
	"kasoku/internal/stack"
)

// A benchmark that asks an application past the web server is told, by that server's CPU.
func TestPassedBy(t *testing.T) {
	st := &stack.Stack{Load: stack.LoadConfig{URL: "http://192.0.2.1", Command: &foreign.Command{}}, Services: []stack.Service{
		{Name: "web", Kind: stack.Nginx, Listen: []string{"0.0.0.0:80"}},
		{Name: "mail", Kind: stack.App, Listen: []string{"127.0.0.1:25"}},
		{Name: "shop", Kind: stack.App, Listen: []string{"[::]:3000"}},
	}}
	use := func(web float64) *evidence.Evidence {
		return &evidence.Evidence{Services: map[string]evidence.ServiceUse{"web": {CPU: web, Processes: 3}, "mail": {CPU: 0.1, Processes: 1}, "shop": {CPU: 60, Processes: 1}}}
	}
	h, ok := passedBy(st, use(0))
	if !ok || h.OK || !strings.Contains(h.Text, "nothing of web") || !strings.Contains(h.Text, "shop ([::]:3000) used the most") {
		t.Errorf("%v %+v", ok, h)
	}
	if _, ok := passedBy(st, use(0.5)); ok {
		t.Error("a web server that worked")
	}
	if diagnose.AskedPast(st, &evidence.Evidence{Services: map[string]evidence.ServiceUse{"shop": {CPU: 60}}}, &st.Services[0]) {
		t.Error("a web server that nobody looked at")
	}
	st.Load.Command = nil
	if _, ok := passedBy(st, use(0)); ok {
		t.Error("a load of Kasoku's own")
	}
}
