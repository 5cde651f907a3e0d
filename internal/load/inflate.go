package load

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// inflater decodes bodies into memory that is kept.
type inflater struct {
	in   bytes.Reader
	cap  io.LimitedReader
	gz   *gzip.Reader
	br   *brotli.Reader
	zstd *zstd.Decoder
	out  bytes.Buffer
}

// decode returns the body without its Content-Encoding. opaque says why it
// could not; then body is as it came.
func (f *inflater) decode(res *response) (body []byte, opaque string) {
	if len(res.encoding) == 0 || len(res.body) == 0 || foldEqual(res.encoding, "identity") {
		return res.body, ""
	}
	f.in.Reset(res.body)
	r, err := f.reader(res)
	if err != nil {
		return res.body, fmt.Sprintf("a body that is not %s, though Content-Encoding says so: %v", res.encoding, err)
	}
	if r == nil {
		return res.body, fmt.Sprintf("Content-Encoding %s, which cannot be read here; ask for gzip, br, zstd or deflate (headers: {Accept-Encoding: gzip}) or none", quoteShort(res.encoding))
	}
	f.out.Reset()
	f.cap = io.LimitedReader{R: r, N: maxBody + 1}
	n, err := f.out.ReadFrom(&f.cap)
	if err == nil && n > maxBody {
		err = errLongBody
	}
	if err != nil {
		return res.body, fmt.Sprintf("a broken %s body: %v", res.encoding, err)
	}
	return f.out.Bytes(), ""
}

// reader of the answer's encoding; nil if it is none of ours.
func (f *inflater) reader(res *response) (io.Reader, error) {
	switch {
	case foldEqual(res.encoding, "gzip") || foldEqual(res.encoding, "x-gzip"):
		if f.gz == nil {
			var err error
			f.gz, err = gzip.NewReader(&f.in)
			return f.gz, err
		}
		return f.gz, f.gz.Reset(&f.in)
	case foldEqual(res.encoding, "br"):
		if f.br == nil {
			f.br = brotli.NewReader(&f.in)
			return f.br, nil
		}
		return f.br, f.br.Reset(&f.in)
	case foldEqual(res.encoding, "zstd"):
		if f.zstd == nil {
			var err error
			// RFC 8878, 3.1.1.1.2 and RFC 9659: windows up to 8 MiB on the web.
			f.zstd, err = zstd.NewReader(&f.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderMaxMemory(2*maxBody))
			return f.zstd, err
		}
		return f.zstd, f.zstd.Reset(&f.in)
	case foldEqual(res.encoding, "deflate"):
		// RFC 9110, 8.4.1.2 means zlib; some servers send raw deflate.
		if z, err := zlib.NewReader(&f.in); err == nil {
			return z, nil
		}
		f.in.Reset(res.body)
		return flate.NewReader(&f.in), nil
	}
	return nil, nil
}
