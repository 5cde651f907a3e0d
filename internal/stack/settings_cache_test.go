package stack

import (
	"errors"
	"slices"
	"testing"
)

func TestCacheEndpoints(t *testing.T) {
	for _, c := range []struct {
		why    string
		kind   Kind
		conf   string
		listen []string
		want   []string
	}{
		{"a socket turns TCP off", Memcached, "-m 64\n-s /run/m.sock\n-p 11211\n", []string{"127.0.0.1:11211"}, []string{"unix:/run/m.sock"}},
		{"kasoku.yaml's address counts", Memcached, "-p 11211\n-l 127.0.0.1\n-l ::1\n", []string{"127.0.0.1:11211"}, []string{"127.0.0.1:11211"}},
		{"it moved from a socket to TCP", Memcached, "-p 11300\n", []string{"unix:/run/m.sock"}, []string{"127.0.0.1:11300"}},
		{"TCP comes first", Redis, "port 6379\nunixsocket /run/r.sock\n", []string{"127.0.0.1:6379", "unix:/run/r.sock"}, []string{"127.0.0.1:6379", "unix:/run/r.sock"}},
		{"a socket that nobody named", Redis, "port 6379\nunixsocket /run/r.sock\n", []string{"127.0.0.1:6379"}, []string{"127.0.0.1:6379"}},
		{"port 0 leaves the socket", Redis, "port 0\nunixsocket /run/r.sock\n", []string{"127.0.0.1:6379"}, []string{"unix:/run/r.sock"}},
	} {
		svc := &Service{Name: "c", Kind: c.kind, Config: "/c", Listen: c.listen}
		got := CacheEndpoints(svc, func(string) ([]byte, error) { return []byte(c.conf), nil }, nil)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
	svc := &Service{Name: "c", Kind: Memcached, Config: "/c", Listen: []string{"127.0.0.1:1"}}
	if got := CacheEndpoints(svc, func(string) ([]byte, error) { return nil, errors.New("no right") }, nil); got != nil {
		t.Errorf("a file that cannot be read: %v", got)
	}
}
