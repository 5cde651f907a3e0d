package record

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/lazyregexp"
)

// isPowerShell: the text is for PowerShell, as browsers copy it.
var isPowerShell = lazyregexp.New("(?i)\\bInvoke-(?:WebRequest|RestMethod)\\b|\\bcurl(?:\\.exe)?\\b[^\\n]*(?:\\s-(?:Uri|Method|Headers)\\b|`\\r?\\n)")

// psWord is an argument: a text, or a table of them (@{…}).
type psWord struct {
	word
	bare  bool // without quotes
	table []pair
}

// psShell reads PowerShell's words (about_Parsing, about_Quoting_Rules).
type psShell struct {
	text string
	at   int
	line int
	vars map[string]string
	keys bool // within @{…}, where = ends a word
}

// powerShell reads the commands of a text.
func (c *client) powerShell(text, dir string) {
	s := &psShell{text: strings.ReplaceAll(text, "\r\n", "\n"), line: 1, vars: map[string]string{}}
	for s.at < len(s.text) {
		if s.assign() {
			continue
		}
		if list := s.command(); len(list) > 0 {
			c.psCommand(list, dir)
		}
	}
}

var psAssignment = lazyregexp.New(`^\s*\$(\w{1,100})\s*=\s*["']`)

// assign reads $name = "text", where the name is none of a secret.
func (s *psShell) assign() bool {
	m := psAssignment.FindStringSubmatch(s.text[s.at:min(len(s.text), s.at+300)])
	if m == nil {
		return false
	}
	s.line += strings.Count(m[0], "\n")
	s.at += len(m[0]) - 1
	if w := s.word(); len(w.unknown) == 0 && len(w.text) <= maxVariable && !isSecretVariable(m[1], w.text) {
		s.vars[strings.ToLower(m[1])] = w.text
	}
	return true
}

// command reads the words up to the end of a line or a semicolon.
func (s *psShell) command() []psWord {
	var list []psWord
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '\n' || c == ';' || c == '|' || c == '}' || c == ')':
			s.skip()
			return list
		case c == ' ' || c == '\t':
			s.at++
		case c == '`' && strings.HasPrefix(s.text[s.at:], "`\n"):
			s.skip()
			s.skip()
		case c == '#':
			for s.at < len(s.text) && s.text[s.at] != '\n' {
				s.at++
			}
		default:
			list = append(list, s.word())
		}
	}
	return list
}

func (s *psShell) skip() {
	if s.text[s.at] == '\n' {
		s.line++
	}
	s.at++
}

// word reads one; it takes at least one byte.
func (s *psShell) word() psWord {
	w := psWord{word: word{line: s.line}, bare: true}
	if strings.HasPrefix(s.text[s.at:], "@{") {
		s.at += 2
		if s.keys { // a table in a table is no value of a header or field
			w.text, w.unknown = fillIn, []string{"@{…}"}
			s.pass('{', '}', 1)
			return w
		}
		s.table(&w)
		return w
	}
	var b strings.Builder
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"' || c == '\'':
			w.bare = false
			s.quoted(&w, &b, c)
		case c == '$':
			s.dollar(&w, &b)
		case c == '`':
			s.skip()
			if s.at < len(s.text) {
				b.WriteByte(s.text[s.at])
				s.skip()
			}
		case c == '(' && b.Len() == 0:
			s.group()
			b.WriteString(fillIn)
			w.unknown = append(w.unknown, "(…)")
		case strings.IndexByte(" \t\n;|})", c) >= 0 || c == '=' && (w.bare || s.keys) && b.Len() > 0:
			w.text = b.String()
			return w
		default:
			b.WriteByte(c)
			s.skip()
			if c == '=' && w.bare {
				w.text = b.String()
				return w
			}
		}
	}
	w.text = b.String()
	return w
}

// quoted reads a text in quotes; a quote within it is written twice.
func (s *psShell) quoted(w *psWord, b *strings.Builder, quote byte) {
	s.at++
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case c == quote && s.at+1 < len(s.text) && s.text[s.at+1] == quote:
			b.WriteByte(quote)
			s.at += 2
		case c == quote:
			s.at++
			return
		case quote == '"' && c == '`' && s.at+1 < len(s.text):
			s.at++
			plain, special := map[byte]string{'n': "\n", 'r': "\r", 't': "\t", '0': "\x00", '\n': ""}[s.text[s.at]]
			if !special {
				plain = s.text[s.at : s.at+1]
			}
			b.WriteString(plain)
			s.skip()
		case quote == '"' && c == '$':
			s.dollar(w, b)
		default:
			b.WriteByte(c)
			s.skip()
		}
	}
}

var (
	psChar     = lazyregexp.New(`^\$\(\[char\](\d{1,7})\)`)
	psVariable = lazyregexp.New(`^\$(?:\{([^}\n]{1,100})\}|((?:env:)?[A-Za-z_]\w{0,100}))`)
)

// dollar reads a variable, or $([char]N) as browsers write what is not ASCII.
func (s *psShell) dollar(w *psWord, b *strings.Builder) {
	rest := s.text[s.at:min(len(s.text), s.at+200)]
	if m := psChar.FindStringSubmatch(rest); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n <= 0x10ffff {
			b.WriteRune(rune(n))
		}
		s.at += len(m[0])
		return
	}
	if strings.HasPrefix(rest, "$(") {
		s.at++
		s.group()
		b.WriteString(fillIn)
		w.unknown = append(w.unknown, "$(…)")
		return
	}
	m := psVariable.FindStringSubmatch(rest)
	if m == nil {
		b.WriteByte('$')
		s.at++
		return
	}
	s.at += len(m[0])
	name := cmp.Or(m[1], m[2])
	if value, ok := s.vars[strings.ToLower(name)]; ok && b.Len() < maxRecordedBody {
		b.WriteString(value)
		return
	}
	b.WriteString(fillIn)
	w.unknown = append(w.unknown, "$"+name)
}

// group passes over (…).
func (s *psShell) group() { s.pass('(', ')', 0) }

// pass over what stands between an opening and a closing byte, depth of which
// are open.
func (s *psShell) pass(opening, closing byte, depth int) {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case opening:
			depth++
		case closing:
			depth--
		}
		if s.skip(); depth == 0 {
			return
		}
	}
}

// table reads @{ name = value; … }.
func (s *psShell) table(w *psWord) {
	w.table = []pair{}
	s.keys = true
	defer func() { s.keys = false }()
	key := ""
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '}':
			s.at++
			return
		case c == '\n' || c == ';':
			key = ""
			s.skip()
		case c == ' ' || c == '\t' || c == '=' || c == ')' || c == '|':
			s.at++
		default:
			one := s.word()
			if key == "" {
				key = one.text
				continue
			}
			w.table = append(w.table, pair{key, one.text})
			w.unknown = append(w.unknown, one.unknown...)
		}
	}
}

// psSwitches are parameters without a value.
var psSwitches = []string{"-usebasicparsing", "-skipcertificatecheck", "-disablekeepalive", "-usedefaultcredentials", "-skiphttperrorcheck", "-passthru", "-resume", "-verbose"}

func (c *client) psCommand(list []psWord, dir string) {
	at := slices.IndexFunc(list, func(w psWord) bool {
		return w.bare && slices.Contains([]string{"invoke-webrequest", "invoke-restmethod", "iwr", "irm", "curl", "wget", "curl.exe"}, strings.ToLower(w.text))
	})
	if at < 0 {
		return
	}
	args := list[at+1:]
	aliased := !strings.HasSuffix(strings.ToLower(list[at].text), ".exe")
	named := slices.ContainsFunc(args, func(w psWord) bool {
		return w.bare && slices.Contains([]string{"-uri", "-method", "-headers", "-body", "-contenttype"}, strings.ToLower(w.text))
	})
	if !aliased || strings.EqualFold(list[at].text, "curl") && !named {
		var words []word
		for _, w := range args {
			w.text = strings.ReplaceAll(w.text, `\"`, `"`) // as a program reads its command line
			words = append(words, w.word)
		}
		c.curl(words, list[at].line, dir)
		return
	}
	c.psRequest(args, list[at].line)
}

// psRequest is one of Invoke-WebRequest or Invoke-RestMethod.
func (c *client) psRequest(args []psWord, line int) {
	q := clientRequest{line: line}
	var body *psWord
	kind := ""
	for i := 0; i < len(args); i++ {
		name := strings.ToLower(args[i].text)
		if !args[i].bare || !strings.HasPrefix(name, "-") {
			if q.url == "" && args[i].table == nil {
				q.url = args[i].text
				c.psUnknown(&args[i])
			}
			continue
		}
		if slices.Contains(psSwitches, name) || i+1 >= len(args) {
			continue
		}
		i++
		v := &args[i]
		switch name {
		case "-uri":
			q.url = v.text
		case "-method", "-custommethod":
			q.method = strings.ToUpper(v.text)
		case "-contenttype":
			kind = v.text
		case "-body":
			body = v
		case "-headers":
			for _, h := range v.table {
				q.headers = append(q.headers, harHeader{Name: h.key, Value: h.value})
			}
		case "-useragent", "-websession", "-sessionvariable", "-outfile", "-timeoutsec", "-maximumredirection", "-proxy", "-erroraction":
		case "-infile", "-form", "-credential", "-token", "-certificate":
			c.leave(v.line, "%s of PowerShell is not read: fill it in", name)
		}
		if name != "-websession" {
			c.psUnknown(v)
		}
	}
	if q.url == "" {
		c.leave(line, "a request of PowerShell without an address")
		return
	}
	q.method = cmp.Or(q.method, "GET")
	q.url = withoutDots(withoutUnknownPort(absolute(q.url)))
	switch {
	case body == nil:
		if kind != "" {
			q.headers = append(q.headers, harHeader{Name: "Content-Type", Value: kind})
		}
	case body.table != nil && q.method == "GET":
		between := "?"
		if strings.Contains(q.url, "?") {
			between = "&"
		}
		q.url += between + encodeForm(body.table)
	case body.table != nil:
		q.post = &harPost{Type: formType, Text: encodeForm(body.table)}
	default:
		q.post = &harPost{Type: cmp.Or(kind, q.contentType(), formType), Text: body.text}
	}
	c.leaveBody(&q, line)
	c.add(q)
}

func (c *client) psUnknown(w *psWord) {
	for _, name := range w.unknown {
		c.leave(w.line, "the value of %s is not known; fill it in where %s stands", shortText(name, 60), fillIn)
	}
}
