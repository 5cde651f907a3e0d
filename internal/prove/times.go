package prove

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Answers tell the present time in many ways, and differ by it: takes that are
// made within a minute agree about the hour. So a time of day is never compared,
// and a date or a count of seconds not if it is of these days, nor a weekday beside
// these. Days go by between the first take and the last: what is of these days at
// one of them counts as such at all.
const nearDays = 2

var (
	timeOfDay = regexp.MustCompile(`\d+:\d+(?::\d+(?:[.,]\d+)?)?`)
	clockForm = regexp.MustCompile(`^\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?$`)
	// 2026-11-22, 2026/11/22, 2026.11.22, 2026年11月22日, 20261122 (with a time of
	// day behind it or not: MediaWiki's form)
	yearFirst = regexp.MustCompile(`(\d{4})(?:[-/.]|年)\s?(\d{1,2})(?:[-/.]|月)\s?(\d{1,2})日?`)
	packed    = regexp.MustCompile(`\b(20\d{2})(\d{2})(\d{2})(?:\d{6})?\b`)
	// 22 Nov 2026, 22-Nov-2026, November 22, 2026
	dayFirst   = regexp.MustCompile(`\b(\d{1,2})[ -]([A-Z][a-z]{2,8})[ -](\d{4})\b`)
	monthFirst = regexp.MustCompile(`\b([A-Z][a-z]{2,8}) (\d{1,2}), (\d{4})\b`)
	// 22.11.2026, 22/11/2026, 22-11-2026, and 11/22/2026: either may be the month
	yearLast = regexp.MustCompile(`\b(\d{1,2})([-/.])(\d{1,2})([-/.])(\d{4})\b`)
	// seconds or milliseconds since 1970
	epoch = regexp.MustCompile(`\b(1\d{9}|2\d{9})(?:\.\d+|\d{3})?\b`)
)

const (
	timeToken = "‹time›"
	// Sun, Sunday, 日曜, 日曜日
	weekday = `(?:\b(?:Mon|Tue|Tues|Wed|Wednes|Thu|Thur|Thurs|Fri|Sat|Satur|Sun)(?:day)?\b|[月火水木金土日]曜日?)`
)

// besideTime is a hidden time with the weekday before or behind it, which is
// another one after midnight: Sun, ‹time›; ‹time› (Sun); ‹time›(日).
var besideTime = regexp.MustCompile(`(?:` + weekday + `[,.]? ?)?` + timeToken + `(?:,? ?` + weekday + `| ?[(（](?:` + weekday + `|[月火水木金土日])[)）])?`)

// hideTimes hides what of a body depends on when it was asked for: the present time, and
// in which order a list by time has what was made just now.
func hideTimes(body []byte, moments ...time.Time) []byte {
	return maskTimes(sortRecent(body, moments...), moments...)
}

// maskTimes hides what of a body tells the present time, which is any of moments.
func maskTimes(body []byte, moments ...time.Time) []byte {
	if !utf8.Valid(body) {
		return body
	}
	within := func(at time.Time, most time.Duration) bool {
		return slices.ContainsFunc(moments, func(now time.Time) bool { return now.Sub(at).Abs() < most })
	}
	near := func(y, m, d string) bool {
		year, err1 := strconv.Atoi(y)
		day, err2 := strconv.Atoi(d)
		month := monthOf(m)
		if err1 != nil || err2 != nil || month == 0 {
			return false
		}
		return within(time.Date(year, month, day, 12, 0, 0, 0, time.Local), (nearDays*24+12)*time.Hour)
	}
	replace := func(text []byte, re *regexp.Regexp, is func(g []string) bool) []byte {
		return re.ReplaceAllFunc(text, func(match []byte) []byte {
			var groups []string
			for _, g := range re.FindSubmatch(match) {
				groups = append(groups, string(g))
			}
			if len(groups) > 0 && is(groups) {
				return []byte(timeToken)
			}
			return match
		})
	}
	body = replace(body, yearFirst, func(g []string) bool { return near(g[1], g[2], g[3]) })
	body = replace(body, packed, func(g []string) bool { return near(g[1], g[2], g[3]) })
	body = replace(body, dayFirst, func(g []string) bool { return near(g[3], g[2], g[1]) })
	body = replace(body, monthFirst, func(g []string) bool { return near(g[3], g[1], g[2]) })
	body = replace(body, yearLast, func(g []string) bool {
		return g[2] == g[4] && (near(g[5], g[3], g[1]) || near(g[5], g[1], g[3]))
	})
	body = replace(body, epoch, func(g []string) bool {
		s, err := strconv.ParseInt(g[1], 10, 64)
		return err == nil && within(time.Unix(s, 0), nearDays*24*time.Hour)
	})
	body = replace(body, timeOfDay, func(g []string) bool { return clockForm.MatchString(g[0]) })
	return besideTime.ReplaceAll(maskAges(body), []byte(timeToken))
}

// monthOf reads 11, Nov or November; 0 if it is none.
func monthOf(s string) time.Month {
	if n, err := strconv.Atoi(s); err == nil && n >= 1 && n <= 12 {
		return time.Month(n)
	}
	for m := time.January; m <= time.December; m++ {
		if len(s) >= 3 && strings.HasPrefix(m.String(), s) {
			return m
		}
	}
	return 0
}
