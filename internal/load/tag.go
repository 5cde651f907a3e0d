package load

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// tagValues are a tag's attributes that say what is fetched, as written in
// the page; nil if absent.
type tagValues struct {
	href, src, srcset, rel, typ, media, poster, preload, style []byte
	disabled, nomodule                                         bool
}

// read goes through the attributes from i, which is after the tag's name, and
// returns the place after the >; -1 if the page ends before (HTML Standard,
// 13.2.5.32 and following).
func (t *tagValues) read(page []byte, i int) int {
	for {
		for i < len(page) && (isSpace(page[i]) || page[i] == '/') {
			i++
		}
		if i >= len(page) {
			return -1
		}
		if page[i] == '>' {
			return i + 1
		}
		from := i
		i++ // a name may begin with =
		for i < len(page) && !isSpace(page[i]) && page[i] != '/' && page[i] != '>' && page[i] != '=' {
			i++
		}
		name := page[from:i]
		for i < len(page) && isSpace(page[i]) {
			i++
		}
		value := page[i:i]
		if i < len(page) && page[i] == '=' {
			if value, i = attributeValue(page, i+1); i < 0 {
				return -1
			}
		}
		t.set(name, value)
	}
}

// attributeValue begins after the =.
func attributeValue(page []byte, i int) (value []byte, after int) {
	for i < len(page) && isSpace(page[i]) {
		i++
	}
	if i >= len(page) {
		return nil, -1
	}
	if quote := page[i]; quote == '"' || quote == '\'' {
		end := bytes.IndexByte(page[i+1:], quote)
		if end < 0 {
			return nil, -1
		}
		return page[i+1 : i+1+end], i + end + 2
	}
	from := i
	for i < len(page) && !isSpace(page[i]) && page[i] != '>' {
		i++
	}
	return page[from:i], i
}

// set keeps an attribute; of several with one name the first counts.
func (t *tagValues) set(name, value []byte) {
	var to *[]byte
	switch len(name) {
	case 3:
		to = choose(name, "src", &t.src, "rel", &t.rel)
	case 4:
		to = choose(name, "href", &t.href, "type", &t.typ)
	case 5:
		to = choose(name, "style", &t.style, "media", &t.media)
	case 6:
		to = choose(name, "srcset", &t.srcset, "poster", &t.poster)
	case 7:
		to = choose(name, "preload", &t.preload, "", nil)
	case 8:
		t.disabled = t.disabled || foldEqual(name, "disabled")
		t.nomodule = t.nomodule || foldEqual(name, "nomodule")
	}
	if to != nil && *to == nil {
		*to = value
	}
}

func choose(name []byte, a string, toA *[]byte, b string, toB *[]byte) *[]byte {
	switch {
	case foldEqual(name, a):
		return toA
	case foldEqual(name, b):
		return toB
	}
	return nil
}

// tagName begins at i.
func tagName(page []byte, i int) (name []byte, after int) {
	from := i
	for i < len(page) && !isSpace(page[i]) && page[i] != '/' && page[i] != '>' {
		i++
	}
	return page[from:i], i
}

// afterTag is the place after a closing tag's >.
func afterTag(page []byte, i int) int {
	if end := bytes.IndexByte(page[i:], '>'); end >= 0 {
		return i + end + 1
	}
	return len(page)
}

// afterPlainTag is the place after a tag whose attributes need not be looked
// at one by one; -1 if they must: a > may stand in a value, or a url(…).
func afterPlainTag(page []byte, i int) int {
	end := bytes.IndexByte(page[i:], '>')
	if end < 0 {
		return -1
	}
	tag := page[i : i+end]
	if bytes.IndexByte(tag, '=') >= 0 && (bytes.Count(tag, doubleQuote)%2 > 0 || bytes.IndexByte(tag, '\'') >= 0 || bytes.IndexByte(tag, '(') >= 0) {
		return -1
	}
	return i + end + 1
}

var doubleQuote = []byte{'"'}

var (
	commentBegin = []byte("!--")
	commentEnd   = []byte("-->")
)

// afterDeclaration is the place after a comment or <!DOCTYPE …>; i is at the !.
func afterDeclaration(page []byte, i int) int {
	if !bytes.HasPrefix(page[i:], commentBegin) {
		return afterTag(page, i)
	}
	// <!--> and <!---> are complete comments.
	if end := bytes.Index(page[i+1:], commentEnd); end >= 0 {
		return i + 1 + end + len(commentEnd)
	}
	return len(page)
}

var closingBegin = []byte("</")

// closingTag is the place of </name, -1 if there is none.
func closingTag(page []byte, i int, name []byte) int {
	for {
		at := bytes.Index(page[i:], closingBegin)
		if at < 0 {
			return -1
		}
		i += at
		rest := page[i+2:]
		if len(rest) > len(name) && foldEqual(rest[:len(name)], name) {
			if c := rest[len(name)]; isSpace(c) || c == '/' || c == '>' {
				return i
			}
		}
		i += 2
	}
}

// entities that occur in addresses.
var entities = []struct {
	name []byte
	char byte
}{{[]byte("amp;"), '&'}, {[]byte("quot;"), '"'}, {[]byte("apos;"), '\''}, {[]byte("lt;"), '<'}, {[]byte("gt;"), '>'}}

// unescape resolves entities in an attribute's value. The result holds until
// the next call.
func (s *assetScan) unescape(value []byte) []byte {
	i := bytes.IndexByte(value, '&')
	if i < 0 {
		return value
	}
	out := append(s.decoded[:0], value[:i]...)
	for i < len(value) {
		if value[i] == '&' {
			if char, length := entity(value[i+1:]); length > 0 {
				out = utf8.AppendRune(out, char)
				i += 1 + length
				continue
			}
		}
		out = append(out, value[i])
		i++
	}
	s.decoded = out
	return out
}

// entity reads what follows the &; length 0 if it is none.
func entity(b []byte) (char rune, length int) {
	for _, e := range entities {
		if bytes.HasPrefix(b, e.name) {
			return rune(e.char), len(e.name)
		}
	}
	if len(b) == 0 || b[0] != '#' {
		return 0, 0
	}
	end := bytes.IndexByte(b[:min(len(b), 12)], ';')
	if end < 2 {
		return 0, 0
	}
	digits, base := b[1:end], 10
	if digits[0]|0x20 == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(string(digits), base, 21)
	if err != nil || n == 0 {
		return 0, 0
	}
	return rune(n), end + 1
}
