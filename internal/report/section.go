package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// Section is one table of what a run saw, before it has a form: the console,
// Markdown and HTML print the same ones.
type Section struct {
	ID    string `json:"id"` // for links: "statements"
	Title string `json:"title"`
	Note  string `json:"note,omitempty"` // how to read it
	// Columns' names; one that begins with ">" holds numbers, one with "`"
	// text of the target: a statement, a path.
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
	More    int        `json:"more,omitempty"` // rows that were left out
	Bad     bool       `json:"bad,omitempty"`  // what the reader must know to trust the rest
}

// Sections of a run in the order in which a busy person asks: can I trust it,
// what is the limit, what to do, where the time goes, what the machines did,
// what went wrong. limit bounds the rows of each; 0: all. What a run has no
// evidence of has no section; its health says why.
func Sections(run *store.Run, limit int) []Section {
	if run == nil || run.Evidence == nil {
		return nil
	}
	var out []Section
	for _, build := range []func(*store.Run) Section{unhealthy, bounds, workList, failures, serviceLogs, loadRoutes, webRoutes, routeCalls, sqlClasses, plans,
		services, system, disks, networks, queues, caches, latencies, topFunctions, processes, healthy, counted} {
		s := build(run)
		if len(s.Rows) == 0 {
			continue
		}
		s = s.told()
		if limit > 0 && len(s.Rows) > limit {
			s.Rows, s.More = s.Rows[:limit], len(s.Rows)-limit
		}
		out = append(out, s)
	}
	return out
}

// told leaves out columns that no row has anything in.
func (s Section) told() Section {
	keep := make([]bool, len(s.Columns))
	for _, r := range s.Rows {
		for i := range min(len(r), len(keep)) {
			keep[i] = keep[i] || r[i] != "" && r[i] != "–"
		}
	}
	out := s
	out.Columns, out.Rows = nil, make([][]string, len(s.Rows))
	for i, c := range s.Columns {
		if !keep[i] {
			continue
		}
		out.Columns = append(out.Columns, c)
		for j, r := range s.Rows {
			cell := ""
			if i < len(r) {
				cell = r[i]
			}
			out.Rows[j] = append(out.Rows[j], cell)
		}
	}
	return out
}

// names of the columns, without their marks.
func (s Section) names() []string {
	out := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		out[i] = strings.TrimLeft(c, ">`")
	}
	return out
}

// mostSeen rows of each table stand in a report; `kasoku show RUN --all`
// prints every one.
const mostSeen = 25

// elsewhere are the sections whose content a report has in its comparison of
// before and after, or that are too long for it.
var elsewhere = []string{"routes", "bounds", "counters"}

// Sections of the run, without those that the report has elsewhere.
func (x *Seen) Sections() []Section { return x.sections(mostSeen) }

func (x *Seen) sections(rows int) []Section {
	if x == nil {
		return nil
	}
	all := Sections(&store.Run{ID: x.Run, Label: x.Label, Unfit: x.Unfit, Evidence: x.Evidence}, rows)
	if s := planChanges(x.before, x.Evidence).told(); len(s.Rows) > 0 {
		if len(s.Rows) > rows {
			s.Rows, s.More = s.Rows[:rows], len(s.Rows)-rows
		}
		at := slices.IndexFunc(all, func(o Section) bool { return o.ID == "plans" })
		all = slices.Insert(all, max(at, 0), s)
	}
	return slices.DeleteFunc(all, func(s Section) bool { return slices.Contains(elsewhere, s.ID) })
}

// Cell is a text and how it is set.
type Cell struct {
	Text         string
	Head         string // of its column; "" in the head
	Number, Code bool
}

// Head and Body are the section's cells, for templates.
func (s Section) Head() []Cell {
	names := s.names()
	for i, name := range names {
		names[i] = capital(name)
	}
	return s.cells(names)
}

// capital begins a heading, unless it is a name of its own, like p50.
func capital(s string) string {
	if len(s) < 2 || s[0] < 'a' || s[0] > 'z' || s[1] >= '0' && s[1] <= '9' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// mostOnPhone columns fit beside each other on a phone.
const mostOnPhone = 4

// Many: a phone shows each row as a block of its own. Text of the target is
// long, so that fewer columns fit beside it.
func (s Section) Many() bool {
	code := slices.ContainsFunc(s.Columns, func(c string) bool { return strings.HasPrefix(c, "`") })
	return len(s.Columns) > mostOnPhone || code && len(s.Columns) > 2
}

// Body: see Head.
func (s Section) Body() [][]Cell {
	out := make([][]Cell, len(s.Rows))
	head := s.Head()
	for i, r := range s.Rows {
		out[i] = s.cells(r)
		for j := range out[i] {
			out[i][j].Head = head[j].Text
		}
	}
	return out
}

func (s Section) cells(row []string) []Cell {
	out := make([]Cell, len(s.Columns))
	for i, c := range s.Columns {
		out[i] = Cell{Number: strings.HasPrefix(c, ">"), Code: strings.HasPrefix(c, "`")}
		if i < len(row) {
			out[i].Text = ui.Clean(row[i])
		}
	}
	return out
}

// mostText is how much of a statement or message a page of text shows, columns.
const mostText = 110

// section prints one on the console.
func (p *page) section(s Section, run int64, full bool) {
	p.line("")
	p.line("%s%s", s.Title, note(s.Note))
	rows := make([][]string, len(s.Rows))
	for i, r := range s.Rows {
		rows[i] = slices.Clone(r)
		for j, c := range s.Columns {
			if !full && !s.Bad && j < len(r) && !strings.HasPrefix(c, ">") {
				rows[i][j] = ui.Truncate(strings.Join(strings.Fields(r[j]), " "), mostText)
			}
		}
	}
	p.table(s.names(), rows)
	if s.More > 0 {
		p.line("… %d more: kasoku show %d --all", s.More, run)
	}
}

func note(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// mdSection prints one in Markdown.
func (p *page) mdSection(s Section) {
	p.line("\n### %s", mdText(s.Title))
	if s.Note != "" {
		p.line("\n%s", mdText(s.Note))
	}
	rows := make([][]string, len(s.Rows))
	for i, r := range s.Rows {
		rows[i] = make([]string, len(s.Columns))
		for j, c := range s.Columns {
			if j >= len(r) || r[j] == "" {
				continue
			}
			if rows[i][j] = strings.TrimLeft(r[j], "`"); strings.HasPrefix(c, "`") {
				rows[i][j] = mdCode(oneLine(r[j]))
			}
		}
	}
	p.mdTable(s.names(), rows)
	if s.More > 0 {
		p.line("\n%s", plural(s.More, "further row", "further rows"))
	}
}

// orDash keeps zeros, which mean "nothing known", out of tables.
func orDash(d time.Duration) string {
	if d <= 0 {
		return "–"
	}
	return ui.Duration(d)
}

func countOrDash(n int64) string {
	if n == 0 {
		return "–"
	}
	return ui.Count(float64(n))
}

func number(n int64) string { return fmt.Sprint(n) }
