package digest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kasoku/internal/envelope"
	"kasoku/internal/sqllog"
)

// What carries a statement log's lines: a prefix before each, or JSON with them
// as texts. Access logs have their own (internal/accesslog, envelope.go), where
// each line is an entry and is opened by itself, in up to three envelopes, and
// counts as not understood if none fits. Here an entry has many lines, of which
// any may be text of a statement that looks like an envelope: so the log's head
// decides, once, and the one prefix is taken off. JSON and tables are gone through by
// internal/envelope, as those of access logs are.

// linePrefix is what something puts before each line of a log.
type linePrefix struct {
	name string
	re   *regexp.Regexp
	// entries: only the first line of an entry has it.
	entries bool
}

// linePrefixes in the order in which they are tried: the longest first.
var linePrefixes = []linePrefix{
	{name: "CRI", re: regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) [FP] `)},
	{name: "compose", re: regexp.MustCompile(`^[\w./-]+\s*\| (?:\d{4}-\d\d-\d\dT[\d:.]+Z )?`)},
	{name: "kubectl", re: regexp.MustCompile(`^\[pod/[^\]]+\] `)},
	{name: "syslog", re: regexp.MustCompile(`^(?:<\d{1,3}>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^\s:\[]+(?:\[\d+\])?: (?:\[\d+(?:-\d+)?\] )?`)},
	{name: "syslog", re: regexp.MustCompile(`^<\d{1,3}>1 \S+ \S+ \S+ \S+ \S+ (?:-|\[.*?\]) ?`)},
	{name: "syslog", re: regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) [^\s#]\S* [^\s:\[]+\[\d+\]: (?:\[\d+(?:-\d+)?\] )?`)},
	{name: "cloudwatch", re: regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) `)},
	{name: "cloudwatch", re: regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) [\w.][\w./-]* `)}, // with the stream's name
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
		if s := sourceOf(text); s != nil && s.name != postgresText {
			return "", nil // JSON of its own
		}
		var inner bytes.Buffer
		// The head ends anywhere, so the end of its last value is missing.
		ends := lineEnds()
		_ = messages(envelope.Records, bytes.NewReader(text), func(s string) error { inner.WriteString(ends(s)); return nil })
		if isStatementText(inner.Bytes()) {
			return "JSON", unwrapEntries(envelope.Records)
		}
		return "", nil
	}
	if t := envelope.TableOf(text); t != nil && t.Named() {
		var inner bytes.Buffer
		ends := lineEnds()
		_ = messages(t.Rows, bytes.NewReader(text), func(s string) error { inner.WriteString(ends(s)); return nil })
		if isStatementText(inner.Bytes()) {
			return "table", unwrapEntries(t.Rows)
		}
	}
	if slowHeader.Match(head) {
		return firstLinePrefix(text)
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

// firstLinePrefix finds a prefix that only the first line of each entry has, as
// aws logs tail prints events of several lines.
func firstLinePrefix(text []byte) (name string, wrap func(io.Reader) io.ReadCloser) {
	for i := range linePrefixes {
		p := linePrefixes[i]
		// The first line is an entry's, or the server's banner: else a statement of an
		// ordinary log could hold what looks like such entries.
		if p.name != "cloudwatch" || !p.re.Match(text[:min(len(text), 512)]) {
			continue
		}
		p.entries = true
		for line := range bytes.Lines(text) {
			if rest, _ := p.cut(line); len(rest) < len(line) {
				return p.name, func(r io.Reader) io.ReadCloser {
					return io.NopCloser(&prefixReader{p: &p, in: bufio.NewReaderSize(r, peekSize)})
				}
			}
		}
	}
	return "", nil
}

// entryBegins: an entry of a slow log begins with one of them.
func entryBegins(line []byte) bool {
	return bytes.HasPrefix(line, []byte("# Time: ")) || bytes.HasPrefix(line, []byte("# User@Host: "))
}

// unwrapEntries reads the texts within JSON values, or in a table's column. A last
// value that is cut ends the log.
func unwrapEntries(entries func(io.Reader, func([]byte) error) error) func(io.Reader) io.ReadCloser {
	return func(r io.Reader) io.ReadCloser { return unwrapped(entries, r) }
}

func unwrapped(entries func(io.Reader, func([]byte) error) error, r io.Reader) io.ReadCloser {
	out, in := io.Pipe()
	p := &pipedText{PipeReader: out}
	ends := lineEnds()
	p.done.Go(func() {
		err := messages(entries, r, func(s string) error { _, err := io.WriteString(in, ends(s)); return err })
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
	if m == nil || p.entries && !entryBegins(line[m[1]:]) {
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

// messageKeys name the text of a log's line in JSON or in a table: CloudWatch's
// events, its Insights, the files of containers, journalctl, Google's exports,
// Splunk's.
var messageKeys = []string{"message", "@message", "log", "MESSAGE", "textPayload", "_raw"}

// messageOuters are objects that hold such a text: Azure's, Google's, Elasticsearch's.
var messageOuters = []string{"properties", "jsonPayload", "_source"}

// messages calls each for the texts in r's entries, in their order. entries gives
// out objects of JSON (internal/envelope).
func messages(entries func(io.Reader, func([]byte) error) error, r io.Reader, each func(string) error) error {
	return entries(r, func(record []byte) error {
		if text, ok := messageOf(record); ok {
			return each(text)
		}
		return nil
	})
}

// messageOf an object, which may be cut behind it. A text by itself, as in a list
// of such, is none.
func messageOf(record []byte) (text string, ok bool) {
	d := json.NewDecoder(bytes.NewReader(record))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", false
	}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return "", false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return "", false
		}
		key, _ := k.(string)
		if slices.Contains(messageKeys, key) && json.Unmarshal(value, &text) == nil {
			return text, true
		}
		if slices.Contains(messageOuters, key) {
			if text, ok = messageOf(value); ok {
				return text, true
			}
		}
	}
	return "", false
}
