package digest

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
)

// xzGuard hands an .xz file on and looks at the header of each of its blocks, in
// every stream: the reader behind it takes as much memory as a header asks for.
// Where the format is broken it looks no further, as the reader ends there.
type xzGuard struct {
	in    *bufio.Reader
	left  int64 // bytes to hand on before the next part is looked at
	part  func(*xzGuard) error
	check int64 // size of a block's check
	size  int64 // of the present block's chunks, or of the index, so far
	todo  uint64
}

func newXZGuard(in *bufio.Reader) *xzGuard { return &xzGuard{in: in, part: (*xzGuard).stream} }

// Read implements io.Reader.
func (g *xzGuard) Read(p []byte) (int, error) {
	for g.left == 0 {
		if err := g.part(g); err != nil {
			return 0, err
		}
	}
	n, err := g.in.Read(p[:min(int64(len(p)), g.left)])
	g.left -= int64(n)
	return n, err
}

// peek returns n bytes, nil if there are less: then the rest is handed on.
func (g *xzGuard) peek(n int) []byte {
	if b, err := g.in.Peek(n); err == nil {
		return b
	}
	g.left = math.MaxInt64
	return nil
}

// stream takes a stream's header, or padding (the .xz file format, 2.1.1, 2.2).
func (g *xzGuard) stream() error {
	b := g.peek(4)
	if b == nil {
		return nil
	}
	if binary.LittleEndian.Uint32(b) == 0 {
		g.left = 4
		return nil
	}
	if b = g.peek(12); b == nil {
		return nil
	}
	if g.check = 0; b[7]&15 > 0 { // 2.1.1.2
		g.check = 4 << ((b[7]&15 - 1) / 3)
	}
	g.left, g.part = 12, (*xzGuard).block
	return nil
}

// block takes a block's header, or the begin of the index (3.1, 4.1).
func (g *xzGuard) block() error {
	b := g.peek(1)
	if b == nil {
		return nil
	}
	if b[0] == 0 {
		g.left, g.size, g.part = 1, 1, (*xzGuard).records
		return nil
	}
	n := (int(b[0]) + 1) * 4
	b, _ = g.in.Peek(n) // of one that is cut, what there is
	if size := xzDictionary(b); size > maxWindow {
		return fmt.Errorf("it asks for a dictionary of %d MiB, the most that is read is %d MiB", size>>20, maxWindow>>20)
	}
	if len(b) < n {
		g.left = math.MaxInt64
		return nil
	}
	g.left, g.size, g.part = int64(n), 0, (*xzGuard).chunk
	return nil
}

// chunk takes one of LZMA2 (the LZMA2 format as xz-file-format 5.3.1 names it,
// lzma2_decoder.c), and the padding and the check behind the last.
func (g *xzGuard) chunk() error {
	b := g.peek(1)
	if b == nil {
		return nil
	}
	control := b[0]
	n := int64(0)
	switch {
	case control == 0:
		g.size++
		g.left = 1 + -g.size&3 + g.check
		g.part = (*xzGuard).block
		return nil
	case control < 3: // not compressed
		if b = g.peek(3); b != nil {
			n = 3 + int64(binary.BigEndian.Uint16(b[1:])) + 1
		}
	case control >= 0x80:
		if b = g.peek(5); b != nil {
			n = 5 + int64(binary.BigEndian.Uint16(b[3:])) + 1
			if control >= 0xc0 { // with properties
				n++
			}
		}
	default:
		g.left = math.MaxInt64
	}
	if n > 0 {
		g.left = n
	}
	g.size += n
	return nil
}

// records takes how many records the index has (4.2).
func (g *xzGuard) records() error {
	g.number(&g.todo)
	g.todo *= 2 // each has two numbers
	g.part = (*xzGuard).record
	return nil
}

// record takes a number of the index, or its end and the stream's (4.3, 4.4, 2.1.2).
func (g *xzGuard) record() error {
	if g.todo > 0 {
		g.todo--
		var size uint64
		g.number(&size)
		return nil
	}
	g.left = -g.size&3 + 4 + 12
	g.part = (*xzGuard).stream
	return nil
}

// number takes a multibyte integer (1.2).
func (g *xzGuard) number(n *uint64) {
	*n = 0
	for i := range 9 {
		b := g.peek(i + 1)
		if b == nil {
			return
		}
		*n |= uint64(b[i]&0x7f) << (7 * i)
		if b[i]&0x80 == 0 {
			g.left = int64(i + 1)
			g.size += g.left
			return
		}
	}
	g.left = math.MaxInt64
}
