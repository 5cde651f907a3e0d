package digest

import (
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

// valueGuard bounds the memory that one JSON value takes.
type valueGuard struct {
	r      io.Reader
	n      int64
	offset func() int64 // how much the decoder is done with
}

func (g *valueGuard) Read(p []byte) (int, error) {
	if at := g.offset(); g.n-at > longestValue {
		return 0, fmt.Errorf("a value of JSON at byte %d is longer than %d MiB", at, longestValue>>20)
	}
	n, err := g.r.Read(p)
	g.n += int64(n)
	return n, err
}
