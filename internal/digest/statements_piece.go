package digest

import (
	"hash/maphash"
	"math"
	"time"
	"unsafe"

	"kasoku/internal/sqllog"
)

// pieceClass sums a piece's statements of one class.
type pieceClass struct {
	schema  string // "" and carried: that of the piece before
	carried bool
	print   uint64 // hash of the fingerprint
	Statement
	slowest string // in the piece
	sample  string // a real statement, where slowest is a digest's text
}

// pieceSum is what one piece of a log held. Its texts lie in the piece.
type pieceSum struct {
	data     []byte
	err      error
	classes  []pieceClass     // in the order of their first statement
	times    []statementTime  // of every statement
	schema   string           // of the last use line
	used     bool             // there was one
	from, to time.Time        //
	commands int64            //
	skipped  int64            //
	rate     int64            // the highest log_slow_rate_limit
	entries  int64            // whole ones, skipped ones too
	faults   int64            // entries that are none any more
	fault    entryFault       // the first of them
	headless int64            // bytes before the log's first entry
	access   int64            // lines of an access log before it
	badTimes int64            // query times that cannot be
	long     int64            // statements of which only the begin is kept
	cut      bool             // the last entry has no statement
	tail     *pieceSum        // the last entry, whose statement has no end
	index    map[classKey]int // of classes
}

type statementTime struct {
	text   uint64 // hash of the statement, for StatementOptions.Repeats; else 0
	class  uint32
	bucket uint16
}

type classKey struct {
	schema  string
	carried bool
	print   uint64
}

// statementWorker sums pieces up. It is for one goroutine.
type statementWorker struct {
	o        *StatementOptions
	seed     maphash.Seed
	prints   []seenPrint // by the skeleton's hash
	missed   int
	skeleton []byte
	text     []byte
	maker    sqllog.Fingerprinter
	sum      *pieceSum
	dialect  sqllog.Dialect
}

// seenPrint remembers the fingerprint of a skeleton.
type seenPrint struct{ skeleton, print uint64 }

// The table of a worker's seenPrints begins small and grows to 512 kB: more
// skeletons than the logs looked at had, and it stays in the second-level cache.
const (
	fewPrints  = 1 << 9
	mostPrints = 1 << 15
)

func newStatementWorker(o *StatementOptions, seed maphash.Seed) *statementWorker {
	return &statementWorker{o: o, seed: seed, prints: make([]seenPrint, fewPrints)}
}

// piece sums one piece up. before is nil unless entries need the state of the
// pieces before as they are read.
func (w *statementWorker) piece(piece *sqllog.SlowPiece, sum *pieceSum, before func() sqllog.SlowState) *sqllog.SlowScanner {
	w.reset(sum)
	sum.data = piece.Data
	scan := &sqllog.SlowScanner{Before: before}
	sum.err = scan.Scan(piece, w.entry)
	sum.schema, sum.used = scan.Schema()
	return scan
}

// reset empties a sum, whose memory is used again, and makes it the present one.
func (w *statementWorker) reset(sum *pieceSum) {
	*sum = pieceSum{classes: sum.classes[:0], times: sum.times[:0], index: sum.index}
	if sum.index == nil {
		sum.index = map[classKey]int{}
	}
	clear(sum.index)
	w.sum = sum
}

// entry takes an entry, whole or not.
func (w *statementWorker) entry(e *sqllog.SlowEntry) error {
	s := w.sum
	switch {
	case e.Fault == sqllog.SlowHeadless:
		s.headless = int64(max(len(e.SQL), 1))
		s.access = int64(accessLines([]byte(e.SQL)))
	case e.Fault == sqllog.SlowEmpty && e.Last:
		s.cut = true
	case e.Fault != "":
		if s.faults++; s.faults == 1 {
			s.fault = entryFault{text: string(e.Fault), sql: e.SQL, at: e.At}
		}
	case e.Unended && e.Last && e.Command == "":
		// Whether it is cut is told by the entries before it.
		s.tail = &pieceSum{data: s.data, index: map[classKey]int{}}
		w.sum = s.tail
		err := w.add(e)
		w.sum = s
		return err
	default:
		return w.add(e)
	}
	return nil
}

// entryFault is an entry that is none any more.
type entryFault struct {
	text string
	sql  string // what is there of its statement
	at   int    // in the piece
}

func (w *statementWorker) add(e *sqllog.SlowEntry) error {
	s := w.sum
	s.entries++
	if e.BadTime {
		s.badTimes++
	}
	if len(e.SQL) >= sqllog.MaxStatement {
		s.long++
	}
	if w.o.left(e) {
		s.skipped++
		return nil
	}
	if !e.Time.IsZero() {
		if s.from.IsZero() || e.Time.Before(s.from) {
			s.from = e.Time
		}
		if e.Time.After(s.to) {
			s.to = e.Time
		}
	}
	s.rate = max(s.rate, e.RateLimit)
	if e.Command != "" {
		s.commands++
		return nil
	}
	key := classKey{e.Schema, e.Carried, w.print(lexed(w.dialect, e.SQL))}
	i, ok := s.index[key]
	if !ok {
		i = len(s.classes)
		s.classes = append(s.classes, pieceClass{schema: e.Schema, carried: e.Carried, print: key.print})
		s.index[key] = i
	}
	c := &s.classes[i]
	if c.Count == 0 || e.QueryTime > c.Max {
		c.Max, c.slowest = e.QueryTime, e.SQL
	}
	c.add(e)
	t := statementTime{class: uint32(i), bucket: timeBucket(e.QueryTime)}
	if w.o.Repeats {
		t.text = maphash.String(w.seed, e.SQL)
	}
	s.times = append(s.times, t)
	return nil
}

// add counts an entry; not its longest time and example.
func (s *Statement) add(e *sqllog.SlowEntry) {
	s.Count++
	s.Total = plus(s.Total, e.QueryTime)
	s.LockTime = plus(s.LockTime, e.LockTime)
	s.RowsExamined = plus(s.RowsExamined, e.RowsExamined)
	s.RowsSent = plus(s.RowsSent, e.RowsSent)
	s.RowsAffected = plus(s.RowsAffected, e.RowsAffected)
	s.BytesSent = plus(s.BytesSent, e.BytesSent)
	s.TmpTables = plus(s.TmpTables, e.TmpTables)
	s.TmpDisk = plus(s.TmpDisk, e.TmpDisk)
	if e.FullScan {
		s.FullScans++
	}
	if e.FullJoin {
		s.FullJoins++
	}
	// MariaDB sets "no index used" with exactly these two flags (sql_select.cc,
	// make_join_readinfo).
	if e.FullScan || e.FullJoin {
		s.NoIndex++
	}
	if e.Filesort {
		s.Filesorts++
	}
	if e.Failed {
		s.Errors++
	}
}

// sums are the fields that are added up.
func (s *Statement) sums() [14]*int64 {
	return [...]*int64{&s.Count, (*int64)(&s.Total), (*int64)(&s.LockTime), &s.RowsExamined, &s.RowsSent, &s.RowsAffected, &s.BytesSent,
		&s.FullScans, &s.FullJoins, &s.NoIndex, &s.TmpTables, &s.TmpDisk, &s.Filesorts, &s.Errors}
}

// merge adds t's sums.
func (s *Statement) merge(t *Statement) {
	of := t.sums()
	for i, sum := range s.sums() {
		*sum = plus(*sum, *of[i])
	}
}

// plus adds numbers that are not below 0; a sum that an int64 cannot hold is the
// greatest that it can.
func plus[T ~int64](a, b T) T {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// print returns the hash of a statement's fingerprint. Statements with one
// skeleton have one fingerprint, and there are few skeletons.
func (w *statementWorker) print(sql string) uint64 {
	var ok bool
	w.skeleton, ok = sqllog.Skeleton(w.skeleton[:0], sql)
	var slot *seenPrint
	var h uint64
	if ok {
		h = maphash.Bytes(w.seed, w.skeleton)
		slot = &w.prints[h%uint64(len(w.prints))]
		if slot.skeleton == h && h != 0 {
			return slot.print
		}
		sql = unsafe.String(unsafe.SliceData(w.skeleton), len(w.skeleton)) // shorter
	}
	w.text = w.maker.Append(w.text[:0], sql)
	print := maphash.Bytes(w.seed, w.text)
	if ok {
		*slot = seenPrint{h, print}
		if w.missed++; w.missed > len(w.prints) && len(w.prints) < mostPrints {
			w.prints, w.missed = make([]seenPrint, 8*len(w.prints)), 0
		}
	}
	return print
}
