package regulation

import (
	"strings"
	"testing"
	"time"
)

// The zero Regulation is strict: it refuses every trade there is.
func TestStrictByDefault(t *testing.T) {
	for _, trade := range Trades {
		if why := (Regulation{}).Refuses([]Trade{trade.Trade}, nil, nil); !strings.Contains(why, string(trade.Trade)) {
			t.Errorf("%s: %q", trade.Trade, why)
		}
		if trade.Text == "" {
			t.Errorf("%s has no text", trade.Trade)
		}
	}
}

func TestRefuses(t *testing.T) {
	r := Regulation{Allow: []Trade{Staleness}, NoRestart: []string{"db"}, NoTouch: []string{"web"}}
	for _, c := range []struct {
		name               string
		trades             []Trade
		touched, restarted []string
		want               string // part of the reason; "" = allowed
	}{
		{"an allowed trade", []Trade{Staleness}, nil, nil, ""},
		{"one that is not", []Trade{Staleness, Durability}, nil, nil, "durability"},
		{"a service that may be changed but not restarted", nil, []string{"db"}, nil, ""},
		{"and its restart", nil, []string{"db"}, []string{"db"}, "restarts db"},
		{"a service that may not be touched", nil, []string{"php", "web"}, nil, "changes web"},
	} {
		got := r.Refuses(c.trades, c.touched, c.restarted)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		r    Regulation
		want string
	}{
		{Regulation{}, ""},
		{Regulation{Allow: []Trade{Durability}, MemoryHeadroomPercent: 90}, ""},
		{Regulation{Allow: []Trade{"honesty"}}, "honesty"},
		{Regulation{MemoryHeadroomPercent: 91}, "0–90"},
		{Regulation{MemoryHeadroomPercent: -1}, "0–90"},
		{Regulation{Allow: []Trade{Staleness}, Staleness: 5 * time.Minute}, ""},
		{Regulation{Allow: []Trade{Staleness}, Staleness: -1}, "0–24h"},
		{Regulation{Staleness: time.Minute}, "does not list"},
	} {
		err := c.r.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.r, err, c.want)
		}
	}
	if got := (Regulation{}).Headroom(); got != DefaultMemoryHeadroomPercent {
		t.Errorf("headroom %d", got)
	}
}

// The limit is the one written; without one the default, and none without the
// trade.
func TestMaxAge(t *testing.T) {
	for _, c := range []struct {
		r    Regulation
		want time.Duration
	}{
		{Regulation{}, 0},
		{Regulation{Allow: []Trade{Durability}}, 0},
		{Regulation{Allow: []Trade{Staleness}}, DefaultStaleness},
		{Regulation{Allow: []Trade{Staleness}, Staleness: 5 * time.Minute}, 5 * time.Minute},
	} {
		if got := c.r.MaxAge(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.r, got, c.want)
		}
	}
}
