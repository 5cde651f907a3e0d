package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// maxHAR in bytes; browsers write some megabytes.
const maxHAR = 512 << 20

// maxAnswerText of an entry is kept: tokens that later requests send are looked
// for in it. It bounds the memory that a HAR with downloads in it takes.
const maxAnswerText = 2 << 20

// harTime is a startedDateTime: ISO 8601, of which some tools leave out the
// zone or its colon. What cannot be read is the zero time; the order of the
// file then stands.
type harTime struct{ time.Time }

// harLayouts of startedDateTime. A time.Parse layout takes any fraction.
var harLayouts = []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05"}

func (t *harTime) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		return nil
	}
	for _, layout := range harLayouts {
		if at, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			t.Time = at
			return nil
		}
	}
	return nil
}

// errCut: a JSON text without its end.
var errCut = errors.New("the file ends in the middle: it was not saved to its end")

const saveHAR = "save it with the browser's developer tools (Network, \"Save all as HAR with content\")"

// readHAR reads entry after entry, so that of a large file only what is used
// stays in memory.
func readHAR(r io.Reader) (*harFile, error) {
	in := &io.LimitedReader{R: r, N: maxHAR + 1}
	buffered := bufio.NewReaderSize(in, 64<<10)
	text, err := skipBOM(buffered)
	if err != nil {
		return nil, fmt.Errorf("read HAR: %w; %s", err, saveHAR)
	}
	f, d := &harFile{}, json.NewDecoder(text)
	found, err := f.document(d)
	switch {
	case err != nil && in.N <= 0:
		return nil, fmt.Errorf("read HAR: larger than %d MiB; record a shorter visit", maxHAR>>20)
	case err != nil:
		return nil, fmt.Errorf("read HAR: entry %d, byte %d: %w; %s", len(f.Log.Entries)+int(f.bad)+1, d.InputOffset(), jsonError(err), saveHAR)
	case !found:
		return nil, fmt.Errorf("read HAR: %w: it has no \"log\", so it is no HAR file; %s", ErrNothing, saveHAR)
	case len(f.Log.Entries) == 0 && f.bad > 0:
		return nil, fmt.Errorf("read HAR: %w: none of its %d entries could be read: %s", ErrNothing, f.bad, f.badWhy)
	case len(f.Log.Entries) == 0:
		return nil, fmt.Errorf("read HAR: %w: its log has no entries; open the developer tools before the visit", ErrNothing)
	}
	if !slices.ContainsFunc(f.Log.Entries, func(e harEntry) bool { return e.Started.IsZero() }) {
		slices.SortStableFunc(f.Log.Entries, func(a, b harEntry) int { return a.Started.Compare(b.Started.Time) })
	}
	return f, nil
}

// document reads the outer object. found: it had a log.
func (f *harFile) document(d *json.Decoder) (found bool, err error) {
	err = members(d, func(key string) error {
		if key != "log" {
			return skipValue(d)
		}
		found = true
		return members(d, func(key string) error {
			switch key {
			case "entries":
				return elements(d, f.entry)
			case "pages":
				return elements(d, func(raw json.RawMessage) {
					var p harPage
					if json.Unmarshal(raw, &p) == nil {
						f.Log.Pages = append(f.Log.Pages, p)
					}
				})
			}
			return skipValue(d)
		})
	})
	return found, err
}

// entry reads one. Fields that are missing or of another type than the format
// says leave their zero value; an entry without a request is told.
func (f *harFile) entry(raw json.RawMessage) {
	var e harEntry
	err := json.Unmarshal(raw, &e)
	var wrongType *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &wrongType) || e.Request.URL == "" {
		f.bad++
		if f.badWhy == "" {
			f.badWhy = fmt.Sprintf("entry %d has no request.url", int64(len(f.Log.Entries))+f.bad)
			if err != nil {
				f.badWhy = fmt.Sprintf("entry %d: %v", int64(len(f.Log.Entries))+f.bad, err)
			}
		}
		return
	}
	e.parse()
	if e.Answer.Content.Text = ""; len(e.body) > maxAnswerText {
		e.body = ""
	}
	f.Log.Entries = append(f.Log.Entries, e)
}

// members calls f with each key of the object that comes next; f takes the
// value. A null is an object without members.
func members(d *json.Decoder, f func(key string) error) error {
	t, err := d.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('{') {
		return fmt.Errorf("there stands %s where an object is expected", tokenText(t))
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if err := f(key); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// elements calls f with each element of the array that comes next.
func elements(d *json.Decoder, f func(json.RawMessage)) error {
	t, err := d.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return fmt.Errorf("there stands %s where a list is expected", tokenText(t))
	}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		f(raw)
	}
	_, err = d.Token()
	return err
}

func tokenText(t json.Token) string { return shortText(fmt.Sprint(t), 40) }

func skipValue(d *json.Decoder) error {
	var raw json.RawMessage
	return d.Decode(&raw)
}

// jsonError says in plain words what is wrong with a JSON text.
func jsonError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	return err
}

// skipBOM leaves out a byte order mark and decodes UTF-16, which has one.
func skipBOM(r *bufio.Reader) (io.Reader, error) {
	head, err := r.Peek(3)
	if len(head) == 0 {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, errors.New("the file is empty")
	}
	switch {
	case bytes.Equal(head, []byte("\xef\xbb\xbf")):
		if _, err := r.Discard(3); err != nil {
			return nil, err
		}
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return nil, errors.New("it is UTF-16; save it as UTF-8")
	}
	return r, nil
}

// shortText cuts a text for a message.
func shortText(s string, most int) string {
	if s = printable(s); len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
