package load

import (
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/await"
)

// However many sessions have begun, each kind has the share of its weight within
// two sessions; every user meets every kind; and seeds begin at other places.
func TestMix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := &Scenario{}
		for _, w := range rapid.SliceOfN(rapid.IntRange(1, 30), 2, 6).Draw(t, "weights") {
			sc.sessions = append(sc.sessions, session{weight: w})
			sc.weights += w
		}
		users := rapid.Uint64Range(1, 40).Draw(t, "users")
		m := newMix(sc, rapid.Uint64().Draw(t, "seed"), users)
		counts := make([]float64, len(sc.sessions))
		met := make([][]bool, users)
		for u := range met {
			met[u] = make([]bool, len(counts))
		}
		n := 0.0
		for round := range uint64(60 * sc.weights) {
			taken := make([]bool, users)
			for u := range users {
				at := m.turn(round, u)
				if at/users != round || taken[at%users] {
					t.Fatalf("user %d of %d begins session %d in round %d", u, users, at, round)
				}
				taken[at%users] = true
				kind, ok := m.at(at)
				if !ok {
					t.Fatal("no order")
				}
				counts[kind]++
				met[u][kind] = true
				n++
			}
			for i, s := range sc.sessions {
				if want := n * float64(s.weight) / float64(sc.weights); math.Abs(counts[i]-want) > 2 {
					t.Fatalf("after %.0f sessions kind %d of weight %d came %.0f times, not %.1f", n, i, s.weight, counts[i], want)
				}
			}
		}
		for u := range met {
			for kind, was := range met[u] {
				if !was {
					t.Errorf("user %d of %d never meets kind %d", u, users, kind)
				}
			}
		}
	})
}

// What has no even order is drawn by chance: a single kind needs none, and weights
// of a long period would need a long table.
func TestMixByChance(t *testing.T) {
	long := &Scenario{sessions: []session{{weight: 9_999}, {weight: 10_000}}, weights: 19_999}
	one := &Scenario{sessions: []session{{weight: 3}}, weights: 3}
	for _, sc := range []*Scenario{long, one} {
		m := newMix(sc, 1, 4)
		if _, ok := m.at(0); ok {
			t.Errorf("%d kinds of weight %d have an order", len(sc.sessions), sc.weights)
		}
	}
	same := &Scenario{sessions: []session{{weight: 20_000}, {weight: 10_000}}, weights: 30_000}
	m := newMix(same, 1, 4)
	if len(m.order) != 3 {
		t.Errorf("the period of weights 2 and 1 is %d", len(m.order))
	}
}

// On a real server, by every engine and with closed and planned sessions, each
// kind has its share: 4 users that draw by chance would miss it by some 30.
func TestMixUnderLoad(t *testing.T) {
	await.SkipShort(t)
	const src = `
version: 1
name: t
sessions:
- {name: often, weight: 6, steps: [{request: GET /often}]}
- {name: seldom, weight: 3, steps: [{request: GET /seldom}, {request: GET /seldom}]}
- {name: rare, steps: [{request: GET /rare}]}
`
	everyEngine(t, func(t *testing.T, e Engine) {
		for name, arrivals := range map[string]*Arrivals{"closed": nil, "planned": ConstantRate(1500)} {
			srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Millisecond) }))
			res, err := Run(t.Context(), Options{Scenario: mustParse(t, src), URL: srv.URL, Workload: 4, Window: time.Second, Warmup: -1,
				Arrivals: arrivals, Engine: e, Seed: rand.Uint64()})
			srv.Close()
			if err != nil {
				t.Fatal(err)
			}
			wantRight(t, res)
			count := map[string]float64{}
			for _, r := range res.Routes {
				count[r.Route] = float64(r.Succeeded)
			}
			count["GET /seldom"] /= 2
			all := count["GET /often"] + count["GET /seldom"] + count["GET /rare"]
			t.Logf("%s: %.0f sessions", name, all)
			for route, weight := range map[string]float64{"GET /often": 6, "GET /seldom": 3, "GET /rare": 1} {
				// Besides the mix itself, users are a few rounds apart, and sessions under way at the window's ends.
				if want := all * weight / 10; math.Abs(count[route]-want) > 14 {
					t.Errorf("%s: %s came %.0f times of %.0f, want %.0f", name, route, count[route], all, want)
				}
			}
		}
	})
}
