package load

import "bytes"

// sheet goes through CSS and takes every url(…) and @import. A browser fetches
// only what rules in use refer to; without layout nobody can know, so all are
// taken, except that of a font's sources the first usable one counts.
func (s *assetScan) sheet(css []byte) {
	css = css[:min(len(css), maxScanned)]
	var f fontFace
	for i := 0; i < len(css) && !s.full(); {
		switch c := css[i]; {
		case c == '/' && i+1 < len(css) && css[i+1] == '*':
			i = afterComment(css, i+2)
		case c == '"' || c == '\'':
			_, i = cssString(css, i)
		case c == '@':
			i = s.atRule(css, i+1, &f)
		case (c == 'u' || c == 'U') && isURL(css[i:]) && (i == 0 || !isNameByte(css[i-1])):
			var link []byte
			link, i = cssURL(css, i+len("url("))
			s.styleLink(link, &f)
		case c == ';':
			f.taken = false
			i++
		case c == '}':
			s.endFont(&f)
			i++
		default:
			i++
		}
	}
	s.endFont(&f)
}

// fontFace is what is known within @font-face{…}: of the last src the first
// format that browsers read.
type fontFace struct {
	inside bool
	taken  bool // this declaration has its source
	source []byte
}

// styleLink takes the value of a url(…).
func (s *assetScan) styleLink(link []byte, f *fontFace) {
	if !f.inside {
		if link = s.cssText(link); link != nil {
			s.add(link)
		}
		return
	}
	path, _ := splitQuery(link)
	path, _ = cutByte(path, '#')
	if !f.taken && !hasSuffixFold(path, ".eot") && !hasSuffixFold(path, ".svg") {
		f.taken, f.source = true, link
	}
}

func (s *assetScan) endFont(f *fontFace) {
	if f.source != nil {
		if link := s.cssText(f.source); link != nil {
			s.add(link)
		}
	}
	*f = fontFace{}
}

// atRule begins after the @.
func (s *assetScan) atRule(css []byte, i int, f *fontFace) int {
	from := i
	for i < len(css) && isNameByte(css[i]) {
		i++
	}
	switch name := css[from:i]; {
	case foldEqual(name, "font-face"):
		*f = fontFace{inside: true}
	case foldEqual(name, "import"):
		for i < len(css) && isSpace(css[i]) {
			i++
		}
		if i < len(css) && (css[i] == '"' || css[i] == '\'') {
			link, after := cssString(css, i)
			if link = s.cssText(link); link != nil {
				s.add(link)
			}
			return after
		}
	case foldEqual(name, "namespace"): // its url(…) is a name
		if end := bytes.IndexByte(css[i:], ';'); end >= 0 {
			return i + end + 1
		}
		return len(css)
	}
	return i
}

func isURL(b []byte) bool { return len(b) > 4 && foldEqual(b[:4], "url(") }

func isNameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c >= 0x80
}

func hasSuffixFold(b []byte, suffix string) bool {
	return len(b) >= len(suffix) && foldEqual(b[len(b)-len(suffix):], suffix)
}

func afterComment(css []byte, i int) int {
	if end := bytes.Index(css[i:], []byte("*/")); end >= 0 {
		return i + end + 2
	}
	return len(css)
}

// cssString begins at the quote. A line end ends a string that is not closed.
func cssString(css []byte, i int) (text []byte, after int) {
	quote := css[i]
	from := i + 1
	for i = from; i < len(css); i++ {
		switch css[i] {
		case '\\':
			i++
		case quote:
			return css[from:i], i + 1
		case '\n':
			return nil, i + 1
		}
	}
	return nil, len(css)
}

// cssURL begins after the bracket.
func cssURL(css []byte, i int) (link []byte, after int) {
	for i < len(css) && isSpace(css[i]) {
		i++
	}
	if i < len(css) && (css[i] == '"' || css[i] == '\'') {
		link, i = cssString(css, i)
		return link, i
	}
	from := i
	for i < len(css) && css[i] != ')' {
		if css[i] == '\\' {
			i++
		}
		i++
	}
	if i >= len(css) {
		return nil, len(css)
	}
	return css[from:i], i + 1
}

// cssText resolves escapes of single characters; nil for a text with escapes
// by number, which addresses do not have.
func (s *assetScan) cssText(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	out := s.escaped[:0]
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			if i++; i >= len(text) || isHex(text[i]) || text[i] == '\n' {
				return nil
			}
		}
		out = append(out, text[i])
	}
	s.escaped = out
	return out
}
