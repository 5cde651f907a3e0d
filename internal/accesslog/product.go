package accesslog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// product is a format whose text no user writes: that of one program, with
// the units its manual gives. Its text is of nginx's kind, $name between
// literals; names are those of productPlaces, nginxPlaces, or of no place.
// $rest at the end stands for nothing, or for a space and more.
type product struct {
	name, text string
	// start says that the time is that of the request's begin.
	start bool
	// plain says that a backslash is one, as in CloudFront's logs.
	plain bool
	// loose says that colours for terminals are left out, and that several
	// spaces are as good as one.
	loose bool
	// connections says that lines may be of connections, which have no request.
	connections bool
	// note says what is assumed of the times, and how to say otherwise.
	note string
	// least is what the slowest request of the first lines takes at least, else
	// the unit is another one; 0: the format tells it.
	least time.Duration
	// most is what half of the requests of the first lines take at most, else the
	// unit is another one; 0: the format tells it.
	most time.Duration
	// guessed says that numbers alone tell the program, so that what the user
	// says of the times goes before.
	guessed bool
	// late says that the known formats that fit as well go before it.
	late bool

	inner *Format
	open  bool // the text ends with $rest
}

// compile the text.
func (p *product) compile() error {
	text, open := strings.CutSuffix(p.text, "$rest")
	inner, err := compileProduct(p.name, strings.TrimRight(text, " \t"))
	if err != nil {
		return err
	}
	inner.escapes, inner.ended = !p.plain, !p.start
	p.inner, p.open = inner, open
	return nil
}

// joinProducts makes one format of the texts of one program: of each line the
// first that fits counts.
func joinProducts(name string, texts []product) *Format {
	f := &Format{Name: name, retimed: func(t Times) (*Format, error) { return retimedProducts(name, texts, t) }}
	if least := texts[0].least; least > 0 {
		f.denies = func(lines [][]byte) bool { return f.slowest(lines) < least }
	}
	if most := texts[0].most; most > 0 {
		f.denies = func(lines [][]byte) bool { return f.median(lines) > most }
	}
	f.guessed = texts[0].guessed || texts[0].least > 0
	if texts[0].note != "" {
		f.Notes = []string{texts[0].note}
	}
	f.parse = func(_ *Format, line []byte, e *Entry, c *clock) string {
		why := whyPrefix
		for i := range texts {
			now := texts[i].parse(line, e, c)
			if now == "" {
				return ""
			}
			if i == 0 || now != whyShort && now != whyPrefix {
				why = now
			}
			e.reset()
		}
		return why
	}
	return f
}

// slowest request of lines; -1: none has a time.
func (f *Format) slowest(lines [][]byte) time.Duration {
	most := time.Duration(-1)
	var e Entry
	var c clock
	for _, line := range lines {
		e.reset()
		if f.parse(f, bytes.Clone(line), &e, &c) == "" {
			most = max(most, e.Request)
		}
	}
	return most
}

// median request of lines; -1: none has a time.
func (f *Format) median(lines [][]byte) time.Duration {
	var all []time.Duration
	var e Entry
	var c clock
	for _, line := range lines {
		e.reset()
		if f.parse(f, bytes.Clone(line), &e, &c) == "" && e.Request >= 0 {
			all = append(all, e.Request)
		}
	}
	if len(all) == 0 {
		return -1
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// parse reads a line. Its bytes stay as they are, so that another text can be
// tried.
func (p *product) parse(line []byte, e *Entry, c *clock) string {
	e.line = append(e.line[:0], line...)
	line = e.line
	if p.loose {
		line = loosen(line)
	}
	if p.open {
		var ok bool
		if line, ok = cutRest(p.inner, line); !ok {
			return whyShort
		}
	}
	if why := parseTemplate(p.inner, line, e, c); why != "" {
		return why
	}
	if p.late && e.Request >= 0 && e.Upstream > e.Request+roundedBy { // other numbers
		return whyValue
	}
	allowed := refusals
	if p.connections {
		allowed |= connections
	}
	return e.checkRequest(allowed)
}

// cutRest leaves of a line what the format's values take.
func cutRest(f *Format, line []byte) ([]byte, bool) {
	if !bytes.HasPrefix(line, f.prefix) {
		return nil, false
	}
	at := len(f.prefix)
	for i := range f.ops {
		o := f.ops[i]
		last := i == len(f.ops)-1
		if last && len(o.until) == 0 && o.width == 0 {
			if end := bytes.IndexAny(line[at:], " \t"); end >= 0 {
				return line[:at+end], true
			}
			return line, true
		}
		n := o.end(line[at:], f.escapes)
		if n < 0 {
			return nil, false
		}
		at += n
		if !o.keep {
			at += len(o.until)
		}
	}
	if at < len(line) && line[at] != ' ' && line[at] != '\t' {
		return nil, false
	}
	return line[:at], true
}

// compileProduct takes a text of $names as nginx writes it, and those of productPlaces.
func compileProduct(name, text string) (*Format, error) {
	b := newBuild(name, true)
	err := b.variables(text, func(variable string) op {
		if o, ok := productPlaces[variable]; ok {
			return o
		}
		return op{place: nginxPlaces[variable]}
	})
	if err != nil {
		return nil, fmt.Errorf("format %s: %w", name, err)
	}
	return b.done()
}

// whyNoMethod refuses lines whose literals fit by chance.
const (
	whyNoMethod   = "the request's method is not one"
	whyOddRequest = "the request is not one"
)

// without says which lines have no request: those of connections, and those of
// what a server refused because it was none.
type without uint8

const (
	connections without = 1 << iota
	refusals
)

// checkRequest looks whether there is a request, and leaves out the dashes
// that stand for one. allowed says which lines need not have one.
func (e *Entry) checkRequest(allowed without) string {
	if string(e.Method) == "-" {
		e.Method, e.Target, e.Protocol = nil, nil, nil
	}
	if bytes.Equal(bytes.Trim(e.Target, "- "), nil) {
		e.Target = nil
	}
	switch {
	case e.Method != nil && !isWordOfLetters(e.Method):
		return whyNoMethod
	case e.Method != nil && e.Target != nil:
		return ""
	case allowed&connections != 0 && e.Target == nil && (e.Request >= 0 || e.Bytes >= 0 || e.Status > 0):
		return ""
	case allowed&refusals != 0 && (e.Target == nil && e.Status >= 400 || e.Status == 400):
		return ""
	}
	return whyOddRequest
}

// isWordOfLetters: a method, in JSON also of small letters.
func isWordOfLetters(b []byte) bool {
	for _, c := range b {
		if l := c | 0x20; (l < 'a' || l > 'z') && c != '-' && c != '_' {
			return false
		}
	}
	return len(b) > 0 && len(b) <= 20
}

// loosen leaves out escape sequences of terminals (ECMA-48: ESC, [, digits and
// semicolons, a letter) and all but one of several spaces, in place.
func loosen(b []byte) []byte {
	to := 0
	for i := 0; i < len(b); i++ {
		if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '[' {
			end := i + 2
			for end < len(b) && (b[end] >= '0' && b[end] <= '9' || b[end] == ';') {
				end++
			}
			i = end
			continue
		}
		if b[i] == ' ' && to > 0 && b[to-1] == ' ' {
			continue
		}
		b[to] = b[i]
		to++
	}
	return bytes.TrimRight(b[:to], " ")
}
