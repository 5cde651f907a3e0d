package agent

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
)

const (
	// maxHeader of a frame. A list of 100,000 files takes 20 MiB.
	maxHeader = 256 << 20
	// maxBody of a frame, so that a broken length is an error and no panic.
	maxBody = 1 << 40
	// chunk is how much is written at once, so that signs of life and other
	// calls come between.
	chunk = 64 << 10
)

// writeFrame sends a header and the bodies that it announces.
func writeFrame(w io.Writer, header any, bodies ...[]byte) error {
	buf := bytes.NewBuffer(make([]byte, 4, 512))
	enc := gob.NewEncoder(buf)
	if err := enc.Encode(header); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	b := buf.Bytes()
	if len(b)-4 > maxHeader {
		return fmt.Errorf("a frame of %d MiB is too long", len(b)>>20)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	for _, part := range append([][]byte{b}, bodies...) {
		for len(part) > 0 {
			n, err := w.Write(part[:min(len(part), chunk)])
			if err != nil {
				return err
			}
			part = part[n:]
		}
	}
	return nil
}

// readFrame reads a header. The bodies are read by readBody.
func readFrame(r io.Reader, header any) error {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxHeader {
		return fmt.Errorf("a frame of %d bytes is too long; is the other side Kasoku's helper?", n)
	}
	b, err := readBody(r, int64(n))
	if err != nil {
		return err
	}
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(header); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	return nil
}

// readBody reads exactly n bytes. Memory is taken as bytes come, so that a
// wrong length takes none.
func readBody(r io.Reader, n int64) ([]byte, error) {
	if n < 0 || n > maxBody {
		return nil, fmt.Errorf("a body of %d bytes", n)
	}
	if n <= 1<<20 {
		b := make([]byte, n)
		_, err := io.ReadFull(r, b)
		return b, unexpected(err)
	}
	var buf bytes.Buffer
	buf.Grow(int(min(n, 64<<20)) + bytes.MinRead)
	got, err := io.Copy(&buf, io.LimitReader(r, n))
	if err == nil && got < n {
		err = io.ErrUnexpectedEOF
	}
	return buf.Bytes(), err
}

// unexpected turns an end into an unexpected one.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
