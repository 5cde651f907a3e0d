package mcp

import (
	"context"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/report"
)

// EvidenceInput selects what of a run is told.
type EvidenceInput struct {
	Run    int64    `json:"run,omitempty" jsonschema:"a run's number; default: the latest diagnostic one"`
	Tables []string `json:"tables,omitempty" jsonschema:"of routes, statements, resources, health; or names of single tables, such as calls or functions; default: those four groups"`
	Rows   int      `json:"rows,omitempty" jsonschema:"rows of each table at most, 1 to 200; default 15"`
}

// Evidence is what a run saw.
type Evidence struct {
	Run     int64   `json:"run"`
	Label   string  `json:"label"`
	Kind    string  `json:"kind"`
	Started string  `json:"started"`
	Score   float64 `json:"score" jsonschema:"points per second; of a diagnostic run it is not used"`
	Unfit   string  `json:"unfit,omitempty" jsonschema:"why the run is no evidence"`
	Binds   string  `json:"binds,omitempty"`
	Tables  []Table `json:"tables"`
	// Others are the tables of the run that were not asked for.
	Others []string `json:"other_tables" jsonschema:"further tables of this run, by name"`
}

// Table of a run, as kasoku show prints it.
type Table struct {
	Name    string     `json:"name"`
	Title   string     `json:"title"`
	Note    string     `json:"note,omitempty"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
	More    int        `json:"more_rows,omitempty"`
}

// groups of tables by what agents ask for.
var groups = map[string][]string{
	"routes":     {"routes", "web-routes"},
	"statements": {"statements"},
	"resources":  {"bounds", "services", "system", "disks", "networks", "queues", "caches"},
	"health":     {"uncovered", "health", "failures", "logs"},
}

// Bounds of the rows of one table.
const (
	fewRows  = 15
	mostRows = 200
)

func (s *Server) addEvidence() {
	add(s, "evidence", "Evidence", "What a measured run saw: routes, statements (literals masked), what each resource and service used, and how far each source can be trusted. Read health before you rely on the rest.",
		func(_ context.Context, v *View, in EvidenceInput) (Evidence, error) { return evidence(v, in) })
}

func evidence(v *View, in EvidenceInput) (Evidence, error) {
	if in.Rows == 0 {
		in.Rows = fewRows
	}
	if in.Rows < 1 || in.Rows > mostRows {
		return Evidence{}, hintf("leave rows out for 15", "rows is %d; it must be from 1 to %d", in.Rows, mostRows)
	}
	run, err := diagnosed(v, in.Run)
	if err != nil {
		return Evidence{}, err
	}
	out := Evidence{Run: run.ID, Label: run.Label, Kind: run.Kind, Started: run.Started.Format(time.RFC3339), Score: run.Score, Unfit: run.Unfit,
		Tables: []Table{}, Others: []string{}}
	if run.Diagnosis != nil {
		out.Binds = change.Redact(run.Diagnosis.BindsText)
	}
	if len(in.Tables) == 0 {
		in.Tables = []string{"routes", "statements", "resources", "health"}
	}
	var wanted []string
	for _, name := range in.Tables {
		if g, ok := groups[name]; ok {
			wanted = append(wanted, g...)
		} else {
			wanted = append(wanted, name)
		}
	}
	sections := report.Sections(run, in.Rows)
	for _, sec := range sections {
		if !slices.Contains(wanted, sec.ID) {
			out.Others = append(out.Others, sec.ID)
			continue
		}
		t := Table{Name: sec.ID, Title: sec.Title, Note: sec.Note, Columns: []string{}, Rows: sec.Rows, More: sec.More}
		for _, c := range sec.Columns {
			t.Columns = append(t.Columns, strings.TrimSpace(strings.TrimLeft(c, ">`")))
		}
		out.Tables = append(out.Tables, t)
	}
	for _, name := range in.Tables {
		_, group := groups[name]
		if !group && !slices.ContainsFunc(out.Tables, func(t Table) bool { return t.Name == name }) {
			return out, hintf("ask for routes, statements, resources, health, or one of: "+strings.Join(out.Others, ", "), "run %d has no table %q", run.ID, name)
		}
	}
	return out, nil
}
