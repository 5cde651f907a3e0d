package load

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const (
	firstDay = "Sun, 06 Nov 1994 08:49:37 GMT"
	tenLater = "Sun, 06 Nov 1994 08:49:47 GMT"
	dayOld   = "Sat, 05 Nov 1994 08:49:37 GMT"
)

// answer is one answer to a GET as a cache sees it.
type answer struct {
	status                                                   int
	control, expires, date, age, etag, lastModified, varying string
}

func (a answer) storeIn(c *browserCache, target string, now time.Duration) {
	b := func(s string) []byte {
		if s == "" {
			return nil
		}
		return []byte(s)
	}
	if a.status == 0 {
		a.status = 200
	}
	c.storeAged([]byte(target), a.status, b(a.control), b(a.expires), b(a.date), b(a.age), b(a.etag), b(a.lastModified), b(a.varying), now)
}

// How long an answer is used without asking, and what it is asked with then.
func TestBrowserCacheFreshness(t *testing.T) {
	const never, notKept = 0, -1
	tests := []struct {
		name   string
		answer answer
		fresh  time.Duration // never: asked each time; notKept: not stored
		ask    string
	}{
		{"max-age", answer{control: "max-age=60", etag: `"a"`}, time.Minute, "If-None-Match: \"a\"\r\n"},
		{"without a validator", answer{control: "public, max-age=60"}, time.Minute, ""},
		{"both validators", answer{control: "Max-Age=5", etag: `W/"a"`, lastModified: dayOld}, 5 * time.Second,
			"If-None-Match: W/\"a\"\r\nIf-Modified-Since: " + dayOld + "\r\n"},
		{"max-age wins over Expires", answer{control: "max-age=60", expires: firstDay, date: firstDay}, time.Minute, ""},
		{"quoted", answer{control: `max-age="7"`}, 7 * time.Second, ""},
		{"the smaller of two", answer{control: "max-age=7, max-age=3"}, 3 * time.Second, ""},
		{"max-age that is no number", answer{control: "max-age=soon", etag: `"a"`}, never, "If-None-Match: \"a\"\r\n"},
		{"max-age too large", answer{control: "max-age=99999999999999999999"}, maxFresh, ""},
		{"immutable", answer{control: "max-age=60, immutable"}, time.Minute, ""},
		{"must-revalidate", answer{control: "max-age=60, must-revalidate", etag: `"a"`}, time.Minute, "If-None-Match: \"a\"\r\n"},
		{"private", answer{control: "private, max-age=60"}, time.Minute, ""},
		{"s-maxage is not for browsers", answer{control: "s-maxage=600, max-age=60"}, time.Minute, ""},
		{"no-cache", answer{control: "no-cache, max-age=60", etag: `"a"`}, never, "If-None-Match: \"a\"\r\n"},
		{"no-cache for a field only", answer{control: `no-cache="Set-Cookie, X", max-age=60`}, time.Minute, ""},
		{"no-store", answer{control: "no-store, max-age=60", etag: `"a"`}, notKept, ""},
		{"no-store in a quoted text", answer{control: `ext="a, no-store", max-age=60`}, time.Minute, ""},
		{"Expires", answer{expires: tenLater, date: firstDay}, 10 * time.Second, ""},
		{"Expires in the past", answer{expires: dayOld, date: firstDay, etag: `"a"`}, never, "If-None-Match: \"a\"\r\n"},
		{"Expires: 0", answer{expires: "0", date: firstDay, lastModified: dayOld}, never, "If-Modified-Since: " + dayOld + "\r\n"},
		{"Expires without Date", answer{expires: tenLater, etag: `"a"`}, never, "If-None-Match: \"a\"\r\n"},
		{"a tenth of the age", answer{date: firstDay, lastModified: dayOld}, 144 * time.Minute, "If-Modified-Since: " + dayOld + "\r\n"},
		{"modified after Date", answer{date: dayOld, lastModified: firstDay}, never, "If-Modified-Since: " + firstDay + "\r\n"},
		{"a validator alone", answer{etag: `"a"`}, never, "If-None-Match: \"a\"\r\n"},
		{"nothing", answer{date: firstDay}, notKept, ""},
		{"Age", answer{control: "max-age=60", age: "50"}, 10 * time.Second, ""},
		{"Age beyond", answer{control: "max-age=60", age: "70", etag: `"a"`}, never, "If-None-Match: \"a\"\r\n"},
		{"Vary on what is always the same", answer{control: "max-age=60", varying: "Accept-Encoding, User-Agent"}, time.Minute, ""},
		{"Vary: Cookie", answer{control: "max-age=60", varying: "Accept-Encoding, Cookie", etag: `"a"`}, never, "If-None-Match: \"a\"\r\n"},
		{"Vary: *", answer{control: "max-age=60", varying: "*"}, notKept, ""},
		{"404", answer{status: 404, control: "max-age=60"}, time.Minute, ""},
		{"500 that says so", answer{status: 500, control: "max-age=60"}, time.Minute, ""},
		{"500", answer{status: 500, etag: `"a"`}, notKept, ""},
		{"206", answer{status: 206, control: "max-age=60"}, notKept, ""},
		{"a redirect", answer{status: 301, control: "max-age=60"}, notKept, ""},
		{"304 to nobody's question", answer{status: 304, control: "max-age=60"}, notKept, ""},
		{"a validator that breaks the line", answer{control: "max-age=60", etag: "\"a\x01\""}, time.Minute, ""},
		{"a validator too long", answer{control: "max-age=60", etag: strings.Repeat("a", 1000)}, time.Minute, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c browserCache
			const begin = time.Hour
			tt.answer.storeIn(&c, "/a", begin)
			if tt.fresh == notKept {
				if len(c.entries) != 0 || c.bytes != 0 {
					t.Fatalf("stored: %+v", c.entries)
				}
				return
			}
			if len(c.entries) != 1 {
				t.Fatal("not stored")
			}
			if fresh, _ := c.lookup([]byte("/a"), begin+max(tt.fresh-1, 0)); fresh != (tt.fresh > 0) {
				t.Errorf("just before: fresh %v", fresh)
			}
			fresh, ask := c.lookup([]byte("/a"), begin+tt.fresh)
			if fresh || string(ask) != tt.ask {
				t.Errorf("then: fresh %v, %q, want %q", fresh, ask, tt.ask)
			}
			if fresh, ask := c.lookup([]byte("/a?b"), begin); fresh || ask != nil {
				t.Error("another target is known")
			}
			c.clear()
			if fresh, ask := c.lookup([]byte("/a"), begin); fresh || ask != nil {
				t.Error("known after clear")
			}
		})
	}
}

// 304 makes a stored answer fresh again, by its own headers or the old ones.
func TestBrowserCacheRefresh(t *testing.T) {
	tests := []struct {
		name         string
		first, again answer
		fresh        time.Duration
	}{
		{"as before", answer{control: "max-age=60", etag: `"a"`}, answer{}, time.Minute},
		{"longer", answer{control: "max-age=60", etag: `"a"`}, answer{control: "max-age=90"}, 90 * time.Second},
		{"by Expires", answer{control: "max-age=60", etag: `"a"`}, answer{expires: tenLater, date: firstDay}, 10 * time.Second},
		{"no longer", answer{control: "max-age=60", etag: `"a"`}, answer{control: "no-cache"}, 0},
		{"a tenth of more", answer{date: firstDay, lastModified: dayOld}, answer{date: "Mon, 07 Nov 1994 08:49:37 GMT"}, 288 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c browserCache
			tt.first.storeIn(&c, "/a", 0)
			_, before := c.lookup([]byte("/a"), maxFresh)
			tt.again.status = 304
			tt.again.storeIn(&c, "/a", 24*time.Hour)
			if fresh, _ := c.lookup([]byte("/a"), 24*time.Hour+max(tt.fresh-1, 0)); fresh != (tt.fresh > 0) {
				t.Errorf("just before: fresh %v", fresh)
			}
			if fresh, after := c.lookup([]byte("/a"), 24*time.Hour+tt.fresh); fresh || string(after) != string(before) {
				t.Errorf("then: fresh %v, validators %q, before %q", fresh, after, before)
			}
		})
	}
}

// A new answer that may not be kept takes the old one out.
func TestBrowserCacheReplaces(t *testing.T) {
	var c browserCache
	answer{control: "max-age=60", etag: `"a"`}.storeIn(&c, "/a", 0)
	answer{control: "max-age=60", etag: `"b"`}.storeIn(&c, "/a", 0)
	if _, ask := c.lookup([]byte("/a"), time.Hour); string(ask) != "If-None-Match: \"b\"\r\n" {
		t.Errorf("asks with %q", ask)
	}
	answer{control: "no-store"}.storeIn(&c, "/a", 0)
	if fresh, ask := c.lookup([]byte("/a"), 1); fresh || ask != nil || c.bytes != 0 {
		t.Errorf("kept: %v %q, %d bytes", fresh, ask, c.bytes)
	}
}

// The cache holds its bounds, and drops what was not used for longest.
func TestBrowserCacheBounds(t *testing.T) {
	var c browserCache
	for i := range 3 * maxCached {
		answer{control: "max-age=3600"}.storeIn(&c, fmt.Sprintf("/%d", i), 0)
		if i > 0 {
			if fresh, _ := c.lookup([]byte("/0"), 1); !fresh {
				t.Fatalf("what is used all the time was dropped at %d", i)
			}
		}
	}
	if len(c.entries) != maxCached || len(c.hashes) != maxCached {
		t.Errorf("%d entries", len(c.entries))
	}
	for i := range 100 {
		answer{control: "max-age=3600"}.storeIn(&c, fmt.Sprintf("/%d%s", i, strings.Repeat("x", maxTarget-10)), 0)
	}
	if c.bytes > maxCachedBytes {
		t.Errorf("%d bytes", c.bytes)
	}
	answer{control: "max-age=3600"}.storeIn(&c, "/"+strings.Repeat("x", maxTarget), 0)
	if fresh, _ := c.lookup([]byte("/"+strings.Repeat("x", maxTarget)), 1); fresh {
		t.Error("a target without bound was kept")
	}
}

// The cache agrees with a map, whatever comes.
func TestBrowserCacheProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c browserCache
		until := map[string]time.Duration{}
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			target := fmt.Sprintf("/%d", rapid.IntRange(0, 9).Draw(t, "target"))
			now := time.Duration(rapid.IntRange(0, 1000).Draw(t, "now")) * time.Second
			switch age := rapid.IntRange(-1, 100).Draw(t, "age"); {
			case age < 0:
				answer{control: "no-store"}.storeIn(&c, target, now)
				delete(until, target)
			default:
				answer{control: fmt.Sprint("max-age=", age), etag: `"a"`}.storeIn(&c, target, now)
				until[target] = now + time.Duration(age)*time.Second
			}
			size := 0
			for target, end := range until {
				size += len(target) + len("If-None-Match: \"a\"\r\n")
				fresh, ask := c.lookup([]byte(target), now)
				if fresh != (now < end) || fresh == (len(ask) > 0) {
					t.Fatalf("%s at %s: fresh %v, %q; is fresh until %s", target, now, fresh, ask, end)
				}
			}
			if len(c.entries) != len(until) || len(c.hashes) != len(until) || c.bytes != size {
				t.Fatalf("%d entries, %d bytes; want %d, %d", len(c.entries), c.bytes, len(until), size)
			}
		}
	})
}

func TestBrowserCacheDoesNotAllocate(t *testing.T) {
	var c browserCache
	targets := [][]byte{[]byte("/a.css"), []byte("/b.js"), []byte("/c.png")}
	control, date, etag, modified := []byte("public, max-age=60"), []byte(tenLater), []byte(`"abc"`), []byte(dayOld)
	visit := func() {
		for _, target := range targets {
			c.lookup(target, time.Hour)
			c.store(target, 200, control, nil, date, etag, modified, nil, time.Hour)
			c.store(target, 304, nil, nil, date, etag, modified, nil, 2*time.Hour)
		}
		c.clear()
	}
	visit()
	if n := testing.AllocsPerRun(100, visit); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestHTTPDate(t *testing.T) {
	for text, want := range map[string]int64{
		firstDay: 784111777, "Sunday, 06-Nov-94 08:49:37 GMT": 784111777, "Sun Nov  6 08:49:37 1994": 784111777,
		"Thu, 01 Jan 1970 00:00:00 GMT": 0, "Tue, 29 Feb 2028 23:59:59 GMT": 1835481599,
		"": -1, "0": -1, "-1": -1, "Sun, 06 Nov 1994 08:49:37 CET": -1, "Sun, 06 anF 1994 08:49:37 GMT": -1, "Sun, 0x Nov 1994 08:49:37 GMT": -1,
	} {
		if got, ok := httpDate([]byte(text)); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d %v, want %d", text, got, ok, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64Range(-62135596800, 253402300799).Draw(t, "seconds") // years 1 to 9999
		text := time.Unix(want, 0).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")
		if got, ok := httpDate([]byte(text)); !ok || got != want {
			t.Fatalf("%q: %d %v, want %d", text, got, ok, want)
		}
	})
}

func FuzzBrowserCache(f *testing.F) {
	f.Add("max-age=60, no-cache=\"a,b\"", tenLater, firstDay, `"a"`, dayOld, "Accept")
	f.Fuzz(func(t *testing.T, control, expires, date, etag, modified, vary string) {
		var c browserCache
		for _, status := range []int{200, 304} {
			c.store([]byte("/"), status, []byte(control), []byte(expires), []byte(date), []byte(etag), []byte(modified), []byte(vary), time.Hour)
			_, ask := c.lookup([]byte("/"), maxFresh+2*time.Hour)
			if strings.Count(string(ask), "\n") != strings.Count(string(ask), "\r\n") || strings.Count(string(ask), "\n") > 2 {
				t.Fatalf("validators %q", ask)
			}
		}
	})
}
