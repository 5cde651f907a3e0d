package load

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A page with many files and slow requests after it: nearly all points come in a
// moment of the session, and a window that is shorter than the session scores by where
// in it the users happen to be.
func TestWindowsHoldWholeSessions(t *testing.T) {
	sc := walkParse(t, `version: 1
name: page and work
workload: 2
sessions:
  - name: visit
    steps:
      - {request: GET /page, assets: [/a.js, /b.js, /c.js, /d.js, /e.js, /f.js, /g.js, /h.js]}
      - {request: POST /work}
`)
	// told is the result of two users who had three sessions each, of which the page takes
	// so long, and the work so long.
	told := func(page, work time.Duration) *Result {
		r := &run{opts: Options{Scenario: sc}}
		for range 2 {
			v, now := newVisits(r), time.Duration(0)
			for range 4 { // the last one has just begun
				v.begin(now)
				steps := sc.sessions[0].steps
				for i, st := range []struct {
					takes  time.Duration
					points int
				}{{page, 9}, {work, 1}} {
					for range st.points {
						v.scored(&steps[i], 1)
					}
					if now += st.takes; i == 0 || len(r.users) == 0 || now < 3*(page+work)+page {
						v.done(&steps[i], i == 1, now)
					}
				}
			}
			r.users = append(r.users, &user{visits: v})
		}
		res := &Result{}
		r.visited(res, 4*(page+work))
		return res
	}
	uneven := told(100*time.Millisecond, 1900*time.Millisecond)
	if uneven.SessionTime != 2*time.Second {
		t.Errorf("a session took %s, want 2 s", uneven.SessionTime)
	}
	if uneven.Uneven < 0.8 || uneven.Uneven > 0.9 {
		t.Errorf("uneven by %.2f, want about 0.85: nine tenths of the points come in a twentieth of the time", uneven.Uneven)
	}
	if w := uneven.LeastWindow(); w != 12*time.Second {
		t.Errorf("the window must last %s, want six sessions", w)
	}
	even := told(1800*time.Millisecond, 200*time.Millisecond)
	if w := even.LeastWindow(); w != 0 {
		t.Errorf("points come evenly (%.2f), and yet the window must last %s", even.Uneven, w)
	}
}

// As long as no session has ended, it is known that one takes at least as long as the
// longest is under way.
func TestSessionsThatNeverEnd(t *testing.T) {
	sc := walkParse(t, "version: 1\nname: slow\nsessions:\n  - {name: visit, steps: [{request: GET /a}, {request: GET /b}]}\n")
	r := &run{opts: Options{Scenario: sc}}
	v := newVisits(r)
	v.begin(time.Second)
	r.users = []*user{{visits: v}}
	res := &Result{}
	r.visited(res, 8*time.Second)
	if res.SessionTime != 7*time.Second {
		t.Errorf("a session takes %s, want at least 7 s", res.SessionTime)
	}
}

// A visit that is longer than the window is measured to its end in a longer one: a run that
// holds the first pages alone has no login and no write in it.
func TestWindowsReachTheEndOfSessions(t *testing.T) {
	sc := walkParse(t, "version: 1\nname: slow\nsessions:\n  - {name: visit, steps: [{request: GET /a}, {request: GET /b}, {request: GET /c}, {request: POST /d}]}\n")
	r := &run{opts: Options{Scenario: sc}}
	steps := sc.sessions[0].steps
	v := newVisits(r)
	v.begin(0)
	v.done(&steps[0], false, 7*time.Second)
	r.users = []*user{{visits: v}}
	res := &Result{Window: 5 * time.Second}
	r.visited(res, 8*time.Second)
	if res.Unreached != 3 || res.Steps != 4 || res.LeastWindow() != 32*time.Second {
		t.Errorf("%d of %d steps not reached, window %s; want 3 of 4, and four times the 8 s that the first one took", res.Unreached, res.Steps, res.LeastWindow())
	}
	for i := 1; i < 4; i++ {
		v.done(&steps[i], i == 3, 8*time.Second+time.Duration(i))
	}
	v.begin(9 * time.Second)
	res = &Result{Window: 10 * time.Second}
	if r.visited(res, 10*time.Second); res.Unreached != 0 || res.LeastWindow() != 0 {
		t.Errorf("a session ended, and yet %d steps are not reached and the window must last %s", res.Unreached, res.LeastWindow())
	}
}

// What a real run tells of its sessions: the users of setup and teardown have none.
func TestRunsTellTheirSessions(t *testing.T) {
	end := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/c" {
			<-end
		}
	}))
	defer srv.Close()
	defer close(end)
	sc := walkParse(t, "version: 1\nname: slow\nworkload: 2\nsessions:\n  - {name: visit, steps: [{request: GET /a}, {request: GET /b}, {request: GET /c}, {request: POST /d}]}\n")
	res, err := Run(t.Context(), Options{URL: srv.URL, Scenario: sc, Workload: 2, Window: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if res.SessionTime < res.Window || res.Steps != 4 || res.Unreached != 2 {
		t.Errorf("sessions took %s, and %d of %d steps were not reached; want the window of %s at least, and the 2 of 4 after the one that hangs", res.SessionTime, res.Unreached, res.Steps, res.Window)
	}
}

// Answers that score nothing say nothing about whether what scores is steady: a burst of
// files at the begin of a visit is no service that slows down.
func TestTicksAreOfWhatScores(t *testing.T) {
	sc := walkParse(t, `version: 1
name: page and work
score: {default_weight: 0, weights: {"POST /work": 1}}
sessions:
  - name: visit
    steps:
      - {request: GET /page, assets: [/a.js]}
      - {request: POST /work}
`)
	m := newMeter(1, len(sc.routes), time.Second, 0, false)
	m.silent = sc.score.silent()
	m.begin.Store(0)
	for i, label := range sc.routes {
		for range i + 2 {
			m.shards[0].record(i, succeeded, span{0, 50 * time.Millisecond}, 0, 1)
		}
		if label == "POST /work" && m.shards[0].ticks[0] != int64(i+2) {
			t.Errorf("%d answers in the first tick, want the %d of POST /work", m.shards[0].ticks[0], i+2)
		}
	}
	all := walkParse(t, "version: 1\nname: s\nsessions:\n  - {name: visit, steps: [{request: GET /}]}\n")
	if all.score.silent() != nil {
		t.Error("every route scores, and one is left out")
	}
}
