package digest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// layouts of a point in time without zone, most exact first.
var layouts = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"}

var daysAgo = lazyregexp.New(`^-?(\d{1,5})d$`)

// ParseMoment reads a point in time: RFC 3339, with a space or T, with or without
// seconds, with or without a colon in the zone; "2026-11-21 10:00" or
// "2026-11-21" in the zone of now; "10:00" today; "15m", "-15m" or "2d", so
// long before now.
func ParseMoment(s string, now time.Time) (time.Time, error) {
	s = strings.TrimSpace(s)
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, nil
	}
	for _, l := range layouts[:4] { // and with a zone
		for _, zone := range []string{"Z07:00", "-0700", " Z07:00", " -0700", " MST"} {
			if t, err := time.Parse(l+zone, s); err == nil && (zone != " MST" || strings.HasSuffix(s, " UTC")) {
				return t, nil
			}
		}
	}
	for _, l := range layouts {
		if t, err := time.ParseInLocation(l, s, now.Location()); err == nil {
			return t, nil
		}
	}
	for _, l := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(l, s); err == nil {
			y, m, d := now.Date()
			return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, now.Location()), nil
		}
	}
	if m := daysAgo.FindStringSubmatch(s); m != nil {
		n, err := strconv.Atoi(m[1])
		if err == nil {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(strings.TrimPrefix(s, "-")); err == nil && d >= 0 && !strings.HasPrefix(s, "+") {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is no time; write 2026-11-21T10:00:00+09:00, \"2026-11-21 10:00\", 10:00 (today), or 15m, 2d (ago)", s)
}
