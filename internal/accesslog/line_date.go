package accesslog

import "bytes"

// timeAlone reads a time that begins with the value at i, outside of brackets.
func (l *lineReader) timeAlone(i int) bool {
	t := &l.tokens[i]
	v := t.value
	if t.form == 0 && len(v) == len("02/Jan/2006:15:04:05") && v[2] == '/' && i+1 < len(l.tokens) && isOffset(l.tokens[i+1].value) &&
		l.timeIn(i, l.b[t.at:l.tokens[i+1].end]) { // the zone is a word of its own
		return true
	}
	if words := l.dateWords(i); words > 1 && l.timeIn(i+words-1, l.b[t.at:l.tokens[i+words-1].end]) {
		return true
	}
	return (i == 0 || looksLikeTime(v) || t.form == 0 && beginsDate(v) && bytes.IndexByte(v, ':') > 0) && !l.zoneNamed(i+1) && l.timeIn(i, v)
}

// joinDate puts a space for the tab between the date and the time of day that a line begins
// with (Akamai, tables of CDNs).
func joinDate(line []byte) {
	if len(line) > 19 && line[10] == '\t' && line[4] == '-' && line[7] == '-' && line[13] == ':' && line[16] == ':' && isDigits(line[:4]) && isDigits(line[17:19]) {
		line[10] = ' '
	}
}

// timeIn reads v, which ends with the value at i, as the line's time.
func (l *lineReader) timeIn(i int, v []byte) bool {
	at, ok := l.c.read(v)
	if ok {
		l.e.Time, l.time = at, i
	}
	return ok
}

// mostDateWords that a date has: Thu, 19 Aug 2021 10:00:00 +0200, and AM or PM.
const mostDateWords = 7

// dateWords counts the words of a date that begin at i, such as 2024-11-25
// 19:43:58.123 +0100 or Aug 19, 2021 9:05:00 PM; at least two, else 0.
func (l *lineReader) dateWords(i int) int {
	bare := func(i int) bool {
		return i < len(l.tokens) && l.tokens[i].key == nil && l.tokens[i].form == 0
	}
	if !bare(i) || !bare(i+1) || !beginsDate(l.tokens[i].value) {
		return 0
	}
	words := 1
	for words < mostDateWords && bare(i+words) && l.tokens[i+words].end-l.tokens[i].at <= longForm {
		words++
	}
	for ; words > 1; words-- {
		text := l.b[l.tokens[i].at:l.tokens[i+words-1].end]
		if bytes.IndexByte(text, ':') < 0 && (len(text) < shortForm || !isDigits(text[:8])) || text[len(text)-1] == ',' {
			continue
		}
		if _, ok := l.c.formOf(text, false); ok && !l.zoneNamed(i+words) {
			return words
		}
	}
	return 0
}

// zoneNamed: a zone's name stands at i, of which the time before it is.
func (l *lineReader) zoneNamed(i int) bool {
	return i < len(l.tokens) && l.tokens[i].form == 0 && zoneNames[string(l.tokens[i].value)]
}

// isOffset: +0200 and the like.
func isOffset(v []byte) bool { return len(v) >= 5 && len(v) <= 6 && (v[0] == '+' || v[0] == '-') }

// beginsDate: a number and what joins it to the rest of a date, a number of a day or a
// date alone, or a name of a day or a month.
func beginsDate(v []byte) bool {
	if len(v) == 0 {
		return false
	}
	if isDigits(v) {
		return len(v) <= 2 || len(v) == len("20060102")
	}
	if !isDigit(v[0]) {
		d := dateReader{b: v}
		if d.weekday(); d.at == 0 {
			d.monthWord()
		}
		return d.at > 0
	}
	at := 1
	for at < len(v) && isDigit(v[at]) {
		at++
	}
	return (at <= 2 || at == 4) && bytes.IndexByte([]byte(dateJoins), v[at]) >= 0 && (at+1 < len(v) && isLetter(v[at+1]) || len(v) >= len("2/1/2006"))
}

// looksLikeTime: a date and a time of day, or seconds since 1970 with decimals.
func looksLikeTime(v []byte) bool {
	switch {
	case len(v) >= 20 && v[2] == '/' && v[6] == '/':
		return true
	case len(v) >= 19 && (v[4] == '-' || v[4] == '/') && v[13] == ':':
		return true
	case len(v) == len("1700000000.123") && v[10] == '.' && v[0] == '1':
		return true
	}
	return false
}
