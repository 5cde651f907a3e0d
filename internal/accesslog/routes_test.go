package accesslog

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func learn(t *testing.T, o RouteOptions, paths []string) *Routes {
	t.Helper()
	r, err := NewRoutes(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		r.Add(p)
	}
	return r
}

func TestRoutes(t *testing.T) {
	var paths []string
	add := func(n int, format string) {
		for i := range n {
			paths = append(paths, strings.ReplaceAll(fmt.Sprintf(format, i), "@", fmt.Sprintf("%c%c", 'a'+i/26%26, 'a'+i%26)))
		}
	}
	add(200, "/items/%d?x=1")
	add(200, "/items/%d/reviews")
	add(60, "/users/name-@.%[1]d")
	add(60, "/users/user@x%d/posts")
	add(40, "/img/photo@%d.jpg")
	add(40, "/img/%d.png")
	add(5, "/docs/page@%d")
	add(3, "/orders/8b3f2d04-1f0e-4c1a-9d52-0e5a6c7d8e9%x")
	add(3, "/sha/d41d8cd98f00b204e9800998ecf8427%x")
	add(3, "/archive/2024-05-1%d")
	for range 400 {
		paths = append(paths, "/users/login", "/", "/api/v1/cart", "/v/2/x", "/style.css", "/users/")
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	r := learn(t, RouteOptions{}, paths)
	for path, want := range map[string]string{
		"/": "/", "/style.css": "/style.css", "/api/v1/cart": "/api/v1/cart", "/v/2/x": "/v/2/x",
		"/items/7": "/items/:id", "/items/99999?q=/z": "/items/:id", "/items/7/reviews": "/items/:id/reviews",
		"/users/login": "/users/login", "/users/": "/users/", "/users/name-ab.1": "/users/:slug", "/users/somebody-new": "/users/:slug",
		"/users/userabx1/posts": "/users/:slug/posts", "/img/photoab1.jpg": "/img/:slug.jpg", "/img/5.png": "/img/:id.png",
		"/docs/pageab1": "/docs/pageab1", "/docs/pageaa0": "/docs/pageaa0",
		"/orders/8b3f2d04-1f0e-4c1a-9d52-0e5a6c7d8e91": "/orders/:uuid", "/sha/d41d8cd98f00b204e9800998ecf84271": "/sha/:hash",
		"/archive/2024-05-11": "/archive/:date", "http://shop.example/items/3": "/items/:id", "*": "*",
		"/never/seen/12": "/never/seen/:id",
	} {
		if got := r.Route(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	again := learn(t, RouteOptions{}, paths)
	for _, p := range paths {
		if a, b := r.Route(p), again.Route(p); a != b {
			t.Fatalf("%s is %s or %s, by the order of the paths", p, a, b)
		}
	}
}

func TestRoutePatterns(t *testing.T) {
	r := learn(t, RouteOptions{Patterns: []string{"/shop/:name/info", "/files/*", "/shop/all"}}, []string{"/shop/a/info", "/shop/b", "/files/a/b"})
	for path, want := range map[string]string{
		"/shop/a/info": "/shop/:name/info", "/shop/b": "/shop/b", "/files/x/y?z": "/files/*", "/files": "/files", "/shop//info": "/shop//info", "/shop/all": "/shop/all",
	} {
		if got := r.Route(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	for _, bad := range []string{"items", "/a*", "/*/b"} {
		if _, err := NewRoutes(RouteOptions{Patterns: []string{bad}}); err == nil {
			t.Errorf("pattern %q is taken", bad)
		}
	}
}

// A place with endless words takes bounded memory.
func TestRoutesAreBounded(t *testing.T) {
	r := learn(t, RouteOptions{}, nil)
	for i := range 50_000 {
		r.Add("/tag/" + strings.Map(func(c rune) rune { return 'a' + c - '0' }, fmt.Sprint(i)))
	}
	if n := len(r.root.words["tag"].words); n > maxChildren+1 {
		t.Errorf("%d words kept", n)
	}
	if got := r.Route("/tag/zzz"); got != "/tag/:slug" {
		t.Errorf("route %s", got)
	}
}

func FuzzRoutes(f *testing.F) {
	f.Add("/a/1\n/a/2\n/b.c/../x%zz\n*\n//\nhttp://h")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := NewRoutes(RouteOptions{Slugs: 2})
		if err != nil {
			t.Fatal(err)
		}
		paths := strings.Split(text, "\n")
		for _, p := range paths {
			r.Add(p)
		}
		for _, p := range paths {
			if a, b := r.Route(p), r.walk(PathOf(p), false); strings.HasPrefix(PathOf(p), "/") && a != b {
				t.Errorf("%q is %q, then %q", p, a, b)
			}
		}
	})
}
