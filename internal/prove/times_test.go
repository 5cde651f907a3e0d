package prove

import (
	"testing"
	"time"

	"kasoku/internal/load"
)

func TestMaskTimes(t *testing.T) {
	now := time.Date(2026, 11, 22, 15, 4, 5, 0, time.UTC)
	for text, want := range map[string]string{
		"at 15:04:05.123, or 9:30":                            "at ‹time›, or ‹time›",
		"2026-11-22T15:04:05Z":                                "‹time›T‹time›Z",
		"2026/11/21, 2026年11月23日 (日)":                         "‹time›, ‹time›",
		"127.0.0.1:8080 and 1:2":                              "127.0.0.1:8080 and 1:2",
		"written on 2019-05-06":                               "written on 2019-05-06",
		"Sun, 22 Nov 2026 15:04:05 GMT":                       "‹time› ‹time› GMT",
		"Sunday, November 22, 2026; Sun, 6 May 2019":          "‹time›; Sun, 6 May 2019",
		"2026年11月22日日曜日, 2026/11/22(日), 2019年5月6日 (月)":        "‹time›, ‹time›, 2019年5月6日 (月)",
		"22.11.2026, 11/22/2026 (Sun), 21-11-2026":            "‹time›, ‹time›, ‹time›",
		"version 1.2.2026, 11/12/2026, 22.11-2026, 6/5/2019":  "version 1.2.2026, 11/12/2026, 22.11-2026, 6/5/2019",
		"Monitor 9:30 Sundays, (日)":                           "Monitor ‹time› Sundays, (日)",
		"November 22, 2026 and May 1, 1999":                   "‹time› and May 1, 1999",
		"wgTime=20261122150405, wgOld=20190506010203":         "wgTime=‹time›, wgOld=20190506010203",
		"t=1795359845.12, ms=1795359845123, order 1234567890": "t=‹time›, ms=‹time›, order 1234567890",
		"12 pages of 345, version 1.39.17, 22 Quiet 2026":     "12 pages of 345, version 1.39.17, 22 Quiet 2026",
	} {
		if got := string(maskTimes([]byte(text), now)); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// What was recorded before midnight is the same after it, the weekday too.
func TestWeekdaysOverMidnight(t *testing.T) {
	before := time.Date(2026, 11, 22, 23, 59, 0, 0, time.Local)
	after := before.Add(2 * time.Minute)
	for _, layout := range []string{time.RFC1123, "Monday, 2 January 2006", "02.01.2006 (Mon)", "Mon 01/02/2006"} {
		was, is := maskTimes([]byte(before.Format(layout)), before), maskTimes([]byte(after.Format(layout)), before, after)
		if string(was) != string(is) {
			t.Errorf("%q became %q", was, is)
		}
	}
}

// Days go by between recording and comparing. A date that was of these days then, or
// is so now, is no difference; another one is.
func TestDatesThatAge(t *testing.T) {
	then := time.Date(2026, 11, 25, 23, 23, 0, 0, time.Local)
	visit := load.Visit{Status: 200}
	const page = "edited 20261123231523 by x\nuntil 2026-11-28, no. 7\nsince 2019-05-06"
	for _, c := range []struct {
		first, second, later string
		same                 bool
	}{
		{page, page, page, true},
		{page, page, "edited 20261123231523 by x\nuntil 2026-11-28, no. 7\nsince 2019-05-07", false},
		{page, "edited 20261123231523 by y\nuntil 2026-11-28, no. 8\nsince 2019-05-06", page, true}, // lines that vary
		{page, page, "edited 20261126000600 by x\nuntil 2026-11-28, no. 7\nsince 2019-05-06", true},
	} {
		b := &Book{Recorded: then, moments: []time.Time{then}}
		p := b.page("k", visit)
		for _, text := range []string{c.first, c.second} {
			p.add(visit, load.Answer{Body: maskTimes([]byte(text), b.moments...)})
		}
		b.compareAt(then.Add(time.Hour)) // beyond midnight
		if why := p.differs(visit, load.Answer{Body: maskTimes([]byte(c.later), b.moments...)}); (why == "") != c.same {
			t.Errorf("%q: %q", c.later, why)
		}
	}
}
