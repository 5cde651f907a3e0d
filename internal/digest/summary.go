package digest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
	"kasoku/internal/sqllog"
)

// A summary is a table that a server has summed up itself, one row a class:
// performance_schema.events_statements_summary_by_digest, sys.statement_analysis,
// pg_stat_statements. It may be what the mysql client or psql printed (tabs,
// borders, one column a line), CSV or JSON.

// ErrUnit: a time's unit is not known, and a guess could be wrong by a thousand.
var ErrUnit = errors.New("the unit of a time is not known")

// ErrSummed: a filter of single runs, or a period, of a table that has sums.
var ErrSummed = errors.New("a table of sums has no single runs and no moments: leave --since and --until out, and filter by verb, table or fingerprint only")

// summaryColumn is a column that is read.
type summaryColumn struct {
	names []string // in small letters
	// unit of a time as a number: what one is; 0: it is no time.
	unit float64 // nanoseconds
	set  func(*pieceClass, float64)
}

// Nanoseconds of one.
const (
	picosecond  = 1e-3
	millisecond = 1e6
)

// summaryColumns: MySQL manual, "Statement Summary Tables" (timers are in
// picoseconds: "Performance Schema Event Timing") and "The statement_analysis
// and x$statement_analysis Views"; PostgreSQL manual, "pg_stat_statements"
// (milliseconds; total_time up to version 12).
var summaryColumns = []summaryColumn{
	{[]string{"count_star", "exec_count", "calls"}, 0, func(k *pieceClass, f float64) { k.Count = int64(f) }},
	{[]string{"sum_timer_wait", "total_latency"}, picosecond, func(k *pieceClass, f float64) { k.Total = time.Duration(f) }},
	{[]string{"total_exec_time", "total_time"}, millisecond, func(k *pieceClass, f float64) { k.Total = time.Duration(f) }},
	{[]string{"max_timer_wait", "max_latency"}, picosecond, func(k *pieceClass, f float64) { k.Max = time.Duration(f) }},
	{[]string{"max_exec_time", "max_time"}, millisecond, func(k *pieceClass, f float64) { k.Max = time.Duration(f) }},
	{[]string{"sum_lock_time", "lock_latency"}, picosecond, func(k *pieceClass, f float64) { k.LockTime = time.Duration(f) }},
	{[]string{"quantile_95"}, picosecond, func(k *pieceClass, f float64) { k.P95 = time.Duration(f) }},
	{[]string{"quantile_99"}, picosecond, func(k *pieceClass, f float64) { k.P99 = time.Duration(f) }},
	{[]string{"sum_errors", "err_count"}, 0, func(k *pieceClass, f float64) { k.Errors = int64(f) }},
	{[]string{"sum_rows_affected", "rows_affected"}, 0, func(k *pieceClass, f float64) { k.RowsAffected = int64(f) }},
	{[]string{"sum_rows_sent", "rows_sent", "rows"}, 0, func(k *pieceClass, f float64) { k.RowsSent = int64(f) }},
	{[]string{"sum_rows_examined", "rows_examined"}, 0, func(k *pieceClass, f float64) { k.RowsExamined = int64(f) }},
	{[]string{"sum_created_tmp_tables", "tmp_tables"}, 0, func(k *pieceClass, f float64) { k.TmpTables = int64(f) }},
	{[]string{"sum_created_tmp_disk_tables", "tmp_disk_tables"}, 0, func(k *pieceClass, f float64) { k.TmpDisk = int64(f) }},
	{[]string{"sum_select_scan"}, 0, func(k *pieceClass, f float64) { k.FullScans = int64(f) }},
	{[]string{"sum_select_full_join"}, 0, func(k *pieceClass, f float64) { k.FullJoins = int64(f) }},
	{[]string{"sum_no_index_used"}, 0, func(k *pieceClass, f float64) { k.NoIndex = int64(f) }},
	{[]string{"sum_sort_scan", "sum_sort_range"}, 0, func(k *pieceClass, f float64) { k.Filesorts = plus(k.Filesorts, int64(f)) }},
}

var (
	summaryTexts   = []string{"digest_text", "query"}
	summarySchemas = []string{"schema_name", "db", "datname"}
	summarySamples = []string{"query_sample_text"}
	// sqlClocks are words in names of columns that hold a time.
	sqlClocks = []string{"time", "latency", "timer", "total", "duration", "elapsed"}
)

// summaryTable maps the columns of one table.
type summaryTable struct {
	names    []string
	columns  map[int]*summaryColumn
	units    map[int]float64
	text     int
	schema   int
	sample   int
	total    int // the column of the time
	seen     [2]int
	postgres bool
}

// tableOf reads a table's head; nil if it is no summary of statements.
func tableOf(head []string) *summaryTable {
	t := &summaryTable{columns: map[int]*summaryColumn{}, units: map[int]float64{}, text: -1, schema: -1, sample: -1, total: -1, seen: [2]int{-1, -1}}
	counted := false
	for i, name := range head {
		name = columnName(name)
		t.names = append(t.names, name)
		switch {
		case slices.Contains(summaryTexts, name) && t.text < 0:
			t.text = i
		case slices.Contains(summarySchemas, name) && t.schema < 0:
			t.schema = i
		case slices.Contains(summarySamples, name):
			t.sample = i
		case name == "first_seen":
			t.seen[0] = i
		case name == "last_seen":
			t.seen[1] = i
		}
		base, unit := nameUnit(name)
		for c := range summaryColumns {
			col := &summaryColumns[c]
			if !slices.Contains(col.names, base) || unit > 0 && col.unit == 0 {
				continue
			}
			t.columns[i], t.units[i] = col, col.unit
			if unit > 0 {
				t.units[i] = unit
			}
			counted = counted || c == 0
			if c == 1 || c == 2 {
				t.total = i
			}
			t.postgres = t.postgres || base == "calls" || base == "total_exec_time"
		}
	}
	if t.text < 0 || !counted {
		return nil
	}
	return t
}

// has tells whether the table has a column for what the name is one of.
func (t *summaryTable) has(name string) bool {
	for _, col := range t.columns {
		if slices.Contains(col.names, name) {
			return true
		}
	}
	return false
}

// nameUnits end a column's name: total_ms, sum_timer_wait_s.
var nameUnits = map[string]float64{"ps": 1e-3, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9, "secs": 1e9, "seconds": 1e9}

// nameUnit splits a name with a unit; total_ms is total_time in milliseconds.
func nameUnit(name string) (base string, unit float64) {
	at := strings.LastIndexByte(name, '_')
	if at < 0 || nameUnits[name[at+1:]] == 0 {
		return name, 0
	}
	switch base = name[:at]; base {
	case "total", "sum", "time", "latency":
		base = "total_time"
	case "max":
		base = "max_time"
	case "lock":
		base = "lock_latency"
	}
	return base, nameUnits[name[at+1:]]
}

// check refuses a table whose time has no known unit.
func (t *summaryTable) check() error {
	if t.total >= 0 {
		return nil
	}
	for _, name := range t.names {
		for _, word := range sqlClocks {
			if strings.Contains(name, word) && !strings.Contains(name, "avg") && !strings.Contains(name, "mean") && !strings.Contains(name, "max") && !strings.Contains(name, "min") && !strings.Contains(name, "lock") {
				return fmt.Errorf("%w: column %q; take SUM_TIMER_WAIT (picoseconds) or total_exec_time (milliseconds) as it is, or name the column total_s, total_ms, total_us or total_ps", ErrUnit, name)
			}
		}
	}
	return fmt.Errorf("the table has no column with the statements' time; take SUM_TIMER_WAIT (performance_schema), total_latency (sys) or total_exec_time (pg_stat_statements) as well")
}

// format is the table's name with the unit of its times.
func (t *summaryTable) format() string {
	unit := "as written"
	for name, ns := range map[string]float64{"ps": 1e-3, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9} {
		if t.units[t.total] == ns {
			unit = "in " + name
		}
	}
	name := "performance_schema"
	switch {
	case t.postgres:
		name = "pg_stat_statements"
	case slices.Contains(t.names, "exec_count"):
		name = "sys.statement_analysis"
	}
	return fmt.Sprintf("%s (%s %s)", name, t.names[t.total], unit)
}

// row reads a row; false if it is none.
func (t *summaryTable) row(f []string) (*pieceClass, [2]time.Time, bool) {
	var seen [2]time.Time
	if len(f) != len(t.names) {
		return nil, seen, false
	}
	k := &pieceClass{slowest: f[t.text]}
	if isNull(k.slowest) {
		k.slowest = ""
	}
	if t.schema >= 0 && !isNull(f[t.schema]) {
		k.schema = f[t.schema]
	}
	if t.sample >= 0 && !isNull(f[t.sample]) {
		k.sample = f[t.sample]
	}
	for i, col := range t.columns {
		n, ok := summaryNumber(f[i], t.units[i])
		if !ok {
			return nil, seen, false
		}
		col.set(k, n)
	}
	for i, at := range t.seen {
		if at >= 0 {
			seen[i], _ = time.ParseInLocation("2006-01-02 15:04:05", strings.TrimSpace(f[at]), time.Local)
		}
	}
	if k.Max > 0 { // quantiles are the ends of buckets
		k.P95, k.P99 = min(k.P95, k.Max), min(k.P99, k.Max)
	}
	return k, seen, true
}

// valueUnits stand behind a number: sys.format_time and FORMAT_PICO_TIME (MySQL
// manual).
var valueUnits = map[string]float64{"ps": 1e-3, "ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "min": 60e9, "h": 3600e9, "d": 86400e9, "w": 7 * 86400e9}

// isNull: no value, as clients and SELECT … INTO OUTFILE write it (MySQL manual,
// "LOAD DATA Statement": \N).
func isNull(s string) bool { return s == "NULL" || s == `\N` }

var (
	groupedNumber = lazyregexp.New(`^\d{1,3}(,\d{3})+(\.\d+)?$`)
	commaNumber   = lazyregexp.New(`^\d+,\d+$`)
)

// plainNumber takes separators of thousands and a decimal comma out. "2,500" is
// two and a half or 2500 where parts can be, so it stays as it is then.
func plainNumber(s string, parts bool) string {
	switch {
	case !strings.Contains(s, ","):
	case groupedNumber.MatchString(s) && (!parts || strings.Count(s, ",") > 1 || strings.Contains(s, ".")):
		return strings.ReplaceAll(s, ",", "")
	case parts && commaNumber.MatchString(s) && !groupedNumber.MatchString(s):
		return strings.Replace(s, ",", ".", 1)
	}
	return s
}

// summaryNumber reads a number, or a time with its unit behind it, in nanoseconds
// if the column is a time; NULL and "" are 0.
func summaryNumber(s string, unit float64) (float64, bool) {
	s = strings.TrimSpace(s)
	if s == "" || isNull(s) {
		return 0, true
	}
	if number, name, ok := strings.Cut(s, " "); ok && unit > 0 {
		if unit, s = valueUnits[name], number; unit == 0 {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(plainNumber(s, unit > picosecond), 64)
	if unit > 0 {
		f = math.Round(f * unit)
	}
	// Up to 292 years in nanoseconds, and numbers up to 9·10^18, fit; NaN does not.
	if err != nil || !(f >= 0 && f <= 9e18) {
		return 0, false
	}
	return f, true
}

// summary sums a table up.
func (f *statementFeed) summary(r io.Reader) error {
	var t *summaryTable
	var runs *runTable
	err := summaryRows(r, func(record []string, line int64) error {
		if runs != nil {
			return runs.row(f, record, line)
		}
		if t == nil {
			if runs = runTableOf(record); runs != nil {
				runs.begin(f)
				return nil
			}
			if t = tableOf(record); t == nil {
				return errors.New("its first rows are no table of statements")
			}
			if err := t.check(); err != nil {
				return err
			}
			if f.c.o.filters() {
				return ErrSummed
			}
			f.c.name(t.format())
			f.c.out.unsent = f.c.out.unsent || !t.has("rows_sent")
			if t.postgres {
				f.c.dialect = sqllog.Postgres
			}
			return nil
		}
		k, seen, ok := t.row(record)
		if !ok {
			f.c.fault(1, line, "a row that is cut, or whose numbers are none", "")
			return nil
		}
		f.addClass(k, seen)
		return f.ctx.Err()
	})
	switch {
	case err != nil:
	case runs != nil:
		runs.end(f)
	case t == nil:
		err = errors.New("it holds no table of statements")
	case f.shortened > 0:
		f.c.warn("%s %s cut by the server, which writes ... for what is left out; such count under what is there of them, and those that begin and end alike as one: take sys.x$statement_analysis or events_statements_summary_by_digest, and raise max_digest_length if they end so there, too",
			amount(f.shortened, "statement"), oneOrMore(f.shortened, "was", "were"))
	}
	return err
}

// isCut: sys.format_statement leaves out the middle, and max_digest_length the end; (...)
// and /* , ... */ are what a digest has of a list.
func isCut(text string) bool {
	for rest := text; ; {
		before, after, ok := strings.Cut(rest, "...")
		if !ok {
			return false
		}
		if !strings.HasSuffix(before, "(") && !strings.HasSuffix(before, ", ") && len(before) > 0 {
			return true
		}
		rest = after
	}
}

// addClass takes a class that is summed up already.
func (f *statementFeed) addClass(k *pieceClass, seen [2]time.Time) {
	f.c.log.rows++
	f.c.out.rows++
	f.c.out.summed += k.Count
	if k.Count == 0 {
		return
	}
	if isCut(k.slowest) {
		f.shortened++
	}
	k.print = f.w.print(lexed(f.c.dialect, k.slowest))
	f.sum.entries = plus(f.sum.entries, k.Count)
	f.sum.classes = append(f.sum.classes, *k)
	for _, t := range seen {
		if t.IsZero() {
			continue
		}
		if f.sum.from.IsZero() || t.Before(f.sum.from) {
			f.sum.from = t
		}
		if t.After(f.sum.to) {
			f.sum.to = t
		}
	}
	if len(f.sum.classes) >= feedEntries {
		f.merge()
	}
}
