package digest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

// blocks is an .xz stream of blocks of size bytes.
func blocks(t *testing.T, text string, size int64, check byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := xz.WriterConfig{BlockSize: size, CheckSum: check, NoCheckSum: check == xz.None}.NewWriter(&b)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// askMore changes the header of the block at the offset so that it asks for a
// dictionary of 1.5 GiB.
func askMore(t *testing.T, stream []byte, at int) []byte {
	t.Helper()
	out := bytes.Clone(stream)
	n := (int(out[at]) + 1) * 4
	head := out[at : at+n]
	dict := bytes.Index(head, []byte{0x21, 1})
	if dict < 0 {
		t.Fatalf("no LZMA2 in % x", head)
	}
	head[dict+2] = 37
	binary.LittleEndian.PutUint32(head[n-4:], crc32.ChecksumIEEE(head[:n-4]))
	return out
}

// A dictionary that is too large is refused wherever it is asked for.
func TestXZDictionaries(t *testing.T) {
	text := strings.Repeat("GET /a 200\n", 3000)
	for _, check := range []byte{xz.None, xz.CRC32, xz.CRC64, xz.SHA256} {
		several := blocks(t, text, 10_000, check)
		one := blocks(t, text, 1<<30, check)
		padded := append(append(append([]byte{}, several...), 0, 0, 0, 0), one...)
		r, err := openXZ(bytes.NewReader(append(padded, several...)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); string(got) != text+text+text || err != nil {
			t.Errorf("check %d: %d bytes, %v", check, len(got), err)
		}
		// The second block begins where its header stands again.
		n := (int(several[12]) + 1) * 4
		again := 12 + n + bytes.Index(several[12+n:], several[12:16])
		for why, data := range map[string][]byte{"the first block": askMore(t, several, 12), "the second block": askMore(t, several, again),
			"the second stream": append(bytes.Clone(padded[:len(several)+4]), askMore(t, one, 12)...)} {
			r, err := openXZ(bytes.NewReader(data))
			if err == nil {
				_, err = io.Copy(io.Discard, r)
			}
			if err == nil || !strings.Contains(err.Error(), "a dictionary of 1536 MiB") {
				t.Errorf("check %d, %s: %v", check, why, err)
			}
		}
	}
}

func FuzzXZGuard(f *testing.F) {
	f.Add([]byte("\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F\x02\x00!\x01\x16\x00\x00\x00t/\xe5\xa3\x01\x00\x00a\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := io.ReadAll(newXZGuard(bufio.NewReader(bytes.NewReader(data))))
		if err == nil && !bytes.Equal(got, data) || !bytes.HasPrefix(data, got) {
			t.Fatalf("%q became %q: %v", data, got, err)
		}
	})
}
