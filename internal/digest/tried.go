package digest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/ui"
)

// Tried is what copies of the tables showed of a statement with the indexes that are
// advised.
type Tried struct {
	// Before and After are the server's plans on the copies, without and with the indexes.
	Before []PlanRow `json:"before,omitempty"`
	After  []PlanRow `json:"after,omitempty"`
	// ReadBefore and ReadAfter are the rows and index entries that one execution read
	// (Handler_read_*, Handler_icp_attempts); -1: it was not run, Why says why.
	ReadBefore int64 `json:"rows_read_before"`
	ReadAfter  int64 `json:"rows_read_after"`
	// Why it was not tried, or not run.
	Why string `json:"why,omitempty"`
}

// Reads reports whether the plan with the indexes reads one of that name.
func (t *Tried) Reads(name string) bool {
	return slices.ContainsFunc(t.After, func(r PlanRow) bool {
		return slices.ContainsFunc(strings.Split(r.Key, ","), func(k string) bool { return strings.EqualFold(strings.TrimSpace(k), name) })
	})
}

// Less reports whether fewer rows are read with the indexes: as counted, or where it was
// not run as the server expects; or as many, and nothing is sorted any more.
func (t *Tried) Less() bool {
	before, after := t.ReadBefore, t.ReadAfter
	if before < 0 || after < 0 {
		before, after = expected(t.Before), expected(t.After)
	}
	return after < before || after == before && sorts(t.Before) && !sorts(t.After)
}

// expected rows of a plan: those of each table for each row of the tables before it.
func expected(plan []PlanRow) int64 {
	sum, each := 0.0, 1.0
	for _, r := range plan {
		each *= float64(max(r.Rows, 1))
		sum += each
	}
	return int64(min(sum, 1e18))
}

func sorts(plan []PlanRow) bool {
	return slices.ContainsFunc(plan, func(r PlanRow) bool {
		return strings.Contains(r.Extra, "filesort") || strings.Contains(r.Extra, "temporary")
	})
}

// TriedIndex is an advised index that was made on a copy.
type TriedIndex struct {
	Create string `json:"create"` // CREATE INDEX
	Table  string `json:"table"`  // schema.table
	Name   string `json:"name"`
	// Bytes that it takes on the whole table: measured on a whole copy, else from the
	// part that was copied.
	Bytes int64 `json:"bytes"`
	// Entries that the log's writes put into it or take out, and about how long that takes.
	Entries int64         `json:"entries_written"`
	Writing time.Duration `json:"writing"`
	// Tried: it was made on a copy, and a statement that it is for explained. Used: the
	// server reads it there. Helps: and reads fewer rows by it.
	Tried bool `json:"tried"`
	Used  bool `json:"used"`
	Helps bool `json:"helps"`
	// Note says why it does not help.
	Note string `json:"note,omitempty"`
}

// Fails reports whether it was tried and does not help.
func (x *TriedIndex) Fails() bool { return x.Tried && !x.Helps }

// notes is the section of what no index alone helps; nil if there is nothing.
func (s *Statements) notes(n int) *Section {
	out := &Section{Title: "what no index alone helps", Head: []Head{{"#", false, false}, {"note", true, true}}}
	for i := range s.Classes {
		if p := s.Classes[i].Plan; p != nil && (n <= 0 || i < n) {
			for _, note := range p.Notes {
				out.Rows = append(out.Rows, ViewRow{Cells: []string{fmt.Sprint(i + 1), note}})
			}
		}
	}
	return out.orNone()
}

// tried is the section of plans and rows on the copies; nil if nothing was tried.
func (s *Statements) tried(n int) *Section {
	out := &Section{Title: "tried on copies of the tables: without the indexes, and with them",
		Head: []Head{{"#", false, false}, {"plan before", true, false}, {"plan after", true, false}, {"rows read before", false, false}, {"after", false, false}, {"", true, true}}}
	for i := range s.Classes {
		p := s.Classes[i].Plan
		if p == nil || p.Tried == nil || n > 0 && i >= n {
			continue
		}
		t := p.Tried
		out.Rows = append(out.Rows, ViewRow{Cells: []string{fmt.Sprint(i + 1), dash(planText(t.Before)), dash(planText(t.After)), readText(t.ReadBefore), readText(t.ReadAfter), oneLine(t.Why)}})
	}
	return out.orNone()
}

// triedIndexes is the section of what each index takes and whether it helps.
func (s *Statements) triedIndexes() *Section {
	out := &Section{Title: "the indexes, as tried", Head: []Head{{"index", true, true}, {"takes", false, false}, {"entries written", false, false}, {"which takes", false, false}, {"result", true, false}}}
	for i := range s.TriedIndexes {
		x := &s.TriedIndexes[i]
		result := x.Note
		if result == "" {
			result = "fewer rows are read"
		}
		cost, entries := "–", "none in this log"
		if x.Entries > 0 {
			cost, entries = ui.Duration(x.Writing), count(x.Entries)
		}
		out.Rows = append(out.Rows, ViewRow{Cells: []string{x.Create, ui.Bytes(x.Bytes), entries, cost, result}})
	}
	return out.orNone()
}

func (s *Section) orNone() *Section {
	if len(s.Rows) == 0 {
		return nil
	}
	return s
}

// planText is a plan in short: "visits ref by_page (5), 33 rows; …".
func planText(plan []PlanRow) string {
	var out []string
	for i := range plan {
		r := &plan[i]
		text := strings.TrimSpace(r.Table + " " + dash(r.Access))
		if r.Key != "" {
			text += " " + r.Key
			if r.KeyLen != "" {
				text += " (" + r.KeyLen + ")"
			}
		}
		out = append(out, fmt.Sprintf("%s, %s rows", text, count(r.Rows)))
	}
	return strings.Join(out, "; ")
}

func readText(n int64) string {
	if n < 0 {
		return "–"
	}
	return integer(n)
}

func triedText(t *Tried, get func(*Tried) string) string {
	if t == nil {
		return ""
	}
	return get(t)
}
