package database

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/index"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/ui"
)

var missingIndexes = planning.Remedy{
	ID: "mariadb.index", Title: "Missing indexes", Measures: []string{"I02", "I07", "I10", "L06"}, Rules: []string{"db.full-scan"},
	Reason: "An index finds the rows of a statement in a few page reads instead of all of the table's. One that lets transactions deadlock, because it makes a gap that is locked or ends a scan that locked all rows and so kept them apart, is left out first where a step with it makes requests fail, or made with READ COMMITTED where regulation.allow lists isolation.",
	Source: "MariaDB Knowledge Base, \"Building the best INDEX for a given SELECT\"",
	Reach:  indexReach, Plan: planIndexes, Test: "TestRemedyIndex",
	Command: "CREATE INDEX kasoku_login_log_user_id ON app.login_log (user_id)",
	Undo:    "DROP INDEX … ON …; the table's other indexes and its rows are not touched",
	Effect:  "×25.5 on cases/login, that alone wrong (`make bench-bounds`)",
}

// indexReach is the part of a scan's time that an index takes away where the evidence does
// not tell (indexPlan.worth).
const indexReach = 0.7

var spareIndexes = planning.Remedy{
	ID: "mariadb.drop-index", Title: "Indexes that serve nobody", Measures: []string{"I02"}, Rules: []string{"db.spare-index"},
	Reason: "Each row written goes into every index of its table; one that another contains, or that nobody reads, is only upkeep, space and memory.",
	Source: "MySQL 8.0 Reference Manual, \"The schema_redundant_indexes and x$schema_flattened_keys Views\", \"The schema_unused_indexes View\" and \"FOREIGN KEY Constraints\"",
	Reach:  0.3, Plan: planSpareIndexes, Test: "TestIndexesAndHotRow",
	Command: "DROP INDEX customer ON app.orders",
	Undo:    "made again from its line in SHOW CREATE TABLE, saved before; it then stands last among the table's indexes",
}

var hotRow = planning.Remedy{
	ID: "mariadb.hot-row", Title: "A counter's row not held until commit", Measures: []string{"I03"}, Rules: []string{"db.hot-row"},
	Reason: "InnoDB keeps a changed row locked until commit, so a counter that every transaction changes lets them through one at a time. Aria locks the table for the statement only. READ COMMITTED (mariadb.isolation) does not help here: it leaves out the locks of gaps, but keeps the changed row's until commit all the same.",
	Source: "MariaDB Knowledge Base, \"Aria Storage Engine\", \"Aria Group Commit\" and \"InnoDB Lock Modes\"",
	Trades: []regulation.Trade{regulation.Isolation, regulation.Durability},
	Reach:  0.6, Plan: planHotRow, Test: "TestIndexesAndHotRow",
	Command: "ALTER TABLE app.ids ENGINE=Aria",
	Effect:  "answers per second ×1.5 to ×2.6, less the busier the machine (8 users, 3 ms of other work in each transaction, three turns): `go test ./cases/remedies/indexes -run TestIndexesAndHotRow -v`",
	Undo:    "ALTER TABLE … ENGINE=InnoDB, then the options that Aria leaves in the definition taken out; the rows go along as they are",
}

// Building an index reads the table and sorts and writes the entries. Seen with
// MariaDB 10.11 and rows in the page cache, on a 2-CPU virtual machine with ten
// times as much other work (600,000 rows, 133 MiB: an INT in 2.7 s, two columns
// of 32 MiB in 4.9 s): 80 MiB/s of rows and 10 MiB/s of entries. A machine with
// less to do is several times faster.
const (
	readPerSecond  = 80 * planning.MiB
	buildPerSecond = 10 * planning.MiB
)

// spareRoom stays free beside what building takes: redo log and what others
// write meanwhile.
const spareRoom = 64 * planning.MiB

// buildTime of an index, on a busy machine.
func buildTime(t *evidence.Table, size int64) time.Duration {
	rows := int64(0)
	if t != nil {
		rows = t.DataBytes
	}
	return max(time.Duration((float64(rows)/readPerSecond+float64(size)/buildPerSecond)*float64(time.Second)), 100*time.Millisecond)
}

// online reports whether the table's engine makes and drops indexes while others
// write: InnoDB does, the others copy the table (internal/change, alterOnce). Of a
// table that is not known the server decides.
func online(t *evidence.Table) bool {
	return t == nil || t.Engine == "" || strings.EqualFold(t.Engine, "InnoDB")
}

// tooLargeToLock says why an index of this table is not touched, "" if it may be.
func tooLargeToLock(t *evidence.Table) string {
	if online(t) || t.DataBytes+t.IndexBytes <= change.LockedMost {
		return ""
	}
	return fmt.Sprintf("%s.%s is %s, which copies all of its %s while nobody writes; more than %s are left to somebody who knows when the service is quiet",
		t.Schema, t.Name, t.Engine, ui.Bytes(t.DataBytes+t.IndexBytes), ui.Bytes(change.LockedMost))
}

// meanwhile is what others can do while an index is made.
func meanwhile(t *evidence.Table) string {
	if !online(t) {
		return fmt.Sprintf("while nobody writes to the table (%s copies it)", t.Engine)
	}
	return fmt.Sprintf("while others read and write; if the server refuses that, they wait where the table has at most %s, else nothing is changed", ui.Bytes(change.LockedMost))
}

func planIndexes(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	db := in.Snapshot.Databases[f.Service]
	if db == nil {
		return nil, fmt.Errorf("the schema of %s is not known", f.Service)
	}
	advice, notes := index.Advise(statementsOf(in, f.Service), db.Tables, index.OptionsFor(db))
	if len(advice) == 0 {
		return nil, fmt.Errorf("no index would help: %s", joinNotes(notes))
	}
	safe, gaps := indexPlan{in: in, f: f, db: db}, indexPlan{in: in, f: f, db: db}
	taken, refused := map[string]bool{}, map[string]bool{} // by schema.table.name
	repeatable := gapLocks(db, in.Evidence.Statements)
	for _, a := range advice { // most beneficial first
		lacks := func(name string) bool { return refused[a.Schema+"."+a.Table+"."+name] }
		if taken[a.Schema+"."+a.Table+"."+a.Name] || slices.ContainsFunc(a.With, lacks) {
			continue
		}
		to, group := &safe, together(a, advice, taken)
		for _, one := range group {
			taken[one.Schema+"."+one.Table+"."+one.Name] = true
			if one.Gaps != "" && repeatable {
				to = &gaps
			}
		}
		if !to.add(group, safe.space+gaps.space) {
			for _, one := range group {
				refused[one.Schema+"."+one.Table+"."+one.Name] = true
			}
		}
	}
	var plans []planning.Plan
	var errs []error
	for _, p := range []*indexPlan{&safe, &gaps} {
		if !p.called {
			continue
		}
		plan, err := p.plan()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if p == &gaps {
			p.withGaps(&plan)
		}
		w := p.worth()
		plan.Bound, plan.Reach, plan.Spares = w.Bound, w.Reach, w.Spares
		plans = append(plans, plan)
	}
	if len(plans) == 0 {
		return nil, errors.Join(errs...)
	}
	return plans, nil
}

// withGaps makes of a plan whose indexes let transactions deadlock one with READ COMMITTED,
// under which they do not, where the regulation allows it, else one that says so.
func (p *indexPlan) withGaps(plan *planning.Plan) {
	risks := strings.Join(p.risks, "; ")
	if p.in.Stack.Regulation.Allows(regulation.Isolation) {
		f := p.f
		f.Rule, f.Text = "db.isolation", risks
		with, err := settings("mariadb.isolation", "Isolation")(p.in, f)
		if err == nil && len(with) == 1 {
			plan.Changes = append(slices.Clone(with[0].Changes), plan.Changes...)
			plan.Trades = append(plan.Trades, regulation.Isolation)
			plan.Title += " with READ COMMITTED"
			plan.Why += " With READ COMMITTED, as otherwise " + risks + "."
			return
		}
	}
	plan.Deadlocks = true
	plan.Why += " Transactions may end in deadlocks with it: " + risks + ". If requests fail, the rest is tried without it. Under READ COMMITTED that is not so: with isolation in regulation.allow both are made together."
}

// together is an index with those without which it serves nothing (Advice.With), but for
// those that are taken already.
func together(a index.Advice, advice []index.Advice, taken map[string]bool) []index.Advice {
	group := []index.Advice{a}
	for _, o := range advice {
		if o.Schema == a.Schema && o.Table == a.Table && o.Name != a.Name && slices.Contains(a.With, o.Name) && !taken[o.Schema+"."+o.Table+"."+o.Name] {
			group = append(group, o)
		}
	}
	return group
}

// gapLocks reports whether transactions of more than one statement lock gaps here.
func gapLocks(db *evidence.Database, statements []evidence.Statement) bool {
	level := cmp.Or(db.Variables["transaction_isolation"], db.Variables["tx_isolation"])
	if strings.EqualFold(level, "READ-COMMITTED") || strings.EqualFold(level, "READ-UNCOMMITTED") {
		return false
	}
	return slices.ContainsFunc(statements, func(s evidence.Statement) bool {
		return s.Count > 0 && strings.EqualFold(strings.TrimSpace(s.Fingerprint), "COMMIT")
	})
}

// indexPlan gathers the indexes that are made together.
type indexPlan struct {
	in planning.Input
	f  diagnose.Finding
	db *evidence.Database

	called              bool // there is advice for it
	changes             []change.Change
	names, noRoom, kept []string
	risks               []string
	left                map[int]float64 // part of the time of statements, by their place among the service's
	writing             time.Duration   // to keep the indexes up to date, in the whole window
	space               int64
	took                time.Duration
}

// add takes indexes of one table in that help together, if there is room for them beside
// those that take so much: all of them, or none and false.
func (p *indexPlan) add(group []index.Advice, taken int64) bool {
	p.called = true
	var size, largest int64
	for _, a := range group {
		size, largest = size+a.Size, max(largest, a.Size)
	}
	// The sorted entries stand in temporary files before they are in the
	// index (MariaDB Knowledge Base, "InnoDB Online DDL Overview").
	if p.db.DataFree > 0 && taken+size+largest+spareRoom > p.db.DataFree {
		for _, a := range group {
			p.noRoom = append(p.noRoom, fmt.Sprintf("%s (%s)", nameOf(a), ui.Bytes(a.Size)))
		}
		return false
	}
	for _, a := range group {
		p.take(a)
	}
	return true
}

func nameOf(a index.Advice) string {
	return fmt.Sprintf("%s.%s(%s)", a.Schema, a.Table, strings.Join(a.Columns, ","))
}

// take makes a change of an index for which there is room.
func (p *indexPlan) take(a index.Advice) {
	name := nameOf(a)
	t := tableOf(p.db, a.Schema, a.Table)
	if why := tooLargeToLock(t); why != "" {
		p.kept = append(p.kept, name+": "+why)
		return
	}
	build := buildTime(t, a.Size)
	p.space, p.took, p.writing = p.space+a.Size, p.took+build, p.writing+a.Writing
	if p.left == nil {
		p.left = map[int]float64{}
	}
	for i, at := range a.Statements {
		p.left[at] = a.Left[i]
	}
	spec := &change.Index{Schema: a.Schema, Table: a.Table, Name: a.Name, Columns: a.Columns}
	p.changes = append(p.changes, change.Change{Kind: change.KindIndex, Host: planning.HostOf(p.in.Stack.Service(p.f.Service)), Service: p.f.Service,
		Index: spec, Why: fmt.Sprintf("%s; it takes about %s and at most about %s to build, %s", a.Reason, ui.Bytes(a.Size), ui.Duration(build), meanwhile(t)),
		Command: fmt.Sprintf("CREATE INDEX `%s` ON `%s`.`%s` (%s)", a.Name, a.Schema, a.Table, strings.Join(a.Columns, ", "))})
	p.names = append(p.names, name)
	if a.Gaps != "" && !slices.Contains(p.risks, a.Gaps) {
		p.risks = append(p.risks, a.Gaps)
	}
}

// plan of the indexes; an error says why none is made.
func (p *indexPlan) plan() (planning.Plan, error) {
	db, service := p.db, p.f.Service
	switch {
	case len(p.names) == 0 && len(p.noRoom) == 0:
		return planning.Plan{}, fmt.Errorf("no index is made: %s", strings.Join(p.kept, "; "))
	case len(p.names) == 0:
		return planning.Plan{}, fmt.Errorf("no room for an index: %s has %s left, building %s takes twice its size and %s are to stay free",
			db.Variables["datadir"], ui.Bytes(db.DataFree), strings.Join(p.noRoom, ", "), ui.Bytes(spareRoom))
	}
	why := fmt.Sprintf("%s The indexes take about %s and at most about %s to build", p.f.Text, ui.Bytes(p.space), ui.Duration(p.took))
	if db.DataFree > 0 {
		why += fmt.Sprintf("; %s are free", ui.Bytes(db.DataFree))
	}
	why += "."
	if len(p.noRoom) > 0 {
		why += " No room for " + strings.Join(p.noRoom, ", ") + "."
	}
	if len(p.kept) > 0 {
		why += " Not made: " + strings.Join(p.kept, "; ") + "."
	}
	return planning.Plan{ID: "mariadb.index:" + strings.Join(p.names, "+"), Changes: p.changes, Build: p.took, Why: why,
		Title: fmt.Sprintf("Add %s to %s", ui.Plural(len(p.names), "missing index", "missing indexes"), service)}, nil
}

func statementsOf(in planning.Input, service string) []evidence.Statement {
	var out []evidence.Statement
	for _, s := range in.Evidence.Statements {
		if s.Service == service {
			out = append(out, s)
		}
	}
	return out
}

// hasForeignKeys reports whether a foreign key is of the table or refers to it: keys
// that it needs cannot be made anew, as undo must where others stand after one.
func hasForeignKeys(db *evidence.Database, t *evidence.Table) bool {
	return slices.ContainsFunc(db.Tables, func(o evidence.Table) bool {
		return slices.ContainsFunc(o.ForeignKeys, func(k evidence.ForeignKey) bool {
			return o.Schema == t.Schema && o.Name == t.Name || strings.EqualFold(k.RefSchema, t.Schema) && strings.EqualFold(k.RefTable, t.Name)
		})
	})
}

// planSpareIndexes drops what SpareIndexes found, except what a statement of the
// run would miss.
func planSpareIndexes(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	db := in.Snapshot.Databases[f.Service]
	if db == nil {
		return nil, fmt.Errorf("the schema of %s is not known", f.Service)
	}
	statements := statementsOf(in, f.Service)
	if len(statements) == 0 {
		return nil, fmt.Errorf("the run recorded no statements of %s, so none can be asked whether it needs them", f.Service)
	}
	var uptime float64
	fmt.Sscan(in.Evidence.Counters[f.Service].Value["Uptime"], &uptime)
	var p planning.Plan
	var names, whys, kept []string
	dropped, relied := map[string]bool{}, map[string]bool{}
	var space int64
	for _, s := range diagnose.SpareIndexes(db, uptime) {
		at := s.Table.Schema + "." + s.Table.Name + "."
		if dropped[at+s.By] || relied[at+s.Index.Name] {
			continue // one of the two must stay
		}
		if why := index.Needed(statements, db.Tables, s.Table.Schema, s.Table.Name, s.Index.Name); why != "" {
			kept = append(kept, s.Why+", but "+why)
			continue
		}
		if why := tooLargeToLock(s.Table); why != "" {
			kept = append(kept, s.Why+", but "+why)
			continue
		}
		if hasForeignKeys(db, s.Table) {
			kept = append(kept, s.Why+", but the table has foreign keys, beside which undo could not put it back in its place among the keys")
			continue
		}
		dropped[at+s.Index.Name], relied[at+s.By] = true, s.By != ""
		space += index.Size(*s.Table, s.Index.Columns)
		spec := &change.Index{Schema: s.Table.Schema, Table: s.Table.Name, Name: s.Index.Name, Columns: s.Index.Specs()}
		c := change.Change{Kind: change.KindIndex, Host: planning.HostOf(in.Stack.Service(f.Service)), Service: f.Service, Drop: true, Index: spec, Why: s.Why}
		if !online(s.Table) {
			c.Why += "; it goes " + meanwhile(s.Table)
		}
		c.Command = c.SQL()
		p.Changes = append(p.Changes, c)
		names, whys = append(names, at+s.Index.Name), append(whys, s.Why)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no index can go: %s", strings.Join(kept, "; "))
	}
	p.ID = "mariadb.drop-index:" + strings.Join(names, "+")
	p.Title = fmt.Sprintf("Drop %s nobody from %s", ui.Plural(len(names), "index that serves", "indexes that serve"), f.Service)
	p.Why = fmt.Sprintf("%s. Each row written goes into them too; they take about %s. No statement of the run gets slower without them; one that names them in FORCE INDEX would fail.", strings.Join(whys, "; "), ui.Bytes(space))
	return []planning.Plan{p}, nil
}
