package trace

import (
	"regexp"
	"strings"
)

// runs are the calls that run a statement: plain queries and executes, without
// prepares, connects and closes.
func (st *stream) runs() []*call {
	var out []*call
	for i := range st.calls {
		c := &st.calls[i]
		if c.sql != nil && (c.Kind == "" || c.Kind == Execute) {
			out = append(out, c)
		}
	}
	return out
}

// rows are the runs that read or write tables.
func (st *stream) rows() []*call {
	var out []*call
	for _, c := range st.runs() {
		if !c.sql.session() {
			out = append(out, c)
		}
	}
	return out
}

// differing counts the different values that calls of one fingerprint were
// made with; calls with unknown values all count.
func differing(calls []*call) int {
	seen := map[string]bool{}
	open := 0
	for _, c := range calls {
		if c.open {
			open++
		} else {
			seen[c.values] = true
		}
	}
	return len(seen) + open
}

// byFingerprint groups calls; order holds the fingerprints as first seen.
func byFingerprint(calls []*call) (order []string, groups map[string][]*call) {
	groups = map[string][]*call{}
	for _, c := range calls {
		fp := c.sql.fingerprint
		if groups[fp] == nil {
			order = append(order, fp)
		}
		groups[fp] = append(groups[fp], c)
	}
	return order, groups
}

// findNPlusOne: one SELECT by key, again for each row of something else.
// Chunked reads (id > ? LIMIT ?) have no key compared and are not meant.
func findNPlusOne(st *stream) []occurrence {
	rows := st.rows()
	claimed := st.loopCalls()
	order, groups := byFingerprint(rows)
	var out []occurrence
	for _, fp := range order {
		g := unclaimed(groups[fp], claimed)
		if len(g) < fewest || !g[0].sql.reads || !g[0].sql.keyed || differing(g) < fewest {
			continue
		}
		out = append(out, occurrence{kind: NPlusOne, what: fp, after: before(rows, g[0]), calls: g, could: 1, better: inList(fp), keys: varying(g)})
	}
	return out
}

func unclaimed(calls []*call, claimed map[*call]bool) []*call {
	var out []*call
	for _, c := range calls {
		if !claimed[c] {
			out = append(out, c)
		}
	}
	return out
}

// before is the last reading statement of another kind before c.
func before(rows []*call, c *call) string {
	last := ""
	for _, r := range rows {
		if r == c {
			return last
		}
		if r.sql.fingerprint != c.sql.fingerprint && r.sql.reads {
			last = r.sql.fingerprint
		}
	}
	return last
}

var reLastKey = regexp.MustCompile("([A-Za-z0-9_`.]+) = \\?")

// inList rewrites the first comparison of the fingerprint's WHERE to a list.
func inList(fp string) string {
	at := strings.Index(fp, " WHERE ")
	if at < 0 {
		return "one statement for all rows (IN, or a JOIN)"
	}
	loc := reLastKey.FindStringSubmatchIndex(fp[at:])
	if loc == nil {
		return "one statement for all rows (IN, or a JOIN)"
	}
	text := fp[:at+loc[3]] + " IN (?, …)" + fp[at+loc[1]:]
	return "once for all rows: " + text + " (or a JOIN with the statement before)"
}

// findSameRows: the identical statement again, with nothing written to its
// tables and no transaction begun or ended between.
func findSameRows(st *stream) []occurrence {
	runs := st.runs()
	_, groups := byFingerprint(runs)
	type held struct{ calls []*call }
	live := map[string]*held{}
	var order []string
	var done []*held
	drop := func(keep func(*statement) bool) {
		for _, id := range order {
			if h := live[id]; h != nil && !keep(h.calls[0].sql) {
				done = append(done, h)
				delete(live, id)
			}
		}
	}
	for _, c := range runs {
		s := c.sql
		switch {
		case s.transaction():
			drop(func(*statement) bool { return false })
		case s.repeatable && !c.open && !c.Failed:
			if s.keyed && differing(groups[s.fingerprint]) >= fewest {
				continue // told as n+1
			}
			id := s.fingerprint + "\x00" + c.values
			if live[id] == nil {
				live[id] = &held{}
				order = append(order, id)
			}
			live[id].calls = append(live[id].calls, c)
		case !s.reads:
			drop(func(o *statement) bool { return !s.writes(o.tables) })
		}
	}
	drop(func(*statement) bool { return false })
	var out []occurrence
	for _, h := range done {
		if len(h.calls) >= again {
			out = append(out, occurrence{kind: SameRead, what: h.calls[0].sql.fingerprint, calls: h.calls, could: 1,
				better: "once; keep the rows for the rest of the request"})
		}
	}
	return out
}

// findSameTable: different SELECTs of one row of one table by the same key,
// which one SELECT of all their columns could replace.
func findSameTable(st *stream) []occurrence {
	type group struct {
		calls []*call
		seen  map[string]bool
	}
	live := map[string]*group{}
	var order []string
	var done []*group
	drop := func(keep func(*statement) bool) {
		for _, id := range order {
			if g := live[id]; g != nil && !keep(g.calls[0].sql) {
				done = append(done, g)
				delete(live, id)
			}
		}
	}
	for _, c := range st.runs() {
		s := c.sql
		switch {
		case s.transaction():
			drop(func(*statement) bool { return false })
		case s.row && !c.open:
			id := s.tables[0] + "\x00" + s.where + "\x00" + c.row
			if live[id] == nil {
				live[id] = &group{seen: map[string]bool{}}
				order = append(order, id)
			}
			if g := live[id]; !g.seen[s.fingerprint] {
				g.seen[s.fingerprint] = true
				g.calls = append(g.calls, c)
			}
		case !s.reads:
			drop(func(o *statement) bool { return !s.writes(o.tables) })
		}
	}
	drop(func(*statement) bool { return false })
	var out []occurrence
	for _, g := range done {
		if len(g.calls) < again {
			continue
		}
		s := g.calls[0].sql
		var all []string
		for _, c := range g.calls {
			all = append(all, c.sql.fingerprint)
		}
		out = append(out, occurrence{kind: SameTable, what: s.tables[0] + " WHERE " + s.where, calls: g.calls, could: 1,
			better: "one SELECT with the columns of all of them", example: s.fingerprint, statements: all})
	}
	return out
}

// findRowWrites: single-row writes of one kind one after another.
func findRowWrites(st *stream) []occurrence {
	rows := st.rows()
	claimed := st.loopCalls()
	ids := idCalls(rows)
	var out []occurrence
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && rows[j].sql.fingerprint == rows[i].sql.fingerprint {
			j++
		}
		if g := rows[i:j]; len(g) >= fewest && g[0].sql.rowWrite() && !claimed[g[0]] && !ids[g[0]] && differing(g) >= fewest {
			out = append(out, occurrence{kind: RowWrites, what: g[0].sql.fingerprint, calls: g, could: 1, better: bulk(g[0].sql), keys: varying(g)})
		}
		i = j
	}
	return out
}

func bulk(s *statement) string {
	switch s.verb {
	case "INSERT", "REPLACE":
		return "one " + s.verb + " … VALUES (…), (…), … with the rows in the order of the primary key"
	case "DELETE":
		return "one DELETE … WHERE … IN (?, …)"
	}
	return "one UPDATE … SET … = CASE … END WHERE … IN (?, …), or INSERT … ON DUPLICATE KEY UPDATE"
}

var (
	// LAST_INSERT_ID with something added: a counter row. Without it,
	// id = LAST_INSERT_ID(id) only tells which row was met.
	reIDUpdate = regexp.MustCompile(`LAST_INSERT_ID ?\([^()]*[+][^()]*\)`)
	// n = n + ?
	reCounter = regexp.MustCompile("SET ([`\\w.]+) = ([`\\w.]+) \\+ \\?")
	// Tables that hold nothing but numbers to be given out. A balance read FOR
	// UPDATE and then changed, or a count of visits, has the same form, so the
	// name decides.
	reCounterTable = regexp.MustCompile(`(?i)(^|_)(seqs?|sequences?|ids|id_?gen(erators?)?|generators?|autoincrements?)($|_)`)
)

// idCalls are the calls that make an ID from a counter row.
func idCalls(rows []*call) map[*call]bool {
	out := map[*call]bool{}
	for i, c := range rows {
		s := c.sql
		if s.verb != "UPDATE" && s.verb != "INSERT" {
			continue
		}
		if reIDUpdate.MatchString(s.fingerprint) {
			out[c] = true
			continue
		}
		if s.verb != "UPDATE" || len(s.tables) != 1 || !reCounterTable.MatchString(bare(s.tables[0])) {
			continue
		}
		// The number is read before, with a lock, or after.
		m := reCounter.FindStringSubmatch(s.fingerprint)
		counts := m != nil && bare(m[1]) == bare(m[2])
		switch {
		case i > 0 && lockedRead(rows[i-1].sql, s.tables[0]):
			out[rows[i-1]], out[c] = true, true
		case counts && i+1 < len(rows) && rows[i+1].sql.verb == "SELECT" && sameTable(rows[i+1].sql, s.tables[0]):
			out[rows[i+1]], out[c] = true, true
		}
	}
	return out
}

func lockedRead(s *statement, table string) bool {
	return s.verb == "SELECT" && reLocking.MatchString(s.fingerprint) && sameTable(s, table)
}

func sameTable(s *statement, table string) bool {
	return len(s.tables) == 1 && strings.EqualFold(bare(s.tables[0]), bare(table))
}

// findIDs: IDs made by UPDATE of a counter row, with what fetches them.
func findIDs(st *stream) []occurrence {
	runs := st.runs()
	ids := idCalls(st.rows())
	byTable := map[string]*occurrence{}
	var order []string
	last := ""
	for _, c := range runs {
		switch {
		case ids[c]:
			last = ""
			if len(c.sql.tables) > 0 {
				last = bare(c.sql.tables[0])
			}
			o := byTable[last]
			if o == nil {
				o = &occurrence{kind: IDByUpdate, what: c.sql.fingerprint, could: 0,
					better: "IDs made in the application (time, machine, counter), or AUTO_INCREMENT of the table itself"}
				byTable[last] = o
				order = append(order, last)
			}
			if c.sql.verb != "SELECT" {
				o.what = c.sql.fingerprint
			}
			o.calls = append(o.calls, c)
		case last != "" && c.sql.verb == "SELECT" && len(c.sql.tables) == 0 && strings.Contains(strings.ToUpper(c.sql.fingerprint), "LAST_INSERT_ID"):
			byTable[last].calls = append(byTable[last].calls, c)
			last = ""
		case !c.sql.session():
			last = ""
		}
	}
	var out []occurrence
	for _, t := range order {
		out = append(out, *byTable[t])
	}
	return out
}

// findPrepares: statements prepared on the server and executed no more often
// than they were prepared.
func findPrepares(st *stream) []occurrence {
	type use struct {
		prepares, executes []*call
	}
	byText := map[string]*use{}
	var order []string
	for i := range st.calls {
		c := &st.calls[i]
		if c.sql == nil || c.Kind != Prepare && c.Kind != Execute {
			continue
		}
		u := byText[c.sql.fingerprint]
		if u == nil {
			u = &use{}
			byText[c.sql.fingerprint] = u
			order = append(order, c.sql.fingerprint)
		}
		if c.Kind == Prepare {
			u.prepares = append(u.prepares, c)
		} else {
			u.executes = append(u.executes, c)
		}
	}
	var out []occurrence
	for _, fp := range order {
		u := byText[fp]
		if len(u.prepares) == 0 || len(u.executes) == 0 || len(u.executes) > len(u.prepares) {
			continue
		}
		out = append(out, occurrence{kind: PrepareOnce, what: fp, calls: append(u.prepares, u.executes...), could: len(u.executes),
			better: "one round trip: let the driver put the values in (PDO::ATTR_EMULATE_PREPARES, interpolateParams), or keep the prepared statement"})
	}
	return out
}
