package accesslog

import (
	"bytes"
	"time"
)

// shortForm and longForm are the lengths between which dates of other forms are.
const shortForm, longForm = len("May 2 9:50:40"), 44

// form reads a date as programs write it and people configure it, besides the forms of
// clock.parse: an optional day of the week, the date with its month as a word or a
// number, the time of day with fractions of the second behind ., a comma, : or a blank,
// a half of the day, a zone, the year; what joins them is not asked. A zone's name is
// understood if it is UTC's. Of 05/06/2024 nothing tells which is the month: it is read
// if one of them is above 12, or if the log's other dates tell (dayFirst). A date
// without a year is of the year that the clock's newest tells.
func (c *clock) form(b []byte) (time.Time, bool) {
	return c.formOf(b, true)
}

// formOf is form; alone says that nothing but the date is in the text, so that a last
// number is its milliseconds or microseconds.
func (c *clock) formOf(b []byte, alone bool) (time.Time, bool) {
	if len(b) < shortForm || len(b) > longForm {
		return time.Time{}, false
	}
	d := dateReader{b: b, alone: alone, order: c.order}
	d.weekday()
	if !d.date() || !d.timeOfDay() || !d.ending() || d.at < len(b) {
		return time.Time{}, false
	}
	if d.p.year == 0 {
		return d.p.withoutYear(c.newest, c.location())
	}
	if d.p.hour > 12 { // 13:00:00 PM
		d.p.twelve = false
	}
	if !d.p.valid() {
		return time.Time{}, false
	}
	return d.p.in(c.zone), true
}

// dateOrder is what numbers of 05/06/2024 are.
type dateOrder uint8

const (
	orderUnknown dateOrder = iota
	dayFirst
	monthFirst
)

// dateReader walks over a date.
type dateReader struct {
	b     []byte
	at    int
	alone bool
	order dateOrder
	p     clockParts
}

func (d *dateReader) peek(i int) byte {
	if d.at+i < len(d.b) {
		return d.b[d.at+i]
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// number reads up to most digits.
func (d *dateReader) number(most int) (n, digits int) {
	for digits < most && isDigit(d.peek(0)) {
		n = n*10 + int(d.peek(0)-'0')
		d.at++
		digits++
	}
	return n, digits
}

// skip walks over one of the bytes that may join two parts, and blanks around it.
func (d *dateReader) skip(joins string) bool {
	begin := d.at
	for d.peek(0) == ' ' {
		d.at++
	}
	if c := d.peek(0); c != 0 && bytes.IndexByte([]byte(joins), c) >= 0 {
		d.at++
	}
	for d.peek(0) == ' ' {
		d.at++
	}
	return d.at > begin
}

var weekdays = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// weekday walks over Mon, or Monday, and the comma.
func (d *dateReader) weekday() {
	for _, day := range weekdays {
		for _, name := range []string{day, day[:3]} {
			if bytes.HasPrefix(d.b[d.at:], []byte(name)) && !isLetter(d.peek(len(name))) {
				d.at += len(name)
				d.skip(",")
				return
			}
		}
	}
}

// months are the names that begin with those of monthNames.
var months = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}

// monthWord reads Aug, AUG, August.
func (d *dateReader) monthWord() bool {
	end := d.at
	for end < len(d.b) && isLetter(d.b[end]) {
		end++
	}
	word := d.b[d.at:end]
	for m, name := range months {
		if len(word) == 3 && bytes.EqualFold(word, []byte(name[:3])) || len(word) > 3 && bytes.EqualFold(word, []byte(name)) {
			d.p.month, d.at = m+1, end
			return true
		}
	}
	return false
}

const dateJoins = "/-."

// date reads the day, month and year, in any order that tells which is which.
func (d *dateReader) date() bool {
	if d.monthWord() {
		return d.afterMonth()
	}
	first, n := d.number(8)
	if n == 8 { // 20210819
		d.p.year, d.p.month, d.p.day = first/1e4, first/100%100, first%100
		return true
	}
	joins := d.peek(0)
	if n != 1 && n != 2 && n != 4 || !d.skip(dateJoins) {
		return false
	}
	named := d.monthWord()
	second, m := 0, 0
	if !named {
		if joins == ' ' {
			return false
		}
		if second, m = d.number(2); m == 0 {
			return false
		}
	}
	if !d.skip(dateJoins) {
		return false
	}
	if n == 4 {
		d.p.year = first
		if !named {
			d.p.month = second
		}
		return d.day()
	}
	year, y := d.number(4)
	switch {
	case named && y == 2: // 19-Aug-21
		d.p.year, d.p.day = 2000+year, first
		return true
	case y != 4:
		return false
	case named:
		d.p.year, d.p.day = year, first
		return true
	}
	d.p.year = year
	return d.numbers(first, second, joins)
}

// afterMonth reads the day behind a month's name, and the year if it is next: Aug 19, 2021;
// Aug 19 without a year, or with one behind the time.
func (d *dateReader) afterMonth() bool {
	if !d.skip(dateJoins) || !d.day() {
		return false
	}
	before := d.at
	if d.skip(dateJoins + ",") {
		if year, n := d.number(4); n == 4 && !isDigit(d.peek(0)) {
			d.p.year = year
			return true
		}
		d.at = before
	}
	return true
}

// numbers tells the day and the month of 19.08.2021 and 19/08/2021.
func (d *dateReader) numbers(first, second int, joins byte) bool {
	switch {
	case first > 12 && d.order != monthFirst, joins == '.' && d.order != monthFirst, d.order == dayFirst:
		d.p.day, d.p.month = first, second
	case second > 12, d.order == monthFirst:
		d.p.month, d.p.day = first, second
	default:
		return false
	}
	return true
}

func (d *dateReader) day() bool {
	day, n := d.number(2)
	d.p.day = day
	return n > 0
}

// timeOfDay reads 10:00:00, 100000, 9:05:00 PM, and what follows the seconds.
func (d *dateReader) timeOfDay() bool {
	if !d.skip("T:-,@_t") {
		return false
	}
	if d.peek(0) == '@' || d.peek(0) == '-' {
		d.skip("@-")
	}
	hour, n := d.number(6)
	switch {
	case n == 6:
		d.p.hour, d.p.minute, d.p.second = hour/1e4, hour/100%100, hour%100
		return d.fraction()
	case n != 1 && n != 2 || d.peek(0) != ':':
		return false
	}
	d.at++
	minute, m := d.number(2)
	d.p.hour, d.p.minute = hour, minute
	if m != 2 {
		return false
	}
	if d.peek(0) != ':' { // without seconds
		return true
	}
	d.at++
	second, s := d.number(2)
	d.p.second = second
	return s == 2 && d.fraction()
}

// fraction reads .771, ",771", :771, and " 771" where a zone or nothing follows.
func (d *dateReader) fraction() bool {
	begin := d.at
	c := d.peek(0)
	if c != '.' && c != ',' && c != ':' && c != ' ' {
		return true
	}
	d.at++
	from := d.at
	_, n := d.number(9)
	if n == 0 || c == ' ' && (n != 3 && n != 6 || d.at == len(d.b) && !d.alone || d.at < len(d.b) && d.peek(0) != ' ') {
		d.at = begin
		return c == ' '
	}
	return d.p.fractionDigits(d.b[from:d.at])
}

// ending reads what may follow the time of day: AM or PM, the zone, the year, or the
// fraction behind the zone.
func (d *dateReader) ending() bool {
	for d.at < len(d.b) {
		d.skip("")
		end := d.at
		for end < len(d.b) && d.b[end] != ' ' {
			end++
		}
		word := d.b[d.at:end]
		switch {
		case len(word) == 0:
			return false
		case len(word) == 2 && !d.p.twelve && (bytes.EqualFold(word, []byte("AM")) || bytes.EqualFold(word, []byte("PM"))):
			d.p.twelve, d.p.pm = true, word[0]|0x20 == 'p'
		case d.p.year == 0 && len(word) == 4 && isDigits(word):
			d.p.digits(word, &d.p.year)
		case !d.p.zoned && d.p.readZone(word):
		case d.alone && d.p.nanos == 0 && d.p.zoned && (len(word) == 3 || len(word) == 6) && isDigits(word):
			d.p.fractionDigits(word)
		default:
			return false
		}
		d.at = end
	}
	return true
}

// zoneNames stand behind times; but for UTC's they are of more than one zone, or change
// with the season, so that a time before one is none that is known.
var zoneNames = map[string]bool{"CET": true, "CEST": true, "EET": true, "EEST": true, "WET": true, "WEST": true, "MSK": true, "BST": true, "IST": true, "JST": true, "KST": true,
	"SGT": true, "HKT": true, "AEST": true, "AEDT": true, "ACST": true, "ACDT": true, "AWST": true, "NZST": true, "NZDT": true, "EST": true, "EDT": true, "CST": true, "CDT": true,
	"MST": true, "MDT": true, "PST": true, "PDT": true, "AKST": true, "AKDT": true, "HST": true, "BRT": true, "ART": true, "SAST": true, "PKT": true, "ICT": true, "WIB": true}

// ahead is how much a clock may be before the one that tells a log's newest line.
const ahead = 24 * time.Hour

// leapYears between two that have a 29th of February, at most.
const leapYears = 8

// withoutYear is the last time of such a date that is not after newest.
func (p *clockParts) withoutYear(newest time.Time, zone *time.Location) (time.Time, bool) {
	if newest.IsZero() {
		return time.Time{}, false
	}
	for year := newest.Add(ahead).In(zone).Year(); year > newest.Year()-leapYears; year-- {
		one := *p
		if one.year = year; !one.valid() || one.month == 2 && one.day == 29 && time.Date(year, 2, 29, 0, 0, 0, 0, time.UTC).Day() != 29 {
			continue
		}
		if t := one.in(zone); !t.After(newest.Add(ahead)) {
			return t, true
		}
	}
	return time.Time{}, false
}
