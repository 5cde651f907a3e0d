package digest

import (
	"fmt"
	"io"
	"strings"
	"time"

	"kasoku/internal/ui"
)

// View is a digest as people see it; text, Markdown and HTML are made of it.
type View struct {
	Title string
	// Top comes first: how the log was read where it left that open, and what
	// is not in the table.
	Top []string
	// Facts say what was read and what was not understood.
	Facts    []Fact
	Warnings []string
	Head     []Head
	Rows     []ViewRow
	// More says what the limit left out, "" if nothing.
	More string
	// Sections are tables below that one.
	Sections []Section
}

// Fact is a name with a text.
type Fact struct{ Name, Text string }

// Head of a column.
type Head struct {
	Name string
	Text bool // from the log: aligned to the left, and never trusted
	// Code is shown in a type for code: routes and SQL. The last column is one,
	// and may be cut to fit a terminal.
	Code bool
}

// ViewRow is one line. Bar is a share of the whole, 0–1.
type ViewRow struct {
	Cells  []string
	Bar    float64
	Detail []Fact
}

// Digest is what Access, Statements and Diff have in common.
type Digest interface {
	// Sort by one of SortKeys; "" is the first of them.
	Sort(by string) error
	SortKeys() []string
	// Cut leaves the first n rows; 0: all.
	Cut(n int)
	// View shows at most n rows, 0: all. names are those of the logs.
	View(names []string, n int) View
	// CSV writes all rows with exact numbers: times in seconds, sizes in bytes.
	CSV(w io.Writer) error
	// Health is what a reader of bare rows must know: warnings, lines not
	// understood. Empty if all is well.
	Health() []string
}

// column of rows; the digests' tables are lists of them.
type column[R any] struct {
	name  string          // in CSV, with its unit
	head  string          // for people; "": only in CSV
	cell  func(*R) string // for people
	exact func(*R) string // nil: only for people
	text  bool
	code  bool
}

func textColumn[R any](name string, f func(*R) string) column[R] {
	return column[R]{name: name, exact: f, text: true}
}

func textHead[R any](name, head string, f func(*R) string) column[R] {
	return column[R]{name: name, head: head, cell: f, exact: f, text: true}
}

// countColumn is one of whole numbers; head "" is only in CSV.
func countColumn[R any](name, head string, get func(*R) int64) column[R] {
	return column[R]{name: name, head: head, cell: func(r *R) string { return count(get(r)) }, exact: func(r *R) string { return integer(get(r)) }}
}

func shareColumn[R any](name, head string, get func(*R) float64) column[R] {
	return column[R]{name: name, head: head, cell: func(r *R) string { return ui.Share(get(r)) }, exact: func(r *R) string { return fraction(get(r)) }}
}

// rowsOf makes the heads and at most n rows (0: all) for people.
func rowsOf[R any](columns []column[R], rows []R, n int, bar func(*R) float64, detail func(*R) []Fact) ([]Head, []ViewRow) {
	var heads []Head
	for _, c := range columns {
		if c.head != "" {
			heads = append(heads, Head{c.head, c.text, c.code})
		}
	}
	var out []ViewRow
	for i := range rows {
		if n > 0 && i == n {
			break
		}
		r := ViewRow{Bar: bar(&rows[i])}
		for _, c := range columns {
			if c.head != "" {
				r.Cells = append(r.Cells, c.cell(&rows[i]))
			}
		}
		if detail != nil {
			r.Detail = detail(&rows[i])
		}
		out = append(out, r)
	}
	return heads, out
}

// more tells what a limit left out.
func more[R any](rows []R, n int, what, of string, share func(*R) float64) string {
	if n <= 0 || len(rows) <= n {
		return ""
	}
	rest := 0.0
	for i := n; i < len(rows); i++ {
		rest += share(&rows[i])
	}
	verb := "are"
	if len(rows)-n == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%s %s left out, with %s of %s; --limit 0 shows all", amount(int64(len(rows)-n), what), verb, ui.Share(rest), of)
}

// logNames joins names and leaves out what nobody reads.
func logNames(names []string) string {
	const most = 3
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// period of a log, with its length; "" if the log has no times.
func period(from, to time.Time, count int64, what string) string {
	if from.IsZero() || to.IsZero() {
		return ""
	}
	const layout = "2006-01-02 15:04:05"
	d := to.Sub(from)
	s := fmt.Sprintf("%s to %s UTC", from.UTC().Format(layout), to.UTC().Format(layout))
	if d <= 0 {
		return s
	}
	return s + fmt.Sprintf(" (%s, %s %s/s)", ui.Duration(d), rate(float64(count)/d.Seconds()), what)
}

// rate per second, with three digits; a small one is not written in milli.
func rate(f float64) string {
	if f < 0.1 {
		return fmt.Sprintf("%.3g", f)
	}
	return ui.Number(f)
}

// count, whole and exact.
func count(n int64) string { return ui.Count(float64(n)) }

// amount is "1 route", "2 classes".
func amount(n int64, what string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(what, "s"):
		what += "es"
	default:
		what += "s"
	}
	return count(n) + " " + what
}

func integer(n int64) string { return fmt.Sprint(n) }

// seconds, exact to the nanosecond and without an exponent.
func seconds(d time.Duration) string {
	s := fmt.Sprintf("%d.%09d", d/time.Second, (d % time.Second).Abs())
	if d < 0 && d > -time.Second {
		s = "-" + s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func fraction(f float64) string { return fmt.Sprintf("%.6f", f) }

func mean(total, n int64) float64 {
	if n == 0 {
		return 0
	}
	return float64(total) / float64(n)
}

// oneLine puts a statement on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(ui.Clean(s)), " ") }

// sortKeyError names the keys there are.
func sortKeyError(by string, keys []string) error {
	return fmt.Errorf("cannot sort by %q; choose from %s", by, strings.Join(keys, ", "))
}
