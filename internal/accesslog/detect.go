package accesslog

import (
	"bytes"
	"fmt"
	"slices"
)

const (
	// detectLines that are looked at; formats do not change within a log, but
	// garbage of scanners may come first.
	detectLines = 200
	// detectShare of them that must fit.
	detectShare = 0.5
)

// lenient formats are tried last: what follows the known values is kept as
// the field "rest".
var lenient = []struct{ name, text string }{
	{"combined and more", combined + ` $rest`},
	{"vhost_combined and more", `%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i" %{rest}x`},
	{"common and more", `%h %l %u %t "%r" %>s %b %{rest}x`},
}

// Detect tells the format from a log's first lines. The error names the
// first line and what to do.
func Detect(head []byte) (*Format, error) {
	var lines [][]byte
	for line := range bytes.Lines(head) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 && len(lines) < detectLines {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("detect the log's format: there are no lines")
	}
	// A last line without its end may be cut; it would fit best where the text
	// behind the known values does not matter.
	if n := len(lines); n > 1 && head[len(head)-1] != '\n' {
		lines = lines[:n-1]
	}
	if f := headed(lines); f != nil {
		if fits, headers := headedFit(lines); float64(fits) >= detectShare*float64(len(lines)-headers) {
			return f, nil
		}
	}
	jsonFormat := JSON()
	early, late := productFormats()
	candidates := append([]*Format{jsonFormat, LTSV(), HAProxy()}, early...)
	candidates = append(candidates, usualColumns()...)
	for i, k := range append(slices.Clone(known), lenient...) {
		if i == len(known) {
			candidates = append(candidates, late...)
		}
		f, err := namedFormat(k.name, k.text)
		if err != nil {
			return nil, err
		}
		candidates = append(candidates, f)
	}
	var best *Format
	most := 0
	for _, f := range candidates {
		if n := f.fits(lines); n > most {
			best, most = f, n
		}
	}
	if f := refineJSON(jsonFormat, lines); f != jsonFormat {
		if n := f.fits(lines); best == jsonFormat || n > most {
			best, most = f, max(n, most)
		}
	}
	if float64(most) < detectShare*float64(len(lines)) {
		return nil, fmt.Errorf("detect the log's format: no known one fits the line %s; give the log_format or LogFormat text of the server's configuration", quoteText(lines[0], 200))
	}
	return best, nil
}

// Fit counts the lines of a log's begin that are entries of the format, and
// those that are not; unfit is the first of these.
func (f *Format) Fit(head []byte) (good, bad int, unfit []byte) {
	r := NewRows(f, false)
	for line := range bytes.Lines(head) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		if _, why := r.Entry(bytes.Clone(line)); why == "" {
			good++
		} else if bad++; unfit == nil {
			unfit = line
		}
	}
	return good, bad, unfit
}

// fits counts the lines that the format can read.
func (f *Format) fits(lines [][]byte) int {
	var e Entry
	var c clock
	n := 0
	for _, line := range lines {
		e.reset()
		c.key = c.key[:0]
		if f.parse(f, bytes.Clone(line), &e, &c) == "" {
			n++
		}
	}
	return n
}

// detect reads ahead and chooses the format. false: there is no line, or an
// error.
func (r *Reader) detect() bool {
	for !r.eof && r.end-r.begin < bufferSize/4 {
		if !r.fill() {
			return false
		}
	}
	if r.begin == 0 {
		if rest, ok := bytes.CutPrefix(r.buf[:r.end], []byte("\xef\xbb\xbf")); ok {
			r.begin = r.end - len(rest)
		}
	}
	head := r.buf[r.begin:r.end]
	if len(bytes.TrimSpace(head)) == 0 && r.eof {
		return false
	}
	if last := bytes.LastIndexByte(head, '\n'); last >= 0 && !r.eof {
		head = head[:last]
	}
	r.format, r.err = Detect(head)
	return r.err == nil
}
