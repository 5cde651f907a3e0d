package accesslog

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
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

func TestDuration(t *testing.T) {
	const none = time.Duration(-1)
	for _, c := range []struct {
		text string
		unit time.Duration
		want time.Duration
	}{
		{"1.5m", 0, 90 * time.Second}, {"0.25h", 0, 15 * time.Minute}, {"1.5h", 0, 90 * time.Minute}, {"0.999999999h", 0, time.Hour - 3600}, {"999.999999999h", 0, 1000*time.Hour - 3600},
		{"1.5m2.25s", 0, 92250 * time.Millisecond}, {"1h30m", 0, 90 * time.Minute}, {"1.5", time.Minute, 90 * time.Second}, {"1.5", time.Hour, 90 * time.Minute},
		{"1000h", 0, 1000 * time.Hour}, {"1000h1ns", 0, none}, {"1000.5h", 0, none}, {"1001h", 0, none}, {"9223372036854775807h", 0, none}, {"9223372036854775807", 1, none}, {"99999999999999999999s", 0, none},
		{"3600000000001", time.Microsecond, none}, {"1.234", 0, 1234 * time.Millisecond}, {"12", 0, none}, {"12 ms", 0, 12 * time.Millisecond}, {"1.5 Seconds", 0, 1500 * time.Millisecond}, {"12MS", time.Second, 12 * time.Millisecond},
		{"-1.5", time.Second, none}, {"-1.5m", 0, none}, {"-1h30m", 0, none}, {"1m-2s", 0, none}, {"+1s", 0, none}, {"", time.Second, none}, {".", time.Second, none}, {"1.", time.Second, none}, {".5", time.Second, none}, {"1..5", time.Second, none},
		{"0.0000000019", time.Second, 1}, {"8.5e-05", time.Second, none}, {" 1s", 0, none},
	} {
		got, ok := duration([]byte(c.text), c.unit)
		if got != c.want || ok != (c.want != none) {
			t.Errorf("%q in %v: %v, %v, want %v", c.text, c.unit, got, ok, c.want)
		}
	}
}

// No unit makes a duration that is not the number's: compared with fractions of
// any size.
func TestDurationExact(t *testing.T) {
	names := map[string]time.Duration{"ns": 1, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour}
	rapid.Check(t, func(t *rapid.T) {
		text := fmt.Sprintf("%d", rapid.Int64Range(0, 1<<62).Draw(t, "whole")>>rapid.IntRange(0, 62).Draw(t, "shift"))
		if rapid.Bool().Draw(t, "dotted") {
			text += "." + rapid.StringMatching(`[0-9]{1,9}`).Draw(t, "fraction")
		}
		name := rapid.SampledFrom([]string{"ns", "us", "ms", "s", "m", "h"}).Draw(t, "unit")
		exact, _ := new(big.Rat).SetString(text)
		exact.Mul(exact, new(big.Rat).SetInt64(int64(names[name])))
		want := new(big.Int).Quo(exact.Num(), exact.Denom())
		fits := want.IsInt64() && time.Duration(want.Int64()) <= maxDuration
		for _, form := range []struct {
			text string
			unit time.Duration
		}{{text + name, 0}, {text, names[name]}} {
			got, ok := duration([]byte(form.text), form.unit)
			if ok != fits || ok && int64(got) != want.Int64() {
				t.Fatalf("%q in %v: %v, %v, want %v, %v", form.text, form.unit, got, ok, want, fits)
			}
		}
	})
}

// Times of many upstreams do not sum up to less than one of them.
func TestUpstreamOverflow(t *testing.T) {
	var e Entry
	e.reset()
	if e.setUpstream([]byte(strings.Repeat("3600000.000, ", 5000)+"0.1"), time.Second) {
		t.Errorf("the sum is read as %v", e.Upstream)
	}
}
