package digest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// headSize is how much of an input shows its format.
	headSize = 64 << 10
	// firstSize of them is some lines.
	firstSize = 8 << 10
	// segmentSize of a file is one worker's job: small enough that the workers
	// end together, large enough that its cut lines do not count.
	segmentSize = 16 << 20
	// blockSize of streams: what is unpacked should be in a cache still when it
	// is parsed.
	blockSize = maxLine + maxLine/4
	// readSize: a read this large stays in the processor's second cache until
	// it is parsed, which is faster than mapping the file.
	readSize = 256 << 10
	// ahead of the workers, so many blocks are unpacked: who unpacks then need
	// not wait for a worker to end its line of blocks.
	ahead = 2
	// maxLine: longer ones are no entries. A block is longer.
	maxLine = 1 << 20
)

// feed opens the inputs one by one and gives their pieces to the workers.
// Streams are read side by side, as decompressing one keeps one processor
// busy.
func (run *accessRun) feed(ctx context.Context) error {
	var streams []int
	for i := range run.files {
		if f := &run.files[i]; f.At == nil || f.Size <= 0 || run.isCarried(f) {
			streams = append(streams, i)
			continue
		}
		if err := run.segments(ctx, i); err != nil {
			return err
		}
	}
	queue := make(chan int)
	errs := make(chan error, len(streams))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for range min(run.o.Workers, len(streams)) {
		wg.Go(func() {
			for i := range queue {
				if err := run.stream(ctx, i); err != nil {
					errs <- err
					cancel()
				}
			}
		})
	}
	for _, i := range streams {
		queue <- i
	}
	close(queue)
	wg.Wait()
	close(errs)
	var first error
	for err := range errs {
		if first == nil || errors.Is(first, context.Canceled) {
			first = err
		}
	}
	return first
}

func (run *accessRun) send(ctx context.Context, j job) error {
	select {
	case run.jobs <- j:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// segments cuts a file at fixed offsets; the workers find the lines. The file
// stays open until all is read.
func (run *accessRun) segments(ctx context.Context, i int) error {
	f := &run.files[i]
	at, closer, err := f.At()
	if err != nil {
		return fmt.Errorf("open %s: %w", f.Name, err)
	}
	run.closers = append(run.closers, closer)
	f.at = at
	head := make([]byte, min(headSize, f.Size))
	n, err := at.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: %w", f.Name, err)
	}
	whole := int64(n) == f.Size || n < len(head)
	lines := wholeLines(head[:n], whole)
	if run.o.Format == nil && !whole {
		lines = append(bytes.Clone(lines), sampleOf(at, f.Size)...)
	}
	if f.format, err = run.formatOf(f, lines, whole); err != nil {
		return err
	}
	f.first = head[:min(n, firstSize)]
	if f.format == nil {
		f.warnings, f.bytes = append(f.warnings, f.Name+" is empty"), f.Size
		return nil
	}
	h := headers{format: f.format}
	for part, offset := 0, int64(0); offset < f.Size; part, offset = part+1, offset+run.segment {
		end := min(offset+run.segment, f.Size)
		if err := run.send(ctx, job{file: i, part: part, offset: offset, end: end, header: h.line}); err != nil {
			return err
		}
		if err := h.scan(f, end); err != nil {
			return err
		}
	}
	return nil
}

const (
	// samplePlaces of a file are looked at besides its begin: a server's format
	// changes when it is set anew, in the middle of a log.
	samplePlaces = 8
	sampleSize   = 8 << 10 // bytes at each place
)

// sampleOf reads some whole lines from all over a file. What cannot be read is
// told when its turn comes.
func sampleOf(at io.ReaderAt, size int64) []byte {
	var out []byte
	b := make([]byte, sampleSize)
	for i := int64(1); i <= samplePlaces; i++ {
		from := (size-sampleSize)*i/samplePlaces - 1
		if from < headSize {
			continue
		}
		n, err := at.ReadAt(b, from)
		if err != nil && !errors.Is(err, io.EOF) {
			continue
		}
		lines := b[:n]
		begin, end := bytes.IndexByte(lines, '\n'), bytes.LastIndexByte(lines, '\n')
		if begin < end {
			out = append(out, lines[begin:end]...)
		}
	}
	if len(out) > 0 {
		out = append(out, '\n')
	}
	return out
}

// wholeLines cuts a last line that is not whole, and a byte order mark.
func wholeLines(head []byte, whole bool) []byte {
	head = bytes.TrimPrefix(head, []byte(byteOrderMark))
	if last := bytes.LastIndexByte(head, '\n'); last >= 0 && !whole {
		head = head[:last]
	}
	return head
}

const byteOrderMark = "\xef\xbb\xbf"

// stream reads an input from its begin and cuts it at the ends of lines.
func (run *accessRun) stream(ctx context.Context, i int) error {
	f := &run.files[i]
	in, err := f.Open()
	if err != nil {
		return fmt.Errorf("open %s: %w", f.Name, err)
	}
	in = run.carry(f, in)
	defer in.Close()
	// The sample is that of a file read in parts, however long the blocks are.
	begun := headOf(in)
	if begun.err != nil && !errors.Is(begun.err, io.EOF) && len(begun.head) == 0 {
		return fmt.Errorf("read %s: %w", f.Name, begun.err)
	}
	head, whole := begun.head[:min(len(begun.head), headSize)], begun.err != nil && len(begun.head) <= headSize
	if f.format, err = run.formatOf(f, wholeLines(head, whole), whole); err != nil {
		return err
	}
	f.first = head[:min(len(head), firstSize)]
	r := blockReader{in: begun}
	var h headers
	for part := 0; ; part++ {
		block := run.take()
		from := r.offset
		lines, at := r.next(block)
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			f.warnings = append(f.warnings, fmt.Sprintf("%s could be read up to byte %d only, what follows is not judged: %v", f.Name, r.offset, r.err))
		}
		final := r.err != nil
		if f.format == nil {
			f.warnings, f.bytes = append(f.warnings, f.Name+" is empty"), r.offset
			return nil
		}
		before := h.line
		h.format = f.format
		h.note(lines) // before a worker may change them
		err := run.send(ctx, job{file: i, part: part, offset: at, data: lines, block: block, size: r.offset - from, final: final, header: before})
		if err != nil || final {
			return err
		}
	}
}

// headed is a stream whose begin was looked at and comes once more.
type headed struct {
	head []byte // still to come
	err  error  // that ended the stream within the head
	rest io.Reader
}

// headOf reads the first headSize bytes and one, which tells whether that is all, or
// what there is.
func headOf(in io.Reader) *headed {
	h := &headed{head: make([]byte, headSize+1), rest: in}
	n := 0
	for n < len(h.head) && h.err == nil {
		var got int
		got, h.err = in.Read(h.head[n:])
		n += got
	}
	h.head = h.head[:n]
	return h
}

func (h *headed) Read(b []byte) (int, error) {
	switch {
	case len(h.head) > 0:
		n := copy(b, h.head)
		h.head = h.head[n:]
		return n, nil
	case h.err != nil:
		return 0, h.err
	}
	return h.rest.Read(b)
}

// blockReader cuts a stream into blocks of whole lines.
type blockReader struct {
	in       io.Reader
	offset   int64  // of what comes next
	rest     []byte // begin of a line, of the block before
	skipping bool   // within a line that is too long
	err      error  // that ended the reading
}

// next fills a block; at is the offset of the lines in it. A line that is too
// long comes alone and without its end.
func (r *blockReader) next(block []byte) (lines []byte, at int64) {
	n := copy(block, r.rest)
	r.rest, at = r.rest[:0], r.offset
	for n < len(block) && r.err == nil {
		var got int
		got, r.err = r.in.Read(block[n:])
		n += got
	}
	lines = block[:n]
	r.offset += int64(n)
	if r.skipping {
		end := bytes.IndexByte(lines, '\n')
		if end < 0 {
			return nil, at
		}
		lines, at, r.skipping = lines[end+1:], at+int64(end+1), false
	}
	if r.err != nil {
		return lines, at
	}
	use := bytes.LastIndexByte(lines, '\n') + 1
	if use == 0 && len(lines) > maxLine {
		r.skipping = true
		return lines[:maxLine+1], at
	}
	r.rest = append(r.rest, lines[use:]...)
	r.offset -= int64(len(lines) - use)
	return lines[:use], at
}

// take returns a block for a stream's bytes.
func (run *accessRun) take() []byte {
	select {
	case b := <-run.free:
		return b
	default:
		return make([]byte, run.block)
	}
}

// give takes a block back.
func (run *accessRun) give(b []byte) {
	select {
	case run.free <- b:
	default:
	}
}
