package digest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/digest/slowgen"
	"kasoku/internal/sqllog"
)

func slowSample(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../sqllog/testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func digested(t testing.TB, data []byte, o StatementOptions) *Statements {
	t.Helper()
	s, err := StatementLogs(context.Background(), []Input{inputOf("slow.log", data)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What each server's form tells beyond the times.
func TestStatementLogsOfEveryForm(t *testing.T) {
	cases := []struct {
		name, format                                                       string
		commands, affected, bytes, scans, joins, tmp, sorts, failed, rated int64
		schemas                                                            []string
	}{
		{"mysql-5.1", "mysql", 1, 0, 0, 0, 0, 0, 0, 0, 0, []string{"other", "shop"}},
		{"mysql-5.5", "mysql", 1, 0, 0, 0, 0, 0, 0, 0, 0, []string{"other", "shop"}},
		{"mysql-5.6", "mysql 5.6", 1, 0, 0, 0, 0, 0, 0, 0, 0, []string{"other", "shop"}},
		{"mysql-5.7", "mysql 5.7+", 1, 0, 0, 0, 0, 0, 0, 0, 0, []string{"other", "shop"}},
		{"mysql-8.0", "mysql 5.7+", 1, 0, 0, 0, 0, 0, 0, 0, 0, []string{"other", "shop"}},
		{"mysql-8.0-extra", "mysql 8", 1, 0, 10800, 8, 0, 8, 8, 1, 0, []string{"other", "shop"}},
		{"mysql-8.4-extra", "mysql 8", 1, 0, 10800, 8, 0, 8, 8, 1, 0, []string{"other", "shop"}},
		{"rds-8.0", "mysql 5.7+", 1, 0, 0, 0, 0, 0, 0, 0, 0, []string{"other", "shop"}},
		{"percona-5.5", "percona", 1, 8, 10800, 8, 1, 8, 3, 1, 0, []string{"shop"}},
		{"percona-5.6", "percona", 1, 8, 10800, 8, 1, 8, 3, 1, 0, []string{"shop"}},
		{"percona-5.7-rate", "percona", 1, 8, 10800, 8, 1, 8, 3, 1, 10, []string{"shop"}},
		{"mariadb-5.5", "mariadb", 1, 0, 0, 8, 0, 0, 0, 0, 0, []string{"shop"}},
		{"mariadb-11.4", "mariadb", 1, 15, 10800, 8, 0, 0, 0, 0, 0, []string{"", "shop"}},
	}
	for _, c := range cases {
		s := digested(t, slowSample(t, c.name+".slow.log"), StatementOptions{})
		var sum Statement
		var schemas []string
		for _, class := range s.Classes {
			sum.merge(&class)
			if !slices.Contains(schemas, class.Schema) {
				schemas = append(schemas, class.Schema)
			}
			if class.Max <= 0 || class.P50 <= 0 || class.P50 > class.P95 || class.P99 > class.Max {
				t.Errorf("%s: %+v", c.name, class)
			}
		}
		slices.Sort(schemas)
		if s.Format != c.format || s.Entries != 16 || sum.Count != 16 || s.Commands != c.commands || !slices.Equal(schemas, c.schemas) {
			t.Errorf("%s: format %q, %d entries, %d counted, %d commands, schemas %q", c.name, s.Format, s.Entries, sum.Count, s.Commands, schemas)
		}
		got := []int64{sum.RowsAffected, sum.BytesSent, sum.FullScans, sum.FullJoins, sum.TmpTables, sum.Filesorts, sum.Errors}
		if want := []int64{c.affected, c.bytes, c.scans, c.joins, c.tmp, c.sorts, c.failed}; !slices.Equal(got, want) {
			t.Errorf("%s: affected, bytes, scans, joins, tmp, sorts, failed are %v, want %v", c.name, got, want)
		}
		if sum.Total != 40800*time.Microsecond || sum.LockTime != 1200*time.Microsecond || sum.RowsSent != 24 || sum.RowsExamined != 12000 {
			t.Errorf("%s: %+v", c.name, sum)
		}
		if s.From.Unix() != 1714557600 || s.To.Unix() != 1714557605 {
			t.Errorf("%s: from %v to %v", c.name, s.From, s.To)
		}
		if rated := len(s.Warnings) > 0 && strings.Contains(s.Warnings[0], "one of 10"); rated != (c.rated > 0) {
			t.Errorf("%s: %q", c.name, s.Warnings)
		}
	}
}

// Examples must not carry secrets.
func TestStatementLogsMaskSecrets(t *testing.T) {
	s := digested(t, slowSample(t, "mariadb-10.11-query-plan.slow.log"), StatementOptions{Service: "db"})
	for _, c := range s.Classes {
		if strings.Contains(c.Example+c.Fingerprint, "geheim1") {
			t.Errorf("a password in %+v", c)
		}
		if c.Service != "db" {
			t.Errorf("%+v", c)
		}
	}
}

// Classes that differ in the aliases of their tables only are one, with all sums.
func TestStatementLogsFoldAliases(t *testing.T) {
	var log strings.Builder
	for i, alias := range []string{"lgaye", "bqvur", "xtpmw"} {
		fmt.Fprintf(&log, "# Time: 261128  1:00:0%d\n# User@Host: app[app] @ localhost []\n# Query_time: 0.%d00000  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 100\nSET timestamp=%d;\nselect `%s`.`id` from `articles` as `%s` where `%s`.`author` = %d;\n",
			i, i+1, 1795827600+i, alias, alias, alias, i)
	}
	s := digested(t, []byte(log.String()), StatementOptions{Service: "db"})
	if len(s.Classes) != 1 || s.Classes[0].Count != 3 || s.Classes[0].RowsExamined != 300 || s.Classes[0].Total != 600*time.Millisecond || s.Classes[0].Max != 300*time.Millisecond {
		t.Fatalf("%d classes: %+v", len(s.Classes), s.Classes)
	}
	if p := s.Classes[0].P50; p < 195*time.Millisecond || p > 205*time.Millisecond {
		t.Errorf("the median is %s", p)
	}
}

// Pieces and workers must not change anything, schemas that are carried from
// piece to piece included.
func TestStatementLogsDoNotDependOnPieces(t *testing.T) {
	var logs [][]byte
	files, err := filepath.Glob("../sqllog/testdata/*.slow.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		logs = append(logs, slowSample(t, filepath.Base(f)))
	}
	for _, f := range slowgen.Forms {
		logs = append(logs, slowLogOf(t, f, 100))
	}
	filters := []func(*StatementOptions){
		func(o *StatementOptions) {},
		func(o *StatementOptions) {
			o.Keep = func(e *sqllog.SlowEntry) bool { return e.Schema != "other" && e.Thread%3 != 1 }
		},
		func(o *StatementOptions) { o.Since, o.Until = time.Unix(1714557601, 0), time.Unix(1714557604, 0) },
		func(o *StatementOptions) { o.MaxClasses = 3 },
		func(o *StatementOptions) { o.Repeats = true },
	}
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SampledFrom(logs).Draw(t, "log")
		// Also one that begins and ends anywhere.
		from := rapid.IntRange(0, len(data)/2).Draw(t, "from")
		to := rapid.IntRange(from, min(len(data), from+15000)).Draw(t, "to")
		data = data[from:to]
		var o StatementOptions
		rapid.SampledFrom(filters).Draw(t, "filter")(&o)
		a := o
		a.Workers, a.piece = 1, 1<<17
		b := o
		b.Workers, b.piece = rapid.IntRange(1, 4).Draw(t, "workers"), rapid.IntRange(64, 6000).Draw(t, "piece")
		in := []Input{inputOf("log", data), inputOf("log again", data)}
		one, err1 := StatementLogs(context.Background(), in, a)
		many, err2 := StatementLogs(context.Background(), in, b)
		if (err1 == nil) != (err2 == nil) {
			t.Fatalf("%v, in pieces %v", err1, err2)
		}
		if err1 != nil {
			return
		}
		one.Format, many.Format = "", "" // looked for in the first piece
		if !reflect.DeepEqual(one, many) {
			t.Fatalf("in one piece\n%+v\nin many\n%+v", one, many)
		}
	})
}

func TestPercentiles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var h timeHistogram
	var all []time.Duration
	for range 20000 {
		d := time.Duration(rnd.ExpFloat64() * float64(3*time.Millisecond))
		all = append(all, d)
		h.add(timeBucket(d))
	}
	slices.Sort(all)
	for _, q := range []float64{0.01, 0.5, 0.95, 0.99, 1} {
		want, got := all[int(q*float64(len(all))+0.999999)-1], h.quantile(q)
		if diff := float64(got-want) / float64(want); diff > 0.01 || diff < -0.01 {
			t.Errorf("p%g is %v, want %v", 100*q, got, want)
		}
	}
	for _, d := range []time.Duration{0, 1, 127, 128, 255, 256, time.Second, 1 << 62} {
		b := timeBucket(d)
		if diff := float64(bucketTime(b)-d) / max(float64(d), 1); diff > 0.01 || diff < -0.01 || int(b) >= octaves*octaveSize {
			t.Errorf("%d is in bucket %d of %d", d, b, bucketTime(b))
		}
	}
}

func TestStatementLogsOfOtherThings(t *testing.T) {
	access := strings.Repeat("127.0.0.1 - - [21/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 612 \"-\" \"curl\"\n", 50)
	random := make([]byte, 20000)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(rnd.Uint32())
	}
	for _, c := range []struct{ why, data, says string }{
		{"an access log", access, "it looks like an access log"},
		{"binary", string(random), "binary"},
		{"gzip", "\x1f\x8b\x08\x00abc", "compressed"},
		{"a statement's rest", "WHERE password = 'geheim'", "a part of one statement"},
	} {
		_, err := StatementLogs(context.Background(), []Input{inputOf("x.log", []byte(c.data))}, StatementOptions{})
		if !errors.Is(err, ErrNotSlowLog) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "x.log") || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", c.why, err)
		}
	}
	if s := digested(t, nil, StatementOptions{}); len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "no statements") {
		t.Errorf("an empty log: %q", s.Warnings)
	}
	data := slowSample(t, "mysql-8.0.slow.log")
	if s := digested(t, data[:len(data)-5], StatementOptions{}); s.Entries != 15 || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "cut off") {
		t.Errorf("a cut log: %d entries, %q", s.Entries, s.Warnings)
	}
	if _, err := StatementLogs(context.Background(), nil, StatementOptions{Format: "ltsv"}); err == nil || !strings.Contains(err.Error(), "ltsv") {
		t.Errorf("a format that is none: %v", err)
	}
	broken := Input{Name: "b.log", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(data), errReader{})), nil
	}}
	if _, err := StatementLogs(context.Background(), []Input{broken}, StatementOptions{}); err == nil || !strings.Contains(err.Error(), "b.log") || !strings.Contains(err.Error(), "disk is gone") {
		t.Errorf("a read error: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := StatementLogs(ctx, []Input{inputOf("a", slowLogOf(t, slowgen.MariaDB, 20000))}, StatementOptions{piece: 4096}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("disk is gone") }

func TestStatementLogsFilters(t *testing.T) {
	data := slowLogOf(t, slowgen.MySQL57, 5000) // two seconds
	all := digested(t, data, StatementOptions{})
	at := all.From.Add(time.Second)
	var read atomic.Int64
	late := digested(t, data, StatementOptions{Since: at, Progress: func(n int64) { read.Store(n) }})
	if late.Entries+late.Skipped != all.Entries || late.Skipped != 2500 || !late.From.Equal(at) {
		t.Errorf("%d entries, %d skipped of %d", late.Entries, late.Skipped, all.Entries)
	}
	if read.Load() != int64(len(data)) || late.Bytes != int64(len(data)) {
		t.Errorf("progress %d, %d bytes, want %d", read.Load(), late.Bytes, len(data))
	}
	slow := digested(t, data, StatementOptions{Keep: func(e *sqllog.SlowEntry) bool { return e.QueryTime > time.Millisecond }})
	for _, c := range slow.Classes {
		if c.P50 < 990*time.Microsecond || c.Schema != "shop" {
			t.Errorf("%+v", c)
		}
	}
}

// endlessSlow repeats a log's entries until n bytes are read; their tables differ,
// and now and then comes a statement of 20 MB.
type endlessSlow struct {
	left, at, huge int64
	buf            []byte
}

func (e *endlessSlow) Read(b []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	if e.huge > 0 {
		n := copy(b, bytes.Repeat([]byte("('row'),"), len(b)/8+1))
		e.huge -= int64(n)
		if e.huge <= 0 {
			e.buf = []byte("('x');\n")
		}
		e.left -= int64(n)
		return n, nil
	}
	if len(e.buf) == 0 {
		e.at++
		e.buf = []byte("# User@Host: a[a] @ b []\n# Thread_id: 1  Schema: s  QC_hit: No\n# Query_time: 0.5  Lock_time: 0  Rows_sent: 0  Rows_examined: 0\nSET timestamp=1;\n")
		if e.at%20000 == 500 {
			e.huge = 20 << 20
			e.buf = append(e.buf, "INSERT INTO t VALUES "...)
		} else {
			e.buf = append(e.buf, "SELECT a FROM t"...)
			for n := e.at; n > 0; n /= 26 {
				e.buf = append(e.buf, byte('a'+n%26))
			}
			e.buf = append(e.buf, ";\n"...)
		}
	}
	n := copy(b, e.buf)
	e.buf = e.buf[n:]
	e.left -= int64(n)
	return n, nil
}

// Memory stays the same however long the log, its classes and its statements.
func TestStatementLogsMemory(t *testing.T) {
	var peak atomic.Uint64
	log := &endlessSlow{left: 192 << 20}
	in := Input{Name: "endless", Open: func() (io.ReadCloser, error) { return io.NopCloser(log), nil }}
	s, err := StatementLogs(context.Background(), []Input{in}, StatementOptions{MaxClasses: 1000, Progress: func(n int64) {
		if n>>20%8 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapAlloc))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Classes) != 1001 || s.Entries < 50000 {
		t.Errorf("%d classes of %d statements", len(s.Classes), s.Entries)
	}
	if peak.Load() > 96<<20 {
		t.Errorf("%d MiB of memory for a log of 192 MiB", peak.Load()>>20)
	}
	// A statement of 20 MB is one, and what follows it is read again.
	if s.Entries > log.at || s.Entries < log.at-1 {
		t.Errorf("%d statements of %d", s.Entries, log.at)
	}
	huge := s.Classes[slices.IndexFunc(s.Classes, func(c Statement) bool { return strings.HasPrefix(c.Fingerprint, "INSERT INTO t VALUES (?)") })]
	if len(huge.Example) > sqllog.MaxStatement || len(huge.Fingerprint) > 100 {
		t.Errorf("an example of %d bytes, a fingerprint of %d", len(huge.Example), len(huge.Fingerprint))
	}
	other := s.Classes[slices.IndexFunc(s.Classes, func(c Statement) bool { return c.Fingerprint == OtherStatements })]
	if other.Example != "" || other.Count < 50000 {
		t.Errorf("%+v", other)
	}
}

func FuzzStatementLogs(f *testing.F) {
	f.Add([]byte("use a;\n"), uint16(100))
	f.Add(slowSample(f, "mysql-5.7.slow.log")[:1500], uint16(300))
	f.Add(slowSample(f, "mariadb-10.11-query-plan.slow.log")[:1500], uint16(64))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		in := []Input{inputOf("log", data)}
		one, err1 := StatementLogs(context.Background(), in, StatementOptions{Workers: 1, piece: 1 << 17})
		many, err2 := StatementLogs(context.Background(), in, StatementOptions{Workers: 2, piece: int(piece)})
		if (err1 == nil) != (err2 == nil) {
			t.Fatalf("%v, in pieces %v", err1, err2)
		}
		if err1 == nil {
			one.Format, many.Format = "", ""
			if !reflect.DeepEqual(one, many) {
				t.Fatalf("in one piece\n%+v\nin many\n%+v", one, many)
			}
		}
	})
}

// What could not be read is told with where it is and, above one percent, on top.
func TestStatementLogsTellWhatIsNotRead(t *testing.T) {
	header := "# Time: 2025-03-02T10:00:01.250000Z\n# User@Host: a[a] @ localhost []  Id:     3\n"
	times := "# Query_time: 0.250000  Lock_time: 0.000010 Rows_sent: 1  Rows_examined: 7\n"
	set := "SET timestamp=1740909601;\n"
	log := "rest of one;\n" + header + times + set + "SELECT 1;\n" + header + set + "UPDATE u SET password = 'hunter2';\n" + header + times + set + "SELECT 2\n" + header + times + set + "SELECT 3\n"
	for _, piece := range []int{0, 64} {
		s := digested(t, []byte(log), StatementOptions{piece: piece})
		if s.Entries != 3 || len(s.Classes) != 1 || s.Bad != 1 || s.BadAt != "slow.log:7" || s.FirstBad != "an entry without Query_time: UPDATE u SET password = 'x'" {
			t.Errorf("%d entries, %d bad, %s: %s", s.Entries, s.Bad, s.BadAt, s.FirstBad)
		}
		for i, want := range []string{"begins within an entry", "1 of 4 entries could not be read", "1 statement without a semicolon"} {
			if i >= len(s.Warnings) || !strings.Contains(s.Warnings[i], want) {
				t.Errorf("%q", s.Warnings)
			}
		}
		var out bytes.Buffer
		if err := WriteText(&out, s.View([]string{"slow.log"}, 0), 0); err != nil || !strings.Contains(out.String(), "not understood  1 of 4 entries; the first is slow.log:7: ") {
			t.Errorf("%v %s", err, out.String())
		}
		if h := s.Health(); len(h) != 4 || !strings.Contains(h[3], "slow.log:7") {
			t.Errorf("%q", h)
		}
	}
}
