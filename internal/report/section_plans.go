package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/store"
	"kasoku/internal/ui"
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

// planChanges are the statements that the server reads otherwise after a session than
// before it: by an index that was made, or without one that went.
func planChanges(before, after *evidence.Evidence) Section {
	s := Section{ID: "plan-changes", Title: "Plans that changed", Note: "EXPLAIN in the diagnostic runs before and after, and the rows that each execution examined in them",
		Columns: []string{"`statement", "plan before", "plan after", ">rows before", ">rows after", "on"}}
	if before == nil || after == nil {
		return s
	}
	type key struct{ service, schema, fingerprint string }
	was := map[key]*evidence.Statement{}
	for i := range before.Statements {
		q := &before.Statements[i]
		was[key{q.Service, q.Schema, q.Fingerprint}] = q
	}
	for i := range after.Statements {
		q := &after.Statements[i]
		old := was[key{q.Service, q.Schema, q.Fingerprint}]
		if old == nil || old.Count <= 0 || q.Count <= 0 {
			continue
		}
		from, to := planShort(old.Explain), planShort(q.Explain)
		if from == "" || to == "" || from == to {
			continue
		}
		s.Rows = append(s.Rows, []string{q.Fingerprint, from, to, ui.Count(float64(old.RowsExamined) / float64(old.Count)), ui.Count(float64(q.RowsExamined) / float64(q.Count)),
			strings.TrimSuffix(q.Service+"/"+q.Schema, "/")})
	}
	return s
}

// planShort is how each table is read: "orders ref kasoku_orders_user; users eq_ref PRIMARY".
func planShort(explain string) string {
	var out []string
	for _, p := range evidence.Plan(explain) {
		out = append(out, strings.TrimSpace(p.Table+" "+cmp.Or(p.Access, "–")+" "+p.Key))
	}
	return strings.Join(out, "; ")
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
