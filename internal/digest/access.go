package digest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"

	"kasoku/internal/accesslog"
)

// AccessOptions say how access logs are summed up. The zero value has the
// defaults.
type AccessOptions struct {
	// Format of the lines; nil: recognised for each input.
	Format *accesslog.Format
	// Times is what the user said of the times in the logs.
	Times accesslog.Times
	// Unasked: nobody is there who could say in which unit times are that have
	// none. They are left out then, with a warning; else they are an error, a
	// *accesslog.UnitDoubt.
	Unasked bool
	// Routes says how routes are learnt, and which are given.
	Routes accesslog.RouteOptions
	// Keep says which entries count; nil: all. It is called from several
	// goroutines, and every line is then read with all its values, which takes
	// about three times as long.
	Keep func(e *accesslog.Entry) bool
	// Since and Until bound the entries' times, if not zero: Since counts,
	// Until does not.
	Since, Until time.Time
	// Zone of times that have none; nil: this machine's.
	Zone *time.Location
	// Now is the time where an input does not tell when it was written; zero: this
	// machine's.
	Now       time.Time
	Workers   int // goroutines that read; 0: GOMAXPROCS
	MaxRoutes int // rows told apart; 0: 5,000; the rest is "(others)"
	// Service is written into every route.
	Service string
	// Progress is told from time to time how many uncompressed bytes were
	// read. It is not called by two goroutines at once.
	Progress func(done int64)
}

const (
	defaultMaxRoutes = 5000
	// allSlots are shapes of all workers together: enough for any site whose
	// pages people named, at 1 to 8 KB each.
	allSlots = 16384
	minSlots = 1024

	othersRoute    = "(others)"
	noRequestRoute = "(no request)" // scanners, TLS on a plain port, nothing sent
	noPathRoute    = "(no path)"    // CONNECT and the like
	otherMethod    = "OTHER"
)

// AccessLogs sums access logs up by route. Its memory does not grow with the
// logs. The result does not depend on how many workers read, nor on how the
// log is split into inputs, while fewer than some thousand routes are found.
//
// Errors: an input cannot be opened or read, or is no log of a known format;
// a route pattern is none; the context's.
func AccessLogs(ctx context.Context, in []Input, o AccessOptions) (*Access, error) {
	patterns, err := accesslog.NewRoutes(o.Routes)
	if err != nil {
		return nil, fmt.Errorf("digest access logs: %w", err)
	}
	return newAccessRun(in, o, patterns).do(ctx)
}

func newAccessRun(in []Input, o AccessOptions, patterns *accesslog.Routes) *accessRun {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.MaxRoutes <= 0 {
		o.MaxRoutes = defaultMaxRoutes
	}
	run := &accessRun{o: o, patterns: patterns, jobs: make(chan job, ahead), free: make(chan []byte, o.Workers+2+ahead),
		files: make([]accessFile, len(in)), segment: segmentSize, block: blockSize}
	for i := range in {
		run.files[i].Input = in[i]
	}
	return run
}

func (run *accessRun) do(ctx context.Context) (*Access, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := make([]*accessWorker, run.o.Workers)
	var wg sync.WaitGroup
	for i := range workers {
		workers[i] = newAccessWorker(run)
		wg.Go(func() {
			for j := range run.jobs {
				if err := workers[i].do(ctx, j); err != nil {
					cancel(err)
				}
			}
		})
	}
	fed := make(chan error, 1)
	go func() {
		err := run.feed(ctx)
		close(run.jobs)
		wg.Wait()
		for _, c := range run.closers {
			c.Close()
		}
		fed <- err
	}()
	var err error
	select {
	case err = <-fed:
	case <-ctx.Done():
		// A read of a terminal or pipe may never return.
		select {
		case err = <-fed:
		case <-time.After(time.Second):
		}
	}
	if cause := context.Cause(ctx); cause != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = cause
	}
	if err != nil {
		return nil, fmt.Errorf("digest access logs: %w", err)
	}
	return run.result(workers), nil
}

// accessRun is what the workers share.
type accessRun struct {
	o        AccessOptions
	patterns *accesslog.Routes // only asked for Match
	files    []accessFile
	jobs     chan job
	free     chan []byte // blocks to be used again
	closers  []io.Closer
	segment  int64 // bytes of a file for one job
	block    int   // bytes of a stream for one job
	slots    int   // limit of each worker's table; 0: by the number of workers
	sized    bool  // some line had a size of the answer; known at the end

	mu   sync.Mutex
	done int64
	told time.Time
}

// accessFile is an input while it is read.
type accessFile struct {
	Input
	format   *accesslog.Format
	first    []byte // the log's first lines, from which each worker learns
	at       io.ReaderAt
	warnings []string
	bytes    int64
	notes    []string // what was inferred of the format
	carried  string   // how its entries lie in it, if not one a line
	raw      int64    // bytes of it then
	parts    []part   // under the run's mutex
}

// job is a piece of an input for one worker: bytes, or where they are.
type job struct {
	file, part int
	offset     int64
	// end of the lines' begins, where the worker reads them from the file;
	// else 0, and data holds whole lines, which lie in block.
	end   int64
	data  []byte
	block []byte
	size  int64 // bytes of the stream up to the next job's
	// header is the line that says how those of the job look; nil: the format
	// has no such lines, or the first one counts.
	header []byte
	final  bool // the stream ends with it
}

// part is what a job found.
type part struct {
	lines    int64 // as a pager counts them
	entries  int64 // not empty
	bad      int64
	skipped  int64
	from, to time.Time
	backward bool
	badLines []badLine
	cut      bool // the input's last line is not whole
}

// badLine is one that was not understood; line is within the part, from 1.
type badLine struct {
	line int64
	text string
}

// add stores what a job found and tells how far the reading is.
func (run *accessRun) add(j *job, p *part, bytes int64) {
	run.mu.Lock()
	defer run.mu.Unlock()
	f := &run.files[j.file]
	for len(f.parts) <= j.part {
		f.parts = append(f.parts, part{})
	}
	f.parts[j.part] = *p
	f.bytes += bytes
	run.done += bytes
	// Ten times a second is as fast as people see.
	if now := time.Now(); run.o.Progress != nil && now.Sub(run.told) > 100*time.Millisecond {
		run.told = now
		run.o.Progress(run.done)
	}
}

// formatOf recognises the format of a file from a sample of its lines, or
// checks the one given, and looks whether their dates are understood. nil:
// there is no line.
func (run *accessRun) formatOf(f *accessFile, head []byte, whole bool) (*accesslog.Format, error) {
	format, err := run.formatFor(f, head, whole)
	if format == nil || err != nil {
		return format, err
	}
	if f.carried != "" {
		f.notes = append([]string{f.carried}, f.notes...)
	}
	undated, read, first := format.Undated(head)
	if undated > 0 {
		if dated := run.yearsOf(f, format); dated != nil {
			if left, _, one := dated.Undated(head); left < undated {
				f.notes = append(f.notes, yearNote(f))
				format, undated, first = dated, left, one
			}
		}
	}
	asked := !run.o.Since.IsZero() || !run.o.Until.IsZero()
	switch {
	case undated == 0 || read == 0:
	case undated == read && asked:
		return nil, fmt.Errorf("%s: no line has a date that is understood, so --since and --until cannot be applied; describe the date with --format, or leave them out; the first line: %s", f.Name, badLineText(first))
	case undated == read:
		f.warnings = append(f.warnings, f.Name+": no line has a date that is understood, so there is no period; the first line: "+badLineText(first))
	case asked || undated*undatedShare > read:
		what := "the period is that of the others"
		if asked {
			what = "--since and --until leave such out"
		}
		f.warnings = append(f.warnings, fmt.Sprintf("%s: %d of the first %d requests have no date that is understood: %s; the first: %s", f.Name, undated, read, what, badLineText(first)))
	}
	return format, nil
}

// undatedShare: one of so many lines may lack its date, as of a log that is cut.
const undatedShare = 50

// formatFor is formatOf, whatever the dates are.
func (run *accessRun) formatFor(f *accessFile, head []byte, whole bool) (*accesslog.Format, error) {
	if len(strings.TrimSpace(string(head))) == 0 && whole {
		return nil, nil
	}
	if why := notText(head); why != "" {
		return nil, fmt.Errorf("%s is no access log: %s; expected lines of text such as nginx, Apache, Varnish or HAProxy write; decompress it first, or leave it out", f.Name, why)
	}
	if given := run.o.Format; given != nil {
		if good, bad, unfit := given.Fit(head); good < bad {
			return nil, fmt.Errorf("%s: %d of its first %d lines are no entries of the format %q, the first: %s; leave --format out to have it recognised, or give the log_format text of the server that wrote it",
				f.Name, bad, good+bad, given.Name, badLineText(unfit))
		}
		format, err := given.WithTimes(run.o.Times)
		if err != nil {
			return nil, fmt.Errorf("%s: --time-field: %w", f.Name, err)
		}
		format = given.UnitOfField(format, run.o.Times, head).UnitsIn(head).TomcatIn(head, run.o.Times)
		if format.Doubt != nil && !run.o.Unasked {
			return nil, fmt.Errorf("%s: %w", f.Name, format.Doubt)
		}
		if format.Doubt != nil {
			f.warnings = append(f.warnings, fmt.Sprintf("%s: its times are left out: %v", f.Name, format.Doubt))
			if format, err = given.WithTimes(accesslog.Times{Field: "none"}); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		f.notes = format.Notes
		return format, nil
	}
	format, err := run.detect(f, head)
	if err != nil {
		return nil, err
	}
	f.notes = format.Notes
	return format, nil
}

// detect recognises the format of a file.
func (run *accessRun) detect(f *accessFile, head []byte) (*accesslog.Format, error) {
	format, err := accesslog.DetectTimes(head, run.o.Times)
	var field *accesslog.FieldError
	if errors.As(err, &field) {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	if err != nil { // which says less
		return nil, fmt.Errorf("%s: no format is recognised; expected are the combined or common form, LTSV, JSON, HAProxy's, named values (request_time=0.012), or what --format says: give it the log_format or LogFormat text of the server's configuration; the first line: %s", f.Name, badLineText(firstLine(head)))
	}
	if format.Doubt != nil && !run.o.Unasked {
		return nil, fmt.Errorf("%s: %w", f.Name, format.Doubt)
	}
	if format.Doubt != nil {
		f.warnings = append(f.warnings, fmt.Sprintf("%s: its times are left out: %v", f.Name, format.Doubt))
		if format, err = accesslog.DetectTimes(head, accesslog.Times{Field: "none"}); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return format, nil
}
