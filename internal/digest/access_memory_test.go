package digest

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"testing"

	"kasoku/internal/await"
)

// endless generates a log without storing it.
type endless struct {
	line func(i int) string
	i    int
	left int64
	rest string
	peak uint64
}

func (g *endless) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		if g.rest == "" {
			if g.left <= 0 {
				if n == 0 {
					return 0, io.EOF
				}
				return n, nil
			}
			g.rest = g.line(g.i)
			g.left -= int64(len(g.rest))
			if g.i++; g.i%200_000 == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				g.peak = max(g.peak, m.HeapAlloc)
			}
		}
		k := copy(b[n:], g.rest)
		n, g.rest = n+k, g.rest[k:]
	}
	return n, nil
}

func (g *endless) Close() error { return nil }

// letters writes a number as a word, which no class knows.
func letters(i int) string {
	b := []byte("wwwwwww")
	for k := range b {
		b[k] = byte('a' + i%26)
		i /= 26
	}
	return string(b)
}

// Memory does not grow with the log, whatever its targets are.
func TestAccessMemoryIsBounded(t *testing.T) {
	await.SkipShort(t)
	const head = "time:2026-11-21T10:00:00Z\treqtime:0.%03d\tstatus:200\tsize:100\tua:Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)\tmethod:GET\turi:"
	for _, c := range []struct {
		name   string
		target func(i int) string
		routes int // at most
	}{
		{"numbers", func(i int) string { return fmt.Sprintf("/items/%d?n=%d", i, i) }, 1},
		{"words", func(i int) string { return "/tag/" + letters(i*7919) + "/x" }, 1},
		{"words everywhere", func(i int) string { return "/" + letters(i*7919) + "/" + letters(i*104729) + "/" + letters(i) }, 5001},
		{"few words at many places", func(i int) string {
			return fmt.Sprintf("/%c%c/%c%c/%c%c/%c%c", 'a'+i%5, 'a'+i/5%5, 'a'+i/25%5, 'a'+i/125%5, 'a'+i/625%5, 'a'+i/3125%5, 'a'+i/15625%5, 'a'+i/78125%5)
		}, 5001},
	} {
		const size = 50 << 20
		g := &endless{left: size, line: func(i int) string { return fmt.Sprintf(head+"%s\n", i%1000, c.target(i)) }}
		in := Input{Name: "endless", Open: func() (io.ReadCloser, error) { return g, nil }}
		a, err := AccessLogs(context.Background(), []Input{in}, AccessOptions{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, r := range a.Routes {
			sum += r.Count
		}
		if a.Bad > 0 || sum != a.Lines || len(a.Routes) > c.routes || a.Bytes < size {
			t.Errorf("%s: %d routes with %d requests of %d lines, %d bad; %q", c.name, len(a.Routes), sum, a.Lines, a.Bad, a.Warnings)
		}
		// Blocks take 4 × 4 MiB, the slots and their routes the rest.
		if g.peak == 0 || g.peak > 150<<20 {
			t.Errorf("%s: %d MiB in use", c.name, g.peak>>20)
		}
		t.Logf("%s: %d MiB in use, %d routes, %q", c.name, g.peak>>20, len(a.Routes), a.Warnings)
	}
}
