package envelope

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// mostNested values of JSON, one in another: far more than any carrier or client
// writes, and few enough for the stack.
const mostNested = 1000

// errNested: a value of JSON that no log holds.
var errNested = fmt.Errorf("a value of JSON is nested more than %d deep", mostNested)

// longestValue of JSON that is read: carriers cut messages at a hundredth of it.
const longestValue = 8 << 20

// errCut: a line's end within a text, where JSON has none: the value was cut.
var errCut = errors.New("a value of JSON is cut")

// outerLists are keys under which exports have their entries: Azure's records,
// CloudTrail's, CloudWatch's events and logEvents, Insights' results, Google's
// entries, Elasticsearch's hits.hits, Loki's data.result, and tools' own.
var outerLists = keySet("records", "Records", "events", "Events", "logEvents", "results", "entries", "Entries", "hits", "logs", "Logs",
	"items", "Items", "value", "data", "result", "response", "rows", "values")

// innerLists are such of what is an entry of a list itself: Loki's values.
var innerLists = keySet("values", "logEvents")

// ownKeys of an object say that it is an entry, whatever lists it has.
var ownKeys = keySet("method", "path", "uri", "url", "request", "req", "message", "msg", "log", "textPayload", "httpRequest")

func keySet(keys ...string) map[string]bool {
	out := map[string]bool{}
	for _, k := range keys {
		out[k] = true
	}
	return out
}

// Records calls each for the entries of JSON text, one after the other and
// without line ends: objects that stand alone, over one or many lines, in lists,
// and in the lists of an export's outer object. Rows of CloudWatch's Insights
// ({"field": …, "value": …}) and of Loki ([time, line]) become objects. Text that
// is no JSON comes line by line. A record is the caller's until each returns.
//
// Errors: each's; r's; io.ErrUnexpectedEOF for a last value that is cut, of which
// each was given what is there; a value longer than 8 MiB or nested more than
// 1,000 deep.
func Records(r io.Reader, each func(record []byte) error) error {
	s := &records{in: bufio.NewReaderSize(r, 64<<10), each: each}
	for {
		c, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch c {
		case '{':
			err = s.object(outerLists)
		case '[':
			err = s.list()
		case ']', '}': // the rest of a value that was cut
		default:
			err = s.other(c)
		}
		if errors.Is(err, errCut) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
}

type records struct {
	in    *bufio.Reader
	each  func([]byte) error
	buf   []byte
	began int64 // of the value in buf
	at    int64
	lists int // one in another
}

func (s *records) byte() (byte, error) {
	c, err := s.in.ReadByte()
	if err == nil {
		s.at++
	}
	return c, err
}

func (s *records) back() {
	s.at--
	_ = s.in.UnreadByte() // a byte was just read
}

// next byte of a value: blanks, commas and the separators of RFC 7464 are
// walked over.
func (s *records) next() (byte, error) {
	for {
		c, err := s.byte()
		if err != nil {
			return 0, err
		}
		switch c {
		case ' ', '\t', '\r', '\n', ',', 0x1e, 0xef, 0xbb, 0xbf:
			continue
		}
		return c, nil
	}
}

// other takes a line that is no JSON.
func (s *records) other(c byte) error {
	s.begin(c)
	for {
		c, err := s.byte()
		if c == '\n' || errors.Is(err, io.EOF) {
			return s.each(bytes.TrimRight(s.buf, "\r"))
		}
		if err != nil {
			return err
		}
		if err := s.put(c); err != nil {
			return err
		}
	}
}

func (s *records) begin(c byte) {
	s.buf, s.began = append(s.buf[:0], c), s.at
}

func (s *records) put(c byte) error {
	if s.buf = append(s.buf, c); len(s.buf) > longestValue {
		return fmt.Errorf("a value of JSON at byte %d is longer than %d MiB", s.began, longestValue>>20)
	}
	return nil
}

// list goes through one, behind its bracket.
func (s *records) list() error {
	if s.lists++; s.lists > mostNested {
		return errNested
	}
	defer func() { s.lists-- }()
	for {
		c, err := s.next()
		if err != nil {
			return unexpected(err)
		}
		switch c {
		case ']':
			return nil
		case '{':
			err = s.object(innerLists)
		case '[':
			err = s.row()
		case '"':
			s.begin(c)
			if err = s.text(false); err == nil {
				err = s.each(plainText(s.buf))
			}
		case '}':
			return errCut
		default:
			err = s.scalar()
		}
		if err != nil {
			return err
		}
	}
}

// scalar walks over a number or word.
func (s *records) scalar() error {
	for {
		c, err := s.byte()
		if err != nil {
			return unexpected(err)
		}
		if c == ',' || c == ']' || c == '}' || c == '\n' {
			s.back()
			return nil
		}
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// row is a list in a list.
func (s *records) row() error {
	s.begin('[')
	w := walk{s: s, open: []level{{}}}
	if err := w.do(); err != nil {
		return w.cut(err)
	}
	for _, record := range rowRecords(s.buf) {
		if err := s.each(record); err != nil {
			return err
		}
	}
	return nil
}

// rowRecords are the entries in a list of a list.
func rowRecords(b []byte) [][]byte {
	var elements []json.RawMessage
	if json.Unmarshal(b, &elements) != nil || len(elements) == 0 {
		return [][]byte{b}
	}
	var texts []string
	if json.Unmarshal(b, &texts) == nil && len(texts) == 2 { // Loki's time and line
		if lone, err := json.Marshal(map[string]string{"timestamp": texts[0], "line": texts[1]}); err == nil {
			return [][]byte{lone}
		}
	}
	var out [][]byte
	joined := []byte("{")
	for _, e := range elements {
		var f struct {
			Field *string         `json:"field"`
			Value json.RawMessage `json:"value"`
		}
		if json.Unmarshal(e, &f) == nil && f.Field != nil && len(f.Value) > 0 {
			if key, err := json.Marshal(*f.Field); err == nil {
				joined = append(append(append(append(joined, key...), ':'), f.Value...), ',')
			}
			continue
		}
		out = append(out, e)
	}
	if len(joined) > 1 {
		joined[len(joined)-1] = '}'
		out = append(out, joined)
	}
	return out
}

// plainText is what a JSON text says.
func plainText(quoted []byte) []byte {
	var out string
	if json.Unmarshal(quoted, &out) != nil {
		return quoted
	}
	return bytes.TrimRight(bytes.ReplaceAll([]byte(out), []byte("\n"), []byte(" ")), "\r ")
}

// text puts the rest of one behind its quote; drop walks over it.
func (s *records) text(drop bool) error {
	escaped := false
	for {
		c, err := s.byte()
		switch {
		case err != nil:
			return unexpected(err)
		case c == '\n':
			return errCut
		case drop:
		default:
			if err := s.put(c); err != nil {
				return err
			}
		}
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"':
			return nil
		}
	}
}

// object takes one behind its brace: an entry, or what has lists of entries
// under keys of lists.
func (s *records) object(lists map[string]bool) error {
	s.begin('{')
	w := walk{s: s, lists: lists, open: []level{{object: true, outer: true, key: true}}}
	if err := w.do(); err != nil {
		return w.cut(err)
	}
	if w.drop {
		return nil
	}
	return s.each(s.buf)
}
