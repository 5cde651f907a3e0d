package load

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// inflater decodes gzip bodies into memory that is kept.
type inflater struct {
	in  bytes.Reader
	cap io.LimitedReader
	gz  *gzip.Reader
	out bytes.Buffer
}

// decode returns the body without its Content-Encoding. opaque says why it
// could not; then body is as it came.
func (f *inflater) decode(res *response) (body []byte, opaque string) {
	if len(res.encoding) == 0 || len(res.body) == 0 || foldEqual(res.encoding, "identity") {
		return res.body, ""
	}
	if !foldEqual(res.encoding, "gzip") && !foldEqual(res.encoding, "x-gzip") {
		return res.body, fmt.Sprintf("Content-Encoding %s, which cannot be read here; ask for gzip (headers: {Accept-Encoding: gzip}) or none", quoteShort(res.encoding))
	}
	f.in.Reset(res.body)
	var err error
	if f.gz == nil {
		f.gz, err = gzip.NewReader(&f.in)
	} else {
		err = f.gz.Reset(&f.in)
	}
	if err != nil {
		return res.body, "a body that is not gzip, though Content-Encoding says so: " + err.Error()
	}
	f.out.Reset()
	f.cap = io.LimitedReader{R: f.gz, N: maxBody + 1}
	n, err := f.out.ReadFrom(&f.cap)
	if err == nil && n > maxBody {
		err = errLongBody
	}
	if err != nil {
		return res.body, "a broken gzip body: " + err.Error()
	}
	return f.out.Bytes(), ""
}
