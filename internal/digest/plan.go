package digest

import (
	"fmt"
	"strings"
)

// PlanRow is how a server means to read one table of a statement (EXPLAIN).
type PlanRow struct {
	Table  string `json:"table"` // as the statement calls it
	Access string `json:"access"`
	Key    string `json:"key,omitempty"`
	// KeyLen is how many bytes of the key are compared; of several, "5,10".
	KeyLen string `json:"key_len,omitempty"`
	// Rows that the server expects to read each time; an estimate.
	Rows  int64  `json:"rows"`
	Extra string `json:"extra,omitempty"`
}

// Planned is what a database told of a statement without running it.
type Planned struct {
	Rows []PlanRow `json:"rows,omitempty"`
	// Missing lists indexes that would help, as CREATE INDEX.
	Missing []string `json:"missing_indexes,omitempty"`
	// Tried is what copies of the tables showed of these; nil: nothing was tried.
	Tried *Tried `json:"tried,omitempty"`
	// Notes are what no index alone helps, with what would.
	Notes []string `json:"notes,omitempty"`
	// Error says why there is no plan.
	Error string `json:"error,omitempty"`
}

// Section is a further table below a digest's own.
type Section struct {
	Title string
	Head  []Head
	Rows  []ViewRow
}

// planHead are the columns of plans for people.
var planHead = []Head{{"#", false, false}, {"table", true, false}, {"type", true, false}, {"key", true, false}, {"key len", true, false}, {"rows", false, false}, {"extra", true, false},
	{"missing index", true, true}}

// plans is the section of plans; nil if no class has one. Classes are named by
// their place in the table.
func (s *Statements) plans(n int) *Section {
	out := &Section{Title: "plans of " + s.Explained + " (# is the statement's row above)", Head: planHead}
	for i := range s.Classes {
		p := s.Classes[i].Plan
		if n > 0 && i == n {
			break
		}
		if p == nil {
			continue
		}
		number := fmt.Sprint(i + 1)
		for k := 0; k < max(len(p.Rows), len(p.Missing), 1); k++ {
			cells := []string{number, "", "", "", "", "", "", ""}
			number = ""
			if k < len(p.Rows) {
				r := &p.Rows[k]
				cells = []string{cells[0], r.Table, dash(r.Access), dash(r.Key), dash(r.KeyLen), count(r.Rows), r.Extra, ""}
			}
			if k < len(p.Missing) {
				cells[7] = p.Missing[k]
			}
			if p.Error != "" {
				cells[6] = "not explained: " + oneLine(p.Error)
			}
			out.Rows = append(out.Rows, ViewRow{Cells: cells})
		}
	}
	if len(out.Rows) == 0 {
		return nil
	}
	return out
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// planColumns are for CSV.
func planColumns() []column[Statement] {
	one := func(name string, get func(*Planned) string) column[Statement] {
		return textColumn(name, func(c *Statement) string {
			if c.Plan == nil {
				return ""
			}
			return get(c.Plan)
		})
	}
	rows := func(get func(*PlanRow) string) func(*Planned) string {
		return func(p *Planned) string {
			var out []string
			for i := range p.Rows {
				out = append(out, p.Rows[i].Table+": "+get(&p.Rows[i]))
			}
			return strings.Join(out, "; ")
		}
	}
	return []column[Statement]{
		one("plan_access", rows(func(r *PlanRow) string { return dash(r.Access) })),
		one("plan_key", rows(func(r *PlanRow) string { return dash(r.Key) })),
		one("plan_key_len", rows(func(r *PlanRow) string { return dash(r.KeyLen) })),
		one("plan_rows", rows(func(r *PlanRow) string { return integer(r.Rows) })),
		one("plan_extra", rows(func(r *PlanRow) string { return dash(r.Extra) })),
		one("missing_indexes", func(p *Planned) string { return strings.Join(p.Missing, "; ") }),
		one("plan_error", func(p *Planned) string { return p.Error }),
		one("plan_notes", func(p *Planned) string { return strings.Join(p.Notes, "; ") }),
		one("tried_plan", func(p *Planned) string { return triedText(p.Tried, func(t *Tried) string { return planText(t.After) }) }),
		one("tried_rows_before", func(p *Planned) string {
			return triedText(p.Tried, func(t *Tried) string { return readText(t.ReadBefore) })
		}),
		one("tried_rows_after", func(p *Planned) string {
			return triedText(p.Tried, func(t *Tried) string { return readText(t.ReadAfter) })
		}),
	}
}
