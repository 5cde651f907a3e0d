package diagnose

import (
	"strings"
	"testing"

	"kasoku/internal/stack"
)

func TestReplaceCacheAddresses(t *testing.T) {
	for _, c := range []struct {
		kind     stack.Kind
		in, want string
	}{
		{stack.Memcached, "x=127.0.0.1:1 y=localhost:1,[::1]:1", "x=/s y=/s,/s"},
		{stack.Memcached, "127.0.0.1:12 1127.0.0.1:1 mylocalhost:1 10.0.0.1:1", "127.0.0.1:12 1127.0.0.1:1 mylocalhost:1 10.0.0.1:1"},
		{stack.Memcached, "memcached://127.0.0.1:1?a=b tcp://127.0.0.1:1", "memcached:///s?a=b tcp://127.0.0.1:1"},
		{stack.Redis, "redis://:pw@127.0.0.1:1/3?x=1 tcp://127.0.0.1:1?persistent=1", "unix://:pw@/s?db=3&x=1 unix:///s?persistent=1"},
		{stack.Redis, "127.0.0.1:1 http://127.0.0.1:1/", "/s http://127.0.0.1:1/"},
		{stack.Redis, "", ""},
	} {
		got := ReplaceCacheAddresses(c.in, func(a CacheAddress) string {
			if to := a.WithSocket(c.kind, "/s"); a.Port == "1" && to != "" {
				return to
			}
			return a.Text
		})
		if got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.kind, c.in, got, c.want)
		}
	}
}

// An example in a comment is nobody's address.
func TestCacheAddressesInComments(t *testing.T) {
	const text = "# e.g. redis://user:password@localhost:6379\n  ; localhost:6379\n// 127.0.0.1:6379\n * localhost:6379\nREDIS_URL=redis://localhost:6379 # of this host\nb='a#b localhost:6379'\n"
	got := ReplaceCacheAddresses(text, func(CacheAddress) string { return "X" })
	want := strings.Replace(strings.Replace(text, "=redis://localhost:6379", "=X", 1), "a#b localhost:6379", "a#b X", 1)
	if got != want {
		t.Errorf("%s", got)
	}
}
