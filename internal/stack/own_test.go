package stack

import "testing"

func TestOwn(t *testing.T) {
	s := &Stack{Load: LoadConfig{URL: "https://shop.example:8443/"}, Services: []Service{{Name: "app", Listen: []string{"10.0.0.7:8080", "unix:/run/app.sock"}}}}
	for u, want := range map[string]bool{
		"http://127.0.0.1/tick": true, "http://localhost:8080/": true, "http://[::1]:80/": true, "https://shop.example/tick": true,
		"http://10.0.0.7/": true, "http://10.0.0.8/": false, "https://api.example/": false, "?": false, "": false, "/tick": false, "http://%zz/": false,
	} {
		if got := s.Own(u); got != want {
			t.Errorf("%q: %v", u, got)
		}
	}
}
