package digest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"kasoku/internal/accesslog"
)

// headers follows the lines of a log that say how those behind them look, so
// that each worker knows the last one before its piece. Logs of formats without
// such lines are not read for it.
type headers struct {
	format *accesslog.Format
	line   []byte // nil: none so far
	at     int64  // of the file, up to which it was read
	buf    []byte
}

// note takes whole lines.
func (h *headers) note(lines []byte) {
	if h.format == nil || !h.format.HasHeaders() {
		return
	}
	if line := accesslog.LastHeader(lines); line != nil {
		h.line = bytes.Clone(line)
	}
}

// scan goes on to the line that holds the byte before end.
func (h *headers) scan(f *accessFile, end int64) error {
	if !h.format.HasHeaders() || end >= f.Size {
		return nil
	}
	if h.buf == nil {
		h.buf = make([]byte, readSize)
	}
	for h.at < end {
		n, err := f.at.ReadAt(h.buf[:min(int64(len(h.buf)), f.Size-h.at)], h.at)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s at byte %d: %w", f.Name, h.at, err)
		}
		whole := bytes.LastIndexByte(h.buf[:n], '\n') + 1
		if whole == 0 { // a line that is longer is no header
			whole = n
		}
		if whole == 0 {
			return nil
		}
		// Lines that begin at end or later are the next piece's own.
		if limit := end - h.at; int64(whole) > limit {
			whole = int(limit)
			if at := bytes.IndexByte(h.buf[whole:n], '\n'); at >= 0 {
				whole += at + 1
			}
		}
		h.note(h.buf[:whole])
		h.at += int64(whole)
	}
	return nil
}
