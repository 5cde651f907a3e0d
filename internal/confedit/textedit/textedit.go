// Package textedit is what the line-based editors share: a text cut into
// lines, an edit as a span of bytes, and text that a reader has decoded
// together with where each of its bytes comes from.
//
// In: the bytes of a file. Out: spans of them. It knows no format.
package textedit

import (
	"slices"
	"sort"
	"strings"
)

// BOM is the byte order mark of UTF-8 that some programs write first.
const BOM = "\xef\xbb\xbf"

// Edit replaces the bytes [From,To) of the file at Path by New. All bytes
// outside stay as they are. Offsets are of the text before the edit.
type Edit struct {
	Path     string
	From, To int
	New      string
}

// Apply returns text after edits, which must not overlap; they may come in any
// order. Of edits at the same place the first comes first.
func Apply(text string, edits ...Edit) string {
	sorted := slices.Clone(edits)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].From < sorted[j].From })
	var b strings.Builder
	at := 0
	for _, e := range sorted {
		b.WriteString(text[at:e.From])
		b.WriteString(e.New)
		at = e.To
	}
	b.WriteString(text[at:])
	return b.String()
}

// Changed returns the new bytes by path of the files that edits have made
// different. texts tells of a file its path, what was read and what it is now.
func Changed[F any](files []F, texts func(F) (path, was, now string)) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range files {
		if path, was, now := texts(f); now != was {
			out[path] = []byte(now)
		}
	}
	return out
}

// Line is one line of a text: text[From:Body] without and text[From:To] with
// its line ending.
type Line struct {
	Num            int // 1-based
	From, Body, To int
}

// Lines cuts text at line feeds. A carriage return before one belongs to the
// line ending. The lines cover the text without gap.
func Lines(text string) []Line {
	var out []Line
	for at := 0; at < len(text); {
		l := Line{Num: len(out) + 1, From: at, To: len(text)}
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			l.To = at + i + 1
		}
		l.Body = l.From + len(strings.TrimSuffix(strings.TrimSuffix(text[l.From:l.To], "\n"), "\r"))
		if l.To == len(text) && !strings.HasSuffix(text, "\n") {
			l.Body = l.To // a carriage return alone ends no line
		}
		out = append(out, l)
		at = l.To
	}
	return out
}

// EOL is the line ending that text uses first, "\n" if it has none.
func EOL(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// InsertLine is the edit that makes line, given without line ending, a line of
// its own at offset at, which is the start of a line or the end of text. A
// text without a last line ending still has none after it.
func InsertLine(path, text string, at int, line string) Edit {
	eol := EOL(text)
	if at == len(text) && text != "" && text != BOM && !strings.HasSuffix(text, "\n") {
		return Edit{Path: path, From: at, To: at, New: eol + line}
	}
	return Edit{Path: path, From: at, To: at, New: line + eol}
}

// Mapped is decoded text and the raw bytes that each of its bytes stands for.
type Mapped struct {
	text     []byte
	from, to []int
}

// Add appends a byte that raw[from:to] stands for.
func (m *Mapped) Add(c byte, from, to int) {
	m.text = append(m.text, c)
	m.from = append(m.from, from)
	m.to = append(m.to, to)
}

// Truncate drops all but the first n bytes.
func (m *Mapped) Truncate(n int) {
	m.text, m.from, m.to = m.text[:n], m.from[:n], m.to[:n]
}

// Len is the number of decoded bytes.
func (m *Mapped) Len() int { return len(m.text) }

// String is the decoded text.
func (m *Mapped) String() string { return string(m.text) }

// Span returns the raw bytes that decoded bytes [from,to) stand for; for an
// empty range the place where text is put in. fallback is the place for a
// decoded text that is empty.
func (m *Mapped) Span(from, to, fallback int) (int, int) {
	switch {
	case len(m.text) == 0:
		return fallback, fallback
	case from < to:
		return m.from[from], m.to[to-1]
	case from > 0:
		return m.to[from-1], m.to[from-1]
	}
	return m.from[0], m.from[0]
}
