// SPDX-License-Identifier: Apache-2.0

package accelerator

// effect is what a statement may do to what is kept. Later ones include earlier ones.
type effect uint8

const (
	reads   effect = iota
	writes         // rows may be other ones afterwards: memory ends
	unknown        // the session may be another one afterwards: memory ends for good
)

// firsts are words that statements begin with. All others are unknown: SET, USE, CREATE,
// CALL, LOCK, BEGIN as a text …
var firsts = map[string]effect{
	"select": reads, "with": reads, "table": reads, "values": reads,
	"show": reads, "explain": reads, "describe": reads, "desc": reads,
	"insert": writes, "update": writes, "delete": writes, "replace": writes,
	"savepoint": writes, "release": writes,
}

// What is known of a word within a statement.
const (
	more  = 1 << iota // it makes a read more than a plain one: it locks, stores or writes
	asks              // the answer depends on the statement before
	plain             // it may stand before a parenthesis in plain reads: pure
)

// known are the words that scan knows.
var known = func() map[string]uint8 {
	out := map[string]uint8{}
	for w := range wordSet(`insert update delete into for lock call procedure nextval setval sql_calc_found_rows`) {
		out[w] |= more
	}
	for w := range wordSet(`found_rows row_count warning_count error_count warnings errors diagnostics`) {
		out[w] |= asks
	}
	for w := range pure {
		out[w] |= plain
	}
	return out
}()

// pure are words that stand before a parenthesis in plain reads: parts of the grammar, and
// functions that change nothing. Others may be stored functions, which may write.
var pure = wordSet(`
	select from where and or not xor in on using as join left right inner outer cross straight_join union all
	intersect except any some exists between like regexp rlike is by having limit offset order group distinct over
	partition rows values row table with recursive when then else case interval div mod key index use force ignore
	count sum min max avg std stddev variance bit_and bit_or bit_xor group_concat json_arrayagg json_objectagg
	row_number rank dense_rank percent_rank ntile lag lead first_value last_value nth_value
	coalesce ifnull nullif if greatest least isnull abs ceil ceiling floor round truncate sign sqrt pow power exp ln
	log log2 log10 rand pi char ascii ord concat concat_ws length char_length character_length octet_length lower
	upper lcase ucase trim ltrim rtrim substring substr substring_index mid locate instr position lpad
	rpad repeat reverse space format hex unhex md5 sha sha1 sha2 crc32 inet_aton inet_ntoa inet6_aton inet6_ntoa
	field find_in_set elt now curdate curtime current_date current_time current_timestamp sysdate utc_date utc_time
	utc_timestamp localtime localtimestamp date time timestamp datetime year month day dayofmonth dayofweek dayofyear
	hour minute second microsecond quarter week weekday yearweek date_add date_sub adddate subdate datediff timediff
	timestampdiff timestampadd date_format time_format str_to_date from_unixtime unix_timestamp to_days from_days
	to_seconds last_day makedate maketime extract cast convert binary decimal signed unsigned varchar json_extract
	json_unquote json_value json_contains json_length json_object json_array json_keys json_type json_valid match
	against uuid database schema user version connection_id last_insert_id found_rows row_count`)

func wordSet(list string) map[string]bool {
	out := map[string]bool{}
	for l := (lexer{s: list}); ; {
		t := l.next()
		if t.kind == end {
			return out
		}
		out[list[t.from:t.to]] = true
	}
}

// first is what a statement's first words say of it.
func first(query string) effect {
	l := lexer{s: query}
	var buf [longest]byte
	for {
		t := l.next()
		switch {
		case t.kind == punct && query[t.from] == '(':
			continue
		case t.kind != word:
			return unknown
		}
		w := lower(query[t.from:t.to], &buf)
		if e, ok := firsts[string(w)]; ok {
			return e
		}
		if string(w) == "rollback" { // TO a savepoint; the whole transaction is the driver's
			if t := l.next(); t.kind == word && string(lower(query[t.from:t.to], &buf)) == "to" {
				return writes
			}
		}
		return unknown
	}
}

// seen is what a whole statement may do if it begins as a read, and whether it asks for
// something of the statement before.
type seen struct {
	effect effect
	asks   bool
}

// Bounds of the statements that a connection knows already.
const (
	mostScanned = 256
	longScanned = 1024 // bytes
)

// scanned is scan, once per statement where statements are the same again and again.
func (c *conn) scanned(query string) seen {
	if s, ok := c.scans[query]; ok {
		return s
	}
	s := scan(query)
	if len(query) <= longScanned && len(c.scans) < mostScanned {
		if c.scans == nil {
			c.scans = map[string]seen{}
		}
		c.scans[query] = s
	}
	return s
}

// scan looks through a whole statement.
func scan(query string) (s seen) {
	l := lexer{s: query}
	var buf [longest]byte
	called := false // the token before may be a function's name that is not known
	for {
		t := l.next()
		switch t.kind {
		case end:
			return s
		case odd:
			if query[t.from] == '/' {
				return seen{unknown, true}
			}
			return seen{max(s.effect, writes), true}
		case punct:
			switch {
			case query[t.from] == '(' && called:
				s.effect = max(s.effect, writes)
			case query[t.from] == ';' && l.next().kind != end:
				return seen{unknown, true}
			}
			called = false
		case word:
			w := known[string(lower(query[t.from:t.to], &buf))]
			if w&more != 0 {
				s.effect = max(s.effect, writes)
			}
			s.asks = s.asks || w&asks != 0
			called = w&plain == 0
		case quoted:
			called = true
		default:
			called = false
		}
	}
}

// longest is how long a word may be that is looked up.
const longest = 24

// lower is a word in small letters; a long one is none that is looked up.
func lower(w string, buf *[longest]byte) []byte {
	if len(w) > longest {
		return nil
	}
	for i := 0; i < len(w); i++ {
		c := w[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	return buf[:len(w)]
}

// kind is the kind of a token.
type kind uint8

const (
	end    kind = iota
	word        // also numbers and names without quotes
	quoted      // a name or a string with " or `
	text        // a string with '
	punct       // one byte of anything else
	odd         // what is read differently by settings of the server, or has no end
)

// token is a part of a statement.
type token struct {
	kind     kind
	from, to int
}

// lexer takes a statement apart, without comments. A comment that the server executes and a
// backslash in a string are odd.
type lexer struct {
	s string
	i int
}

func (l *lexer) next() token {
	if !l.skip() {
		from := l.i
		l.i = len(l.s)
		return token{odd, from, l.i}
	}
	if l.i >= len(l.s) {
		return token{end, l.i, l.i}
	}
	from := l.i
	switch c := l.s[l.i]; {
	case inWord(c):
		for l.i < len(l.s) && inWord(l.s[l.i]) {
			l.i++
		}
		return token{word, from, l.i}
	case c == '\'':
		return l.string(c, text)
	case c == '"' || c == '`':
		return l.string(c, quoted)
	}
	l.i++
	return token{punct, from, l.i}
}

func inWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// string reads to the quote that ends; two in a row are one inside.
func (l *lexer) string(quote byte, k kind) token {
	from := l.i
	for l.i++; l.i < len(l.s); l.i++ {
		switch c := l.s[l.i]; {
		case c == '\\' && quote != '`':
			l.i = len(l.s)
			return token{odd, from, l.i}
		case c != quote:
		case l.i+1 < len(l.s) && l.s[l.i+1] == quote:
			l.i++
		default:
			l.i++
			return token{k, from, l.i}
		}
	}
	return token{odd, from, l.i}
}

// skip goes on to what is neither space nor comment. It says false at a comment that is
// executed or has no end.
func (l *lexer) skip() bool {
	for l.i < len(l.s) {
		rest := l.s[l.i:]
		switch {
		case rest[0] == ' ' || rest[0] >= '\t' && rest[0] <= '\r':
			l.i++
		case rest[0] == '#' || len(rest) > 2 && rest[:2] == "--" && rest[2] <= ' ':
			for l.i < len(l.s) && l.s[l.i] != '\n' {
				l.i++
			}
		case len(rest) > 2 && rest[:2] == "/*":
			if rest[2] == '!' || rest[2] == 'M' && len(rest) > 3 && rest[3] == '!' || !l.comment() {
				return false
			}
		default:
			return true
		}
	}
	return true
}

func (l *lexer) comment() bool {
	for l.i += 2; l.i+1 < len(l.s); l.i++ {
		if l.s[l.i] == '*' && l.s[l.i+1] == '/' {
			l.i += 2
			return true
		}
	}
	return false
}
