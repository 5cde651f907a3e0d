package load

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kasoku/internal/await"
)

// shopScenario is like that of a login case: pools of every order, weights,
// repetitions, forms, JSON, cookies, links and redirects.
const shopScenario = `
version: 1
name: shop
timeout: 5s
pools:
  users: {generate: {to: 150000}, fields: {login: "user${n}", password: "pass${n}"}}
  homes: {generate: {to: 60000}, fields: {ip: "10.${n/256}.${n%256}.1"}, order: random}
  words: {generate: {to: 500}, fields: {w: "wörd ${n}&"}, order: random}
sessions:
- name: customer
  weight: 5
  draw: {user: users, home: homes}
  steps:
  - {name: form, request: GET /, headers: {X-User: "${user.login}"}, assets: [/a.css, /b.png], extract: {token: {regexp: 'token=(\w+)'}}}
  - {name: login, request: POST /login, headers: {X-Forwarded-For: "${home.ip}"}, form: {login: "${user.login}", password: "${user.password}", token: "${token}"}, follow: true, then: {contains: ok}}
  - {name: search, request: "GET /search?q=${word.w}", draw: {word: words}, repeat: 3}
  - {name: order, request: PUT /order, json: {who: "${user.login}", list: [1, "${word.w}"]}}
- name: guest
  weight: 3
  draw: {home: homes}
  steps:
  - {name: look, request: "GET /look/${home.ip}", extract: {link: {header: X-Link}}}
  - {name: on, request: "GET ${link}"}
- name: attacker
  weight: 2
  steps:
  - {name: guess, request: POST /login, draw: {victim: users}, repeat: 4, form: {login: "${victim.login}", password: wrong}, follow: true, then: {}}
`

// streams logs the raw bytes of each connection, and answers in a way that
// depends only on them.
type streams struct {
	mu  sync.Mutex
	raw []*bytes.Buffer
}

type tapped struct {
	net.Conn
	all *streams
	log *bytes.Buffer
}

func (c tapped) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.all.mu.Lock()
	c.log.Write(b[:n])
	c.all.mu.Unlock()
	return n, err
}

func (s *streams) play(p *peer) {
	s.mu.Lock()
	log := &bytes.Buffer{}
	s.raw = append(s.raw, log)
	s.mu.Unlock()
	p.in.Reset(tapped{p.Conn, s, log})
	for n := 0; p.ask(); n++ {
		body := fmt.Sprintf("ok token=t%d", n)
		head := "HTTP/1.1 200 OK\r\nX-Link: /item?n=" + fmt.Sprint(n) + "#top\r\n"
		switch {
		case p.method == http.MethodPost:
			head = "HTTP/1.1 302 Found\r\nLocation: done/" + fmt.Sprint(n) + "\r\nSet-Cookie: s=" + fmt.Sprint(n) + "; Path=/\r\nSet-Cookie: gone=; Max-Age=0\r\n"
		case p.path == "/a.css" || p.path == "/b.png":
			body = "always the same"
		}
		if !p.say(fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body)) {
			return
		}
	}
}

// hostLine differs from run to run with the port.
var hostLine = regexp.MustCompile(`Host: [^\r]*\r\n`)

// record runs the scenario and returns what each user sent, in the order of
// their first bytes.
func record(t *testing.T, src string, e Engine, users int, seed uint64) []string {
	t.Helper()
	all := &streams{}
	s := startPeers(t, "http", all.play)
	res := mustRun(t, Options{Scenario: mustParse(t, src), URL: s.url, Workload: users, Seed: seed, Engine: e, Warmup: -1, Window: 300 * time.Millisecond})
	wantRight(t, res)
	s.end()
	var out []string
	for _, b := range all.raw {
		out = append(out, hostLine.ReplaceAllString(b.String(), ""))
	}
	slices.Sort(out)
	return out
}

// common is how many bytes of two streams are the same.
func common(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// The same seed gives the same bytes for each user, on every engine; another
// seed gives others.
func TestSameSeedSameBytes(t *testing.T) {
	await.SkipShort(t)
	for _, users := range []int{1, 4} {
		t.Run(fmt.Sprint(users), func(t *testing.T) {
			list := engines(false)
			first := record(t, shopScenario, list[0], users, 7)
			if len(first) != users {
				t.Fatalf("%d connections for %d users", len(first), users)
			}
			for i, e := range append(list, list[0]) {
				again := record(t, shopScenario, e, users, 7)
				if len(again) != users {
					t.Fatalf("%s: %d connections for %d users", e, len(again), users)
				}
				for u := range first {
					n := min(len(first[u]), len(again[u]))
					if got := common(first[u], again[u]); n < 2000 || got < n {
						t.Errorf("%s (%d), user %d: %d of %d bytes are the same; then\n%.200q\n%.200q", e, i, u, got, n, first[u][got:], again[u][got:])
					}
				}
			}
			other := record(t, shopScenario, list[0], users, 8)
			for u := range first {
				if got := common(first[u], other[u]); got > 1000 {
					t.Errorf("user %d sends the same %d bytes with another seed", u, got)
				}
			}
			if users > 1 && common(first[0], first[1]) > 1000 {
				t.Error("two users send the same")
			}
			for _, want := range []string{"X-User: user", "POST /login ", "/done/", "Cookie: s=", "/search?q=w%C3%B6rd%20", "PUT /order", "GET /item?n=", "login=user", "\"list\":[1,\"wörd "} {
				if !strings.Contains(strings.Join(first, ""), want) {
					t.Errorf("no request has %q", want)
				}
			}
		})
	}
}

// Planned sessions are the same whichever user they fall to: with another
// number of users, and on another engine.
func TestSameSeedSameSessions(t *testing.T) {
	await.SkipShort(t)
	sessions := func(e Engine, users int, seed uint64) map[string]bool {
		all := &streams{}
		s := startPeers(t, "http", all.play)
		src := strings.Replace(shopScenario, "{name: form, request: GET /, headers: {X-User: \"${user.login}\"}, assets: [/a.css, /b.png], ", "{name: form, request: GET /, headers: {X-User: \"${user.login} ${home.ip}\"}, ", 1)
		mustRun(t, Options{Scenario: mustParse(t, src), URL: s.url, Workload: users, Seed: seed, Engine: e, Warmup: -1,
			Window: 500 * time.Millisecond, Arrivals: ConstantRate(200)})
		s.end()
		found := map[string]bool{}
		for _, b := range all.raw {
			for _, m := range regexp.MustCompile(`X-User: [^\r]*`).FindAllString(b.String(), -1) {
				found[m] = true
			}
		}
		return found
	}
	base := sessions(EngineEpoll, 8, 7)
	if len(base) < 10 {
		t.Fatalf("%d sessions", len(base))
	}
	shared := func(a, b map[string]bool) (n int) {
		for k := range a {
			if b[k] {
				n++
			}
		}
		return n
	}
	for _, e := range engines(false) {
		for _, users := range []int{8, 20} {
			if got := sessions(e, users, 7); shared(base, got) < min(len(base), len(got))-3 {
				t.Errorf("%s, %d users: %d of %d and %d sessions are the same", e, users, shared(base, got), len(base), len(got))
			}
		}
	}
	if got := sessions(EngineEpoll, 8, 9); shared(base, got) > len(base)/10 {
		t.Errorf("another seed: %d of %d sessions are the same", shared(base, got), len(base))
	}
}
