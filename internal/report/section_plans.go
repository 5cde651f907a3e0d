package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/store"
)

// plans are the EXPLAINs in short: a row for each table in the order of
// reading. Conditions are left out; they repeat the statement.
func plans(run *store.Run) Section {
	s := Section{ID: "plans", Title: "Plans of statements", Note: "EXPLAIN, a row for each table; rows: those it expects to read each time",
		Columns: []string{"`statement", "table", "access", "key", ">rows", ">filtered", "besides", "on"}}
	for _, q := range run.Evidence.Statements {
		if q.Explain == "" {
			continue
		}
		on := strings.TrimSuffix(q.Service+"/"+q.Schema, "/")
		var root any
		rows := [][]string(nil)
		if json.Unmarshal([]byte(q.Explain), &root) == nil {
			rows = planRows(root, nil)
		}
		if len(rows) == 0 {
			rows = [][]string{{"–", "", "", "", "", "no table in the plan, or a form that is not known: --json holds it"}}
		}
		for _, r := range rows {
			s.Rows = append(s.Rows, append(append([]string{q.Fingerprint}, r...), on))
		}
	}
	return s
}

// planRows walks through EXPLAIN FORMAT=JSON of MySQL ("EXPLAIN Output
// Format") and MariaDB, whose operations stand around the tables they are for.
func planRows(v any, around []string) [][]string {
	var out [][]string
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			out = append(out, planRows(x, around)...)
		}
	case map[string]any:
		if v["using_filesort"] == true || v["filesort"] != nil || v["read_sorted_file"] != nil { // MySQL, MariaDB
			around = with(around, "Using filesort")
		}
		if v["using_temporary_table"] == true || v["temporary_table"] != nil {
			around = with(around, "Using temporary")
		}
		if name, ok := v["table_name"].(string); ok {
			besides := around
			if v["using_index"] == true {
				besides = with(besides, "Using index")
			}
			out = append(out, []string{name, planText(v["access_type"]), planText(v["key"]), planText(cmp.Or(v["rows_examined_per_scan"], v["rows"])),
				percentText(planText(v["filtered"])), strings.Join(besides, ", ")})
			around = nil // what a table is made of has operations of its own
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, planRows(v[k], around)...)
		}
	}
	return out
}

func with(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(slices.Clip(list), word)
}

func planText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return fmt.Sprintf("%.10g", v)
	}
	return "–"
}

func percentText(s string) string {
	if s == "–" {
		return s
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return fmt.Sprintf("%.3g %%", v)
	}
	return s + " %"
}
