package accesslog

import "bytes"

// token is one value of a line that is split at spaces: a word, or what stands
// in quotes or square brackets, with the name before it if it has one
// (request_time=0.012, rt: 0.012, status:200).
type token struct {
	key   []byte
	value []byte // without quotes or brackets, still escaped
	form  byte   // 0: a word; '"', '\'' or '['
	at    int    // where the token begins, and ends
	end   int
}

// maxTokens of a line are looked at; formats have some dozens.
const maxTokens = 200

// maxKey bytes of a name; nginx's longest variables have about 40.
const maxKey = 64

// splitter cuts a line into tokens.
type splitter struct {
	b    []byte
	at   int
	out  []token
	open bool   // a quote or bracket is not closed: the line is cut
	key  []byte // of the token to come, from "rt: 0.012"
}

// split appends the line's tokens to out. whole is false if a quote is open.
func split(b []byte, out []token) (tokens []token, whole bool) {
	s := splitter{b: b, out: out[:0]}
	for len(s.out) < maxTokens && s.next() {
	}
	return s.out, !s.open
}

func (s *splitter) next() bool {
	for s.at < len(s.b) && isSeparator(s.b[s.at]) {
		s.at++
	}
	if s.at == len(s.b) {
		return false
	}
	begin := s.at
	switch c := s.b[s.at]; {
	case c == '"' || c == '\'' && s.quoteCloses('\''):
		s.add(begin, nil, s.quoted(c), c)
	case c == '[':
		if v, ok := s.bracket(); ok {
			s.add(begin, nil, v, c)
			return true
		}
		s.word()
	default:
		s.word()
	}
	return true
}

func isSeparator(c byte) bool {
	return c == ' ' || c == '\t' || c == '|' || c == ';' || c == ','
}

func (s *splitter) add(begin int, key, value []byte, form byte) {
	if key == nil {
		key = s.key
	}
	s.key = nil
	s.out = append(s.out, token{key: key, value: value, form: form, at: begin, end: s.at})
}

// quoteCloses: a single quote is one only if another one ends the value.
func (s *splitter) quoteCloses(q byte) bool {
	return bytes.IndexByte(s.b[s.at+1:], q) >= 0
}

// quoted reads up to the quote that ends the value: not an escaped one, and one
// that a separator follows, because what is not escaped (escape=none) may hold quotes.
func (s *splitter) quoted(q byte) []byte {
	begin, first := s.at+1, -1
	for i := begin; i < len(s.b); i++ {
		if s.b[i] == '\\' {
			i++
			continue
		}
		if s.b[i] != q {
			continue
		}
		if i+1 == len(s.b) || isSeparator(s.b[i+1]) || s.b[i+1] == ']' || s.b[i+1] == ')' || s.b[i+1] == '}' {
			s.at = i + 1
			return s.b[begin:i]
		}
		if first < 0 {
			first = i
		}
	}
	if first >= 0 {
		s.at = first + 1
		return s.b[begin:first]
	}
	s.open, s.at = true, len(s.b)
	return s.b[begin:]
}

// bracket reads [value]; what follows a bracket at once is a word, as [::1]:80.
func (s *splitter) bracket() ([]byte, bool) {
	end := bytes.IndexByte(s.b[s.at:], ']')
	if end < 0 {
		s.open = true
		return nil, false
	}
	end += s.at
	if end+1 < len(s.b) && !isSeparator(s.b[end+1]) && s.b[end+1] != '[' && s.b[end+1] != '"' && s.b[end+1] != ':' {
		return nil, false
	}
	if end+2 < len(s.b) && s.b[end+1] == ':' && s.b[end+2] != ' ' {
		return nil, false
	}
	v := s.b[s.at+1 : end]
	s.at = end + 1
	if s.at < len(s.b) && s.b[s.at] == ':' {
		s.at++
	}
	return v, true
}

// word reads up to a space, a name with its value, or a list of values.
func (s *splitter) word() {
	begin := s.at
	for s.at < len(s.b) && s.b[s.at] != ' ' && s.b[s.at] != '\t' && s.b[s.at] != '|' {
		c := s.b[s.at]
		if (c == '=' || c == ':') && s.at > begin && s.at+1 < len(s.b) && isKey(s.b[begin:s.at]) {
			if q := s.b[s.at+1]; q == '"' {
				key := s.b[begin:s.at]
				s.at++
				s.add(begin, key, s.quoted(q), q)
				return
			}
		}
		s.at++
	}
	s.list(begin)
	text := bytes.TrimRight(s.b[begin:s.at], ",;")
	if at := bytes.IndexByte(text, '='); at > 0 && isKey(text[:at]) {
		s.add(begin, text[:at], text[at+1:], 0)
		return
	}
	at := bytes.IndexByte(text, ':')
	switch {
	case at > 0 && at == len(text)-1 && isKey(text[:at]) && s.at < len(s.b):
		s.key = text[:at]
	case at > 0 && isKey(text[:at]) && timeName(text[:at]).kind != kindOther:
		s.add(begin, text[:at], text[at+1:], 0)
	default:
		s.add(begin, nil, text, 0)
	}
}

// list goes on over "0.100, 0.050 : 0.001", as nginx writes the values of
// several upstreams, but not over a value that has a name or is quoted.
func (s *splitter) list(begin int) {
	for s.at < len(s.b) {
		rest := s.b[s.at:]
		comma := s.at > begin && s.b[s.at-1] == ','
		colon := len(rest) > 3 && string(rest[:3]) == " : "
		if !comma && !colon {
			return
		}
		from := 1
		if colon {
			from = 3
		}
		end := from
		for end < len(rest) && rest[end] != ' ' && rest[end] != '\t' {
			end++
		}
		one := rest[from:end]
		if len(one) == 0 || one[0] == '"' || one[0] == '[' || bytes.IndexByte(one, '=') >= 0 || one[len(one)-1] == ':' || !alike(s.b[begin:s.at], one) {
			return
		}
		s.at += end
	}
}

// alike: both are whole numbers, or both are something else; a dash goes with each. A
// status behind an address is none of a list's.
func alike(list, one []byte) bool {
	list = bytes.TrimRight(list, ", ")
	if at := bytes.LastIndexAny(list, ", "); at >= 0 {
		list = list[at+1:]
	}
	one = bytes.TrimRight(one, ",")
	return string(list) == "-" || string(one) == "-" || isDigits(list) == isDigits(one)
}

// isKey: a name as variables and keys of logs have them.
func isKey(b []byte) bool {
	if len(b) == 0 || len(b) > maxKey || b[0] >= '0' && b[0] <= '9' {
		return false
	}
	for _, c := range b {
		if c != '_' && c != '.' && c != '-' && c != '@' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
