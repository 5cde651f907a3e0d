package prove

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"kasoku/internal/ui"
)

// Pattern is what several answers to one request have in common, line by line.
type Pattern struct {
	Lines []Line `json:"lines"`
	// Loose: the answers had different numbers of lines, or are no texts and
	// differ, so that they cannot be laid over each other; nothing is said of such
	// a body.
	Loose bool `json:"loose,omitempty"`
	// Sum is the SHA-256 of a body that is no text (an image), instead of Lines.
	Sum string `json:"sum,omitempty"`
}

// Line is one line of a Pattern: its text, or, if the answers differed there,
// its words with what differed left out.
type Line struct {
	Text string `json:"text,omitempty"`
	// Words of a line that varies; "" where they differed, which no word is.
	Words []string `json:"words,omitempty"`
	// Any: the line had different numbers of words, and may be anything.
	Any bool `json:"any,omitempty"`
}

// NewPattern of the first answer's body.
func NewPattern(body []byte) *Pattern {
	p := &Pattern{}
	if !utf8.Valid(body) {
		p.Sum = sumOf(body)
		return p
	}
	for line := range bytes.SplitSeq(body, []byte("\n")) {
		p.Lines = append(p.Lines, Line{Text: string(line)})
	}
	return p
}

// Merge takes another answer to the same request into the pattern: what differs
// is left out from now on.
func (p *Pattern) Merge(body []byte) {
	if p.Sum != "" && p.Sum == sumOf(body) {
		return
	}
	lines := bytes.Split(body, []byte("\n"))
	if p.Loose || p.Sum != "" || !utf8.Valid(body) || len(lines) != len(p.Lines) {
		*p = Pattern{Loose: true}
		return
	}
	for i := range p.Lines {
		p.Lines[i].merge(string(lines[i]))
	}
}

func (l *Line) merge(text string) {
	switch {
	case l.Any || l.Words == nil && l.Text == text:
		return
	case l.Words == nil:
		l.Words, l.Text = words(l.Text), ""
	}
	other := words(text)
	if len(other) != len(l.Words) {
		*l = Line{Any: true}
		return
	}
	for i, w := range other {
		if l.Words[i] != w {
			l.Words[i] = ""
		}
	}
}

// Differs says where a body is not as the pattern; "" if it is.
func (p *Pattern) Differs(body []byte) string {
	switch {
	case p.Loose || p.Sum != "" && p.Sum == sumOf(body):
		return ""
	case p.Sum != "":
		return fmt.Sprintf("%d other bytes", len(body))
	}
	lines := bytes.Split(body, []byte("\n"))
	for i := range min(len(lines), len(p.Lines)) {
		if why := p.Lines[i].differs(string(lines[i])); why != "" {
			return fmt.Sprintf("line %d: %s", i+1, why)
		}
	}
	if len(lines) != len(p.Lines) {
		return fmt.Sprintf("%d lines instead of %d", len(lines), len(p.Lines))
	}
	return ""
}

func (l *Line) differs(text string) string {
	switch {
	case l.Any || l.Words == nil && l.Text == text:
		return ""
	case l.Words == nil:
		return around(l.Text, text)
	}
	other := words(text)
	if len(other) != len(l.Words) {
		return fmt.Sprintf("%q instead of %q", short(text), short(l.show()))
	}
	for i, w := range other {
		if l.Words[i] != "" && l.Words[i] != w {
			return fmt.Sprintf("%q instead of %q", short(strings.Join(other[max(0, i-3):], "")), short((&Line{Words: l.Words[max(0, i-3):]}).show()))
		}
	}
	return ""
}

// show is a varying line for people.
func (l *Line) show() string {
	if l.Words == nil {
		return l.Text
	}
	out := slices.Clone(l.Words)
	for i, w := range out {
		if w == "" {
			out[i] = "…"
		}
	}
	return strings.Join(out, "")
}

// Known is the share of the pattern that is compared, in bytes of its own text,
// from 0 to 1: what varies counts with the length of an average word.
func (p *Pattern) Known() float64 {
	switch {
	case p.Loose:
		return 0
	case p.Sum != "":
		return 1
	}
	const varying, anyLine = 8, 40 // a number or token; a line of markup
	known, all := 0, 0
	for _, l := range p.Lines {
		switch {
		case l.Any:
			all += anyLine
		case l.Words == nil:
			known, all = known+len(l.Text), all+len(l.Text)
		default:
			for _, w := range l.Words {
				if w == "" {
					all += varying
				}
				known, all = known+len(w), all+len(w)
			}
		}
	}
	if all == 0 {
		return 1 // an empty answer is an answer
	}
	return float64(known) / float64(all)
}

// maskAgain hides what of a pattern tells a time that is present at any of
// moments, some of which are later than the pattern.
func (p *Pattern) maskAgain(moments ...time.Time) {
	const varies = "\x00" // stands for a word that varies
	for i := range p.Lines {
		l := &p.Lines[i]
		if l.Words == nil {
			l.Text = string(maskTimes([]byte(l.Text), moments...))
			continue
		}
		text := slices.Clone(l.Words)
		for j, w := range text {
			if w == "" {
				text[j] = varies
			}
		}
		l.Words = words(string(maskTimes([]byte(strings.Join(text, "")), moments...)))
		for j, w := range l.Words {
			if w == varies {
				l.Words[j] = ""
			}
		}
	}
}

func sumOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// words cuts a line where letters and digits end or begin: a token, a number or
// a name is one word, every other sign is one of its own. Joined they are the
// line.
func words(line string) []string {
	var out []string
	for len(line) > 0 {
		n := 0
		for n < len(line) {
			r, size := utf8.DecodeRuneInString(line[n:])
			if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				break
			}
			n += size
		}
		if n == 0 {
			_, n = utf8.DecodeRuneInString(line)
		}
		out = append(out, line[:n])
		line = line[n:]
	}
	return out
}

// around shows two texts where they begin to differ.
func around(want, got string) string {
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	from := max(0, at-20)
	return fmt.Sprintf("%q instead of %q", short(got[min(from, len(got)):]), short(want[min(from, len(want)):]))
}

// short bounds what a message quotes of an answer.
func short(s string) string { return ui.Truncate(strings.ToValidUTF8(s, "\uFFFD"), 80) }
