package digest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kasoku/internal/accesslog"
)

// datedLog has a line for each date; from date %d on.
func datedLog(dates ...string) string {
	var b strings.Builder
	for i, d := range dates {
		fmt.Fprintf(&b, "192.0.2.7 - - [%s] \"GET /a HTTP/1.1\" 200 700 \"-\" \"curl\" 0.01%d\n", d, i)
	}
	return b.String()
}

// Dates that are not understood are told, and do not hide those that are.
func TestUnknownDates(t *testing.T) {
	const day = "12/May/2024:09:50:4%d +0000"
	dates := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf(day, i))
		}
		return out
	}
	since := time.Date(2024, 5, 12, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, log   string
		since       time.Time
		period      string // of the seconds
		says, error string
	}{
		{"none", datedLog("12.5.2024 9h50", "12.5.2024 9h51"), time.Time{}, "", "no line has a date that is understood", ""},
		{"none, and a bound", datedLog("12.5.2024 9h50", "12.5.2024 9h51"), since, "", "", "--since and --until cannot be applied"},
		{"the first line is cut", strings.SplitAfterN(datedLog(dates(8)...), "May/", 2)[1], time.Time{}, "41-47", "1 of the first 8 requests have no date", ""},
		{"the first and last have none", datedLog(append([]string{"-"}, append(dates(8), "-")...)...), time.Time{}, "40-47", "2 of the first 10 requests have no date", ""},
		{"some have none, and a bound", datedLog(append([]string{"-"}, dates(8)...)...), since, "40-47", "leave such out", ""},
		{"all have one", datedLog(dates(5)...), since, "40-44", "", ""},
	} {
		a, err := AccessLogs(t.Context(), []Input{textInput("a.log", c.log, false)}, AccessOptions{Since: c.since})
		if c.error != "" {
			if err == nil || !strings.Contains(err.Error(), c.error) {
				t.Errorf("%s: %v, want %s", c.name, err, c.error)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		period := ""
		if !a.From.IsZero() {
			period = fmt.Sprintf("%d-%d", a.From.Second(), a.To.Second())
		}
		said := strings.Join(a.Warnings, "\n")
		if period != c.period || !strings.Contains(said, c.says) || c.says == "" && strings.Contains(said, "date") {
			t.Errorf("%s: %q %q, want %q and %q", c.name, period, said, c.period, c.says)
		}
	}
}

// The host's port is no part of its name, though it may be named.
func TestHostWithPort(t *testing.T) {
	for expr, want := range map[string]bool{"host=shop.example": true, "host=shop.example:443": true, "host=shop.example:80": false, "host!=shop.example": false, "host~example$": true} {
		f, err := ParseAccessFilter([]string{expr})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Keep()(&accesslog.Entry{Host: []byte("shop.example:443")}); got != want {
			t.Errorf("%s: %v, want %v", expr, got, want)
		}
	}
}

// A time that is cut is no smaller time.
func TestCutTime(t *testing.T) {
	log := datedLog("12/May/2024:09:50:40 +0000", "12/May/2024:09:50:41 +0000", "12/May/2024:09:50:42 +0000")
	for _, cut := range []int{2, 3, 4} {
		a, err := AccessLogs(t.Context(), []Input{textInput("a.log", log[:len(log)-cut], false)}, AccessOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if a.Bad != 1 || a.requests() != 2 {
			t.Errorf("%d bytes cut: %d requests and %d lines not understood, want 2 and 1", cut, a.requests(), a.Bad)
		}
	}
}

// Sizes that are not true do not make a sum that is negative.
func TestSizesDoNotOverflow(t *testing.T) {
	line := `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 200 9223372036854775807 "-" "curl" 0.010` + "\n"
	a, err := AccessLogs(t.Context(), []Input{textInput("a.log", strings.Repeat(line, 3), false)}, AccessOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Routes) != 1 || a.Routes[0].Bytes < 0 {
		t.Errorf("%+v, want one route with a size", a.Routes)
	}
}
