package digest

import (
	"io"
	"math"
	"strings"
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
