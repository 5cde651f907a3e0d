package stack

import (
	"context"
	"io/fs"
	"slices"
	"testing"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/confedit/nginx"
)

func oneFile(text string) (func(string) ([]byte, error), func(string) ([]string, error)) {
	return func(p string) ([]byte, error) {
			if p != "/conf" {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		}, func(string) ([]string, error) {
			return nil, nil
		}
}

// What a port speaks, how its sites are called, and whether it only sends visitors on,
// stands in the configuration.
func TestDoors(t *testing.T) {
	const both = `http {
  server { listen 80 default_server; return 301 https://$host$request_uri; }
  server { listen 443 ssl; listen [::]:443 ssl; server_name shop.example www.shop.example *.shop.example _ ~^a; }
  server { listen 127.0.0.1:8080; server_name localhost; }
  server { listen 8443; ssl on; }
}`
	for _, c := range []struct {
		port string
		want door
	}{
		{"80", door{onward: true}},
		{"443", door{tls: true, names: []string{"shop.example", "www.shop.example"}}},
		{"8080", door{}},
		{"8443", door{tls: true}},
	} {
		read, glob := oneFile(both)
		cfg, err := nginx.Load("/conf", "/", read, glob)
		if err != nil {
			t.Fatal(err)
		}
		if got := nginxDoor(cfg, c.port); got.tls != c.want.tls || got.onward != c.want.onward || !slices.Equal(got.names, c.want.names) {
			t.Errorf("nginx, port %s: %+v, want %+v", c.port, got, c.want)
		}
	}
	read, glob := oneFile("Listen 80\nListen 443\n<VirtualHost *:80>\nServerName blog.example\n</VirtualHost>\n<VirtualHost *:443>\nServerName blog.example\nServerAlias b.example\nSSLEngine on\n</VirtualHost>\n")
	cfg, err := apache.Load("/conf", apache.Options{}, read, glob)
	if err != nil {
		t.Fatal(err)
	}
	if got := apacheDoor(cfg, "80"); got.tls || !slices.Equal(got.names, []string{"blog.example"}) {
		t.Errorf("Apache, port 80: %+v", got)
	}
	if got := apacheDoor(cfg, "443"); !got.tls || !slices.Equal(got.names, []string{"blog.example", "b.example"}) {
		t.Errorf("Apache, port 443: %+v", got)
	}
}

// A name is taken where this machine resolves it to the service's host; else it is told.
func TestSiteURL(t *testing.T) {
	d := &discovery{place: Place{Name: LocalHost}}
	d.all = []*discovery{d}
	svc := &Service{Name: "web", Kind: Nginx, Host: LocalHost}
	for _, c := range []struct {
		door       door
		address    string
		url, named string
	}{
		{door{}, "127.0.0.1:80", "http://127.0.0.1", ""},
		{door{tls: true}, "127.0.0.1:443", "https://127.0.0.1", ""},
		{door{tls: true}, "127.0.0.1:8443", "https://127.0.0.1:8443", ""},
		{door{tls: true, names: []string{"no-such-name.invalid"}}, "127.0.0.1:443", "https://127.0.0.1", "no-such-name.invalid"},
		{door{names: []string{"localhost"}}, "127.0.0.1:8080", "http://localhost:8080", ""},
	} {
		url, named := d.siteURL(context.Background(), svc, c.address, c.door)
		if url != c.url || named != c.named {
			t.Errorf("%+v at %s: %s %q, want %s %q", c.door, c.address, url, named, c.url, c.named)
		}
	}
}
