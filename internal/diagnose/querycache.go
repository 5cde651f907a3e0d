package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/lazyregexp"
	"kasoku/internal/sqllog"
	"kasoku/internal/ui"
)

// What a query cache would hold is told by tables: a write to one throws away all that was
// kept of it, and nothing else (MariaDB documentation, "Query Cache"). Of the tables that
// nothing writes, results stay; how often a table is written beside what is read of all
// tables says nothing about them.

// sameValues is the part of a class's runs, among those that no write comes between, that
// are taken to come with values that came before, where the class has values: nobody
// tells which. An estimate. A class with one value that reads one table has no more
// different ones, among those that find something, than the table has rows.
const sameValues = 0.5

// notKept are statements whose results the cache never keeps, or that differ each time
// (MariaDB documentation, "Query Cache": "Queries Stored in the Query Cache").
var notKept = lazyregexp.New(`(?i)\b(NOW|CURDATE|CURTIME|CURRENT_DATE|CURRENT_TIME|CURRENT_TIMESTAMP|LOCALTIME|LOCALTIMESTAMP|SYSDATE|UNIX_TIMESTAMP|UTC_DATE|UTC_TIME|UTC_TIMESTAMP|RAND|UUID|UUID_SHORT|LAST_INSERT_ID|FOUND_ROWS|ROW_COUNT|CONNECTION_ID|USER|CURRENT_USER|DATABASE|GET_LOCK|RELEASE_LOCK|SLEEP|BENCHMARK|ENCRYPT|NEXTVAL|LASTVAL)\s*\(|\b(FOR\s+UPDATE|LOCK\s+IN\s+SHARE\s+MODE|SQL_NO_CACHE|INTO\s+(OUTFILE|DUMPFILE)|CURRENT_TIMESTAMP|CURRENT_DATE)\b|@|\binformation_schema\b|\bmysql\s*\.|\bperformance_schema\b`)

// keptReads is what a query cache would do for the statements of a run.
type keptReads struct {
	all      float64 // seconds of all statements
	possible float64 // of those whose results it keeps at all
	saved    float64 // of what is answered from it, less what keeping takes
	still    float64 // of what is read of tables that nothing wrote
	hits     float64 // answers from it
	reads    float64 // statements
	writes   float64
	guessed  bool     // which values came again is known of none, or not of all
	quiet    []string // tables that are read and that nothing wrote, the most time first
}

// queryCacheKeeps estimates it from the classes of a database's statements; false where
// none that reads is known.
func queryCacheKeeps(statements []evidence.Statement, service string, db *evidence.Database) (keptReads, bool) {
	rows := map[string]float64{}
	for _, t := range db.Tables {
		rows[strings.ToLower(t.Schema+"."+t.Name)] = float64(t.Rows)
	}
	k := keptReads{}
	written := map[string]float64{} // statements that write, by table
	for _, s := range statements {
		if s.Service != service {
			continue
		}
		if k.all += s.Total.Seconds(); !readsOnly(s.Fingerprint) {
			tables := tablesOf(s)
			for _, t := range tables {
				written[t] += float64(s.Count)
			}
			if len(tables) > 0 {
				k.writes += float64(s.Count)
			}
		}
	}
	time := map[string]float64{}
	for _, s := range statements {
		tables := tablesOf(s)
		if s.Service != service || s.Count == 0 || !readsOnly(s.Fingerprint) || len(tables) == 0 {
			continue
		}
		n, total := float64(s.Count), s.Total.Seconds()
		k.reads += n
		k.guessed = k.guessed || !s.Replayed
		if notKept.MatchString(s.Fingerprint) {
			continue
		}
		writes := 0.0
		for _, t := range tables {
			writes += written[t]
		}
		again := comesAgain(s, tables, writes, rows)
		k.possible += total
		k.hits += again * n
		cost := queryCacheCost
		if writes == 0 {
			cost = keepCost
		}
		k.saved += again*max(0, total-n*hitCost) - (1-again)*n*cost
		if writes == 0 {
			k.still += total
			for _, t := range tables {
				time[t] += total
			}
		}
	}
	k.quiet = slices.SortedFunc(maps.Keys(time), func(a, b string) int { return cmp.Or(cmp.Compare(time[b], time[a]), cmp.Compare(a, b)) })
	return k, k.reads > 0 && k.all > 0
}

// comesAgain is the part (0–1) of a class's runs whose result would be there: as it was counted in
// the statements' order, else estimated. rows are those of each table.
func comesAgain(s evidence.Statement, tables []string, writes float64, rows map[string]float64) float64 {
	n := float64(s.Count)
	again := max(0, 1-(writes+1)/n) // the first after a write is computed
	switch values := strings.Count(s.Fingerprint, "?"); {
	case s.Replayed:
		return float64(s.Repeats) / n
	case values == 1 && len(tables) == 1 && rows[tables[0]] > 0:
		return max(again*sameValues, again-rows[tables[0]]/n)
	case values > 0:
		return again * sameValues
	}
	return again
}

// keepCost of a result that is looked for and kept, and that nobody throws away, in
// seconds: of queryCacheCost the half that is not.
const keepCost = queryCacheCost / 2

// worthKeeping is the part of the statement time that must be saved at least: half of it no
// run could show.
const worthKeeping = 0.02

// covers reports whether the classes have about the writes beside their reads that the
// server counted: a record that leaves some out, as one of slow statements does, would
// take their tables for such that nobody writes.
func (k keptReads) covers(reads, writes float64) bool {
	const few, half = 0.01, 0.5 // writes of a hundredth of the reads are no matter
	return writes < few*reads || k.writes*reads >= half*writes*k.reads
}

// hitCost of an answer from the cache, in seconds: what any statement takes to be asked
// and sent, without being parsed and run (`go test ./internal/remedy/index -bench Commands`).
const hitCost = 10e-6

// readsOnly reports whether a class reads and changes nothing.
func readsOnly(class string) bool {
	verb := sqllog.Verb(class)
	return verb == "SELECT" || verb == "WITH"
}

// tablesOf a statement, with their schema.
func tablesOf(s evidence.Statement) []string {
	var out []string
	for _, t := range sqllog.Tables(s.Fingerprint) {
		if t = strings.ToLower(t); !strings.Contains(t, ".") {
			t = strings.ToLower(s.Schema) + "." + t
		}
		out = append(out, t)
	}
	return out
}

// text says what the estimate rests on.
func (k keptReads) text() string {
	about := "about "
	if !k.guessed {
		about = "in the order in which they came, "
	}
	text := fmt.Sprintf(about+"%.0f of %.0f reads would find their result kept, which saves about %s of the statement time", k.hits, k.reads, ui.Share(max(k.saved, 0)/k.all))
	if len(k.quiet) > 0 {
		names := k.quiet[:min(len(k.quiet), 3)]
		text += fmt.Sprintf("; %s of the time reads only tables that nothing wrote in the run (%s", ui.Share(k.still/k.all), strings.Join(names, ", "))
		if more := len(k.quiet) - len(names); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		text += ")"
	}
	if text += "."; k.guessed {
		text += " " + mayPay
	}
	return text
}

// mayPay is said where nobody counted which statements come again.
const mayPay = "It pays only where the same statements come with the same values."
