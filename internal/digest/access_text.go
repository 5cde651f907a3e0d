package digest

import (
	"bytes"
	"fmt"

	"kasoku/internal/redact"
)

// notText says why bytes are no lines of text; "" if they are.
func notText(head []byte) string {
	for _, k := range []struct{ magic, name string }{
		{"\x1f\x8b", "gzip"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"BZh", "bzip2"}, {"\xfd7zXZ", "xz"}, {"PK\x03\x04", "zip"}, {"\x7fELF", "program"}, {"%PDF", "PDF"},
	} {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return "it is a " + k.name + " file"
		}
	}
	if why := utf16(head); why != "" {
		return why
	}
	// Text has some control bytes, from scanners; a log that was truncated
	// while it was written begins with zeros, after a power loss one may end so.
	odd := 0
	rest := bytes.Trim(head, "\x00")
	if len(rest) == 0 && len(head) > 0 {
		return "it holds zeros only"
	}
	for _, c := range rest {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != 0x1b {
			odd++
		}
	}
	if odd*20 > len(rest) {
		return fmt.Sprintf("it is binary, %d of its first %d bytes are control characters", odd, len(rest))
	}
	return ""
}

// utf16 says that a text is UTF-16, by its byte order mark or because every
// second byte is zero; "" if it is not.
func utf16(head []byte) string {
	const advice = "it is UTF-16 text, as PowerShell writes it; convert it: iconv -f UTF-16 -t UTF-8"
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return advice
	}
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	if n := len(head) / 2; n > 8 && (zeros[0]*10 > n*8 && zeros[1] == 0 || zeros[1]*10 > n*8 && zeros[0] == 0) {
		return advice
	}
	return ""
}

func firstLine(head []byte) []byte {
	for line := range bytes.Lines(head) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line
		}
	}
	return nil
}

// badLineText shows a line that is not understood, without its secrets and its
// queries' values.
func badLineText(line []byte) string {
	return printable([]byte(redact.Line(string(line[:min(len(line), 4*maxExample)]))), maxExample)
}

// plural: "1 line", "2 lines".
func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
