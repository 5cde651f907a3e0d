package mcp

import (
	"context"
	"strings"

	"kasoku/internal/report"
	"kasoku/internal/sqllog"
	"kasoku/internal/store"

	evidences "kasoku/internal/evidence"
)

// WhereInput names statements.
type WhereInput struct {
	Statement string `json:"statement,omitempty" jsonschema:"one statement of SQL, with or without its values"`
	Route     string `json:"route,omitempty" jsonschema:"the statements of this route, such as /users/:id, where requests were followed"`
	Run       int64  `json:"run,omitempty" jsonschema:"a diagnostic run's number; default: the latest"`
	Rows      int    `json:"rows,omitempty" jsonschema:"statements at most, 1 to 200; default 15, the heaviest"`
}

func (s *Server) addWhere() {
	add(s, "where", "Where", "The file, line and function of the application's source in which statements are made: of a run, of one route, or one statement. A place that is not sure says why.",
		where)
}

func where(ctx context.Context, v *View, in WhereInput) (report.Where, error) {
	if in.Rows == 0 {
		in.Rows = fewRows
	}
	if in.Rows < 1 || in.Rows > mostRows {
		return report.Where{}, hintf("leave rows out for 15", "rows is %d; it must be from 1 to %d", in.Rows, mostRows)
	}
	if in.Statement != "" && in.Route != "" {
		return report.Where{}, hintf("leave one of them out", "statement and route name two different things")
	}
	here, elsewhere := report.SourceRoots(v.Stack)
	if len(here) == 0 {
		return report.Where{}, hintf("name the application's folder as root in kasoku.yaml; source on other hosts cannot be read", "no source lies on this machine (elsewhere: %s)", strings.Join(elsewhere, ", "))
	}
	run := &store.Run{Evidence: &evidences.Evidence{}}
	statements := []evidences.Statement{{Fingerprint: sqllog.Fingerprint(in.Statement)}}
	if in.Statement == "" {
		var err error
		if run, err = diagnosed(v, in.Run); err != nil {
			return report.Where{}, err
		}
		statements = run.Evidence.Statements
	}
	calls := run.Evidence.Requests
	if in.Route != "" {
		made, followed, ok := report.MadeBy(calls, in.Route, statements)
		if !ok {
			return report.Where{}, hintf("followed were: "+strings.Join(followed, ", "), "run %d followed no request of %s", run.ID, in.Route)
		}
		statements = made
	}
	sources, err := report.ReadSources(ctx, here)
	if err != nil {
		return report.Where{}, err
	}
	out := report.FindSources(sources, statements, calls, in.Rows)
	out.Run = run.ID
	return *out, nil
}
