package digest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/accesslog"
	"kasoku/internal/await"
)

// site makes requests of which the right routes are known.
type site struct {
	name string
	// routes by hand, in the order in which they are to be tried.
	routes []string
	next   func(r *rand.Rand) string
}

func hash(n int) string { return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, n))) }

func uuid(n int) string {
	h := hash(n)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:32]
}

var words = strings.Fields("red blue green small large modern classic wooden steel cotton summer winter light heavy round square simple smart happy little shirt table lamp chair shoe watch phone bottle jacket basket mirror carpet pillow candle wallet")

func slug(r *rand.Rand) string {
	return words[r.IntN(len(words))] + "-" + words[r.IntN(len(words))] + "-" + words[r.IntN(len(words))]
}

// pick chooses one of the weighted forms.
func pick(r *rand.Rand, forms ...any) string {
	total := 0
	for i := 0; i < len(forms); i += 2 {
		total += forms[i].(int)
	}
	n := r.IntN(total)
	for i := 0; ; i += 2 {
		if n -= forms[i].(int); n < 0 {
			switch f := forms[i+1].(type) {
			case string:
				return f
			case func() string:
				return f()
			}
		}
	}
}

var titles = []string{"日本", "東京都", "富士山", "寿司", "新幹線", "京都市", "夏目漱石", "量子力学", "機械学習", "太陽系", "江戸時代", "源氏物語", "相撲", "忍者", "侍", "桜", "抹茶", "浮世絵", "歌舞伎", "茶道"}

var sites = []site{
	{"a shop", []string{"/", "/login", "/logout", "/cart", "/api/v1/products", "/api/v1/products/:id", "/api/v1/products/:id/reviews", "/api/v1/products/:id/reviews/:id",
		"/api/v1/orders/:uuid", "/api/v1/orders/:uuid/items/:id", "/api/v1/me", "/api/v2/search", "/category/:slug", "/p/:slug", "/blog/:date/:slug",
		"/assets/:hash.js", "/assets/:hash.css", "/images/products/:id.jpg", "/favicon.ico", "/robots.txt"},
		func(r *rand.Rand) string {
			id := r.IntN(5000)
			return pick(r, 8, "/", 3, "/login", 1, "/logout", 5, "/cart", 6, func() string { return fmt.Sprintf("/api/v1/products?page=%d", r.IntN(50)) },
				20, func() string { return fmt.Sprintf("/api/v1/products/%d", id) }, 8, func() string { return fmt.Sprintf("/api/v1/products/%d/reviews", id) },
				2, func() string { return fmt.Sprintf("/api/v1/products/%d/reviews/%d", id, r.IntN(1e6)) }, 5, func() string { return "/api/v1/orders/" + uuid(id) },
				2, func() string { return fmt.Sprintf("/api/v1/orders/%s/items/%d", uuid(id), r.IntN(9)) }, 6, "/api/v1/me", 4, "/api/v2/search?q=red+shoe",
				5, func() string { return "/category/" + slug(r) }, 9, func() string { return "/p/" + slug(r) },
				2, func() string { return fmt.Sprintf("/blog/2026-%02d-%02d/%s", 1+r.IntN(12), 1+r.IntN(28), slug(r)) },
				3, func() string { return "/assets/" + hash(r.IntN(20))[:20] + ".js" }, 3, func() string { return "/assets/" + hash(r.IntN(20))[:20] + ".css" },
				9, func() string { return fmt.Sprintf("/images/products/%d.jpg", id) }, 1, "/favicon.ico", 1, "/robots.txt")
		}},
	{"a wiki with a forum", []string{"/", "/wiki/:slug", "/wiki/:slug/history", "/wiki/:slug/edit", "/forum/", "/forum/:id", "/forum/:id/new", "/forum/:id/:id", "/user/:slug", "/user/:slug/posts", "/search",
		"/static/style.css", "/static/app.js", "/static/logo.png", "/feed.xml", "/uploads/:id/:id/:hash.png"},
		func(r *rand.Rand) string {
			title := url.PathEscape(titles[r.IntN(len(titles))] + titles[r.IntN(len(titles))])
			user := words[r.IntN(len(words))] + "_" + words[r.IntN(len(words))]
			return pick(r, 5, "/", 30, func() string { return "/wiki/" + title }, 4, func() string { return "/wiki/" + title + "/history" }, 2, func() string { return "/wiki/" + title + "/edit" },
				5, "/forum/", 9, func() string { return fmt.Sprintf("/forum/%d", 1+r.IntN(12)) }, 15, func() string { return fmt.Sprintf("/forum/%d/%d", 1+r.IntN(12), r.IntN(1e5)) },
				2, func() string { return fmt.Sprintf("/forum/%d/new", 1+r.IntN(12)) }, 6, func() string { return "/user/" + user }, 3, func() string { return "/user/" + user + "/posts" },
				4, func() string { return "/search?q=" + title }, 5, "/static/style.css", 5, "/static/app.js", 5, "/static/logo.png", 1, "/feed.xml",
				6, func() string {
					return fmt.Sprintf("/uploads/%d/%02d/%s.png", 2025+r.IntN(2), 1+r.IntN(12), hash(r.IntN(5000))[:32])
				})
		}},
	{"a social game", []string{"/", "/admin/login", "/admin/user/:id", "/admin/master", "/api/login", "/user", "/user/:id/gacha/index", "/user/:id/gacha/draw/:id/:id", "/user/:id/present/index/:id", "/user/:id/present/receive",
		"/user/:id/item", "/user/:id/card", "/user/:id/card/addexp/:id", "/user/:id/reward", "/user/:id/home", "/session/:hash", "/player/:hash/avatar.png", "/rank/:date"},
		func(r *rand.Rand) string {
			id := 100000000000 + r.IntN(1e9)
			token := base64.RawURLEncoding.EncodeToString([]byte(hash(id)[:24]))
			return pick(r, 1, "/", 1, "/admin/login", 1, func() string { return fmt.Sprintf("/admin/user/%d", id) }, 1, "/admin/master", 5, "/api/login", 2, "/user",
				5, func() string { return fmt.Sprintf("/user/%d/gacha/index", id) }, 9, func() string { return fmt.Sprintf("/user/%d/gacha/draw/%d/%d", id, 1+r.IntN(40), 1+9*r.IntN(2)) },
				9, func() string { return fmt.Sprintf("/user/%d/present/index/%d", id, 1+r.IntN(5)) }, 8, func() string { return fmt.Sprintf("/user/%d/present/receive", id) },
				8, func() string { return fmt.Sprintf("/user/%d/item", id) }, 5, func() string { return fmt.Sprintf("/user/%d/card", id) }, 5, func() string { return fmt.Sprintf("/user/%d/card/addexp/%d", id, r.IntN(1e6)) },
				8, func() string { return fmt.Sprintf("/user/%d/reward", id) }, 9, func() string { return fmt.Sprintf("/user/%d/home", id) }, 3, func() string { return "/session/" + token },
				4, func() string { return "/player/" + hash(id) + "/avatar.png" }, 2, func() string { return fmt.Sprintf("/rank/2026-11-%02d", 1+r.IntN(28)) })
		}},
	{"a photo board", []string{"/", "/initialize", "/login", "/register", "/logout", "/posts", "/posts/:id", "/comment", "/admin/banned", "/@:slug", "/image/:id.jpg", "/image/:id.png", "/image/:id.gif",
		"/css/style.css", "/js/main.js", "/js/timeago.min.js", "/img/ajax-loader.gif"},
		func(r *rand.Rand) string {
			return pick(r, 9, "/", 1, "/initialize", 5, "/login", 2, "/register", 2, "/logout", 5, "/posts?max_created_at=2016-01-04T01%3A02", 9, func() string { return fmt.Sprintf("/posts/%d", r.IntN(10000)) },
				4, "/comment", 1, "/admin/banned", 8, func() string { return "/@" + words[r.IntN(len(words))] + words[r.IntN(len(words))] },
				20, func() string { return fmt.Sprintf("/image/%d.jpg", r.IntN(10000)) }, 9, func() string { return fmt.Sprintf("/image/%d.png", r.IntN(10000)) }, 3, func() string { return fmt.Sprintf("/image/%d.gif", r.IntN(10000)) },
				5, "/css/style.css", 5, "/js/main.js", 5, "/js/timeago.min.js", 3, "/img/ajax-loader.gif")
		}},
}

// byHand counts the requests of each hand-given route.
func byHand(t *testing.T, s *site, targets []string) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for _, target := range targets {
		parts := strings.Split(accesslog.PathOf(target), "/")
		at := slices.IndexFunc(s.routes, func(route string) bool {
			want := strings.Split(route, "/")
			for i, w := range want {
				name, ext, varies := strings.Cut(w, ":")
				if len(want) != len(parts) || !varies && w != parts[i] || varies && (parts[i] == "" || !strings.HasPrefix(parts[i], name)) {
					return false
				}
				if _, ext, ok := strings.Cut(ext, "."); varies && ok != strings.Contains(parts[i], ".") || ok && varies && !strings.HasSuffix(parts[i], "."+ext) {
					return false
				}
			}
			return true
		})
		if at < 0 {
			t.Fatalf("%s: no route given by hand fits %s", s.name, target)
		}
		out[s.routes[at]]++
	}
	return out
}

// Routes that are learnt without patterns are those that a person gives.
func TestRoutesAgreeWithHandGivenOnes(t *testing.T) {
	await.SkipShort(t)
	for _, s := range sites {
		for _, n := range []int{3_000, 60_000} {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			var targets []string
			var log strings.Builder
			for i := range n {
				targets = append(targets, s.next(r))
				fmt.Fprintf(&log, `10.0.0.1 - - [21/Nov/2026:10:%02d:%02d +0900] "GET %s HTTP/1.1" 200 5 "-" "x" 0.001`+"\n", i*60/n, i*3600/n%60, targets[i])
			}
			want := byHand(t, &s, targets)
			a := digestText(t, log.String(), AccessOptions{Workers: 2})
			for _, got := range a.Routes {
				// A user's page has its sign before the name.
				route := strings.Replace(got.Route, "/:slug", "/@:slug", 1)
				if _, ok := want[got.Route]; ok || want[route] == 0 {
					route = got.Route
				}
				if want[route] != got.Count {
					t.Errorf("%s, %d requests: %s has %d, by hand %d", s.name, n, got.Route, got.Count, want[route])
				}
				delete(want, route)
			}
			if len(want) > 0 || a.Bad > 0 {
				t.Errorf("%s, %d requests: not found: %v; %d bad", s.name, n, want, a.Bad)
			}
		}
	}
}
