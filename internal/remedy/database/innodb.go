package database

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/lazyregexp"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/sqllog"
	"kasoku/internal/ui"
)

// rowLocks is the remedy for tables that are locked whole for each write.
var rowLocks = planning.Remedy{
	ID: "mariadb.innodb", Title: "Tables that lock rows instead of themselves", Measures: []string{"W07"}, Rules: []string{"db.myisam"},
	Reason: "MyISAM locks a whole table for each write, and a write that waits for a long read keeps all later reads waiting, too. InnoDB locks rows, and readers never wait. What it gives up: nothing that MyISAM has; a write is on disk when it is answered, so each takes a flush of the log, and COUNT(*) of a whole table reads an index.",
	Source: "MySQL manual, \"Table Locking Issues\", \"Converting Tables from MyISAM to InnoDB\"; MariaDB documentation, \"Converting Tables from MyISAM to InnoDB\"",
	Reach:  0.5, Plan: planInnoDB, Test: "cases/remedies/database/innodb_test.go:TestRowLocks",
	Command: "ALTER TABLE app.visits ENGINE=InnoDB, and innodb_buffer_pool_size large enough for it", Undo: "ALTER TABLE … ENGINE=MyISAM: the definition is as found, and the rows are those of that moment",
}

// copyPerSecond of rows and indexes into another engine, as seen on a busy machine.
const copyPerSecond = 8 * planning.MiB

// planInnoDB gives tables that wait for each other's locks an engine that locks rows.
func planInnoDB(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	v, err := newView(in, f)
	if err != nil {
		return nil, err
	}
	if f.Subject["tables"] == "" {
		return nil, fmt.Errorf("%s: no statements of the run are known, so neither are the tables that are written", f.Service)
	}
	if why := v.withoutCommit(); why != "" {
		return nil, fmt.Errorf("%s: tables stay MyISAM, because %s", f.Service, why)
	}
	var changes []change.Change
	var names, notes []string
	bytes := int64(0)
	for name := range strings.FieldsSeq(f.Subject["tables"]) {
		schema, table, _ := strings.Cut(name, ".")
		t := tableOf(v.db, schema, table)
		if t == nil {
			continue
		}
		if why := v.staysMyISAM(t); why != "" {
			notes = append(notes, fmt.Sprintf("%s stays, because %s", name, why))
			continue
		}
		c := change.Change{Kind: change.KindTable, Host: planning.HostOf(v.svc), Service: v.svc.Name, Why: f.Text,
			Table: &change.Table{Schema: t.Schema, Name: t.Name, Engine: "InnoDB", Before: t.Engine}}
		c.Command = c.SQL()
		changes, names, bytes = append(changes, c), append(names, name), bytes+t.DataBytes+t.IndexBytes
		if told := words(t); told != "" {
			notes = append(notes, told)
		}
	}
	if len(changes) == 0 {
		return nil, fmt.Errorf("%s: %s", f.Service, strings.Join(notes, "; "))
	}
	if free := v.db.DataFree; free > 0 && 2*bytes+spareRoom > free {
		return nil, fmt.Errorf("%s: no room: the tables take %s, up to twice that in InnoDB, and %s are free", f.Service, ui.Bytes(bytes), ui.Bytes(free))
	}
	took := time.Duration(float64(bytes) / copyPerSecond * float64(time.Second))
	why := []string{f.Text, fmt.Sprintf("Their %s take about %s to copy, each way, and nobody writes to a table meanwhile.", ui.Bytes(bytes), ui.Duration(max(took, 100*time.Millisecond)))}
	pool, said, err := v.poolFor(bytes, f.Text)
	if err != nil {
		return nil, err
	}
	why = append(append(why, said...), notes...)
	return []planning.Plan{{ID: "mariadb.innodb:" + f.Service + ":" + strings.Join(names, ","), Title: fmt.Sprintf("Lock rows, not tables, in %s: %s to InnoDB", f.Service, ui.Plural(len(names), "table", "tables")),
		Why: strings.Join(why, " – "), Changes: append(pool, changes...), Build: took}}, nil
}

// poolFor makes the buffer pool large enough for what InnoDB has and bytes more, as far as
// there is memory: what the page cache did for MyISAM it does not do for InnoDB.
func (v view) poolFor(bytes int64, text string) (changes []change.Change, said []string, err error) {
	now, spare := v.now(poolVariable), planning.SpareMemory(v.in, v.svc)
	want := v.db.DataBytes + bytes*3/2
	if !v.has(poolVariable) || want <= now {
		return nil, nil, nil
	}
	if why := v.persisted(poolVariable); why != "" {
		return nil, []string{why}, nil
	}
	if want = v.wholePool(want, now+max(spare, 0)); want <= now {
		return nil, []string{"memory less the regulation's headroom leaves no room for a larger buffer pool"}, nil
	}
	changes, err = planVariables(v.in, v.svc.Name, []set{{name: poolVariable, value: strconv.FormatInt(want, 10), option: inMiB(knob{step: 1}, want)}}, text)
	return changes, []string{fmt.Sprintf("the buffer pool of %s becomes %s, so that it holds them", mib(now), mib(want))}, err
}

// staysMyISAM says what forbids to change a table's engine; "" if nothing.
func (v view) staysMyISAM(t *evidence.Table) string {
	most, whose := int64(change.CopiedMost), "that are copied while writers wait"
	if v.in.Stack.Regulation.Production {
		most, whose = change.LockedMost, "for which visitors may wait (production: true)"
	}
	switch size := t.DataBytes + t.IndexBytes; {
	case !strings.EqualFold(t.Engine, "MyISAM"):
		return "it is " + t.Engine
	case size > most:
		return fmt.Sprintf("its %s are more than the %s %s", ui.Bytes(size), ui.Bytes(most), whose)
	case t.Partitioned:
		return "it is partitioned"
	case t.Triggers > 0:
		return "it has triggers"
	}
	for _, x := range t.Indexes {
		switch {
		case strings.EqualFold(x.Type, "SPATIAL"):
			return "it has an index of places"
		case strings.EqualFold(x.Type, "FULLTEXT") && v.matched(t):
			return "it is searched by an index of words, which finds other rows in another engine"
		}
	}
	return ""
}

// matched reports whether a statement of the run searches a table by an index of words.
func (v view) matched(t *evidence.Table) bool {
	return slices.ContainsFunc(v.in.Evidence.Statements, func(s evidence.Statement) bool {
		return s.Service == v.svc.Name && matches.MatchString(s.Fingerprint) && mentions(s, t)
	})
}

var matches = lazyregexp.New(`(?i)\bMATCH\s*\(`)

// words says what else changes where a table has an index of words; "" if it has none.
func words(t *evidence.Table) string {
	for _, x := range t.Indexes {
		if strings.EqualFold(x.Type, "FULLTEXT") {
			return fmt.Sprintf("%s.%s has an index of words (%s), by which no statement of the run searched: InnoDB leaves other words out (shorter than innodb_ft_min_token_size, and its own stop words), so MATCH … AGAINST finds other rows", t.Schema, t.Name, x.Name)
		}
	}
	return ""
}

// manualCommit turns on transactions that end by COMMIT only, or begins one.
var manualCommit = lazyregexp.New(`(?i)^\s*(SET\s+(SESSION\s+|@@(SESSION\.)?)?AUTOCOMMIT\s*=\s*(0|OFF|FALSE)|BEGIN\b|START\s+TRANSACTION)`)

// withoutCommit says that the application begins transactions and never ends one: MyISAM
// writes at once all the same, InnoDB would take everything back.
func (v view) withoutCommit() string {
	begun := v.db.Variables["autocommit"] == "OFF" || v.db.Variables["autocommit"] == "0"
	ended := v.delta("Com_commit") > 0
	for _, s := range v.in.Evidence.Statements {
		if s.Service != v.svc.Name {
			continue
		}
		text := s.Example
		if text == "" {
			text = s.Fingerprint
		}
		begun = begun || manualCommit.MatchString(text)
		ended = ended || sqllog.Verb(s.Fingerprint) == "COMMIT"
	}
	if begun && !ended {
		return "a transaction is begun in the run and none committed: its writes are kept by MyISAM only"
	}
	return ""
}
