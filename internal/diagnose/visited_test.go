package diagnose

import (
	"testing"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/stack"
)

// A web server behind a balancer of the same host listens on another port than visitors
// ask; it answers them all the same. Behind a page cache it does not answer most of them,
// and what no balancer hands on to is another site.
func TestVisitedServer(t *testing.T) {
	const text = `events {} http {
		server { listen 127.0.0.1:81; server_name a; }
		server { listen 127.0.0.1:8080; server_name b; }
		server { listen 127.0.0.1:82; server_name c; }
		server { listen 443; server_name d; }
	}`
	conf, err := nginx.Load("/n", "", func(string) ([]byte, error) { return []byte(text), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	web := stack.Service{Name: "web", Kind: stack.Nginx, Listen: []string{"unix:/run/web.sock", "127.0.0.1:8080"}}
	for _, c := range []struct {
		name, url string
		front     stack.Service
		want      string
	}{
		{"at the address itself", "http://127.0.0.1:81", stack.Service{Name: "lb", Kind: stack.App, Listen: []string{"127.0.0.1:80"}, TalksTo: []string{"web"}}, "a"},
		{"at the port that https has", "https://127.0.0.1", stack.Service{Name: "lb", Kind: stack.App, Listen: []string{"127.0.0.1:80"}, TalksTo: []string{"other"}}, "d"},
		{"behind a balancer", "http://127.0.0.1", stack.Service{Name: "lb", Kind: stack.App, Listen: []string{"127.0.0.1:80"}, TalksTo: []string{"web"}}, "b"},
		{"behind nobody", "http://127.0.0.1:80", stack.Service{Name: "lb", Kind: stack.App, Listen: []string{"127.0.0.1:80"}, TalksTo: []string{"other"}}, ""},
		{"behind a page cache", "http://127.0.0.1:80", stack.Service{Name: "cache", Kind: stack.Varnish, Listen: []string{"127.0.0.1:80"}, TalksTo: []string{"web"}}, ""},
		{"where nobody listens", "http://127.0.0.1:90", stack.Service{Name: "lb", Kind: stack.App, Listen: []string{"127.0.0.1:80"}, TalksTo: []string{"web"}}, ""},
	} {
		st := &stack.Stack{Services: []stack.Service{c.front, web}, Load: stack.LoadConfig{URL: c.url}}
		got := ""
		if s := VisitedServer(st, &st.Services[1], conf); s != nil {
			got = s.First("server_name").Args[0]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
