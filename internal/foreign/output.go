package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
)

const (
	// keep bytes of each end of the output: a summary has a few kilobytes and
	// stands at the end; what is wrong with the call stands at the begin.
	keep = 64 << 10
	// maxDocuments of a log of JSON lines are kept, the last ones.
	maxDocuments = 1000
	// maxOpen objects without an end are looked for to the end of the output.
	maxOpen = 100
)

// output is what a benchmark printed.
type output struct {
	text      string   // standard output, then standard error, without colours
	streams   []string // the same, those of the two that hold anything
	documents [][]byte // JSON objects in it, in their order
	exit      int
}

// colours and other terminal control (ECMA-48, control sequences).
var control = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")

// readOutput cleans both streams and finds the JSON documents.
func readOutput(stdout, stderr []byte, exit int) *output {
	o := &output{exit: exit}
	var parts []string
	for _, stream := range [][]byte{stdout, stderr} {
		s := clean(stream)
		if strings.TrimSpace(s) == "" {
			continue
		}
		parts = append(parts, s)
		o.documents = append(o.documents, documents([]byte(s))...)
	}
	o.text, o.streams = strings.Join(parts, "\n"), parts
	return o
}

func clean(b []byte) string {
	b = control.ReplaceAll(bytes.ToValidUTF8(b, []byte("?")), nil)
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return string(bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))) // progress lines
}

// documents finds JSON objects that begin at the begin of a line: a result
// alone, a result after log lines, or a log of one object a line. Of many the
// last are kept.
func documents(b []byte) [][]byte {
	var out [][]byte
	for at, open := 0, 0; at < len(b); {
		line := bytes.TrimLeft(b[at:], " \t")
		if len(line) > 0 && line[0] == '{' {
			rest := line
			if open >= maxOpen { // enough looks at all that follows
				rest, _, _ = bytes.Cut(line, []byte("\n"))
			}
			dec := json.NewDecoder(bytes.NewReader(rest))
			var doc json.RawMessage
			switch err := dec.Decode(&doc); {
			case err == nil:
				out = append(out, doc)
				at = len(b) - len(line) + int(dec.InputOffset())
			case errors.Is(err, io.ErrUnexpectedEOF):
				open++
			}
		}
		next := bytes.IndexByte(b[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return out[max(len(out)-maxDocuments, 0):]
}

// tail is the last lines of each stream, for error messages: which of them has the
// result, and which the reason, is not known.
func (o *output) tail() string {
	const most = 400
	var ends []string
	for _, s := range o.streams {
		if s = strings.TrimSpace(s); len(s) > most {
			s = "…" + strings.ToValidUTF8(s[len(s)-most:], "")
		}
		ends = append(ends, s)
	}
	if len(ends) == 0 {
		return "it printed nothing"
	}
	return "it printed: " + strings.Join(ends, "\n")
}
