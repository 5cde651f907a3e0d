package supervisor

import (
	"strconv"
	"strings"

	"kasoku/internal/confedit/textedit"
)

// File is one file of a configuration.
type File struct {
	Path string

	was, text string
	entries   []entry
	broken    string // the first line that Python would refuse: "3: why"
}

// Bytes returns the file's text with all edits so far.
func (f *File) Bytes() []byte { return []byte(f.text) }

// entry is one option with the indented lines that go on with it, or a header.
type entry struct {
	line     int // 1-based
	from, to int // text[from:to] are its lines with the last line ending
	header   bool
	section  string
	key      string // lower case
	keyText  string // as written
	keyEnd   int
	valueAt  int             // where the value starts
	valueTo  int             // where its first line ends
	value    textedit.Mapped // its lines joined by line feeds
	gaps     []gap           // empty lines, which count if another follows
}

// gap is an empty line in a value.
type gap struct{ from, to int }

// goOn adds a line to the value.
func (e *entry) goOn(text string, at int) {
	last := e.valueAt
	if n := e.value.Len(); n > 0 {
		_, last = e.value.Span(0, n, 0)
	}
	for _, g := range e.gaps {
		e.value.Add('\n', last, g.from)
		last = g.from
	}
	e.gaps = nil
	e.value.Add('\n', last, at)
	for i := range len(text) {
		e.value.Add(text[i], at+i, at+i+1)
	}
}

// pySpaces are the ASCII characters that str.strip takes.
const pySpaces = " \t\r\n\v\f\x1c\x1d\x1e\x1f"

func isSpace(c byte) bool { return strings.IndexByte(pySpaces, c) >= 0 }

func newFile(path string, src []byte) *File {
	f := &File{Path: path, was: string(src), text: string(src)}
	f.parse()
	return f
}

// parse fills f from its text (RawConfigParser._read).
func (f *File) parse() {
	f.entries, f.broken = nil, ""
	section, open, indent := "", -1, 0 // open: the option that a line may go on with
	inSection := false
	for _, l := range textedit.Lines(f.text) {
		text := f.text[l.From:l.Body]
		cut, comment := withoutComment(text)
		from := len(cut) - len(strings.TrimLeft(cut, pySpaces))
		value := strings.Trim(cut, pySpaces)
		if value == "" {
			if !comment && open >= 0 {
				f.entries[open].gaps = append(f.entries[open].gaps, gap{l.From, l.To})
			}
			continue
		}
		if open >= 0 && from > indent {
			e := &f.entries[open]
			e.to = l.To
			e.goOn(value, l.From+from)
			continue
		}
		indent, open = from, -1
		e := entry{line: l.Num, from: l.From, to: l.To, section: section}
		if name, ok := header(value); ok {
			section, inSection = name, true
			e.header, e.section = true, name
			f.entries = append(f.entries, e)
			continue
		}
		eq := strings.IndexAny(value, "=:")
		if !inSection || eq <= 0 || strings.Trim(value[:eq], pySpaces) == "" {
			f.refuse(l.Num, inSection)
			continue
		}
		e.keyText = strings.TrimRight(value[:eq], pySpaces)
		e.key = strings.ToLower(e.keyText)
		rest := value[eq+1:]
		first := strings.Trim(rest, pySpaces)
		e.keyEnd = l.From + from + len(e.keyText)
		e.valueAt = l.From + from + eq + 1
		if first != "" {
			e.valueAt += len(rest) - len(strings.TrimLeft(rest, pySpaces))
		}
		e.valueTo = e.valueAt + len(first)
		for i := range len(first) {
			e.value.Add(first[i], e.valueAt+i, e.valueAt+i+1)
		}
		f.entries = append(f.entries, e)
		open = len(f.entries) - 1
	}
}

func (f *File) refuse(num int, inSection bool) {
	if f.broken != "" {
		return
	}
	f.broken = strconv.Itoa(num) + ": this is no option; write name=value"
	if !inSection {
		f.broken = strconv.Itoa(num) + ": an option stands before any [section]"
	}
}

// withoutComment cuts a line at a comment: a ; or # at its start, behind white
// space at its start, or behind white space anywhere.
func withoutComment(text string) (string, bool) {
	if t := strings.TrimLeft(text, pySpaces); t != "" && (t[0] == ';' || t[0] == '#') {
		return "", true
	}
	for i := 1; i < len(text); i++ {
		if (text[i] == ';' || text[i] == '#') && isSpace(text[i-1]) {
			return text[:i], true
		}
	}
	return text, false
}

// header returns the name in [name]; what follows the last ] is passed over.
func header(value string) (string, bool) {
	end := strings.LastIndexByte(value, ']')
	if value[0] != '[' || end < 2 {
		return "", false
	}
	return value[1:end], true
}
