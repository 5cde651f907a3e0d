package accesslog

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Format says what the lines of a log look like. It does not change and may
// be shared.
type Format struct {
	// Name is "combined", "ltsv", … or the text that the format was made of.
	Name string

	parse   func(f *Format, line []byte, e *Entry, c *clock) (why string)
	prefix  []byte
	ops     []op
	escapes bool
	ended   bool // the time is that of the end
	// denies says of the first lines, which fit, that they are another format's
	// all the same; nil: it never does.
	denies func(lines [][]byte) bool
	// retimed is the format with what the user said of the times; nil: the parse
	// goes by units, field and unit, or by ops.
	retimed func(Times) (*Format, error)
	// guessed: only numbers tell that it is the program's.
	guessed bool
	// header reads a line that says how the lines behind it look; nil: it says
	// nothing. Formats without such lines have none.
	header func(line []byte) *Format

	// Of a format that was recognised: others read the lines that it does not,
	// one by one; wrapped says that lines may stand in an envelope.
	others  []*Format
	wrapped bool
	units   units            // of times whose label names none
	column  column           // of a time without a label
	pairs   []pair           // of two, where they are not in the usual order
	field   string           // the label of the time, if the user named it
	unit    time.Duration    // of times without one, if the user gave it
	aliases map[string]place // of labels that are nearly one of a table's
	order   dateOrder        // of dates such as 05/06/2024
	newest  time.Time        // as of clock
	// swapped: the size stands before the status, in lines that are read value by value.
	swapped bool
	// fieldFound: the field that the user named is in the lines.
	fieldFound bool

	// Notes say what was inferred and how to say otherwise.
	Notes []string
	// Doubt is not nil if the lines can be read in two ways.
	Doubt *UnitDoubt
}

// op is one value and the text that follows it.
type op struct {
	place
	name  string
	width int    // > 0: fixed
	until []byte // literal behind it; none: to the end of the line
	keep  bool   // until belongs to the next value
	// spaces within a value that is not quoted, as in 02/Jan/2006:… +0000.
	spaces int
	// list: values joined by ", " and " : ", as nginx does for upstreams.
	list bool
}

// Known formats by name. They are what ParseFormat takes besides format
// strings.
var known = []struct{ name, text string }{
	{"traefik", apacheCombined + ` %{requests}x "%{router}x" "%{server}x" %{ms}Tms`},
	{"main", combined + ` "$http_x_forwarded_for"`}, // nginx.conf of nginx's own packages
	{"combined", combined},
	{"combined_time", combined + ` $request_time`},
	{"combined_times", combined + ` $request_time $upstream_response_time`},
	{"main_time", combined + ` "$http_x_forwarded_for" $request_time`},
	{"main_times", combined + ` "$http_x_forwarded_for" $request_time $upstream_response_time`},
	{"combined_micros", apacheCombined + ` %D`},                                        // named only: a number alone may be anything
	{"vhost_combined", `%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"`}, // Debian's Apache
	{"common", `%h %l %u %t "%r" %>s %b`},
	{"vhost_common", `%v %h %l %u %t "%r" %>s %b`},
}

const (
	combined       = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`
	apacheCombined = `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`
)

// ParseFormat compiles a format: a known name (combined, common, main, ltsv,
// json, haproxy, traefik, …), nginx's log_format string, Apache's LogFormat string, or the
// whole directive as it stands in the configuration.
func ParseFormat(s string) (*Format, error) {
	s = strings.TrimSpace(s)
	switch strings.ToLower(s) {
	case "ltsv":
		return LTSV(), nil
	case "json":
		return JSON(), nil
	case "haproxy":
		return HAProxy(), nil
	}
	for _, k := range known {
		if strings.EqualFold(s, k.name) {
			return namedFormat(k.name, k.text)
		}
	}
	if f := productNamed(s); f != nil {
		return f, nil
	}
	if m := nginxDirective.FindStringSubmatch(s); m != nil {
		text, escape, err := unquoteNginx(m[1])
		if err != nil {
			return nil, err
		}
		return nginxFormat(text, escape)
	}
	if m := apacheQuoted.FindStringSubmatch(s); m != nil {
		return Apache(m[1])
	}
	if m := apacheDirective.FindStringSubmatch(s); m != nil {
		return Apache(strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(m[1]))
	}
	switch {
	case strings.Contains(s, "$"):
		return Nginx(strings.NewReplacer(`\"`, `"`, `\'`, `'`).Replace(s)) // as a shell or a configuration escapes it
	case strings.Contains(s, "%"):
		return Apache(strings.ReplaceAll(s, `\"`, `"`))
	}
	names := []string{"ltsv", "json", "haproxy"}
	for _, k := range known {
		names = append(names, k.name)
	}
	return nil, fmt.Errorf("log format %q is not known; write one of %s, nginx's log_format text or Apache's LogFormat text", s, strings.Join(names, ", "))
}

var (
	nginxDirective  = regexp.MustCompile(`(?s)^log_format\s+\S+\s+(.*?);?$`)
	apacheQuoted    = regexp.MustCompile(`(?is)^(?:LogFormat|CustomLog\s+\S+)\s+'((?:[^'\\]|\\.)*)'`)
	apacheDirective = regexp.MustCompile(`(?is)^(?:LogFormat|CustomLog\s+\S+)\s+"((?:[^"\\]|\\.)*)"`)
)

func namedFormat(name, text string) (*Format, error) {
	compile := Apache
	if strings.Contains(text, "$") {
		compile = Nginx
	}
	f, err := compile(text)
	if err == nil {
		f.Name = name
	}
	return f, err
}

// NotAfter is the format of a log that has no line later than t, by a day: its dates
// without a year, as syslog writes them, are the last ones before that.
func (f *Format) NotAfter(t time.Time) *Format {
	out := *f
	out.newest = t
	return &out
}

// build adds literals and values in turn.
type build struct {
	f   *Format
	err error
}

func newBuild(name string, ended bool) *build {
	return &build{f: &Format{Name: name, parse: parseTemplate, escapes: true, ended: ended}}
}

func (b *build) literal(s string) {
	if n := len(b.f.ops); n > 0 {
		b.f.ops[n-1].until = append(b.f.ops[n-1].until, s...)
		return
	}
	b.f.prefix = append(b.f.prefix, s...)
}

func (b *build) value(o op) {
	if n := len(b.f.ops); n > 0 && b.err == nil {
		if last := &b.f.ops[n-1]; len(last.until) == 0 && last.width == 0 {
			if o.kind != kindTarget && o.kind != kindPath {
				b.err = fmt.Errorf("log format %q: nothing stands between %s and %s, so they cannot be told apart", b.f.Name, last.name, o.name)
			}
			last.until, last.keep = []byte("/"), true
		}
	}
	b.f.ops = append(b.f.ops, o)
}

// done looks at what surrounds each value.
func (b *build) done() (*Format, error) {
	f := b.f
	if b.err != nil {
		return nil, b.err
	}
	if len(f.ops) == 0 {
		return nil, fmt.Errorf("log format %q has no variables", f.Name)
	}
	f.onlyFinest()
	before := f.prefix
	for i := range f.ops {
		o := &f.ops[i]
		spaced := len(o.until) > 0 && o.until[0] == ' '
		quoted := len(before) > 0 && bytes.IndexByte([]byte(`"'[(`), before[len(before)-1]) >= 0
		// A longer text behind the value (" | ") is not within it.
		if !spaced || quoted || len(o.until) > 1 {
			o.spaces = 0
		}
		o.list = o.list && spaced && !quoted
		before = o.until
	}
	return f, nil
}

// onlyFinest leaves of several times of the request (%T/%D) the one of the
// finest unit, and of several statuses the final request's (%>s).
func (f *Format) onlyFinest() {
	finest, final := time.Duration(0), false
	for i := range f.ops {
		o := &f.ops[i]
		if o.kind == kindRequestTime && o.unit > 0 && (finest == 0 || o.unit < finest) {
			finest = o.unit
		}
		final = final || o.kind == kindStatus && strings.Contains(o.name, ">")
	}
	for i := range f.ops {
		o := &f.ops[i]
		if o.kind == kindRequestTime && o.unit > finest || o.kind == kindStatus && final && !strings.Contains(o.name, ">") {
			o.place = place{kind: kindSkip}
		}
	}
}

// The reasons why a line does not fit.
const (
	whyPrefix = "the line begins differently"
	whyShort  = "the line ends too early"
	whyLong   = "text follows the last value"
	whyTime   = "the time is not one"
	whyValue  = "a number is not one"
)

// parseTemplate matches a line against the literals.
func parseTemplate(f *Format, line []byte, e *Entry, c *clock) string {
	if !bytes.HasPrefix(line, f.prefix) {
		return whyPrefix
	}
	line = line[len(f.prefix):]
	c.long = false
	e.Ended = f.ended
	for i := range f.ops {
		o := &f.ops[i]
		end := o.end(line, f.escapes)
		if end < 0 {
			return whyShort
		}
		v := line[:end]
		if o.keep {
			line = line[end:]
		} else {
			line = line[end+len(o.until):]
		}
		if f.escapes {
			v = decode(v)
		}
		if !e.set(o.place, o.name, v, c) {
			if o.kind == kindTime || o.kind == kindBegin {
				return whyTime
			}
			return whyValue
		}
	}
	if len(line) > 0 {
		return whyLong
	}
	if e.parts.set && e.parts.epoch == 0 && !e.parts.valid() {
		return whyTime
	}
	e.finish(c)
	return ""
}

// read reads a line by the format, or by one of the others that it has. The
// line is copied into spare where several try it, because values are decoded in
// place.
func (f *Format) read(line []byte, spare *[]byte, e *Entry, c *clock) string {
	c.newest, c.order = f.newest, f.order
	if len(f.others) == 0 {
		return f.parse(f, line, e, c)
	}
	inner := line
	if f.wrapped {
		*spare = append((*spare)[:0], line...)
		inner, _ = unwrap(*spare, nil)
	}
	why := f.try(inner, e, c)
	if why != "" && f.wrapped {
		e.reset()
		c.key = c.key[:0]
		why = f.try(line, e, c)
	}
	if why == "" && f.wrapped && e.Time.IsZero() {
		e.Time = c.stampOf(line)
	}
	return why
}

// try reads a line that is taken out of its envelope. The reason is the main
// format's.
func (f *Format) try(line []byte, e *Entry, c *clock) string {
	c.line = append(c.line[:0], line...)
	why := f.parse(f, c.line, e, c)
	if why == "" {
		return ""
	}
	for _, o := range f.others {
		e.reset()
		c.key = c.key[:0]
		c.line = append(c.line[:0], line...)
		if o.parse(o, c.line, e, c) == "" {
			return ""
		}
	}
	return why
}

// end of the value at the begin of line; -1 if what must follow does not.
func (o *op) end(line []byte, escapes bool) int {
	if o.width > 0 {
		if len(line) < o.width || !bytes.HasPrefix(line[o.width:], o.until) {
			return -1
		}
		return o.width
	}
	if len(o.until) == 0 {
		return len(line)
	}
	from, spaces := 0, o.spaces
	for {
		at := index(line[from:], o.until)
		if at < 0 {
			return -1
		}
		at += from
		switch {
		case escapes && o.until[0] == '"' && isEscaped(line, at):
		case spaces > 0 && !(at == 1 && line[0] == '-'):
			spaces--
		case o.list && (at > 0 && (line[at-1] == ',' || line[at-1] == ':') || bytes.HasPrefix(line[at+1:], []byte(": "))):
		default:
			return at
		}
		from = at + 1
	}
}

func index(b, sep []byte) int {
	if len(sep) == 1 {
		return bytes.IndexByte(b, sep[0])
	}
	return bytes.Index(b, sep)
}

// isEscaped: an odd number of backslashes stands before b[at].
func isEscaped(b []byte, at int) bool {
	n := 0
	for at-n > 0 && b[at-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}
