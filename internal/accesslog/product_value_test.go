package accesslog

import (
	"testing"
	"time"
)

func TestGoDuration(t *testing.T) {
	for _, c := range []struct {
		text string
		unit time.Duration
		want time.Duration // -1: it is none
	}{
		{"1m2.5s", 0, 62500 * time.Millisecond}, {"1h0m0.5s", 0, time.Hour + time.Second/2}, {"45.2ms", 0, 45200 * time.Microsecond}, {"812ns", 0, 812}, {"11.858µs", 0, 11858},
		{"0s", 0, 0}, {"12", time.Millisecond, 12 * time.Millisecond}, {"0.012", time.Second, 12 * time.Millisecond}, {"8.5e-05", time.Second, 85 * time.Microsecond}, {"1E-3", time.Second, time.Millisecond},
		{"12", 0, -1}, {"1.2.3s", 0, -1}, {"ms", 0, -1}, {"12 parsecs", 0, -1}, {"1e99", time.Second, -1}, {"-1e-3", time.Second, -1}, {"NaNe", time.Second, -1}, {"5x", time.Second, -1}, {"1m2", time.Second, -1},
	} {
		got, ok := goDuration([]byte(c.text), c.unit)
		if !ok {
			got = -1
		}
		if got != c.want {
			t.Errorf("%q in %v: %v, want %v", c.text, c.unit, got, c.want)
		}
	}
}
