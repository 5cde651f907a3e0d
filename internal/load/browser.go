package load

import (
	"bytes"
	"hash/maphash"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// cacheMode says how long a user's browser cache lives.
type cacheMode uint8

const (
	cacheNone    cacheMode = iota // every asset is fetched
	cacheSession                  // emptied when a session begins: a new visitor
	cacheUser                     // kept over sessions: a returning visitor
)

var cacheModes = []string{"none", "session", "user"}

// readCache reads cache: none, session or user.
func (c *compiler) readCache(n ast.Node, what string) cacheMode {
	if n == nil {
		return cacheNone
	}
	text, ok := c.text(n, what+": cache")
	if !ok {
		return cacheNone
	}
	for i, name := range cacheModes {
		if text == name {
			return cacheMode(i)
		}
	}
	c.fail(n, "%s: cache is %q; write none, session (emptied when a session begins) or user (kept over sessions)", what, shorten(text, 40))
	return cacheNone
}

const (
	// maxCached answers of one user, and the bytes of their targets and
	// validators. Browsers keep more, but a page has rarely 100 assets, and
	// there may be 20,000 users.
	maxCached      = 256
	maxCachedBytes = 64 << 10
	// maxValidator in bytes: real entity tags have some tens.
	maxValidator = 512
	// maxFresh: longer is as good as for ever, and durations cannot overflow.
	maxFresh = 10 * 365 * 24 * time.Hour
	// heuristicPart of the age of Last-Modified is how long an answer that
	// says nothing about it is fresh (RFC 9111, 4.2.2; so do browsers).
	heuristicPart = 10
)

// targetSeed of the hashes by which targets are found.
var targetSeed = maphash.MakeSeed()

// browserCache is what one virtual user's browser remembers of its answers: a
// private cache by RFC 9111, without the bodies. It is a pure state machine:
// time is the caller's. The zero value is an empty cache.
type browserCache struct {
	hashes  []uint64 // of the entries' targets
	entries []cacheEntry
	bytes   int
	clock   uint64 // counts uses, to find the one longest unused
}

// cacheEntry is one stored answer. Its memory is used again.
type cacheEntry struct {
	target     []byte
	validators []byte // whole header lines
	until      time.Duration
	lifetime   time.Duration // 0: is to be asked for each time
	modified   int64         // Last-Modified in seconds since 1970, if lifetime was guessed from it
	used       uint64
}

// clear empties the cache and keeps its memory.
func (c *browserCache) clear() {
	c.hashes, c.entries, c.bytes = c.hashes[:0], c.entries[:0], 0
}

// lookup tells whether target need not be requested at all. If it must be,
// validators are header lines to send with the request; 304 then means that
// the stored answer holds. They are valid until the next call of store.
func (c *browserCache) lookup(target []byte, now time.Duration) (fresh bool, validators []byte) {
	i := c.find(target)
	if i < 0 {
		return false, nil
	}
	e := &c.entries[i]
	c.clock++
	e.used = c.clock
	if now < e.until {
		return true, nil
	}
	return false, e.validators
}

// storeAged notes an answer to a GET of target, also a 304 to a request with
// validators. The answer may come from a shared cache, whose Age header says how
// old it is already. Absent headers are nil.
func (c *browserCache) storeAged(target []byte, status int, cacheControl, expires, date, age, etag, lastModified, vary []byte, now time.Duration) {
	i := c.find(target)
	if status == 304 {
		if i >= 0 {
			c.refresh(&c.entries[i], cacheControl, expires, date, age, lastModified, now)
		}
		return
	}
	d := readDirectives(cacheControl)
	lifetime, modified := d.lifetime(expires, date, lastModified, heuristic(status))
	if d.noCache || varies(vary) {
		lifetime, modified = 0, 0
	}
	keeps := !d.noStore && status >= 200 && status != 206 && (status < 300 || status >= 400) && (heuristic(status) || d.aged || len(expires) > 0)
	if !keeps || len(target) > maxTarget || lifetime == 0 && !usable(etag) && !usable(lastModified) {
		if i >= 0 {
			c.drop(i)
		}
		return
	}
	if i < 0 {
		i = c.add(target)
	}
	e := &c.entries[i]
	c.bytes -= len(e.validators)
	e.validators = e.validators[:0]
	if usable(etag) {
		e.validators = append(append(append(e.validators, "If-None-Match: "...), etag...), "\r\n"...)
	}
	if usable(lastModified) {
		e.validators = append(append(append(e.validators, "If-Modified-Since: "...), lastModified...), "\r\n"...)
	}
	c.bytes += len(e.validators)
	e.lifetime, e.modified = lifetime, modified
	e.until = now + lifetime - ageOf(age)
	c.shrink(i)
}

// maxTarget that is remembered; longer ones are always requested.
const maxTarget = 2 << 10

// refresh makes a stored answer fresh again (RFC 9111, 4.3.4). What the 304
// does not say stays as it was.
func (c *browserCache) refresh(e *cacheEntry, cacheControl, expires, date, age, lastModified []byte, now time.Duration) {
	d := readDirectives(cacheControl)
	switch {
	case d.noStore || d.noCache:
		e.lifetime, e.modified = 0, 0
	case d.aged || len(expires) > 0:
		e.lifetime, e.modified = d.lifetime(expires, date, nil, false)
	case e.modified != 0:
		if at, ok := httpDate(lastModified); ok {
			e.modified = at
		}
		if at, ok := httpDate(date); ok && at > e.modified {
			e.lifetime = wholeSeconds(at-e.modified) / heuristicPart
		}
	}
	e.until = now + e.lifetime - ageOf(age)
}

// find returns the entry of a target, -1 if there is none.
func (c *browserCache) find(target []byte) int {
	if len(c.entries) == 0 {
		return -1
	}
	hash := maphash.Bytes(targetSeed, target)
	for i, h := range c.hashes {
		if h == hash && bytes.Equal(c.entries[i].target, target) {
			return i
		}
	}
	return -1
}

// add makes an entry, in the memory of an old one if there is some.
func (c *browserCache) add(target []byte) int {
	if n := len(c.entries); n < cap(c.entries) {
		c.entries = c.entries[:n+1]
	} else {
		c.entries = append(c.entries, cacheEntry{})
	}
	i := len(c.entries) - 1
	c.hashes = append(c.hashes, maphash.Bytes(targetSeed, target))
	e := &c.entries[i]
	c.clock++
	e.target, e.validators, e.used = append(e.target[:0], target...), e.validators[:0], c.clock
	c.bytes += len(e.target)
	return i
}

func (c *browserCache) drop(i int) {
	last := len(c.entries) - 1
	c.bytes -= len(c.entries[i].target) + len(c.entries[i].validators)
	c.entries[i], c.entries[last] = c.entries[last], c.entries[i]
	c.hashes[i] = c.hashes[last]
	c.entries, c.hashes = c.entries[:last], c.hashes[:last]
}

// shrink keeps the bounds by dropping what was longest unused, except keep.
func (c *browserCache) shrink(keep int) {
	for len(c.entries) > maxCached || c.bytes > maxCachedBytes {
		oldest := -1
		for i := range c.entries {
			if i != keep && (oldest < 0 || c.entries[i].used < c.entries[oldest].used) {
				oldest = i
			}
		}
		if oldest < 0 {
			return
		}
		c.drop(oldest)
		if keep == len(c.entries) { // it took the dropped one's place
			keep = oldest
		}
	}
}

// heuristic: statuses that may be kept although nothing says how long (RFC
// 9110, 15.1). Redirects are left out: only an answer's headers would tell
// where they lead.
func heuristic(status int) bool {
	switch status {
	case 200, 203, 204, 404, 405, 410, 414, 501:
		return true
	}
	return false
}

// varies: the answer depends on something that changes from request to
// request of one user. Other headers are the same in all of them.
func varies(vary []byte) bool {
	return hasToken(vary, "*") || hasToken(vary, "cookie") || hasToken(vary, "authorization")
}

// usable validators stand in one header line.
func usable(value []byte) bool {
	if len(value) == 0 || len(value) > maxValidator {
		return false
	}
	for _, b := range value {
		if b < ' ' && b != '\t' || b == 0x7f {
			return false
		}
	}
	return true
}

// directives of Cache-Control that matter to a private cache. must-revalidate
// changes nothing here, because stale answers are never used; immutable
// neither, because nobody presses reload; s-maxage is for shared caches.
type directives struct {
	noStore, noCache, aged bool
	age                    time.Duration // max-age, if aged
}

func readDirectives(header []byte) directives {
	var d directives
	for len(header) > 0 {
		var one []byte
		one, header = cutDirective(header)
		name, value := cutByte(one, '=')
		name, value = trim(name), trim(value)
		switch {
		case foldEqual(name, "no-store"):
			d.noStore = true
		case foldEqual(name, "no-cache") && len(value) == 0: // with field names it is about those only
			d.noCache = true
		case foldEqual(name, "max-age"):
			if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
				value = value[1 : len(value)-1]
			}
			age, ok := deltaSeconds(value)
			if !ok {
				age = 0 // RFC 9111, 4.2.1: what cannot be read is stale
			}
			if !d.aged || age < d.age { // the most careful of several
				d.age = age
			}
			d.aged = true
		}
	}
	return d
}

// cutDirective cuts at the first comma outside quotes.
func cutDirective(header []byte) (one, rest []byte) {
	quoted := false
	for i, b := range header {
		switch {
		case b == '"':
			quoted = !quoted
		case b == ',' && !quoted:
			return header[:i], header[i+1:]
		}
	}
	return header, nil
}

// lifetime is how long an answer is fresh from when it was made. modified is
// set if that was guessed from Last-Modified.
func (d *directives) lifetime(expires, date, lastModified []byte, guess bool) (_ time.Duration, modified int64) {
	made, dated := httpDate(date)
	if d.aged {
		return d.age, 0
	}
	if len(expires) > 0 {
		// Without Date there is nothing to subtract from, and a date that
		// cannot be read (often 0 or -1) is in the past (RFC 9111, 5.3).
		if at, ok := httpDate(expires); ok && dated && at > made {
			return wholeSeconds(at - made), 0
		}
		return 0, 0
	}
	if at, ok := httpDate(lastModified); ok && guess && dated && made > at && at > 0 {
		return wholeSeconds(made-at) / heuristicPart, at
	}
	return 0, 0
}

// ageOf an Age header; 0 if there is none.
func ageOf(header []byte) time.Duration {
	age, _ := deltaSeconds(trim(header))
	return age
}

// deltaSeconds: RFC 9111, 1.2.2. Too large is maxFresh.
func deltaSeconds(b []byte) (time.Duration, bool) {
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int64(c-'0'), int64(maxFresh/time.Second))
	}
	return wholeSeconds(n), len(b) > 0
}

// wholeSeconds is n seconds, at most maxFresh.
func wholeSeconds(n int64) time.Duration {
	return time.Duration(min(n, int64(maxFresh/time.Second))) * time.Second
}

// httpDate reads the date form that servers must send (RFC 9110, 5.6.7),
// "Sun, 06 Nov 1994 08:49:37 GMT", without allocating; the two old forms too.
func httpDate(b []byte) (unix int64, ok bool) {
	b = trim(b)
	if len(b) != len(time.RFC1123) || b[3] != ',' || b[7] != ' ' || b[11] != ' ' || b[16] != ' ' || b[19] != ':' || b[22] != ':' || string(b[25:]) != " GMT" {
		return oldDate(b)
	}
	digits := true
	number := func(from, to int) (n int64) {
		for _, c := range b[from:to] {
			if c < '0' || c > '9' {
				digits = false
			}
			n = n*10 + int64(c-'0')
		}
		return n
	}
	day, year := number(5, 7), number(12, 16)
	hour, minute, second := number(17, 19), number(20, 22), number(23, 25)
	month := int64(bytes.Index(monthNames, b[8:11]))
	if !digits || month < 0 || month%3 != 0 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60 {
		return 0, false
	}
	return civilDays(year, month/3+1, day)*86400 + hour*3600 + minute*60 + second, true
}

var monthNames = []byte("JanFebMarAprMayJunJulAugSepOctNovDec")

// civilDays since 1970-01-01 of a day in the Gregorian calendar: years begin
// in March, so that the leap day is the last one; 153 days make five months.
func civilDays(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468
}

func oldDate(b []byte) (int64, bool) {
	if len(b) < len("Sun Nov  6 08:49:37 1994") || len(b) > len("Wednesday, 06-Nov-94 08:49:37 GMT") {
		return 0, false
	}
	for _, layout := range []string{"Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC} {
		if t, err := time.Parse(layout, string(b)); err == nil {
			return t.Unix(), true
		}
	}
	return 0, false
}
