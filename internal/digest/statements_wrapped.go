package digest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kasoku/internal/sqllog"
)

// What carries a statement log's lines: a prefix before each, or JSON with them
// as texts. Access logs have their own (internal/accesslog, envelope.go), where
// each line is an entry and is opened by itself, in up to three envelopes, and
// counts as not understood if none fits. Here an entry has many lines, of which
// any may be text of a statement that looks like an envelope: so the log's head
// decides, once, and the one prefix is taken off; and JSON is read as a whole,
// because lists of events, over many lines, are usual.

// linePrefix is what something puts before each line of a log.
type linePrefix struct {
	name string
	re   *regexp.Regexp
}

// linePrefixes in the order in which they are tried: the longest first.
var linePrefixes = []linePrefix{
	{"CRI", regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) [FP] `)},
	{"compose", regexp.MustCompile(`^[\w./-]+\s*\| (?:\d{4}-\d\d-\d\dT[\d:.]+Z )?`)},
	{"kubectl", regexp.MustCompile(`^\[pod/[^\]]+\] `)},
	{"syslog", regexp.MustCompile(`^(?:<\d{1,3}>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^\s:\[]+(?:\[\d+\])?: (?:\[\d+(?:-\d+)?\] )?`)},
	{"syslog", regexp.MustCompile(`^<\d{1,3}>1 \S+ \S+ \S+ \S+ \S+ (?:-|\[.*?\]) ?`)},
	{"syslog", regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) [^\s#]\S* [^\s:\[]+\[\d+\]: (?:\[\d+(?:-\d+)?\] )?`)},
	{"cloudwatch", regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) `)},
	{"cloudwatch", regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) [\w.][\w./-]* `)}, // with the stream's name
}

// isStatementText: lines of a log of statements, without anything before them.
func isStatementText(text []byte) bool {
	return slowHeader.Match(text) || sqllog.PostgresMessageAt(text, true) >= 0
}

// carrierOf finds what carries the log that begins with head; wrap takes it
// away. "" if nothing does.
func carrierOf(head []byte) (name string, wrap func(io.Reader) io.ReadCloser) {
	if !hasText(head, "# User@Host: ", "# Query_time: ", "# Time: ", "LOG:  ") {
		return "", nil
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), "\x00 \t\r\n")
	if len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		if sourceOf(text) != nil {
			return "", nil // JSON of its own
		}
		var inner bytes.Buffer
		// The head ends anywhere, so the end of its last value is missing.
		ends := lineEnds()
		_ = messages(bytes.NewReader(text), func(s string) error { inner.WriteString(ends(s)); return nil })
		if isStatementText(inner.Bytes()) {
			return "JSON", unwrapJSON
		}
		return "", nil
	}
	if slowHeader.Match(head) {
		return "", nil
	}
	for i := range linePrefixes {
		p := &linePrefixes[i]
		stripped := p.strip(head)
		if slowHeader.Match(stripped) || p.name != "cloudwatch" && !bytes.Equal(stripped, head) && sqllog.PostgresMessageAt(stripped, true) >= 0 {
			return p.name, func(r io.Reader) io.ReadCloser {
				return io.NopCloser(&prefixReader{p: p, in: bufio.NewReaderSize(r, peekSize)})
			}
		}
	}
	return "", nil
}

// unwrapJSON reads the texts within JSON values. A last value that is cut ends
// the log.
func unwrapJSON(r io.Reader) io.ReadCloser {
	out, in := io.Pipe()
	p := &pipedText{PipeReader: out}
	ends := lineEnds()
	p.done.Go(func() {
		err := messages(r, func(s string) error { _, err := io.WriteString(in, ends(s)); return err })
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		in.CloseWithError(err)
	})
	return p
}

// pipedText is what a goroutine writes.
type pipedText struct {
	*io.PipeReader
	done sync.WaitGroup
}

// Close ends the goroutine, and waits for that: what it reads is closed next. A
// read that is under way is waited for.
func (p *pipedText) Close() error {
	err := p.PipeReader.Close()
	p.done.Wait()
	return err
}

// dockerPart is the length of a message's part where Docker divides it: only the
// last one's text has the newline (moby, daemon/logger/copier.go).
const dockerPart = 16 << 10

// lineEnds ends messages as lines do, but not what goes on in the next message.
func lineEnds() func(string) string {
	ended := false // messages have newlines
	return func(s string) string {
		switch {
		case strings.HasSuffix(s, "\n"):
			ended = true
			return s
		case ended && len(s) >= dockerPart:
			return s
		}
		return s + "\n"
	}
}

// strip takes the prefix off each line.
func (p *linePrefix) strip(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		line, goesOn := p.cut(line)
		if goesOn {
			line = bytes.TrimSuffix(line, []byte("\n"))
		}
		out = append(out, line...)
	}
	return out
}

// cut takes it off one; syslog writes a tab as #011 (rsyslog manual,
// "EscapeControlCharactersOnReceive"). goesOn: the line is a part, P of CRI (the
// Kubernetes proposal "kubelet-cri-logging"), and the next one goes on with it.
func (p *linePrefix) cut(line []byte) (rest []byte, goesOn bool) {
	m := p.re.FindIndex(line[:min(len(line), 512)])
	if m == nil {
		return line, false
	}
	goesOn = p.name == "CRI" && line[m[1]-2] == 'P'
	line = line[m[1]:]
	if rest, ok := bytes.CutPrefix(line, []byte("#011")); ok && p.name == "syslog" {
		line = append([]byte("\t"), rest...)
	}
	return line, goesOn
}

// prefixReader takes a prefix off each line. A line's part beyond the buffer
// has none.
type prefixReader struct {
	p    *linePrefix
	in   *bufio.Reader
	rest []byte
	mid  bool // of a line
	part bool // the line is a part of the log's
	err  error
}

func (r *prefixReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		line, err := r.in.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		if !r.mid {
			line, r.part = r.p.cut(line)
		}
		if r.mid = full; !full {
			r.err = err
			if r.part {
				line = bytes.TrimSuffix(line, []byte("\n"))
			}
		}
		r.rest = line
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// messageKeys name the text of a log's line in JSON: CloudWatch's events, its
// Insights, the files of containers, journalctl, Google's exports.
var messageKeys = []string{"message", "@message", "log", "MESSAGE", "textPayload"}

// listKeys name lists of such.
var listKeys = []string{"events", "logEvents", "results", "entries"}

// messages calls each for the texts in r's JSON values, in their order.
func messages(r io.Reader, each func(string) error) error {
	guard := &valueGuard{r: r}
	d := json.NewDecoder(guard)
	guard.offset = d.InputOffset
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := value(d, t, 0, each); err != nil {
			return err
		}
	}
}

// mostNested values of JSON, one in another: far more than any carrier or client
// writes, and few enough for the stack.
const mostNested = 1000

// errNested: a value of JSON that no log holds.
var errNested = fmt.Errorf("a value of JSON is nested more than %d deep", mostNested)

// longestValue of JSON that is read: carriers cut messages at a hundredth of it.
const longestValue = 8 << 20

// valueGuard bounds the memory that one JSON value takes.
type valueGuard struct {
	r      io.Reader
	n      int64
	offset func() int64 // how much the decoder is done with
}

func (g *valueGuard) Read(p []byte) (int, error) {
	if at := g.offset(); g.n-at > longestValue {
		return 0, fmt.Errorf("a value of JSON at byte %d is longer than %d MiB", at, longestValue>>20)
	}
	n, err := g.r.Read(p)
	g.n += int64(n)
	return n, err
}

// value takes the JSON value that begins with t: lists are gone through, of an
// object the text of a line is taken.
func value(d *json.Decoder, t json.Token, depth int, each func(string) error) error {
	if depth > mostNested {
		return errNested
	}
	switch t {
	case json.Delim('['):
		for d.More() {
			t, err := d.Token()
			if err != nil {
				return err
			}
			if err := value(d, t, depth+1, each); err != nil {
				return err
			}
		}
		_, err := d.Token()
		return err
	case json.Delim('{'):
		return object(d, depth, each)
	}
	return nil
}

func object(d *json.Decoder, depth int, each func(string) error) error {
	field := "" // of a result of Insights: {"field": "@message", "value": "…"}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := k.(string)
		t, err := d.Token()
		if err != nil {
			return err
		}
		text, isText := t.(string)
		switch {
		case isText && key == "field":
			field = text
		case isText && (slices.Contains(messageKeys, key) || key == "value" && slices.Contains(messageKeys, field)):
			if err := each(text); err != nil {
				return err
			}
		case slices.Contains(listKeys, key):
			if err := value(d, t, depth+1, each); err != nil {
				return err
			}
		default:
			if err := value(d, t, depth+1, func(string) error { return nil }); err != nil {
				return err
			}
		}
	}
	_, err := d.Token()
	return err
}
