package patch

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	kflate "github.com/klauspost/compress/flate"
	kgzip "github.com/klauspost/compress/gzip"
	kzlib "github.com/klauspost/compress/zlib"

	"kasoku/internal/await"
)

// What takes its writers and buffers from a pool answers to the byte what it did, to eight
// at a time.
func TestAnswersStayPooled(t *testing.T) {
	await.SkipShort(t)
	_, places := loaded(t, "pooled")
	var offered []*Place
	for _, at := range places {
		if at.Refused == nil {
			offered = append(offered, at)
		}
	}
	files, err := Files(offered)
	if err != nil {
		t.Fatal(err)
	}
	before, after := builtOf(t, "pooled", ".", nil), builtOf(t, "pooled", ".", files)
	for _, seed := range []string{"1", "2"} {
		want, got := digests(t, before, seed), digests(t, after, seed)
		if len(want) < 1500 || len(want) != len(got) {
			t.Fatalf("%d answers before, %d after", len(want), len(got))
		}
		for i := range want {
			if want[i] != got[i] {
				t.Errorf("before %s\nafter  %s", want[i], got[i])
			}
		}
	}
}

func digests(t *testing.T, program, seed string) []string {
	t.Helper()
	out, err := exec.Command(program, seed).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// writer is what the table tells of writers.
type writer interface {
	io.Writer
	Reset(io.Writer)
}

// Writers that were used, and left half way, write after Reset what new ones write.
func TestReusedWriteTheSame(t *testing.T) {
	makers := map[string]func() writer{
		"compress/gzip.NewWriter": func() writer { return gzip.NewWriter(nil) }, "compress/zlib.NewWriter": func() writer { return zlib.NewWriter(nil) },
		"compress/gzip.NewWriterLevel":                      func() writer { w, _ := gzip.NewWriterLevel(nil, 1); return w },
		"compress/zlib.NewWriterLevel":                      func() writer { w, _ := zlib.NewWriterLevel(nil, 9); return w },
		"compress/flate.NewWriter":                          func() writer { w, _ := flate.NewWriter(nil, 6); return w },
		"github.com/klauspost/compress/gzip.NewWriter":      func() writer { return kgzip.NewWriter(nil) },
		"github.com/klauspost/compress/gzip.NewWriterLevel": func() writer { w, _ := kgzip.NewWriterLevel(nil, 1); return w },
		"github.com/klauspost/compress/zlib.NewWriter":      func() writer { return kzlib.NewWriter(nil) },
		"github.com/klauspost/compress/zlib.NewWriterLevel": func() writer { w, _ := kzlib.NewWriterLevel(nil, 9); return w },
		"github.com/klauspost/compress/flate.NewWriter":     func() writer { w, _ := kflate.NewWriter(nil, 3); return w },
		"github.com/andybalholm/brotli.NewWriter":           func() writer { return brotli.NewWriter(nil) },
		"github.com/andybalholm/brotli.NewWriterLevel":      func() writer { return brotli.NewWriterLevel(nil, 4) },
		"bufio.NewWriter":                                   func() writer { return bufio.NewWriter(nil) },
		"bufio.NewWriterSize":                               func() writer { return bufio.NewWriterSize(nil, 100) },
	}
	for name, maker := range makers {
		random := rand.New(rand.NewPCG(1, 2))
		used := maker()
		for range 40 {
			text := someText(random)
			var want, got bytes.Buffer
			fresh := maker()
			fresh.Reset(&want)
			used.Reset(&got)
			for _, w := range []writer{fresh, used} {
				w.Write(text[:len(text)/2])
				w.Write(text[len(text)/2:])
			}
			if random.IntN(4) > 0 { // else it is left half way
				for _, w := range []writer{fresh, used} {
					if c, ok := w.(io.Closer); ok {
						c.Close()
					}
				}
			}
			if !bytes.Equal(want.Bytes(), got.Bytes()) {
				t.Fatalf("%s: %d bytes by a new one, %d by one that was used", name, want.Len(), got.Len())
			}
		}
	}
	for i := range reusables {
		for name := range reusables[i].makers {
			if of := reusables[i].path + "." + name; reusables[i].typ == "Writer" && makers[of] == nil && !strings.Contains(of, "lz4") {
				t.Errorf("nothing compares %s", of)
			}
		}
	}
}

func someText(random *rand.Rand) []byte {
	var b bytes.Buffer
	for range random.IntN(5000) {
		b.WriteString([]string{"the ", "quick ", "brown ", "fox ", "\x00\x01", "jumps "}[random.IntN(6)])
		if random.IntN(5) == 0 {
			b.WriteByte(byte(random.Uint32()))
		}
	}
	return b.Bytes()
}
