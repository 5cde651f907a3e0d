package source

import (
	"strings"

	"kasoku/internal/sqllog"
)

// wild stands in a pattern for any words.
const wild = "*hole"

// words splits a fingerprint; names are in lower case and lose their quotes. A hole is
// wild.
func words(fingerprint string) []string {
	var out []string
	for i := 0; i < len(fingerprint); {
		c := fingerprint[i]
		switch {
		case c == ' ' || c == '`' || c == '"' || c == '\n' || c == '\t' || c == '\r':
			i++
		case isWord(c) || c == '$':
			j := i + 1
			for j < len(fingerprint) && (isWord(fingerprint[j]) || fingerprint[j] == '$') {
				j++
			}
			out = appendWord(out, fingerprint[i:j])
			i = j
		default:
			out = append(out, string(c))
			i++
		}
	}
	return out
}

// appendWord appends a name, or a name with holes in it: as one hole, as what is around
// it is not a word by itself.
func appendWord(out []string, s string) []string {
	switch {
	case !strings.Contains(s, hole):
		return append(out, strings.ToLower(s))
	case len(out) > 0 && out[len(out)-1] == wild:
		return out
	default:
		return append(out, wild)
	}
}

// pattern is a text that begins like a statement.
type pattern struct {
	words []string
	names []string // what is neither a word of SQL nor wild
	file  int
	text  Text
}

// patternOf a text; its words are those of its fingerprint.
func patternOf(t Text, file int) pattern {
	p := pattern{file: file, text: t, words: oneLimit(words(sqllog.Fingerprint(t.s)))}
	for _, w := range p.words {
		if isName(w) {
			p.names = append(p.names, w)
		}
	}
	return p
}

// oneLimit makes LIMIT with an offset one without, as a fingerprint has it.
func oneLimit(ws []string) []string {
	for i := 0; i+1 < len(ws); i++ {
		if ws[i] != "limit" || ws[i+1] != wild && ws[i+1] != "?" {
			continue
		}
		rest := ws[i+2:]
		if len(rest) > 1 && (rest[0] == "," || rest[0] == "offset") {
			rest = rest[2:]
		}
		return append(append(ws[:i+1:i+1], "?"), rest...)
	}
	return ws
}

func isName(w string) bool { return w != wild && isLetter(w[0]) && !sqlWords[w] }

// sqlWords tell nothing of what a statement is about.
var sqlWords = set(`select insert update delete replace with from where into values set and or not null is in on join left right inner outer cross
	group by order having limit offset asc desc as distinct count sum max min avg between like exists union all case when then else end
	for share lock mode ignore duplicate key call show create table drop index alter truncate now true false interval using natural
	if ifnull coalesce concat date cast convert`)

func set(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

// run is what a hole stands for: words from to end of a class.
type run struct{ from, end int }

// fit reports whether a class is one that the pattern makes, and what its holes stand for,
// each as little as can be. open: more may follow.
func fit(p, class []string, open bool) (holes []run, ok bool) {
	if open {
		p = append(p[:len(p):len(p)], wild)
	}
	var star, from int // the last hole of p, and what it stands for up to now
	star = -1
	i, j := 0, 0
	for j < len(class) {
		switch {
		case i < len(p) && p[i] == wild:
			star, from = i, j
			holes = append(holes, run{j, j})
			i++
		case i < len(p) && p[i] == class[j]:
			i, j = i+1, j+1
		case star >= 0:
			from++
			holes[len(holes)-1].end = from
			i, j = star+1, from
		default:
			return nil, false
		}
	}
	for ; i < len(p) && p[i] == wild; i++ {
		holes = append(holes, run{j, j})
	}
	return holes, i == len(p)
}

// values reports whether words are nothing but values: ?, (?), a list of them.
func values(ws []string) bool {
	for _, w := range ws {
		if w != "?" && w != "(" && w != ")" && w != "," && w != "+" && w != "null" && w != "-" {
			return false
		}
	}
	return true
}
