package load

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParseObjective(t *testing.T) {
	for text, want := range map[string]string{
		"p99<50ms,errors<0.1%":             "p99<50ms,errors<0.1%",
		" P50 <= 10ms , errors <= 0 ":      "p50<=10ms,errors<=0%",
		"max<1s":                           "max<1s,errors<0.1%", // a refusal is fast
		"apdex>0.9,dropped<0.3%":           "apdex>0.9,dropped<0.3%,errors<0.1%",
		"mean<1.5ms,p90<2ms,p95<1m,p99<5m": "mean<1.5ms,p90<2ms,p95<1m0s,p99<5m0s,errors<0.1%",
	} {
		o, err := ParseObjective(text)
		if err != nil || o.String() != want {
			t.Errorf("%q: %q, %v, want %q", text, o, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                  "no condition",
		"p99<50ms,":         "no condition",
		"p99=50ms":          "no condition",
		"p98<50ms":          `did you mean "p9`,
		"p99<50":            "write a duration",
		"p99<-1ms":          "write a duration",
		"p99<1000h":         "write a duration",
		"p99>50ms":          "p99<50ms",
		"apdex<0.9":         "apdex>0.9",
		"apdex>1.5":         "from 0 to 1",
		"apdex>NaN":         "from 0 to 1",
		"errors<0.01":       "write a percentage",
		"errors<101%":       "write a percentage",
		"errors<NaN%":       "write a percentage",
		"p99<1ms,p99<2ms":   "stands twice",
		"p99<1ms,errors<>%": "write a percentage",
	} {
		if o, err := ParseObjective(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %q", text, o, err, want)
		}
	}
}

func FuzzParseObjective(f *testing.F) {
	for _, s := range []string{"p99<50ms,errors<0.1%", "p50<=10ms,max<1s,apdex>0.9,dropped<0.1%", "p99<<1ms", "errors<1e-3%", ",", "mean<1h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseObjective(text)
		if err != nil {
			return
		}
		again, err := ParseObjective(o.String())
		if err != nil || !reflect.DeepEqual(o, again) {
			t.Fatalf("%q became %q, which is %v (%v)", text, o, again, err)
		}
		o.Judge(&Result{Requests: 1})
	})
}

func TestJudge(t *testing.T) {
	res := &Result{Requests: 990, Succeeded: 980, Mismatches: 10, Timeouts: 6, Errors: 4,
		Latency: Percentiles{P50: 10 * time.Millisecond, P99: 73200 * time.Microsecond, Max: time.Second},
		Open:    &Open{Planned: 1000, Dropped: 5}}
	for _, c := range []struct {
		goal, broke string
		excess      float64
	}{
		{"p50<=10ms,errors<=2%,dropped<0.6%", "", 1},
		{"p50<10ms,errors<2.1%", "p50 was 10.0 ms, not below 10.0 ms", 1},
		{"p99<50ms,errors<2.1%", "p99 was 73.2 ms, not below 50.0 ms", 1.464},
		{"p99<=50ms,errors<=1%", "p99 was 73.2 ms, not at or below 50.0 ms; errors was 2 %, not at or below 1 %", 2},
		{"dropped<=0%,errors<3%", "dropped was 0.5 %, not at or below 0 %", math.Inf(1)},
		{"max<2s", "errors was 2 %, not below 0.1 %", 20},
	} {
		o, err := ParseObjective(c.goal)
		if err != nil {
			t.Fatal(err)
		}
		j := o.Judge(res)
		if j.Broke != c.broke || j.Met != (c.broke == "") || math.Abs(j.Excess-c.excess) > 1e-9 && j.Excess != c.excess {
			t.Errorf("%s: %+v, want %q and %g", c.goal, j, c.broke, c.excess)
		}
	}
	o, _ := ParseObjective("max<2s")
	if j := o.Judge(&Result{Errors: 5, Samples: []Mismatch{{Got: "refused"}}}); j.Met || j.Broke != "no request was answered: refused" {
		t.Errorf("a run without an answer: %+v", j)
	}
	o, _ = ParseObjective("apdex>0.9,errors<3%")
	if j := o.Judge(res); j.Met || !reflect.DeepEqual(j.Unmeasured, []string{"apdex"}) {
		t.Errorf("a figure that nobody measured: %+v", j)
	}
	apdex := 0.8
	if j := o.Judge(&Result{Requests: 1, Apdex: &apdex}); j.Met || j.Broke != "apdex was 0.8, not above 0.9" || math.Abs(j.Excess-2) > 1e-9 {
		t.Errorf("apdex: %+v", j)
	}
}

func TestParseStages(t *testing.T) {
	got, err := ParseStages("100:10s, 100..1e3 : 30s,0:1m")
	want := []Stage{{100, 100, 10 * time.Second}, {100, 1000, 30 * time.Second}, {0, 0, time.Minute}}
	if err != nil || !reflect.DeepEqual(got, want) || StagesLength(got) != 100*time.Second || HighestRate(got) != 1000 {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "100", "100:", ":10s", "100:-1s", "100:0s", "-1:1s", "NaN:1s", "1..:1s", "1..2..3:1s", "1:1s,", "1e9:1s", "1:999h", strings.Repeat("1:1s,", 2000) + "1:1s"} {
		if got, err := ParseStages(bad); err == nil {
			t.Errorf("%q is accepted: %v", bad, got)
		}
	}
	for rate, want := range map[float64]int{0: 32, 100: 32, 5000: 500, 1e6: 1000} {
		if got := UsersFor(rate); got != want {
			t.Errorf("%d users for %g per second, want %d", got, rate, want)
		}
	}
}
