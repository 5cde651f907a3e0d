package accesslog

import (
	"bytes"
	"time"
)

// clock reads times. It remembers the last one: most lines have the same
// second as the line before.
type clock struct {
	zone    *time.Location // of times without a zone
	newest  time.Time      // no line is newer, which tells the year of dates without one; zero: it is not known
	order   dateOrder      // of dates such as 05/06/2024
	long    bool           // nothing but its digits says that a number is seconds since 1970
	text    []byte
	time    time.Time
	haveOne bool
	key     []byte            // of the JSON value at hand
	labels  map[string]string // of other fields
	places  map[string]place  // of labels that no table has
	aliases map[string]place  // of labels that are nearly one of a table's
	tokens  []token           // of the line at hand
	line    []byte            // a copy of it, to try several formats
	// units of times by their labels, as the format has them; samples are
	// taken while the format is looked for.
	units   units
	samples map[string]*sample
	unknown map[string]int // lines that have a label that may be a time's, while samples are taken
	only    string         // if not empty: the label that alone is a time
	field   string         // to be sampled whatever it is called
}

// read understands 02/Jan/2006:15:04:05 -0700, RFC 3339 (also with a space,
// and without a zone), 2006/01/02 15:04:05 and seconds, milliseconds, micro-
// or nanoseconds since 1970, told apart by their digits.
func (c *clock) read(b []byte) (time.Time, bool) {
	if c.haveOne && bytes.Equal(b, c.text) {
		return c.time, true
	}
	t, ok := c.parse(b)
	if !ok {
		t, ok = c.form(b)
	}
	if ok {
		c.text, c.time, c.haveOne = append(c.text[:0], b...), t, true
	}
	return t, ok
}

func (c *clock) parse(b []byte) (time.Time, bool) {
	if len(b) > 1 && b[0] == '[' && b[len(b)-1] == ']' {
		b = b[1 : len(b)-1]
	}
	switch {
	case len(b) >= 20 && b[2] == '/' && b[6] == '/':
		return c.common(b)
	case len(b) >= 19 && (b[4] == '-' || b[4] == '/'):
		return c.iso(b)
	case len(b) >= len("May 2, 2024 @ 15:04:05.000") && b[3] == ' ' && bytes.Contains(b, []byte(" @ ")):
		return c.kibana(b)
	}
	t, ok := epoch(b)
	if c.long && (isShortNumber(b) || t.Year() < firstYear || t.Year() > lastYear) {
		return time.Time{}, false
	}
	return t, ok
}

// firstYear and lastYear of logs, where only its digits tell that a number is a time: an
// id has as many.
const firstYear, lastYear = 2000, 2100

// kibana is May 2, 2024 @ 15:04:05.000, as Kibana exports times.
func (c *clock) kibana(b []byte) (time.Time, bool) {
	t, err := time.ParseInLocation("Jan 2, 2006 @ 15:04:05.000", string(b), c.location())
	return t, err == nil
}

// location of times without a zone.
func (c *clock) location() *time.Location {
	if c.zone == nil {
		return time.UTC
	}
	return c.zone
}

// common is 02/Jan/2006:15:04:05 -0700; fractions of the second may follow
// the seconds.
func (c *clock) common(b []byte) (time.Time, bool) {
	var p clockParts
	ok := p.digits(b[0:2], &p.day) && p.monthName(b[3:6]) && p.digits(b[7:11], &p.year) &&
		b[11] == ':' && p.clockTime(b[12:20])
	if !ok {
		return time.Time{}, false
	}
	rest, ok := p.fraction(b[20:])
	if !ok || len(rest) > 0 && rest[0] != ' ' {
		return time.Time{}, false
	}
	return c.zoned(&p, bytes.TrimPrefix(rest, []byte(" ")))
}

// iso is 2006-01-02T15:04:05.999+07:00.
func (c *clock) iso(b []byte) (time.Time, bool) {
	var p clockParts
	ok := p.digits(b[0:4], &p.year) && p.digits(b[5:7], &p.month) && b[7] == b[4] && p.digits(b[8:10], &p.day) &&
		(b[10] == 'T' || b[10] == ' ' || b[10] == 't') && p.clockTime(b[11:19])
	if !ok {
		return time.Time{}, false
	}
	rest, ok := p.fraction(b[19:])
	if !ok {
		return time.Time{}, false
	}
	return c.zoned(&p, bytes.TrimPrefix(rest, []byte(" ")))
}

// zoned ends a time whose zone is the rest of the text.
func (c *clock) zoned(p *clockParts, zone []byte) (time.Time, bool) {
	if !p.valid() {
		return time.Time{}, false
	}
	if len(zone) > 0 && !p.readZone(zone) {
		return time.Time{}, false
	}
	return p.in(c.zone), true
}

// epoch reads 1700000000.123 and integers of up to 19 digits.
func epoch(b []byte) (time.Time, bool) {
	whole, frac, dotted := bytes.Cut(b, []byte("."))
	n, ok := number(whole)
	if !ok {
		return time.Time{}, false
	}
	if dotted {
		var p clockParts
		if !p.fractionDigits(frac) || n > maxEpoch {
			return time.Time{}, false
		}
		return time.Unix(n, int64(p.nanos)).UTC(), true
	}
	switch {
	case len(whole) <= 11:
		return time.Unix(n, 0).UTC(), true
	case len(whole) == len("20060102150405") || len(whole) == len("20060102150405000"):
		return joinedDate(whole)
	case len(whole) <= 14:
		return time.UnixMilli(n).UTC(), true
	case len(whole) <= 17:
		return time.UnixMicro(n).UTC(), true
	}
	return time.Unix(n/1e9, n%1e9).UTC(), true
}

// shortEpoch is how many digits seconds since 1970 have: nine were enough until 2001.
const shortEpoch = 9

// isShortNumber: it is too small for seconds since 1970: a day, a process, a duration.
func isShortNumber(b []byte) bool {
	whole, _, _ := bytes.Cut(b, []byte("."))
	return len(whole) < shortEpoch && isDecimal(b)
}

// joinedDate is 20060102150405, with or without milliseconds: milliseconds and
// microseconds since 1970 have as many digits only from the year 2286 on.
func joinedDate(b []byte) (time.Time, bool) {
	var p clockParts
	ok := p.digits(b[:4], &p.year) && p.digits(b[4:6], &p.month) && p.digits(b[6:8], &p.day) &&
		p.digits(b[8:10], &p.hour) && p.digits(b[10:12], &p.minute) && p.digits(b[12:14], &p.second)
	if ok && len(b) > 14 {
		ok = p.fractionDigits(b[14:])
	}
	return p.time(), ok && p.valid()
}

// maxEpoch is the year 9999: what a log can sensibly hold.
const maxEpoch = 253402300799

// clockParts are a time in pieces, as strftime formats give it.
type clockParts struct {
	set                              bool
	year, month, day                 int
	hour, minute, second, nanos, off int // off in seconds east of UTC
	pm, twelve                       bool
	zoned                            bool  // off is known
	epoch                            int64 // if not 0, instead of the rest
}

var monthDays = [13]int{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

func (p *clockParts) valid() bool {
	return p.month >= 1 && p.month <= 12 && p.day >= 1 && p.day <= monthDays[p.month] &&
		p.hour < 24 && p.minute < 60 && p.second <= 60
}

// in is the instant; where no zone was read, it is a time of zone, of which nil
// is UTC.
func (p *clockParts) in(zone *time.Location) time.Time {
	if p.zoned || p.epoch != 0 || zone == nil || zone == time.UTC {
		return p.time()
	}
	return time.Date(p.year, time.Month(p.month), p.day, p.hour24(), p.minute, p.second, p.nanos, zone).UTC()
}

// hour24 counts the afternoon's hours from 12.
func (p *clockParts) hour24() int {
	if !p.twelve {
		return p.hour
	}
	if p.pm {
		return p.hour%12 + 12
	}
	return p.hour % 12
}

// time computes the instant. The days since 1970 are counted in years that
// begin in March, so that the leap day is the last (Hinnant's
// days_from_civil).
func (p *clockParts) time() time.Time {
	if p.epoch != 0 {
		return time.Unix(p.epoch, int64(p.nanos)).UTC()
	}
	y, m := p.year, p.month
	if m <= 2 {
		y, m = y-1, m+12
	}
	days := 365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + p.day - 1 - 719468
	return time.Unix(int64(days)*86400+int64(p.hour24()*3600+p.minute*60+p.second-p.off), int64(p.nanos)).UTC()
}

func (p *clockParts) digits(b []byte, to *int) bool {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
		n = n*10 + int(c-'0')
	}
	*to = n
	return len(b) > 0 && len(b) <= 9
}

// clockTime reads 15:04:05.
func (p *clockParts) clockTime(b []byte) bool {
	return p.digits(b[0:2], &p.hour) && b[2] == ':' && p.digits(b[3:5], &p.minute) && b[5] == ':' && p.digits(b[6:8], &p.second)
}

const monthNames = "JanFebMarAprMayJunJulAugSepOctNovDec"

func (p *clockParts) monthName(b []byte) bool {
	for m := range 12 {
		if string(b) == monthNames[3*m:3*m+3] {
			p.month = m + 1
			return true
		}
	}
	return false
}

// fraction reads .123 or ,123 if it is there and returns what follows.
func (p *clockParts) fraction(b []byte) (rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '.' && b[0] != ',' {
		return b, true
	}
	end := 1
	for end < len(b) && b[end] >= '0' && b[end] <= '9' {
		end++
	}
	return b[end:], p.fractionDigits(b[1:end])
}

func (p *clockParts) fractionDigits(b []byte) bool {
	n, scale := 0, 1_000_000_000
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
		if scale > 1 {
			n, scale = n*10+int(c-'0'), scale/10
		}
	}
	p.nanos = n * scale
	return len(b) > 0
}

// readZone reads Z, UTC, GMT, +0700, +07:00 and +07.
func (p *clockParts) readZone(b []byte) bool {
	switch string(b) {
	case "Z", "z", "UTC", "GMT":
		p.off, p.zoned = 0, true
		return true
	}
	if len(b) < 3 || b[0] != '+' && b[0] != '-' {
		return false
	}
	var h, m int
	if !p.digits(b[1:3], &h) {
		return false
	}
	minutes := bytes.TrimPrefix(b[3:], []byte(":"))
	if len(minutes) > 0 && (len(minutes) != 2 || !p.digits(minutes, &m)) || h > 26 || m > 59 {
		return false
	}
	if p.off, p.zoned = h*3600+m*60, true; b[0] == '-' {
		p.off = -p.off
	}
	return true
}

// number reads decimal digits that fit int64.
func number(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	n := uint64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return int64(n), n < 1<<63
}
