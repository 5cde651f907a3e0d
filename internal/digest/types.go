// Package digest sums logs up: access logs by route, statement logs by class.
//
// In: logs as bytes (files, parts of files, compressed ones, standard input).
// Out: one row per route or class of statements, with counts, times and
// percentiles, and what was not understood. Memory does not grow with the log.
package digest

import "time"

// Access is the digest of access logs.
type Access struct {
	// Format that was found or given, e.g. "nginx: combined", "ltsv".
	Format string `json:"format"`
	// From and To are the first and last request's time; zero if the log has none.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Lines read, Bad those that are no entries of the format, Skipped those
	// that filters left out. Bytes of the log, uncompressed.
	Lines   int64 `json:"lines"`
	Bad     int64 `json:"bad"`
	Skipped int64 `json:"skipped"`
	Bytes   int64 `json:"bytes"`
	// FirstBad is the first line that was not understood, cut and made
	// printable; BadAt where it is ("access.log:17").
	FirstBad string `json:"first_bad,omitempty"`
	BadAt    string `json:"bad_at,omitempty"`
	// BadLines are the first of them, at most three.
	BadLines []BadLine `json:"bad_lines,omitempty"`
	// Notes say what was inferred (the unit of times that name none), and how to
	// say otherwise.
	Notes []string `json:"notes,omitempty"`
	// Untimed requests have no time, although the log has times.
	Untimed int64 `json:"untimed,omitempty"`
	// Timed: the log has a request's time; without it the times are 0.
	Timed bool `json:"timed"`
	// Routes, most total time first (most requests first if not Timed).
	Routes []Route `json:"routes"`
	// Warnings tell what limits what this digest says: clocks that run
	// backwards, routes beyond the limit, a cut last line.
	Warnings []string `json:"warnings,omitempty"`
	// first of the warnings belong above all numbers.
	first int
}

// BadLine is a line that was not understood, cut and made printable; At is where
// it is ("access.log:17").
type BadLine struct {
	At   string `json:"at"`
	Text string `json:"text"`
}

// Route is what the requests of one route did.
type Route struct {
	Service string `json:"service,omitempty"` // of the stack, whose log it was
	Method  string `json:"method"`            // GET, POST, …; OTHER for what HTTP does not know
	Route   string `json:"route"`             // "/users/:id"
	Count   int64  `json:"count"`
	// Status counts answers by class: Status[2] is 2xx; [0] what has none.
	Status [6]int64 `json:"status"`
	// Codes counts answers by status code, only those ≥ 400 (and nginx's 499).
	Codes map[int]int64 `json:"codes,omitempty"`
	Bytes int64         `json:"bytes"` // of answers, as the log counts them
	// Time a request took at the server, Upstream that the server behind it
	// took; Upstream.Count is less than Count where no upstream was asked.
	Time     Times `json:"time"`
	Upstream Times `json:"upstream"`
	// Cache counts cache states as the log writes them: HIT, MISS, BYPASS, …
	Cache map[string]int64 `json:"cache,omitempty"`
	// Share of all requests' total time, 0–1 (of the requests if not timed).
	Share float64 `json:"share"`
	// Example is one real target, with its query's values masked.
	Example string `json:"example,omitempty"`
}

// Times summarize durations. Percentiles are of a histogram whose buckets are
// at most 1 % wide.
type Times struct {
	Count int64         `json:"count"`
	Total time.Duration `json:"total"`
	Mean  time.Duration `json:"mean"`
	P50   time.Duration `json:"p50"`
	P90   time.Duration `json:"p90"`
	P95   time.Duration `json:"p95"`
	P99   time.Duration `json:"p99"`
	Max   time.Duration `json:"max"`
}

// Statements is the digest of statement logs.
type Statements struct {
	Format   string    `json:"format"` // "mariadb", "mysql", "mysql 5.7", …
	From     time.Time `json:"from,omitzero"`
	To       time.Time `json:"to,omitzero"`
	Entries  int64     `json:"entries"` // statements
	Commands int64     `json:"commands"`
	Skipped  int64     `json:"skipped"` // left out by filters
	Bytes    int64     `json:"bytes"`
	// Bad are entries that were not understood; FirstBad says what is wrong with
	// the first, BadAt where it is ("slow.log:17").
	Bad      int64  `json:"bad"`
	FirstBad string `json:"first_bad,omitempty"`
	BadAt    string `json:"bad_at,omitempty"`
	// Explained names the database whose plans the classes have; "" for none.
	Explained string `json:"explained,omitempty"`
	// TriedIndexes are the advised indexes that were made on copies of their tables.
	TriedIndexes []TriedIndex `json:"tried_indexes,omitempty"`
	// TriedOn says what was copied for that.
	TriedOn []string `json:"tried_on,omitempty"`
	// Untimed: the log has no times; they are 0.
	Untimed bool `json:"untimed,omitempty"`
	// Classes, most total time first.
	Classes  []Statement `json:"classes"`
	Warnings []string    `json:"warnings,omitempty"`
	// rows of tables of sums were read, which stand for summed of the Entries.
	rows, summed int64
	// unsent: a table of sums does not tell the rows that were sent.
	unsent bool
}

// Statement is one class of SQL statements (a digest).
type Statement struct {
	Service     string `json:"service,omitempty"`
	Schema      string `json:"schema"`
	Fingerprint string `json:"fingerprint"` // literals replaced by ?
	// Example is a real statement, the slowest; values of password-like
	// columns masked.
	Example      string        `json:"example"`
	Count        int64         `json:"count"`
	Total        time.Duration `json:"total"`
	LockTime     time.Duration `json:"lock_time"`
	RowsExamined int64         `json:"rows_examined"`
	RowsSent     int64         `json:"rows_sent"`
	RowsAffected int64         `json:"rows_affected,omitempty"`
	BytesSent    int64         `json:"bytes_sent,omitempty"`
	FullScans    int64         `json:"full_scans"`
	FullJoins    int64         `json:"full_joins,omitempty"`
	NoIndex      int64         `json:"no_index,omitempty"` // runs that used no index
	TmpTables    int64         `json:"tmp_tables"`
	TmpDisk      int64         `json:"tmp_disk_tables"`
	Filesorts    int64         `json:"filesorts"`
	Errors       int64         `json:"errors,omitempty"`
	// Percentiles of the query time; 0 where the source has only sums
	// (performance_schema).
	P50 time.Duration `json:"p50,omitempty"`
	P95 time.Duration `json:"p95,omitempty"`
	P99 time.Duration `json:"p99,omitempty"`
	Max time.Duration `json:"max,omitempty"`
	// Repeats are the runs of a read whose text had come before, and of whose tables nothing
	// was written in between: what a cache of results would have answered. Replayed says that
	// they were counted.
	Repeats  int64 `json:"repeats,omitempty"`
	Replayed bool  `json:"replayed,omitempty"`
	// Sampled: it was seen running in so many looks at what runs, and no run was recorded.
	// Total is then its share of the looks, Count and RowsExamined are estimates, and
	// what else a log tells is not known. 0: the runs were recorded.
	Sampled int64 `json:"sampled,omitempty"`
	// Plan of Example on a database that was named; nil: it was not explained.
	Plan *Planned `json:"plan,omitempty"`
	// Explain of Example as JSON, "" if it could not be taken.
	Explain string `json:"explain,omitempty"`

	runs bool // single runs are known, so a percentile of 0 is one
}
