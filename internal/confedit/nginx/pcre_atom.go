package nginx

import (
	"errors"
	"fmt"
	"strings"
)

// atom reads what a quantifier may stand behind; nil for flags alone.
func (r *pcreReader) atom(depth int) (piece, error) {
	c := r.s[r.i]
	r.i++
	switch c {
	case '(':
		return r.group(depth)
	case '[':
		set, err := r.class()
		return one(set), err
	case '\\':
		return r.escape()
	case '.':
		all := r.dotAll
		return one(func(c byte) bool { return all || c != '\n' }), nil
	case '^':
		multi := r.multi
		return assert(func(s string, i int) bool { return i == 0 || multi && s[i-1] == '\n' }), nil
	case '$':
		multi := r.multi
		return assert(func(s string, i int) bool {
			return i == len(s) || s[i] == '\n' && (multi || i == len(s)-1)
		}), nil
	case '*', '+', '?':
		return nil, errors.New("nothing to repeat")
	}
	return r.literal(c), nil
}

func (r *pcreReader) literal(c byte) piece {
	if !r.fold {
		return one(func(x byte) bool { return x == c })
	}
	c = lower(c)
	return one(func(x byte) bool { return lower(x) == c })
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// group reads behind an opening bracket.
func (r *pcreReader) group(depth int) (piece, error) {
	wrap := func(p piece) piece { return p }
	switch {
	case r.take("?:"):
	case r.take("?="):
		wrap = func(p piece) piece { return look(p, false, true) }
	case r.take("?!"):
		wrap = func(p piece) piece { return look(p, false, false) }
	case r.take("?<="):
		wrap = func(p piece) piece { return look(p, true, true) }
	case r.take("?<!"):
		wrap = func(p piece) piece { return look(p, true, false) }
	case r.take("?>"):
		wrap = atomic
	case r.take("?#"):
		end := strings.IndexByte(r.s[r.i:], ')')
		if end < 0 {
			return nil, errors.New("a comment is never closed")
		}
		r.i += end + 1
		return nil, nil
	case r.take("?P<"), r.take("?<"):
		return r.capture(depth, '>')
	case r.take("?'"):
		return r.capture(depth, '\'')
	case r.take("?"):
		fold, dotAll, multi := r.fold, r.dotAll, r.multi
		if closed, err := r.flags(); closed || err != nil {
			return nil, err
		}
		p, err := r.alternatives(depth + 1)
		r.fold, r.dotAll, r.multi = fold, dotAll, multi
		return p, r.closed(err)
	default:
		return r.capture(depth, 0)
	}
	p, err := r.alternatives(depth + 1)
	return wrap(p), r.closed(err)
}

func (r *pcreReader) closed(err error) error {
	if err == nil && !r.take(")") {
		return errors.New("a bracket is never closed")
	}
	return err
}

func (r *pcreReader) capture(depth int, quote byte) (piece, error) {
	r.caps++
	n := r.caps
	if quote != 0 {
		end := strings.IndexByte(r.s[r.i:], quote)
		if end < 0 {
			return nil, errors.New("a group's name is never closed")
		}
		r.names[r.s[r.i:r.i+end]] = n
		r.i += end + 1
	}
	p, err := r.alternatives(depth + 1)
	return func(m *match, i int, next func(int) bool) bool {
		was := m.caps[n]
		if p(m, i, func(j int) bool {
			inner := m.caps[n]
			m.caps[n] = [2]int{i, j}
			if next(j) {
				return true
			}
			m.caps[n] = inner
			return false
		}) {
			return true
		}
		m.caps[n] = was
		return false
	}, r.closed(err)
}

// class reads behind an opening square bracket.
func (r *pcreReader) class() (func(byte) bool, error) {
	var set [256]bool
	negated := r.take("^")
	for first := true; ; first = false {
		if !r.more() {
			return nil, errors.New("a character class is never closed")
		}
		if r.s[r.i] == ']' && !first {
			r.i++
			break
		}
		lo, shorthand, err := r.member()
		if err != nil {
			return nil, err
		}
		if shorthand != nil {
			for c := range set {
				set[c] = set[c] || shorthand(byte(c))
			}
			continue
		}
		hi := lo
		if strings.HasPrefix(r.s[r.i:], "-") && !strings.HasPrefix(r.s[r.i:], "-]") && r.i+1 < len(r.s) {
			r.i++
			var err error
			if hi, shorthand, err = r.member(); err != nil {
				return nil, err
			}
			if shorthand != nil || hi < lo {
				return nil, errors.New("a range in a character class is wrong")
			}
		}
		for c := int(lo); c <= int(hi); c++ {
			set[c] = true
		}
	}
	if r.fold {
		for c := 'a'; c <= 'z'; c++ {
			both := set[c] || set[c-32]
			set[c], set[c-32] = both, both
		}
	}
	return func(c byte) bool { return set[c] != negated }, nil
}

// member reads one character, \d and the like, or [:alpha:] in a class.
func (r *pcreReader) member() (byte, func(byte) bool, error) {
	if r.take("[:") {
		end := strings.Index(r.s[r.i:], ":]")
		if end < 0 {
			return 0, nil, errors.New("a [:name:] is never closed")
		}
		name := r.s[r.i : r.i+end]
		r.i += end + 2
		not := strings.HasPrefix(name, "^")
		set := posix[strings.TrimPrefix(name, "^")]
		if set == nil {
			return 0, nil, fmt.Errorf("[:%s:] is not known", name)
		}
		return 0, func(c byte) bool { return set(c) != not }, nil
	}
	c := r.s[r.i]
	r.i++
	if c != '\\' {
		return c, nil, nil
	}
	if !r.more() {
		return 0, nil, errors.New("a backslash at the end")
	}
	e := r.s[r.i]
	r.i++
	if set := shorthand(e); set != nil {
		return 0, set, nil
	}
	if e == 'b' {
		return '\b', nil, nil
	}
	c, err := r.character(e)
	return c, nil, err
}

// escape reads behind a backslash outside a class.
func (r *pcreReader) escape() (piece, error) {
	if !r.more() {
		return nil, errors.New("a backslash at the end")
	}
	e := r.s[r.i]
	r.i++
	if set := shorthand(e); set != nil {
		return one(set), nil
	}
	switch e {
	case 'b', 'B':
		return assert(func(s string, i int) bool {
			before, after := i > 0 && wordByte(s[i-1]), i < len(s) && wordByte(s[i])
			return (before != after) == (e == 'b')
		}), nil
	case 'A':
		return assert(func(_ string, i int) bool { return i == 0 }), nil
	case 'z':
		return assert(func(s string, i int) bool { return i == len(s) }), nil
	case 'Z':
		return assert(func(s string, i int) bool { return i == len(s) || s[i] == '\n' && i == len(s)-1 }), nil
	case 'k':
		if !r.take("<") {
			return nil, errors.New(`\k without a name`)
		}
		name, _, _ := strings.Cut(r.s[r.i:], ">")
		n, ok := r.names[name]
		if !ok {
			return nil, fmt.Errorf("no group is named %q", name)
		}
		r.i += len(name) + 1
		return r.backReference(n), nil
	}
	if e >= '1' && e <= '9' {
		return r.backReference(int(e - '0')), nil
	}
	c, err := r.character(e)
	return r.literal(c), err
}

func (r *pcreReader) backReference(n int) piece {
	fold := r.fold
	return func(m *match, i int, next func(int) bool) bool {
		if n >= len(m.caps) || m.caps[n][0] < 0 {
			return false
		}
		want := m.s[m.caps[n][0]:m.caps[n][1]]
		if len(m.s)-i < len(want) {
			return false
		}
		got := m.s[i : i+len(want)]
		return (got == want || fold && strings.EqualFold(got, want)) && next(i+len(want))
	}
}

// character reads an escape that stands for one character.
func (r *pcreReader) character(e byte) (byte, error) {
	switch e {
	case 'n':
		return '\n', nil
	case 't':
		return '\t', nil
	case 'r':
		return '\r', nil
	case 'f':
		return '\f', nil
	case 'e':
		return 0x1b, nil
	case 'a':
		return 7, nil
	case 'x':
		c := 0
		for n := 0; n < 2 && r.more() && unhex(r.s[r.i]) >= 0; n++ {
			c = c<<4 | unhex(r.s[r.i])
			r.i++
		}
		return byte(c), nil
	}
	if wordByte(e) && e != '_' {
		return 0, fmt.Errorf(`\%c is not known`, e)
	}
	return e, nil
}

// flags reads (?i), (?i-s:…; closed says that the group ended with them.
func (r *pcreReader) flags() (closed bool, err error) {
	on := true
	for r.more() {
		c := r.s[r.i]
		r.i++
		switch c {
		case 'i':
			r.fold = on
		case 's':
			r.dotAll = on
		case 'm':
			r.multi = on
		case '-':
			on = false
		case ')':
			return true, nil
		case ':':
			return false, nil
		default:
			return false, fmt.Errorf("(?%c is not known", c)
		}
	}
	return false, errors.New("a bracket is never closed")
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || lower(c) >= 'a' && lower(c) <= 'z'
}

var posix = map[string]func(byte) bool{
	"digit":  func(c byte) bool { return c >= '0' && c <= '9' },
	"alpha":  func(c byte) bool { return lower(c) >= 'a' && lower(c) <= 'z' },
	"alnum":  func(c byte) bool { return c != '_' && wordByte(c) },
	"word":   wordByte,
	"lower":  func(c byte) bool { return c >= 'a' && c <= 'z' },
	"upper":  func(c byte) bool { return c >= 'A' && c <= 'Z' },
	"space":  func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' },
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"punct":  func(c byte) bool { return c > ' ' && c < 0x7f && (c == '_' || !wordByte(c)) },
	"xdigit": func(c byte) bool { return unhex(c) >= 0 },
	"print":  func(c byte) bool { return c >= ' ' && c < 0x7f },
	"graph":  func(c byte) bool { return c > ' ' && c < 0x7f },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"ascii":  func(c byte) bool { return c < 0x80 },
}

// shorthand returns the set of \d, \w and the like, nil for other escapes.
func shorthand(e byte) func(byte) bool {
	set := map[byte]string{'d': "digit", 'w': "word", 's': "space", 'h': "blank"}[lower(e)]
	if set == "" {
		return nil
	}
	is, want := posix[set], e == lower(e)
	return func(c byte) bool { return is(c) == want }
}
