package stall

import (
	"io"
	"net/http"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "kasoku/internal/rapidseed"
)

func TestWait(t *testing.T) {
	p := Plan{Every: 5 * time.Second, Length: 500 * time.Millisecond, First: time.Second}
	for _, tt := range []struct {
		why      string
		at, want time.Duration
	}{
		{"before the first stall", 0, 0},
		{"just before it", time.Second - 1, 0},
		{"as it begins", time.Second, 500 * time.Millisecond},
		{"within", 1400 * time.Millisecond, 100 * time.Millisecond},
		{"as it ends", 1500 * time.Millisecond, 0},
		{"between two", 4 * time.Second, 0},
		{"in a later one", 16100 * time.Millisecond, 400 * time.Millisecond},
	} {
		if got := p.Wait(tt.at); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	for q, want := range map[float64]time.Duration{0: 0, 0.5: 0, 0.9: 0, 0.95: 250 * time.Millisecond, 0.99: 450 * time.Millisecond, 1: 500 * time.Millisecond} {
		if got := Default.Quantile(q); (got - want).Abs() > 1 {
			t.Errorf("quantile %v is %s, want %s", q, got, want)
		}
	}
}

// TestQuantileCounted holds the formula against requests counted out, for
// windows that begin anywhere outside a stall and cut none.
func TestQuantileCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		every := time.Duration(rapid.IntRange(200, 6000).Draw(t, "every")) * time.Millisecond
		length := time.Duration(rapid.Int64Range(1, int64(every)/2).Draw(t, "length"))
		p := Plan{Every: every, Length: length, First: every - length}
		rate := rapid.IntRange(200, 3000).Draw(t, "rate")
		start := time.Duration(rapid.Int64Range(0, int64(p.First)).Draw(t, "start"))
		q := rapid.Float64Range(0.5, 1).Draw(t, "quantile")
		got := p.Discrete(q, rate, start, 4*every)
		// Each stall's requests lie one interval apart, shifted against those of
		// the next; a rank is off by as many as there are stalls.
		slack := 2 * time.Second / time.Duration(rate)
		if want := p.Quantile(q); (got - want).Abs() > slack {
			t.Fatalf("counted %s, formula %s", got, want)
		}
	})
	if got := Default.Discrete(0.99, 1000, 0, 20*time.Second); (got - 450*time.Millisecond).Abs() > time.Millisecond {
		t.Errorf("the issue's p99 counted out is %s", got)
	}
	if got := Default.Discrete(0.99, 1000, 0, 0); got != 0 {
		t.Errorf("no request takes %s", got)
	}
}

func TestServer(t *testing.T) {
	p := Plan{Every: time.Hour, Length: 150 * time.Millisecond}
	s, err := Serve(p)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	get := func() time.Duration {
		began := time.Now()
		resp, err := client.Get(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "ok\n" || resp.StatusCode != 200 {
			t.Fatalf("%s %q, %v", resp.Status, body, err)
		}
		return time.Since(began)
	}
	if took := get(); took < p.Length {
		t.Errorf("the first request, at the begin of a stall, took %s", took)
	}
	t.Logf("after the stall a request took %s", get()) // by TestWait none of it is the server's
	s.Restart()
	if took := get(); took < p.Length {
		t.Errorf("the first request after Restart took %s", took)
	}
	if n := s.Requests(); n != 1 {
		t.Errorf("%d requests since Restart, want 1", n)
	}
	if err := s.Close(); err != nil { // the client's connection is still open
		t.Error(err)
	}
	if _, err := client.Get(s.URL()); err == nil {
		t.Error("it answers after Close")
	}
}
