package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/evidence"
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
		var rows [][]string
		for _, p := range evidence.Plan(q.Explain) {
			rows = append(rows, []string{p.Table, cmp.Or(p.Access, "–"), cmp.Or(p.Key, "–"), planText(p.Rows), percentText(planText(p.Filtered)), strings.Join(p.Besides, ", ")})
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

// planText is a number or text of a plan.
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
