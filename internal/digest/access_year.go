package digest

import (
	"errors"
	"io"
	"time"

	"kasoku/internal/accesslog"
)

// endSize of a file is looked at for its last line.
const endSize = 64 << 10

// yearsOf is the format with what tells the year of dates that have none: the file's
// last line is the last of its day of the year that is not after the file's last change,
// and all others are before that line. Nothing tells it of a stream, whose last line is
// taken to be of the last twelve months.
func (run *accessRun) yearsOf(f *accessFile, format *accesslog.Format) *accesslog.Format {
	newest := f.Changed
	if newest.IsZero() {
		newest = run.o.Now
	}
	if newest.IsZero() {
		newest = time.Now()
	}
	dated := format.NotAfter(newest)
	if f.at == nil {
		return dated
	}
	end := make([]byte, min(f.Size, endSize))
	n, err := f.at.ReadAt(end, f.Size-int64(len(end)))
	if err != nil && !errors.Is(err, io.EOF) {
		return dated
	}
	if last := dated.Newest(end[:n], run.o.Zone); !last.IsZero() {
		return format.NotAfter(last)
	}
	return dated
}

// yearNote says where the year is from.
func yearNote(f *accessFile) string {
	by := "now, as nothing says when the log was written"
	if !f.Changed.IsZero() {
		by = "the file's last change, " + f.Changed.UTC().Format(time.DateOnly)
	}
	return "dates without a year are the last ones before " + by
}
