package digest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"kasoku/internal/sqllog"
)

// StatementOptions say how statement logs are summed up.
type StatementOptions struct {
	// Format "" finds out whether it is a slow log; "slow", "mariadb", "mysql"
	// and "percona" all name the slow query log, whose forms are told apart
	// entry by entry.
	Format string
	// Keep leaves out the entries for which it returns false; nil keeps all. It
	// is called by several goroutines. The entry is valid during the call only.
	Keep func(*sqllog.SlowEntry) bool
	// Since and Until bound the entries' times, Since included, Until not; zero: no bound.
	// Entries without a time are kept.
	Since, Until time.Time
	Workers      int // that parse; 0: one per CPU
	// Service is set in every class.
	Service string
	// Repeats counts Statement.Repeats, which takes up to 80 MB for a million texts.
	Repeats bool
	// MaxClasses bounds memory: statements of further classes are one class,
	// OtherStatements. 0: 5000. A class takes 3–70 kB.
	MaxClasses int
	// Progress is called with the number of (uncompressed) bytes read so far;
	// nil: not. Calls do not overlap.
	Progress func(int64)

	piece int // bytes that one worker takes at a time; 0: pieceSize
}

// OtherStatements is the fingerprint of the class that gathers what is beyond
// MaxClasses.
const OtherStatements = "(other statements)"

// maxClasses: an application whose statements cannot be told apart by values
// (names of tables built from numbers) has endless classes.
const maxClasses = 5000

// left tells whether the filters leave an entry out.
func (o *StatementOptions) left(e *sqllog.SlowEntry) bool {
	if !e.Time.IsZero() && (!o.Since.IsZero() && e.Time.Before(o.Since) || !o.Until.IsZero() && !e.Time.Before(o.Until)) {
		return true
	}
	return o.Keep != nil && !o.Keep(e)
}

// filters: entries must have their schema and time when they are read.
func (o *StatementOptions) filters() bool {
	return o.Keep != nil || !o.Since.IsZero() || !o.Until.IsZero()
}

// StatementLogs sums slow query logs up, each a log of its own, one after the
// other. An input that holds no slow log is an error that says what it looks
// like. Result and memory do not depend on Workers.
func StatementLogs(ctx context.Context, in []Input, o StatementOptions) (*Statements, error) {
	switch o.Format {
	case "", "slow", "mariadb", "mysql", "percona":
	default:
		return nil, fmt.Errorf("digest statements: there is no format %q; use slow", o.Format)
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.MaxClasses <= 0 {
		o.MaxClasses = maxClasses
	}
	if o.piece <= 0 {
		o.piece = pieceSize
	}
	c := newStatementClasses(&o)
	for i := range in {
		if err := statementLog(ctx, &in[i], c); err != nil {
			return nil, fmt.Errorf("digest %s: %w", in[i].Name, err)
		}
	}
	return c.result(), nil
}

// pieceSize: large enough that handing over costs nothing, small enough that a
// piece's classes are few and all pieces under way take some 10 MB.
const pieceSize = 1 << 20

// statementJob is one piece on its way.
type statementJob struct {
	piece  sqllog.SlowPiece
	sum    *pieceSum
	done   chan struct{} // sum is there
	before func() sqllog.SlowState
	after  chan sqllog.SlowState // gets one value; buffered
}

func statementLog(ctx context.Context, in *Input, c *statementClasses) error {
	r, err := in.Open()
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer r.Close()
	head := bufio.NewReaderSize(r, peekSize)
	first, err := head.Peek(peekSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if carrier, wrap := carrierOf(first); carrier != "" {
		c.name(carrier)
		text := wrap(head)
		defer text.Close()
		head = bufio.NewReaderSize(text, peekSize)
		if first, err = head.Peek(peekSize); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	if c.o.Format == "" {
		if source := sourceOf(first); source != nil {
			return otherLog(ctx, in, head, source, c)
		}
	}
	return slowLog(ctx, in, head, c)
}

// slowLog sums a slow query log up.
func slowLog(ctx context.Context, in *Input, r io.Reader, c *statementClasses) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan *statementJob, c.o.Workers)
	order := make(chan *statementJob, 2*c.o.Workers)
	free := make(chan *statementJob, 3*c.o.Workers+2)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		defer close(work)
		defer close(order)
		if err := readPieces(ctx, r, c, work, order, free); err != nil {
			cancel(err)
		}
	})
	for range c.o.Workers {
		wg.Go(func() {
			w := newStatementWorker(c.o, c.seed)
			for j := range work {
				scan := w.piece(&j.piece, j.sum, j.before)
				if j.before != nil {
					j.after <- scan.After(j.before())
				}
				close(j.done)
			}
		})
	}
	c.begin(in.Name)
	var last sqllog.SlowPiece
	for j := range order {
		<-j.done
		c.merge(j.sum)
		c.last(j.sum, &j.piece)
		last = j.piece
		select {
		case free <- j:
		default:
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	c.end(&last)
	return nil
}

// readPieces hands pieces to the workers and, in order, to the merger.
func readPieces(ctx context.Context, r io.Reader, c *statementClasses, work, order chan<- *statementJob, free <-chan *statementJob) error {
	pieces := sqllog.NewSlowPieces(r, c.o.piece)
	prev := make(chan sqllog.SlowState, 1)
	prev <- sqllog.SlowState{}
	read := c.out.Bytes
	var entries bool
	for n := 0; ; n++ {
		j := &statementJob{sum: &pieceSum{}}
		select {
		case j = <-free:
		default:
		}
		err := pieces.Next(&j.piece)
		data, last := j.piece.Data, errors.Is(err, io.EOF)
		if err != nil && !last {
			return err
		}
		if n == 0 {
			c.name(sqllog.SlowFormat(data))
		}
		if !entries {
			if entries = sqllog.SlowFormat(data) != ""; !entries && pieces.Read() > 0 && (last || pieces.Read() > wrongKind) {
				return fmt.Errorf("%w: %d bytes without a \"# User@Host:\" line; %s", ErrNotSlowLog, pieces.Read(), looksLike(data))
			}
		}
		c.out.Bytes = read + pieces.Read()
		if c.o.Progress != nil {
			c.o.Progress(c.out.Bytes)
		}
		next := make(chan sqllog.SlowState, 1)
		j.done, j.after, j.before = make(chan struct{}), next, nil
		if c.o.filters() {
			left := prev
			j.before = sync.OnceValue(func() sqllog.SlowState { return <-left })
		}
		prev = next
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case order <- j:
		}
		work <- j
		if last {
			return nil
		}
	}
}
