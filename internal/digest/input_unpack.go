package digest

import (
	"errors"
	"fmt"
	"io"
)

// DamagedError is a compressed log that cannot be unpacked to its end.
type DamagedError struct {
	Name, Packing string
	After         int64 // bytes that came out before
	Err           error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("unpack %s (%s): cut off or damaged after %d unpacked bytes: %v", e.Name, e.Packing, e.After, e.Err)
}

// Unwrap returns the unpacker's error. It is never io.EOF: a log that is cut
// off would be taken for a whole one.
func (e *DamagedError) Unwrap() error { return e.Err }

// unpacked reads the bytes within and names the log in errors.
type unpacked struct {
	name, packing string
	in            io.ReadCloser
	under         io.Closer
	after         int64
}

func unpack(name string, p *packing, packed io.Reader, under io.Closer) (io.ReadCloser, error) {
	if p.open == nil {
		return nil, fmt.Errorf("read %s: it is packed by %s, which Kasoku does not read; unpack it first (gzip, zstd and bzip2 need not be)", name, p.name)
	}
	r, err := p.open(packed)
	if err != nil {
		return nil, &DamagedError{name, p.name, 0, noEOF(err)}
	}
	return &unpacked{name: name, packing: p.name, in: r, under: under}, nil
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.in.Read(p)
	u.after += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &DamagedError{u.name, u.packing, u.after, noEOF(err)}
	}
	return n, err
}

func (u *unpacked) Close() error { return errors.Join(u.in.Close(), u.under.Close()) }

func noEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return err
}
