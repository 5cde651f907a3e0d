package main

import "testing"

// The share of the load is never below nothing, also where a benchmark is begun anew
// between two calls.
func TestLoadShareOfTheCPU(t *testing.T) {
	last := cpuSplit{busy: 100, all: 200, self: 35, seen: 30}
	for _, c := range []struct {
		about string
		now   cpuSplit
		want  string
	}{
		{"the benchmark goes on", cpuSplit{busy: 118, all: 220, self: 39}, "cpu 90 % (load 20 %)"},
		{"another one has used 2 s", cpuSplit{busy: 118, all: 220, self: 7}, "cpu 90 % (load 10 %)"},
		{"its use is not known yet", cpuSplit{busy: 118, all: 220, self: 4}, "cpu 90 % (load 0 %)"},
	} {
		if got := c.now.between(last); got != c.want {
			t.Errorf("%s: %s, want %s", c.about, got, c.want)
		}
	}
}
