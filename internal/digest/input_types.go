package digest

import "io"

// Input is one log.
type Input struct {
	Name string // for messages
	Size int64  // bytes as stored; 0 unknown
	// Open returns the log's uncompressed bytes.
	Open func() (io.ReadCloser, error)
	// At is for a plain file, which can be read in parts; nil: only as a stream.
	At func() (io.ReaderAt, io.Closer, error)
}
