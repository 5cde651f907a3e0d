package digest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

const logLine = "10.0.0.1 - - [10/Oct/2023:13:55:36 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"a\"\n"

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstded(t *testing.T, text string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll([]byte(text), nil)
}

// "hello\n" by bzip2 1.0.8; Go has no packer.
const bzipped = "BZh91AY&SY\xc1\xc0\x80\xe2\x00\x00\x01A\x00\x00\x10\x02D\xa0\x000\xcd\x00\xc3F)\x97\x17rE8P\x90\xc1\xc0\x80\xe2"

func xzed(t *testing.T, text string) []byte {
	var b bytes.Buffer
	w, err := xz.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t *testing.T, name string, b []byte) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func all(t *testing.T, in Input) string {
	t.Helper()
	r, err := in.Open()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The first bytes tell how a log is packed, whatever its name.
func TestInputs(t *testing.T) {
	long := strings.Repeat(logLine, 20000) // more than any buffer
	for _, tt := range []struct {
		name  string
		bytes []byte
		want  string
		plain bool
	}{
		{"plain.gz", []byte(long), long, true},
		{"empty", nil, "", true},
		{"short", []byte("x"), "x", true},
		{"gzip.log", zipped(t, long), long, false},
		{"two members", append(zipped(t, logLine), zipped(t, logLine)...), logLine + logLine, false},
		{"zstd.log", zstded(t, long), long, false},
		{"two frames", append(zstded(t, logLine), zstded(t, logLine)...), logLine + logLine, false},
		{"two streams", append(xzed(t, long), xzed(t, logLine)...), long + logLine, false},
		{"a frame to be skipped", append([]byte("\x50\x2a\x4d\x18\x02\x00\x00\x00xy"), zstded(t, logLine)...), logLine, false},
		{"bzip2", []byte(bzipped), "hello\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, err := FileInput(write(t, tt.name, tt.bytes))
			if err != nil {
				t.Fatal(err)
			}
			if in.Size != int64(len(tt.bytes)) || (in.At != nil) != tt.plain {
				t.Errorf("size %d, parts %v", in.Size, in.At != nil)
			}
			head, err := firstBytes(in)
			if err != nil || !strings.HasPrefix(tt.want, string(head)) {
				t.Errorf("head: %d bytes, %v", len(head), err)
			}
			if got := all(t, in); got != tt.want {
				t.Errorf("%d bytes, want %d", len(got), len(tt.want))
			}
			s := StreamInput("stdin", io.MultiReader(bytes.NewReader(tt.bytes))) // no file, no seeking
			for range 2 {
				if head, err := firstBytes(s); err != nil || !strings.HasPrefix(tt.want, string(head)) || len(head) == 0 && tt.want != "" {
					t.Errorf("head of a stream: %d bytes, %v", len(head), err)
				}
			}
			if got := all(t, s); got != tt.want {
				t.Errorf("a stream gives %d bytes, want %d", len(got), len(tt.want))
			}
			if tt.want != "" {
				if _, err := s.Open(); err == nil {
					t.Error("a stream can be read twice")
				}
			}
		})
	}
}

// "digest <access.log": standard input that is a file is read like one.
func TestStreamThatIsAFile(t *testing.T) {
	for _, b := range [][]byte{[]byte(logLine), zipped(t, logLine)} {
		f, err := os.Open(write(t, "log", b))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in := StreamInput("stdin", f)
		if (in.At != nil) != (b[0] != 0x1f) || in.Size != int64(len(b)) {
			t.Errorf("size %d, parts %v", in.Size, in.At != nil)
		}
		for range 2 {
			if got := all(t, in); got != logLine {
				t.Errorf("%q", got)
			}
		}
		// Where something was read already, the rest is a stream.
		if _, err := f.Seek(5, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if in := StreamInput("stdin", f); in.At != nil || in.Size != 0 {
			t.Error("a file that was begun is read from its start")
		}
	}
}

func TestDamagedInputs(t *testing.T) {
	long := strings.Repeat(logLine, 20000)
	for name, b := range map[string][]byte{"gzip": zipped(t, long), "zstd": zstded(t, long), "bzip2": []byte(bzipped)} {
		for _, keep := range []int{10, len(b) / 2, len(b) - 2} {
			in, err := FileInput(write(t, "log", b[:keep]))
			if err != nil {
				t.Fatal(err)
			}
			r, err := in.Open()
			if err == nil {
				_, err = io.Copy(io.Discard, r)
				r.Close()
			}
			var d *DamagedError
			if !errors.As(err, &d) || d.Packing != name || errors.Is(err, io.EOF) {
				t.Errorf("%s cut to %d bytes: %v", name, keep, err)
			}
		}
	}
}

func TestUnreadableInputs(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		dir:                        "is a folder",
		filepath.Join(dir, "nope"): "no such file",
	} {
		if _, err := FileInput(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	in, err := FileInput(write(t, "log", []byte("\x04\x22\x4d\x18 and more")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Open(); err == nil || !strings.Contains(err.Error(), "packed by lz4") {
		t.Errorf("lz4: %v", err)
	}
	// A stream's header, and a block that asks for a dictionary of 3 GiB.
	huge := "\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x27\x00\x00\x00"
	if in, err = FileInput(write(t, "huge.xz", []byte(huge))); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Open(); err == nil || !strings.Contains(err.Error(), "3072 MiB") {
		t.Errorf("a large dictionary: %v", err)
	}
}

// A named pipe is read once, as a stream.
func TestPipeInput(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if out, err := exec.Command("mkfifo", name).CombinedOutput(); err != nil {
		t.Skipf("not judged: mkfifo: %v %s", err, out)
	}
	go func() { _ = os.WriteFile(name, zipped(t, logLine), 0) }() // blocks until it is read
	in, err := FileInput(name)
	if err != nil {
		t.Fatal(err)
	}
	if k, err := KindOfAll([]Input{in}); k != KindAccess || err != nil {
		t.Fatal(k, err)
	}
	if got := all(t, in); got != logLine {
		t.Errorf("%q", got)
	}
}

func TestKindOf(t *testing.T) {
	slow, err := os.ReadFile("../sqllog/testdata/mariadb-10.11-verbose.slow.log")
	if err != nil {
		t.Fatal(err)
	}
	banner := "mariadbd, Version: 10.11.19-MariaDB (Debian 12). started with:\nTcp port: 0  Unix socket: /s\nTime\t\t    Id Command\tArgument\n"
	for _, tt := range []struct {
		why, head string
		want      Kind
		fails     string
	}{
		{"combined", logLine, KindAccess, ""},
		{"ltsv", "time:2023-10-10T13:55:36+00:00\tmethod:GET\turi:/a\tstatus:200\treqtime:0.1\n", KindAccess, ""},
		{"json", `{"time":"2023-10-10T13:55:36+00:00","method":"GET","uri":"/a","status":200}` + "\n", KindAccess, ""},
		{"MariaDB slow log", string(slow), KindSlow, ""},
		{"MySQL slow log without banner", "# Time: 2024-05-01T10:00:00.123456Z\n# User@Host: a[a] @ localhost []  Id:     5\n# Query_time: 0.1  Lock_time: 0 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1;\nselect 1;\n", KindSlow, ""},
		{"slow log from its middle", "select 1;\n# User@Host: a[a] @ localhost []\n", KindSlow, ""},
		{"nothing logged yet", banner, KindSlow, ""},
		{"MariaDB general log", banner + "261121 10:00:00\t     5 Connect\troot@localhost on shop\n\t\t     5 Query\tselect 1\n", KindSlow, ""},
		{"MySQL general log", "2024-05-01T10:00:00.123456Z\t    5 Query\tselect 1\n", KindSlow, ""},
		{"empty", "", KindEmpty, ""},
		{"only line ends", "\n\r\n\n", KindEmpty, ""},
		{"a byte order mark", "\xef\xbb\xbf" + logLine, KindAccess, ""},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00\x00", "", "binary data"},
		{"binary with a line end", "\x7fELF\n\x02\x01\x01\x00\x00\x00", "", "binary data"},
		{"zeros after a power loss", logLine + "\x00\x00\x00\x00", KindAccess, ""},
		{"zeros of a truncation", "\x00\x00\x00\x00" + logLine, KindAccess, ""},
		{"zeros only", "\x00\x00\x00\x00", "", "binary data"},
		{"prose", "It was a dark and stormy night.\nThe rain fell.\n", "", "no known one fits"},
		{"nginx error log", "2026/11/21 10:00:00 [error] 123#123: *1 open() failed\n", "", "error log"},
		{"MariaDB error log", "2026-11-21 10:00:00 0 [Note] InnoDB: Starting\n", "", "error log"},
	} {
		got, err := KindOf("x.log", []byte(tt.head))
		if got != tt.want || (err == nil) != (tt.fails == "") || err != nil && !(strings.Contains(err.Error(), tt.fails) && strings.Contains(err.Error(), "x.log")) {
			t.Errorf("%s: %q %v", tt.why, got, err)
		}
	}
}

func TestKindOfAll(t *testing.T) {
	of := func(name, text string) Input { return StreamInput(name, strings.NewReader(text)) }
	slow := "# User@Host: a[a] @ localhost []\n"
	if k, err := KindOfAll([]Input{of("a", ""), of("b", logLine), of("c", logLine)}); k != KindAccess || err != nil {
		t.Errorf("%s %v", k, err)
	}
	if k, err := KindOfAll([]Input{of("a", "")}); k != KindEmpty || err != nil {
		t.Errorf("%s %v", k, err)
	}
	_, err := KindOfAll([]Input{of("a.log", logLine), of("b.log", slow)})
	if err == nil || !strings.Contains(err.Error(), "a.log is an access log, but b.log is a log of statements") {
		t.Errorf("%v", err)
	}
}

func FuzzKindOf(f *testing.F) {
	f.Add([]byte(logLine))
	f.Add([]byte("# Time: 2024-05-01T10:00:00.123456Z\n"))
	f.Add([]byte("{\"a\":\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := KindOf("x", b)
		if (k == "") == (err == nil) {
			t.Errorf("%q %v", k, err)
		}
	})
}

// A folder's access logs are read, in whatever order they were rotated; what is
// left out is named.
func TestFolderInputs(t *testing.T) {
	dir := t.TempDir()
	line := func(i int) string { return lineAt(i, "") + "\n" }
	for name, b := range map[string][]byte{"access.log": []byte(line(1)), "access.log.1": []byte(line(2)), "access.log.2.gz": zipped(t, line(3)),
		"error.log": []byte("2026/11/21 10:00:00 [error] 1#1: *1 x\n"), "other_vhosts.log": []byte(line(4)), ".hidden": []byte(line(5)), "access.log.3": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in, note, err := FolderInputs(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, err := AccessLogs(t.Context(), in, AccessOptions{})
	if err != nil || a.Lines != 3 {
		t.Errorf("%v, %+v", err, a)
	}
	for _, want := range []string{"are read: access.log, access.log.1, access.log.2.gz; left out:", "error.log (it is no log", "access.log.3 (it is empty)", "other_vhosts.log (others"} {
		if !strings.Contains(note, want) {
			t.Errorf("%q is not in %q", want, note)
		}
	}
	if _, _, err := FolderInputs(t.TempDir()); err == nil || !strings.Contains(err.Error(), "without a log") {
		t.Errorf("an empty folder: %v", err)
	}
}

// UTF-16 is refused with a reason, with its mark and without.
func TestUTF16(t *testing.T) {
	var wide []byte
	for _, c := range []byte(lineAt(1, "") + "\n") {
		wide = append(wide, c, 0)
	}
	for _, head := range [][]byte{wide, append([]byte("\xff\xfe"), wide...), append([]byte("\xfe\xff\x00"), wide...)} {
		if _, err := KindOf("access.log", head); err == nil || !strings.Contains(err.Error(), "iconv") {
			t.Errorf("%q: %v", head[:8], err)
		}
	}
}
