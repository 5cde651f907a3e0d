package digest

import (
	"io"
	"time"
)

// Input is one log.
type Input struct {
	Name string // for messages
	Size int64  // bytes as stored, 0 unknown
	// Changed is when the file was last written; zero: it is not known, as of a stream.
	Changed time.Time
	// Open returns the uncompressed bytes.
	Open func() (io.ReadCloser, error)
	// At opens a plain file that can be read in parts; nil: only as a stream.
	At func() (io.ReaderAt, io.Closer, error)
}
