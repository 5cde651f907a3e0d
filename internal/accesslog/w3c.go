package accesslog

import (
	"bytes"
	"strings"
	"time"
)

// W3C extended log files (www.w3.org/TR/WD-logfile) say in lines that begin
// with # what their columns are, and may say so anew:
//
//	#Software: Microsoft Internet Information Services 10.0
//	#Fields: date time cs-method cs-uri-stem cs-uri-query sc-status time-taken
//
// IIS and CloudFront write them.

// fieldsBegin begins a line that names the columns.
const fieldsBegin = "#Fields:"

// w3cWriters tell whose a log is by its columns; the draft's time-taken is
// seconds, IIS's milliseconds ("W3C Extended Log File Format (IIS 6.0)"),
// CloudFront's seconds ("Standard logging (access logs)").
var w3cWriters = []struct {
	column string
	w3cWriter
}{
	{"x-edge-location", cloudFront}, {"x-edge-result-type", cloudFront},
	{"sc-win32-status", iis}, {"sc-substatus", iis}, {"s-sitename", iis}, {"s-computername", iis},
}

var (
	iis        = w3cWriter{name: "iis", unit: time.Millisecond}
	cloudFront = w3cWriter{name: "cloudfront", unit: time.Second, tabs: true}
)

// w3cPlaces of the draft's names and those of IIS and CloudFront.
var w3cPlaces = map[string]place{
	"date": {kind: kindDate}, "time": {kind: kindClock}, "c-ip": {kind: kindClient}, "cs-username": {kind: kindUser},
	"cs-method": {kind: kindMethod}, "cs-uri-stem": {kind: kindPath}, "cs-uri-query": {kind: kindQuery}, "cs-uri": {kind: kindTarget},
	"cs-version": {kind: kindProtocol}, "cs-protocol-version": {kind: kindProtocol}, "cs-host": {kind: kindHost}, "cs(host)": {kind: kindHost}, "x-host-header": {kind: kindHost},
	"sc-status": {kind: kindCode}, "sc-bytes": {kind: kindSize}, "bytes": {kind: kindSize}, "cs(user-agent)": {kind: kindAgent}, "cs(referer)": {kind: kindReferer},
	"x-forwarded-for": {kind: kindForwarded}, "cs(x-forwarded-for)": {kind: kindForwarded},
	"x-edge-result-type": {kind: kindCache},
}

// w3c is a log whose columns are known.
type w3c struct {
	places []place
	names  []string
	sep    byte
	// short are the columns of lines that lack one or two sizes: some modules of
	// IIS leave sc-bytes or cs-bytes out of a line, and not only their values.
	short []*w3c
}

// w3cWriter is who wrote a log, with the unit of its time-taken.
type w3cWriter struct {
	name string
	unit time.Duration
	tabs bool
}

// draftWriter is one that neither its columns nor its name tell.
var draftWriter = w3cWriter{name: "w3c", unit: time.Second}

// softwareBegin begins a line that names the program; iisSoftware is IIS's.
const (
	softwareBegin = "#Software:"
	iisSoftware   = "Microsoft Internet Information Services"
	iisAdvanced   = "IIS Advanced Logging"
)

// w3cFormat reads a line that names the columns; nil: it is none. If they do
// not tell who wrote it, it is who did so before. t is what the user said of the
// times.
func w3cFormat(line []byte, before w3cWriter, t Times) *Format {
	text, ok := bytes.CutPrefix(line, []byte(fieldsBegin))
	if !ok {
		return nil
	}
	text = bytes.Clone(text)
	columns := bytes.Fields(text)
	writer := before
	for _, one := range w3cWriters {
		if hasColumn(columns, one.column) {
			writer = one.w3cWriter
			break
		}
	}
	w := &w3c{sep: ' '}
	if writer.tabs {
		w.sep = '\t'
	}
	timeColumn := t.column(columns)
	for i, column := range columns {
		label := string(bytes.ToLower(column))
		p := w3cPlaces[label]
		switch {
		case label == "time-taken":
			p = place{kind: kindGoTime, unit: writer.unit}
		case label == "x-host-header" && hasColumn(columns, "cs(Host)") && writer.name == "cloudfront":
			p = place{kind: kindHost} // the viewer's; cs(Host) is the distribution's
		case label == "cs(host)" && writer.name == "cloudfront":
			p = place{}
		}
		w.places = append(w.places, t.place(p, i == timeColumn))
		w.names = append(w.names, string(column))
	}
	if len(columns) == 0 {
		return nil
	}
	w.short = w.without("sc-bytes", "cs-bytes")
	f := &Format{Name: writer.name, parse: w.parse, ended: true, fieldFound: timeColumn >= 0, header: func(line []byte) *Format { return w3cFormat(line, writer, t) }}
	f.retimed = func(t Times) (*Format, error) {
		if t.names() && t.column(columns) < 0 {
			return nil, &FieldError{t.Field, writer.name}
		}
		return w3cFormat(append([]byte(fieldsBegin), text...), before, t), nil
	}
	if !t.given() && writer == draftWriter && hasColumn(columns, "time-taken") {
		f.Notes = []string{"time-taken is read as seconds, as the W3C's draft says; IIS would write milliseconds, but nothing tells that it wrote this"}
	}
	return f
}

// without are the columns where one of the names, or both, is missing.
func (w *w3c) without(names ...string) []*w3c {
	var out []*w3c
	for n := 1; n <= 1<<len(names)-1; n++ {
		s := &w3c{sep: w.sep}
		for i, name := range w.names {
			missing := false
			for k, one := range names {
				missing = missing || n&(1<<k) != 0 && strings.EqualFold(name, one)
			}
			if missing {
				continue
			}
			p := w.places[i]
			switch p.kind {
			case kindSize: // which of them is missing is not known
				p = place{kind: kindSkip}
			case kindCode:
				p.kind = kindStatus
			case kindClient:
				p.kind = kindAddress
			}
			s.places, s.names = append(s.places, p), append(s.names, name)
		}
		if len(s.places) < len(w.places) {
			out = append(out, s)
		}
	}
	return out
}

func hasColumn(columns [][]byte, name string) bool {
	for _, c := range columns {
		if bytes.EqualFold(c, []byte(name)) {
			return true
		}
	}
	return false
}

const (
	whyColumns = "it has not the columns that #Fields names"
	whyComment = "it is a comment"
)

func (w *w3c) parse(f *Format, line []byte, e *Entry, c *clock) string {
	switch {
	case len(line) == 0:
		return whyColumns
	case line[0] == '#':
		return whyComment
	}
	sep := w.sep
	switch tab := bytes.IndexByte(line, '\t') >= 0; {
	case sep == ' ' && tab:
		sep = '\t'
	case sep == '\t' && !tab: // copied off a screen; CloudFront writes blanks of its values as %20
		sep = ' '
	}
	if n := bytes.Count(bytes.TrimRight(line, " \t"), []byte{sep}) + 1; n < len(w.places) && bytes.IndexByte(line, '"') < 0 {
		for _, s := range w.short {
			if n == len(s.places) {
				return s.take(f, line, sep, e, c)
			}
		}
	}
	return w.take(f, line, sep, e, c)
}

// take a line of just the columns.
func (w *w3c) take(f *Format, line []byte, sep byte, e *Entry, c *clock) string {
	e.Ended = f.ended
	e.scratch = e.scratch[:0]
	var date, clockText []byte
	for i, p := range w.places {
		v, rest, more := cutColumn(line, sep)
		if sep == ' ' && w.sep == '\t' {
			rest = bytes.TrimLeft(rest, " ")
		}
		if !more && i < len(w.places)-1 {
			return whyColumns
		}
		if line = rest; more && i == len(w.places)-1 && len(bytes.TrimSpace(rest)) > 0 {
			return whyColumns
		}
		if v = bytes.Trim(v, `"`); len(v) == 0 {
			v = nil
		}
		switch {
		case p.kind == kindDate:
			date = v
		case p.kind == kindClock:
			clockText = v
		case p.kind == kindOther:
			if len(v) > 0 && string(v) != "-" {
				e.Other = append(e.Other, Field{w.names[i], v})
			}
		case !e.set(p, "", v, c):
			return whyValue
		}
	}
	if why := e.setDateAndTime(date, clockText, c); why != "" {
		return why
	}
	e.finish(c)
	return e.checkRequest(refusals)
}

// cutColumn cuts the first column off; one in quotes (the draft's <string>, IIS
// Advanced Logging) may hold the separator.
func cutColumn(line []byte, sep byte) (v, rest []byte, more bool) {
	if len(line) > 1 && line[0] == '"' {
		if end := bytes.Index(line[1:], []byte{'"', sep}); end >= 0 {
			return line[:end+2], line[end+3:], true
		}
	}
	return bytes.Cut(line, []byte{sep})
}

// setDateAndTime sets the time of two columns, in UTC.
func (e *Entry) setDateAndTime(date, at []byte, c *clock) string {
	if date == nil || at == nil {
		return ""
	}
	zone := c.zone
	c.zone = nil
	e.line = append(append(append(e.line[:0], date...), 'T'), at...)
	t, ok := c.read(append(e.line, 'Z'))
	if c.zone = zone; !ok {
		return whyTime
	}
	e.Time = t
	return ""
}

// usualFields are the columns of logs whose begin is lost: IIS's own choice
// since 8.5, Azure App Service's, and CloudFront's, who have no other.
var usualFields = []string{
	"date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken",
	"date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id " +
		"x-host-header cs-protocol cs-bytes time-taken x-forwarded-for ssl-protocol ssl-cipher x-edge-response-result-type cs-protocol-version fle-status fle-encrypted-fields " +
		"c-port time-to-first-byte x-edge-detailed-result-type sc-content-type sc-content-len sc-range-start sc-range-end",
	"date time s-sitename cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Cookie) cs(Referer) cs-host sc-status sc-substatus sc-win32-status sc-bytes cs-bytes time-taken",
}

func usualColumns() []*Format {
	var out []*Format
	for _, fields := range usualFields {
		out = append(out, w3cFormat([]byte(fieldsBegin+" "+fields), draftWriter, Times{}))
	}
	return out
}
