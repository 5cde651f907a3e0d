package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/diagnose"
)

// Where the program puts its data source name together itself, the work list names that
// line and what to write there, in place of the line of each statement.
func TestWorkNamesTheDriversLine(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "main.go")
	src := "package main\n\nfunc connect() string {\n\treturn fmt.Sprintf(\"%s:%s@tcp(%s:%s)/%s?parseTime=true\", user, pass, host, port, name)\n}\n"
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	sources, err := ReadSources(t.Context(), []string{folder})
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Work: []diagnose.Work{
		{Rule: "db.prepares", Title: "Statements are prepared at the server and used once", Text: "4000 prepared (4.0 prepares per request)", Bound: 1.3},
		{Rule: "request.n+1", Title: "One statement per row", Statement: "SELECT 1", Better: "one IN list", Sources: []string{"a.go:1"}},
	}, WorkRun: 3}
	m.Drivers(sources.Drivers(2))
	w := m.Work[0]
	if len(w.Sources) != 1 || w.Sources[0] != file+":4" || !strings.Contains(w.Better, file+":4: “&interpolateParams=true”") {
		t.Errorf("at %q, better %q", w.Sources, w.Better)
	}
	if other := m.Work[1]; other.Better != "one IN list" || other.Sources[0] != "a.go:1" {
		t.Errorf("other work is changed: %+v", other)
	}
	m.Work[0].Sources, m.Work[0].Better = nil, ""
	if m.Drivers(nil, nil); m.Work[0].Sources != nil || m.Work[0].Better != "" {
		t.Errorf("nothing was found, and %+v", m.Work[0])
	}
}
