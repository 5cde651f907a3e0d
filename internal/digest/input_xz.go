package digest

import (
	"bufio"
	"errors"
	"io"

	"github.com/ulikunitz/xz"
)

// openXZ refuses a log that asks for a dictionary above maxWindow: xz -9 takes
// 64 MiB, and the reader takes as much memory as the log asks for.
func openXZ(r io.Reader) (io.ReadCloser, error) {
	x, err := xz.NewReader(newXZGuard(bufio.NewReader(r)))
	if err != nil {
		return nil, err
	}
	out := bufio.NewReader(x)
	if _, err := out.Peek(1); err != nil && !errors.Is(err, io.EOF) { // the first block's header
		return nil, err
	}
	return io.NopCloser(out), nil
}

// xzDictionary is the size in bytes that a block's header asks for (the .xz file
// format, 3.1 and 5.3.1); 0: there is none.
func xzDictionary(head []byte) int64 {
	if len(head) < 2 {
		return 0
	}
	flags, at := head[1], 2
	number := func() (n uint64) { // multibyte integer, 1.2
		for shift := 0; at < len(head) && shift < 63; shift += 7 {
			c := head[at]
			at++
			n |= uint64(c&0x7f) << shift
			if c&0x80 == 0 {
				break
			}
		}
		return n
	}
	for _, there := range []bool{flags&0x40 != 0, flags&0x80 != 0} { // sizes
		if there {
			number()
		}
	}
	for range flags&3 + 1 {
		id, size := number(), int(min(number(), uint64(len(head))))
		if id == 0x21 && size == 1 && at < len(head) { // LZMA2
			bits := head[at] & 0x3f
			return int64(2|bits&1) << (bits/2 + 11)
		}
		at += size
	}
	return 0
}
