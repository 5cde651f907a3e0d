// SPDX-License-Identifier: Apache-2.0

package accelerator

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
)

// shape is a read of one table by one key:
//
//	SELECT columns FROM table WHERE key = ? [AND column = constant | AND column IS [NOT] NULL]… [LIMIT 1]
type shape struct {
	table  string
	before string // up to and with the key of WHERE, with the key as last column
	after  string // what stands after the key's comparison, without LIMIT 1
}

// in is the read of all these keys, whose last column is the key. The keys are made up to
// a power of two by the last one, so that there are few statements.
func (s shape) in(keys []int64) (string, []driver.NamedValue) {
	n := 2
	for n < len(keys) {
		n *= 2
	}
	args := make([]driver.NamedValue, n)
	for i := range args {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: keys[min(i, len(keys)-1)]}
	}
	return s.before + " IN (?" + strings.Repeat(", ?", n-1) + ")" + s.after, args
}

// values are words that stand for a value that is not a column's, or that change what is
// read, where a name could stand.
var values = wordSet(`null true false default unknown current_timestamp current_date current_time current_user current_role
	localtime localtimestamp utc_date utc_time utc_timestamp sysdate rownum sqlcode sqlerrm user
	distinct distinctrow all high_priority straight_join sql_small_result sql_big_result sql_buffer_result sql_cache
	sql_no_cache sql_calc_found_rows from where and or not xor as into limit order group having union is in like between
	select case exists interval binary row partition for lock procedure use force ignore left right inner outer cross
	natural join on using window offset fetch`)

var errOdd = errors.New("it has a comment that is executed, or a string with a backslash or without an end")

// taker reads the tokens of a statement in order.
type taker struct {
	s    string
	all  []token
	i    int
	buf  [longest]byte
	fail error
}

// take takes a statement apart.
func take(statement string) (shape, error) {
	p := &taker{s: statement}
	for l := (lexer{s: statement}); ; {
		t := l.next()
		if t.kind == odd {
			return shape{}, errOdd
		}
		if p.all = append(p.all, t); t.kind == end {
			break
		}
	}
	out := p.shape()
	if p.fail == nil && p.all[p.i].kind != end {
		p.expected("the end")
	}
	return out, p.fail
}

func (p *taker) shape() shape {
	var s shape
	p.word("select")
	items := p.from(func() {
		for p.item(); p.is(","); p.item() {
			p.i++
		}
	})
	p.word("from")
	table := p.from(func() {
		s.table = p.plain(p.name())
		if p.isWord("as") {
			p.i++
		}
		if !p.isWord("where") {
			p.name()
		}
	})
	p.word("where")
	key := p.from(func() { p.column() })
	p.punct("=")
	p.punct("?")
	s.before = "SELECT " + items + ", " + key + " FROM " + table + " WHERE " + key
	s.after = p.from(func() {
		for p.isWord("and") {
			p.i++
			p.condition()
		}
	})
	if s.after != "" {
		s.after = " " + s.after
	}
	if p.isWord("limit") {
		p.i++
		p.word("1")
	}
	return s
}

// from is the text that do goes over.
func (p *taker) from(do func()) string {
	at := p.i
	do()
	if p.i == at {
		return ""
	}
	return p.s[p.all[at].from:p.all[p.i-1].to]
}

func (p *taker) expected(what string) {
	if p.fail == nil {
		t := p.all[p.i]
		p.fail = fmt.Errorf("%s is expected at %.40q; it may be a read of one table by one key, SELECT columns FROM table WHERE key = ?", what, p.s[t.from:])
	}
}

func (p *taker) is(text string) bool {
	t := p.all[p.i]
	return t.kind == punct && p.s[t.from:t.to] == text
}

func (p *taker) isWord(w string) bool {
	t := p.all[p.i]
	return t.kind == word && string(lower(p.s[t.from:t.to], &p.buf)) == w
}

func (p *taker) punct(text string) {
	if !p.is(text) {
		p.expected(text)
		return
	}
	p.i++
}

func (p *taker) word(w string) {
	if !p.isWord(w) {
		p.expected(strings.ToUpper(w))
		return
	}
	p.i++
}

// number says whether a word is a number without a sign or a fraction.
func number(w string) bool { return w != "" && strings.Trim(w, "0123456789") == "" }

// name goes over a name. One in double quotes may be a string.
func (p *taker) name() string {
	t := p.all[p.i]
	w := p.s[t.from:t.to]
	switch {
	case t.kind == quoted && w[0] == '`':
	case t.kind == word && (w[0] < '0' || w[0] > '9') && !values[string(lower(w, &p.buf))]:
	default:
		p.expected("a name")
		return ""
	}
	p.i++
	return w
}

// plain is a name without quotes, of letters that need none.
func (p *taker) plain(name string) string {
	name = strings.Trim(name, "`")
	for i := 0; i < len(name); i++ {
		if !inWord(name[i]) || name[i] >= 0x80 {
			p.expected("a table with a plain name before what stands")
		}
	}
	return name
}

// column goes over a name, or a table's and a column's.
func (p *taker) column() {
	if p.name(); p.is(".") {
		p.i++
		p.name()
	}
}

// item goes over a part of the list of columns.
func (p *taker) item() {
	t := p.all[p.i]
	switch {
	case p.is("*"):
		p.i++
		return
	case t.kind == word && number(p.s[t.from:t.to]):
		p.i++
	default:
		if p.name(); p.is(".") {
			if p.i++; p.is("*") {
				p.i++
				return
			}
			p.name()
		}
	}
	if p.isWord("as") {
		p.i++
		p.name()
	}
}

// condition goes over a comparison with a constant.
func (p *taker) condition() {
	p.column()
	if p.isWord("is") {
		if p.i++; p.isWord("not") {
			p.i++
		}
		p.word("null")
		return
	}
	p.punct("=")
	if t := p.all[p.i]; t.kind == text || t.kind == word && number(p.s[t.from:t.to]) {
		p.i++
		return
	}
	p.expected("a constant")
}
