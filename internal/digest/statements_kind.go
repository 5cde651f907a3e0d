package digest

import (
	"bytes"
	"errors"
)

// ErrNotSlowLog: the input is something else than a slow query log.
var ErrNotSlowLog = errors.New("this is no slow query log")

// wrongKind: no slow log begins with a statement's rest of this length.
const wrongKind = 16 << 20

// looksLike says what data seems to be, without citing it: it may hold
// secrets.
func looksLike(data []byte) string {
	head := data[:min(len(data), 4096)]
	line, _, _ := bytes.Cut(head, []byte("\n"))
	control := 0
	for _, c := range head {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			control++
		}
	}
	has := func(texts ...string) bool {
		for _, t := range texts {
			if bytes.Contains(head, []byte(t)) {
				return true
			}
		}
		return false
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}), bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "it is compressed"
	case control > len(head)/20:
		return "it holds binary data"
	case has(" HTTP/1.", " HTTP/2", "\turi:", "\trequest:", `"request"`, `"uri"`):
		return "it looks like an access log"
	case has("\tQuery\t", " Query\t", " Connect\t"):
		return "it looks like a general query log"
	case has("[Note]", "[Warning]", "[ERROR]", "[System]"):
		return "it looks like the server's error log"
	case len(bytes.TrimSpace(line)) == 0 && len(bytes.TrimSpace(head)) == 0:
		return "it is blank"
	}
	return "it is text of another kind, or a part of one statement"
}
