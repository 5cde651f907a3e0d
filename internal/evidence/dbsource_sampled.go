package evidence

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/sqllog"
)

// lookEvery is how often is looked at what connections are doing. A look takes 0.1 to
// 0.3 ms of the server's time with some tens of connections.
const lookEvery = 23 * time.Millisecond

// runningNow are the statements that run at this moment, whatever the age of their
// connection (MariaDB Knowledge Base, "Information Schema PROCESSLIST Table"). MySQL's list
// has neither QUERY_ID nor EXAMINED_ROWS; its performance_schema is on unless somebody
// switched it off.
const runningNow = `SELECT ID, QUERY_ID, COALESCE(DB, ''), TIME_MS, EXAMINED_ROWS, INFO
	FROM information_schema.PROCESSLIST
	WHERE COMMAND IN ('Query', 'Execute') AND INFO IS NOT NULL AND ID <> CONNECTION_ID()`

// runningStatements gathers what was seen to run, by class.
type runningStatements struct {
	looks   int
	classes map[[2]string]*runningClass // by schema and fingerprint
	began   time.Time
	lasted  time.Duration
}

// runningClass is a class of statements as it was seen.
type runningClass struct {
	seen     int            // in how many looks, each connection counted
	runs     map[int64]bool // by QUERY_ID
	elapsed  float64        // milliseconds since the start of the run, summed up
	examined float64        // rows examined so far, summed up
	longest  float64
	example  string
}

func newRunning() *runningStatements {
	return &runningStatements{classes: map[[2]string]*runningClass{}, began: time.Now()}
}

// look adds what runs now. skip are Kasoku's own threads.
func (r *runningStatements) look(ctx context.Context, q querier, skip map[uint64]bool) error {
	rows, err := q.QueryContext(ctx, runningNow)
	if err != nil {
		return fmt.Errorf("look at what runs: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var thread uint64
		var run int64
		var schema, text string
		var elapsed, examined float64
		if err := rows.Scan(&thread, &run, &schema, &elapsed, &examined, &text); err != nil {
			return fmt.Errorf("look at what runs: %w", err)
		}
		if !skip[thread] && len(text) < sqllog.MaxStatement {
			r.add(schema, text, run, elapsed, examined)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("look at what runs: %w", err)
	}
	r.looks++
	r.lasted = time.Since(r.began)
	return nil
}

func (r *runningStatements) add(schema, text string, run int64, elapsed, examined float64) {
	key := [2]string{schema, sqllog.Fingerprint(text)}
	c := r.classes[key]
	if c == nil {
		c = &runningClass{runs: map[int64]bool{}}
		r.classes[key] = c
	}
	c.seen++
	c.runs[run] = true
	c.elapsed += elapsed
	c.examined += examined
	if c.example == "" || elapsed > c.longest {
		c.longest, c.example = elapsed, text
	}
}

// fewestSeen of a class: less is chance.
const fewestSeen = 3

// statements estimates from the looks what ran in the window. Looks are spread evenly, so a
// class takes its share of them times the window. A look falls on average in the middle of a
// run: it lasts twice as long as it had so far, and examines twice the rows. asked is how
// many statements there were in all, by the server's count, and the most that a class can have.
func (r *runningStatements) statements(service string, asked float64) (out []Statement) {
	if r.looks == 0 {
		return nil
	}
	for key, c := range r.classes {
		if c.seen < fewestSeen {
			continue
		}
		seen := float64(c.seen)
		total := seen / float64(r.looks) * r.lasted.Seconds()
		count := float64(len(c.runs))
		if c.elapsed > 0 {
			count = max(count, total/(2*c.elapsed/seen/1000))
		}
		count = max(min(count, asked), float64(len(c.runs)))
		out = append(out, Statement{Service: service, Schema: key[0], Fingerprint: key[1], Example: strings.ToValidUTF8(sqllog.Mask(c.example), "?"),
			Count: int64(count), Total: time.Duration(total * float64(time.Second)), RowsExamined: int64(2 * c.examined / seen * count), Sampled: int64(c.seen)})
	}
	sortStatements(out)
	return out[:min(len(out), keptClasses)]
}

// scanned tells which sampled statements read a table whole, by their plans, and that they
// examine its rows at least, unless a limit may end that early.
func scanned(statements []Statement) {
	for i := range statements {
		s := &statements[i]
		if s.Sampled == 0 {
			continue
		}
		for _, p := range Plan(s.Explain) {
			if p.Access != "ALL" {
				continue
			}
			s.FullScans = s.Count
			rows, err := strconv.ParseFloat(fmt.Sprint(p.Rows), 64)
			if early := strings.Contains(s.Fingerprint, " LIMIT ") && !slices.Contains(p.Besides, "Using filesort"); err == nil && !early {
				s.RowsExamined = max(s.RowsExamined, int64(rows*float64(s.Count)))
			}
		}
	}
}

// otherwise is what is known of the statements where most came by connections that are older
// than the log: the server's own sums, or what was seen to run, and in health from where.
// recorded are those of the log.
func (d *dbSource) otherwise(recorded []Statement, asked float64, h *Health) []Statement {
	if d.digests2 != nil && d.digestErr == nil {
		if out, n := digestDelta(d.svc.Name, d.digests, d.digests2); float64(n) >= covered*asked {
			h.Text += fmt.Sprintf("; instead are %d statements in %d classes from performance_schema", n, len(out))
			h.OldConnections = ""
			h.OK = true
			return out
		}
	}
	if d.locks == nil || d.locks.running == nil {
		return recorded
	}
	r := d.locks.running
	out := r.statements(d.svc.Name, asked)
	if len(out) == 0 {
		return recorded
	}
	h.Sampled = r.looks
	h.Text += fmt.Sprintf("; instead %d looks at what ran (information_schema.PROCESSLIST), %d classes: their times are shares of the looks, how often they ran and how many rows they examined are estimates", r.looks, len(out))
	for _, s := range recorded {
		if !slices.ContainsFunc(out, func(o Statement) bool { return o.Schema == s.Schema && o.Fingerprint == s.Fingerprint }) {
			out = append(out, s)
		}
	}
	return out
}
