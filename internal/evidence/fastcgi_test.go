package evidence

import (
	"bytes"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

func TestFastCGIRequest(t *testing.T) {
	long := strings.Repeat("v", 200)
	got := fastcgiRequest(map[string]string{"B": long, "A": "1"})
	want := append([]byte{1, 1, 0, 1, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}, 1, 4, 0, 1, 0, 4+206, 0, 0, 1, 1, 'A', '1', 1, 0x80, 0, 0, 200, 'B')
	want = append(want, long...)
	want = append(want, 1, 4, 0, 1, 0, 0, 0, 0, 1, 5, 0, 1, 0, 0, 0, 0)
	if !bytes.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func record(kind byte, content string, padding int) string {
	return string([]byte{1, kind, 0, 1, byte(len(content) >> 8), byte(len(content)), byte(padding), 0}) + content + strings.Repeat("\x00", padding)
}

func TestParseFastCGI(t *testing.T) {
	got, err := parseFastCGI(strings.NewReader(record(fcgiStdout, "ab", 6) + record(fcgiStderr, "note", 0) + record(fcgiStdout, "c", 0) + record(fcgiEnd, "\x00\x00\x00\x00\x00\x00\x00\x00", 0)))
	if err != nil || string(got) != "abc" {
		t.Errorf("%q %v", got, err)
	}
	for why, answer := range map[string]string{"cut off": record(fcgiStdout, "ab", 0), "not FastCGI": "HTTP/1.1 400 Bad Request\r\n\r\n",
		"only an error": record(fcgiStderr, "Primary script unknown", 0) + record(fcgiEnd, "\x00\x00\x00\x00\x00\x00\x00\x00", 0), "endless": strings.Repeat(record(fcgiStdout, strings.Repeat("x", 60000), 0), 20)} {
		if _, err := parseFastCGI(strings.NewReader(answer)); err == nil {
			t.Errorf("%s: no error", why)
		}
	}
}

// A pool whose processes are all busy does not hold up the run.
func TestFastCGITimeout(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	await.Ends(t, "a question that nobody answers", func() {
		if _, err := fastcgiGet(t.Context(), host.NewLocal(), l.Addr().String(), "/status", "json", 100*time.Millisecond); err == nil {
			t.Error("no error")
		}
	})
}

func FuzzFastCGI(f *testing.F) {
	f.Add([]byte(record(fcgiStdout, "ab", 6) + record(fcgiEnd, "\x00\x00\x00\x00\x00\x00\x00\x00", 0)))
	f.Fuzz(func(t *testing.T, data []byte) {
		parseFastCGI(bytes.NewReader(data))
	})
}
