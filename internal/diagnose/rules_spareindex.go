package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/ui"
)

// SpareIndex is an index that costs upkeep and serves nobody.
type SpareIndex struct {
	Table *evidence.Table
	Index evidence.TableIndex
	// By is the index that does its work too; "" if nobody asks for it.
	By string
	// Why, for people.
	Why string
}

// usedUp is how long a server must have counted before an index that nobody read
// counts as unused: a report of the month's end would still be missed.
const usedUp = 7 * 24 * 3600 // s

// SpareIndexes lists secondary indexes that another one contains, and those that
// were never read since the server began, uptime seconds ago. Unique indexes,
// and unread ones that a foreign key needs, are never spare. One that is hidden
// from the optimizer is somebody's trial: it is left alone and does nobody's
// work. Nor is one on an expression judged.
func SpareIndexes(db *evidence.Database, uptime float64) []SpareIndex {
	var out []SpareIndex
	for i := range db.Tables {
		t := &db.Tables[i]
		for _, a := range t.Indexes {
			if a.Unique || a.Name == "PRIMARY" || a.Type != "BTREE" || a.Hidden || a.HasExpression() {
				continue
			}
			name := fmt.Sprintf("%s.%s: %s (%s)", t.Schema, t.Name, a.Name, strings.Join(a.Columns, ", "))
			if b, ok := containedIn(t, a); ok {
				out = append(out, SpareIndex{Table: t, Index: a, By: b.Name,
					Why: fmt.Sprintf("%s is the beginning of %s (%s)", name, b.Name, strings.Join(b.Columns, ", "))})
				continue
			}
			if a.Reads == 0 && uptime >= usedUp && !neededByKey(db, t, a) {
				out = append(out, SpareIndex{Table: t, Index: a,
					Why: fmt.Sprintf("%s was not read once in %.0f days", name, uptime/86400)})
			}
		}
	}
	slices.SortFunc(out, func(a, b SpareIndex) int { return strings.Compare(a.Why, b.Why) })
	return out
}

// containedIn finds an index that begins with a's columns. Of two equal ones the
// unique one stays, else the first by name.
func containedIn(t *evidence.Table, a evidence.TableIndex) (evidence.TableIndex, bool) {
	for _, b := range t.Indexes {
		if a.Name != b.Name && b.Type == "BTREE" && !b.Hidden && a.Begins(b) &&
			(len(a.Columns) < len(b.Columns) || b.Unique || a.Name > b.Name) {
			return b, true
		}
	}
	return evidence.TableIndex{}, false
}

// neededByKey says whether a foreign key of the table, or one that refers to it,
// has its columns at the beginning of the index.
func neededByKey(db *evidence.Database, t *evidence.Table, x evidence.TableIndex) bool {
	begins := func(columns []string) bool {
		return len(columns) <= len(x.Columns) && slices.EqualFunc(columns, x.Columns[:len(columns)], strings.EqualFold)
	}
	for _, k := range t.ForeignKeys {
		if begins(k.Columns) {
			return true
		}
	}
	for i := range db.Tables {
		for _, k := range db.Tables[i].ForeignKeys {
			if strings.EqualFold(k.RefSchema, t.Schema) && strings.EqualFold(k.RefTable, t.Name) && begins(k.RefColumns) {
				return true
			}
		}
	}
	return false
}

// judgeSpareIndexes: an index whose columns begin another one, or that nobody
// reads, is only upkeep.
func judgeSpareIndexes(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		uptime, _ := v.value("Uptime")
		var cites []string
		for _, s := range SpareIndexes(v.db, uptime) {
			cites = append(cites, s.Why)
		}
		writes := v.rowsWritten(m)
		if len(cites) == 0 || writes < rare {
			return nil
		}
		return []Finding{about(v.svc.Name, ui.Plural(len(cites), "index serves", "indexes serve")+" nobody in "+v.svc.Name,
			fmt.Sprintf("%.0f rows are written each second and each must be put into them too: %s.", writes, strings.Join(cites[:min(len(cites), 5)], "; ")), cites...).
			bounded(m.boundBy(v.svc.Name, v.perReq*0.2))} // an index of a dozen is a twelfth of a write; a fifth is ample
	})
}

// rowsWritten per second. MariaDB 10.11 has no Innodb_rows_inserted and its
// like; it counts rows put into temporary tables apart (Handler_tmp_write),
// which MySQL does not.
func (v dbView) rowsWritten(m *model) float64 {
	if _, known := v.delta("Innodb_rows_inserted"); known {
		return v.rate(m, "Innodb_rows_inserted") + v.rate(m, "Innodb_rows_updated") + v.rate(m, "Innodb_rows_deleted")
	}
	return v.rate(m, "Handler_write") + v.rate(m, "Handler_update") + v.rate(m, "Handler_delete")
}
