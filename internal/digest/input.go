package digest

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// packedBuffer is read at once of a compressed file: large enough that
	// system calls do not count.
	packedBuffer = 1 << 20
	// peekSize is what a log is recognised by.
	peekSize = 64 << 10
	// maxWindow that a zstd frame may ask for. "zstd --long=27" is the most
	// that zstd itself unpacks without being told to; a frame that asks for
	// more would cost its window in memory.
	maxWindow = 128 << 20
)

// packing is a way to compress, known by the first bytes.
type packing struct {
	name  string
	magic []byte
	open  func(io.Reader) (io.ReadCloser, error)
}

// RFC 1952 2.3.1; RFC 8878 3.1.1; "BZh" of bzip2; the .xz file format 2.1.1.1.
// lz4 and zip are known so that the message can say what to do. Several members,
// frames or streams one behind the other are one log.
var packings = []packing{
	{"gzip", []byte{0x1f, 0x8b}, func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"zstd", []byte{0x28, 0xb5, 0x2f, 0xfd}, openZstd},
	{"bzip2", []byte("BZh"), func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(bzip2.NewReader(r)), nil }},
	{"xz", []byte{0xfd, '7', 'z', 'X', 'Z', 0}, openXZ},
	{"lz4", []byte{0x04, 0x22, 0x4d, 0x18}, nil},
	{"zip", []byte("PK\x03\x04"), nil},
}

func openZstd(r io.Reader) (io.ReadCloser, error) {
	// More goroutines take 1.6 times the processor time and are no faster: the
	// processors that they would use are reading lines.
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

func packingOf(head []byte) *packing {
	// RFC 8878 3.1.2: a zstd log may begin with a frame to be skipped, as pzstd
	// writes it.
	if len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18" {
		return &packings[1]
	}
	for i := range packings {
		if bytes.HasPrefix(head, packings[i].magic) {
			return &packings[i]
		}
	}
	return nil
}

// FileInput is a log in a file, packed by gzip, zstd, bzip2 or not at all: its
// first bytes tell, not its name. A pipe or device is read once, as a stream.
// The error says what is wrong with the name.
func FileInput(name string) (Input, error) {
	f, err := os.Open(name)
	if err != nil {
		return Input{}, fmt.Errorf("open log: %w", err)
	}
	st, err := f.Stat()
	switch {
	case err != nil:
	case st.IsDir():
		err = fmt.Errorf("%s is a folder; name the logs in it", name)
	case !st.Mode().IsRegular():
		in := StreamInput(name, f)
		return in, nil
	}
	head := make([]byte, 8)
	n := 0
	if err == nil {
		n, err = io.ReadFull(f, head)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return Input{}, fmt.Errorf("open log: %w", err)
	}
	p := packingOf(head[:n])
	in := Input{Name: name, Size: st.Size(), Changed: st.ModTime(), Open: func() (io.ReadCloser, error) { return openFile(name, p) }}
	if p == nil {
		in.At = func() (io.ReaderAt, io.Closer, error) {
			f, err := os.Open(name)
			if err != nil {
				return nil, nil, fmt.Errorf("open log: %w", err)
			}
			return f, f, nil
		}
	}
	return in, nil
}

func openFile(name string, p *packing) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	if p == nil {
		return f, nil
	}
	r, err := unpack(name, p, bufio.NewReaderSize(f, packedBuffer), f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// StreamInput is a log that can be read only once, such as standard input,
// packed or not. Where r is a file of its own, from its begin on, it is read
// like one.
func StreamInput(name string, r io.Reader) Input {
	if f, ok := r.(*os.File); ok {
		if in, ok := seekable(name, f); ok {
			return in
		}
	}
	s := &stream{name: name, in: bufio.NewReaderSize(r, packedBuffer)}
	return Input{Name: name, Open: s.open}
}

// seekable is the input for "kasoku digest <access.log": positions count from
// the begin, whatever others read from the same file.
func seekable(name string, f *os.File) (Input, bool) {
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return Input{}, false
	}
	if at, err := f.Seek(0, io.SeekCurrent); err != nil || at != 0 {
		return Input{}, false
	}
	head := make([]byte, 8)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Input{}, false
	}
	part := func() io.Reader { return io.NewSectionReader(f, 0, st.Size()) }
	in := Input{Name: name, Size: st.Size()}
	p := packingOf(head[:n])
	if p != nil {
		in.Open = func() (io.ReadCloser, error) {
			return unpack(name, p, bufio.NewReaderSize(part(), packedBuffer), io.NopCloser(nil))
		}
		return in, true
	}
	in.Open = func() (io.ReadCloser, error) { return io.NopCloser(part()), nil }
	in.At = func() (io.ReaderAt, io.Closer, error) { return f, io.NopCloser(nil), nil }
	return in, true
}

// stream gives the same bytes out again as long as only its head was read.
type stream struct {
	name string
	in   *bufio.Reader
	body *bufio.Reader // unpacked
	err  error
	used bool
}

func (s *stream) start() {
	if s.body != nil || s.err != nil {
		return
	}
	head, err := s.in.Peek(8)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = fmt.Errorf("read %s: %w", s.name, err)
		return
	}
	s.body = s.in
	if p := packingOf(head); p != nil {
		r, err := unpack(s.name, p, s.in, io.NopCloser(nil))
		if err != nil {
			s.err = err
			return
		}
		s.body = bufio.NewReaderSize(r, peekSize)
	}
}

// open gives a reader whose head can be read without using it up; whoever
// reads beyond that has the stream for himself.
func (s *stream) open() (io.ReadCloser, error) {
	if s.start(); s.err != nil {
		return nil, s.err
	}
	if s.used {
		return nil, fmt.Errorf("read %s: it can be read only once; write it to a file first", s.name)
	}
	return &streamReader{s: s}, nil
}

// peek returns the first bytes and leaves them there.
func (s *stream) peek(n int) ([]byte, error) {
	head, err := s.body.Peek(min(n, s.body.Size()))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head, err
}

type streamReader struct{ s *stream }

func (r *streamReader) Read(p []byte) (int, error) {
	r.s.used = true
	return r.s.body.Read(p)
}

func (r *streamReader) Close() error { return nil }

// firstBytes returns an input's first bytes, at most 64 KiB, and leaves a stream as
// it was.
func firstBytes(in Input) ([]byte, error) {
	r, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if s, ok := r.(*streamReader); ok {
		head, err := s.s.peek(peekSize)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", in.Name, err)
		}
		return head, nil
	}
	head := make([]byte, peekSize)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read %s: %w", in.Name, err)
	}
	return head[:n], nil
}
