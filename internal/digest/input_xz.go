package digest

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/ulikunitz/xz"
)

// openXZ refuses a log that asks for a dictionary above maxWindow: xz -9 takes
// 64 MiB, and the reader takes as much memory as the log asks for.
func openXZ(r io.Reader) (io.ReadCloser, error) {
	in := bufio.NewReader(r)
	head, err := in.Peek(xzHeaders)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if size := xzDictionary(head); size > maxWindow {
		return nil, fmt.Errorf("it asks for a dictionary of %d MiB, the most that is read is %d MiB", size>>20, maxWindow>>20)
	}
	x, err := xz.NewReader(in)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(x), nil
}

// xzHeaders are the stream's header and as much of the first block's as is
// looked at.
const xzHeaders = 12 + 64

// xzDictionary is the size in bytes that the first block asks for (the .xz file
// format, 3.1 and 5.3.1); 0: there is none.
func xzDictionary(head []byte) int64 {
	const block = 12 // behind the stream's header
	if len(head) < block+2 || head[block] == 0 {
		return 0
	}
	flags, at := head[block+1], block+2
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
		id, size := number(), int(min(number(), xzHeaders))
		if id == 0x21 && size == 1 && at < len(head) { // LZMA2
			bits := head[at] & 0x3f
			return int64(2|bits&1) << (bits/2 + 11)
		}
		at += size
	}
	return 0
}
