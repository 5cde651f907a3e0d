package digest

import (
	"context"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Values nested without end are an error, not the end of the stack.
func TestNestedWithoutEnd(t *testing.T) {
	for _, head := range []string{`{"message":"# Query_time: 1  Lock_time: 0"}` + "\n", `{"message":"# Query_time: 1  Lock_time: 0"}` + "\n" + `{"a":`,
		`[{"digest_text":"a","calls":1,"total_time":1}]` + "\n", `[{"digest_text":"a","calls":1,"total_time":1},`} {
		for _, open := range []string{"[", `{"a":`, `{"events":`} {
			data := []byte(head + strings.Repeat(open, 10_000_000/len(open)))
			_, err := StatementLogs(t.Context(), []Input{inputOf("x.json", data)}, StatementOptions{})
			if err == nil || !strings.Contains(err.Error(), "nested more than 1000 deep") {
				t.Errorf("%s and %s: %v", head, open, err)
			}
		}
	}
}

// No number is what it is not: NaN is no time, and sums do not turn negative.
func TestNumbersThatAreNone(t *testing.T) {
	for _, n := range []string{"NaN", "-NaN", "Inf", "1e400", "-1"} {
		s := digested(t, []byte("query,calls,total_exec_time\nSELECT 1,"+n+",5\nSELECT 2,1,"+n+"\nSELECT a,2,3\n"), StatementOptions{})
		if s.Bad != 2 || len(s.Classes) != 1 || s.Classes[0].Count != 2 {
			t.Errorf("%s: %+v", n, s)
		}
		log := "2025-03-02 10:00:01.000 UTC [1] LOG:  duration: " + n + " ms  statement: SELECT a\n2025-03-02 10:00:01.000 UTC [1] LOG:  duration: 1.5 ms  statement: SELECT b\n"
		s = digested(t, []byte(log), StatementOptions{})
		if len(s.Classes) != 1 || s.Classes[0].Fingerprint != "SELECT b" || !strings.Contains(strings.Join(s.Warnings, " "), "1 duration could not be read") {
			t.Errorf("%s: %+v", n, s)
		}
	}
	row := "SELECT a FROM t%,9000000000000000000,9000000000000,9000000000000000000\n"
	s := digested(t, []byte("query,calls,total_exec_time,rows\n"+strings.ReplaceAll(strings.Repeat(row, 3), "%", "")+strings.ReplaceAll(row, "%", "u")), StatementOptions{})
	c := s.Classes[0]
	if len(s.Classes) != 2 || c.Count != math.MaxInt64 || c.Total != math.MaxInt64 || c.RowsSent != math.MaxInt64 || s.Entries != math.MaxInt64 || s.total() != math.MaxInt64 {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(strings.Join(s.Warnings, " "), "some sums are above") {
		t.Errorf("%q", s.Warnings)
	}
	if err := WriteText(io.Discard, s.View([]string{"a"}, 0), 200); err != nil {
		t.Error(err)
	}
}

// wrappedIn is a log in lines of a container's runtime that are at most size
// bytes long.
func wrappedIn(log string, size int, part func(text string, last bool) string) string {
	var out strings.Builder
	for line := range strings.Lines(log) {
		for len(line) > size {
			out.WriteString(part(line[:size], false))
			line = line[size:]
		}
		out.WriteString(part(strings.TrimSuffix(line, "\n"), true))
	}
	return out.String()
}

// A statement above 16 KiB comes in parts, which are one line.
func TestLongStatementsInParts(t *testing.T) {
	entry := "# Time: 2025-03-02T10:00:01.250000Z\n# User@Host: a[a] @ b []  Id: 1\n# Query_time: 0.5  Lock_time: 0 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1740909601;\n"
	log := strings.Repeat(entry+"SELECT a FROM t WHERE b = '"+strings.Repeat("it''s # Time: ", 3000)+"' AND c = 'd';\n"+entry+"SELECT 1;\n", 3)
	for name, wrapped := range map[string]string{
		"CRI": wrappedIn(log, 16<<10, func(text string, last bool) string {
			return "2025-03-02T10:00:01.250000000Z stdout " + map[bool]string{true: "F", false: "P"}[last] + " " + text + "\n"
		}),
		"JSON": wrappedIn(log, 16<<10, func(text string, last bool) string {
			if last {
				text += `\n`
			}
			return `{"log":"` + text + `","stream":"stdout"}` + "\n"
		}),
	} {
		s := digested(t, []byte(wrapped), StatementOptions{})
		c := countsOf(s)
		if len(c) != 2 || c["SELECT a FROM t WHERE b = ? AND c = ?"] != 3 || c["SELECT ?"] != 3 || s.Bad != 0 || !strings.HasPrefix(s.Format, name) {
			t.Errorf("%s: %s %v, %d bad", name, s.Format, c, s.Bad)
		}
	}
}

// A percentile of single runs may be 0 s; one of a summary is not known.
func TestPercentileOfZero(t *testing.T) {
	s := digested(t, []byte(strings.Repeat("# User@Host: a[a] @ b []\n# Query_time: 0.000000  Lock_time: 0 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1740909601;\nSELECT 1;\n", 30)+
		"# User@Host: a[a] @ b []\n# Query_time: 2.000000  Lock_time: 0 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1740909601;\nSELECT 1;\n"), StatementOptions{})
	cells := func(s *Statements) string {
		var out []string
		for _, c := range s.columns() {
			if strings.HasPrefix(c.name, "p") && strings.HasSuffix(c.name, "_seconds") {
				out = append(out, c.cell(&s.Classes[0])+c.exact(&s.Classes[0]))
			}
		}
		return strings.Join(out, ",")
	}
	if got := cells(s); got != "0 s0,0 s0,2.00 s2" {
		t.Errorf("%s: %+v", got, s.Classes[0])
	}
	if got := cells(digested(t, []byte("query,calls,total_exec_time\nSELECT 1,3,5\n"), StatementOptions{})); got != "–,–,–" {
		t.Error(got)
	}
}

// watchedReader notes a read that is not over when it is closed.
type watchedReader struct {
	io.Reader
	mu     sync.Mutex
	n      int
	inside bool
	closed bool
	late   bool
}

func (r *watchedReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	r.inside, r.late = true, r.late || r.closed
	r.mu.Unlock()
	most := 1000
	if r.n > 150_000 { // from here on nearly all the time is spent in here
		most = 20
		for range 100 {
			runtime.Gosched()
		}
	}
	n, err := r.Reader.Read(p[:min(len(p), most)])
	r.mu.Lock()
	r.n += n
	r.inside = false
	r.mu.Unlock()
	return n, err
}

func (r *watchedReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed, r.late = true, r.late || r.inside
	return nil
}

// What is read is not closed while a goroutine reads it.
func TestCarriedLogIsClosedLast(t *testing.T) {
	lines := strings.Repeat(`{"log":"# User@Host: a[a] @ b []\n"}`+"\n"+`{"log":"# Query_time: 0.5  Lock_time: 0 Rows_sent: 1  Rows_examined: 1\n"}`+"\n"+`{"log":"SELECT 1;\n"}`+"\n", 5000)
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := &watchedReader{Reader: strings.NewReader(lines)}
		_, err := StatementLogs(ctx, []Input{{Name: "x", Open: func() (io.ReadCloser, error) { return r, nil }}}, StatementOptions{piece: 100 << 10})
		r.mu.Lock()
		if err == nil || r.late || !r.closed {
			t.Errorf("%v, %t %t", err, r.late, r.closed)
		}
		r.mu.Unlock()
	}
}

// A statement of PostgreSQL of which only the begin is kept is told.
func TestLongPostgresStatements(t *testing.T) {
	for _, text := range []string{"'" + strings.Repeat("x", 100_000) + "'", "a\n\t" + strings.Repeat(", a\n\t", 30_000)} {
		log := "2025-03-02 10:00:01.000 UTC [1] LOG:  duration: 1.500 ms  statement: SELECT " + text + "\n"
		s := digested(t, []byte(log), StatementOptions{})
		if len(s.Classes) != 1 || !strings.Contains(strings.Join(s.Warnings, " "), "1 statement longer than 64 KiB") {
			t.Errorf("%d classes, %q", len(s.Classes), s.Warnings)
		}
	}
}
