package evidence

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// PlanTable is one table of a statement's plan, in the order of reading.
type PlanTable struct {
	Table  string // as the statement calls it: its alias, if it has one
	Access string // "ALL", "ref", …
	Key    string // the index that is read, "" if none is
	// Rows that the server expects to read each time, and the percentage of
	// them that it expects to keep; as numbers or texts, nil if not told.
	Rows, Filtered any
	// Pushed: a condition is looked at in the index, before rows are fetched (index
	// condition pushdown); the server does not count as examined what it turns down.
	Pushed bool
	// Intersected are indexes of which all entries are compared that fit: only the rows that
	// are in all of them are fetched and counted as examined (index merge, intersection).
	Intersected []string
	// Besides are operations around it: "Using filesort", "Using index", …
	Besides []string
}

// Whole reports whether all of the table, or of an index of it, is read. What
// the server makes itself, such as <union1,2>, is no table.
func (p PlanTable) Whole() bool {
	return (p.Access == "ALL" || p.Access == "index") && !strings.HasPrefix(p.Table, "<")
}

// Plan reads EXPLAIN FORMAT=JSON of MySQL ("EXPLAIN Output Format") and
// MariaDB, whose operations stand around the tables they are for. It has no
// rows for what is not such a plan.
func Plan(explain string) []PlanTable {
	var root any
	if explain == "" || json.Unmarshal([]byte(explain), &root) != nil {
		return nil
	}
	return planTables(root, nil)
}

func planTables(v any, around []string) []PlanTable {
	var out []PlanTable
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			out = append(out, planTables(x, around)...)
		}
	case map[string]any:
		if v["using_filesort"] == true || v["filesort"] != nil || v["read_sorted_file"] != nil { // MySQL, MariaDB
			around = with(around, "Using filesort")
		}
		if v["using_temporary_table"] == true || v["temporary_table"] != nil {
			around = with(around, "Using temporary")
		}
		if name, ok := v["table_name"].(string); ok {
			p := PlanTable{Table: name, Rows: cmp.Or(v["rows_examined_per_scan"], v["rows"]), Filtered: v["filtered"], Besides: around}
			p.Access, _ = v["access_type"].(string)
			p.Key, _ = v["key"].(string)
			p.Pushed = v["index_condition"] != nil
			if p.Access == "index_merge" {
				p.Intersected = intersected(map[string]any{"key": p.Key, "index_merge": v["index_merge"]}, false)
			}
			if v["using_index"] == true {
				p.Besides = with(around, "Using index")
			}
			out = append(out, p)
			around = nil // what a table is made of has operations of its own
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, planTables(v[k], around)...)
		}
	}
	return out
}

// intersected finds the indexes of intersections: MariaDB writes them below "index_merge",
// "intersect", MySQL names them in a key: "intersect(a,b)".
func intersected(v any, within bool) (names []string) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			names = append(names, intersected(x, within)...)
		}
	case map[string]any:
		key, _ := v["key"].(string)
		if _, list, ok := strings.Cut(strings.ToLower(key), "intersect("); ok {
			list, _, _ = strings.Cut(list, ")")
			for _, name := range strings.Split(list, ",") {
				names = append(names, strings.TrimSpace(name))
			}
		} else if within && key != "" {
			names = append(names, key)
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			names = append(names, intersected(v[k], within || k == "intersect")...)
		}
	}
	return names
}

func with(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(slices.Clip(list), word)
}
