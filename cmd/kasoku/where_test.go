package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/report"
	"kasoku/internal/source"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/trace"
	"kasoku/internal/ui"
)

// followed is a run that followed requests of two routes.
func followed() *store.Run {
	call := func(system, what string) trace.CallClass {
		return trace.CallClass{Service: "db", System: system, What: what}
	}
	return &store.Run{ID: 7, Evidence: &evidence.Evidence{
		Statements: []evidence.Statement{
			{Service: "db", Fingerprint: "SELECT * FROM items WHERE owner = ?", Count: 3, Total: time.Second},
			{Service: "db", Fingerprint: "SELECT * FROM users WHERE id = ?", Count: 9, Total: 3 * time.Second},
			{Service: "db", Fingerprint: "COMMIT", Count: 9, Total: time.Second},
		},
		Requests: &trace.Summary{Routes: []trace.RouteCalls{
			{Method: "GET", Route: "/items/:id", Calls: []trace.CallClass{call("mariadb", "SELECT * FROM items WHERE owner = ?"), call("memcached", "get user:*"), call("mariadb", "SELECT * FROM tags WHERE item = ?")}},
			{Method: "GET", Route: "/users/:id", Calls: []trace.CallClass{call("mariadb", "SELECT * FROM users WHERE id = ?")}},
			{Method: "POST", Route: "/users/:id", Calls: []trace.CallClass{call("mariadb", "SELECT * FROM users WHERE id = ?")}},
		}},
	}}
}

func TestWhereOfRoute(t *testing.T) {
	job := &whereJob{WhereCmd: &WhereCmd{What: "/items/:id"}}
	got, err := job.ofRun(followed())
	if err != nil || len(got) != 2 || got[0].Total != time.Second || got[1].Fingerprint != "SELECT * FROM tags WHERE item = ?" {
		t.Errorf("%v %+v: want the route's two statements, the first with its time", err, got)
	}
	job = &whereJob{WhereCmd: &WhereCmd{What: "/nothing"}}
	if _, err := job.ofRun(followed()); err == nil || !strings.Contains(err.Error(), "no request of /nothing") {
		t.Errorf("%v", err)
	}
}

// The heaviest come first with their routes; what drivers send is left out of the shares.
func TestWhereOfRun(t *testing.T) {
	job := &whereJob{WhereCmd: &WhereCmd{Limit: 1}}
	statements, err := job.ofRun(followed())
	if err != nil {
		t.Fatal(err)
	}
	r := report.FindSources(nil, statements, job.calls, 1)
	if job.run != 7 || r.Drivers != 0.2 || r.Unknown != 1 || len(r.Statements) != 1 {
		t.Fatalf("%+v", r)
	}
	if s := r.Statements[0]; s.Share != 0.75 || strings.Join(s.Routes, ", ") != "GET /users/:id, POST /users/:id" {
		t.Errorf("%+v", s)
	}
	var out strings.Builder
	if err := report.WhereText(&out, r, 200, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" 75.0 %  3.00 s in 9 runs: SELECT * FROM users", "    in GET /users/:id, POST /users/:id\n", "20.0 % of the time"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

// A report names the lines of what nothing else has told a line of.
func TestReportLocatesWork(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package a\n\nfunc one() { q(\"SELECT * FROM items WHERE owner = ?\") }\n\nfunc two() { q(\"SELECT * FROM tags WHERE \" + where) }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	work := []diagnose.Work{
		{Statement: "SELECT * FROM items WHERE owner = ?"},
		{Statement: "SELECT * FROM tags WHERE item = ?"},
		{Statement: "SELECT * FROM items WHERE owner = ?", Sources: []string{"seen.go:1"}},
		{Statement: "SELECT * FROM nowhere"},
		{Title: "a function"},
	}
	st := &stack.Stack{Services: []stack.Service{{Name: "app", Kind: stack.App, Root: root}, {Name: "far", Kind: stack.App, Root: "/far", Host: "web2"}}}
	m := &report.Model{Work: work}
	locate(t.Context(), m, st)
	for i, want := range []string{filepath.Join(root, "a.go:3"), "probably " + filepath.Join(root, "a.go:5"), "seen.go:1", "", ""} {
		if got := strings.Join(m.Work[i].Sources, ", "); got != want {
			t.Errorf("work %d is at %q, want %q", i, got, want)
		}
	}
}

// Names of files and functions come from whoever wrote the source: they do nothing to a
// terminal.
func TestWhereIsHarmless(t *testing.T) {
	w := &report.Where{Statements: []report.WhereStatement{{Statement: "SELECT \x1b[2J",
		Places: []source.Place{{File: "a\x1b[31m.go", Line: 1, Function: "f\x1b[0m", Why: "calls \x1b"}}, Routes: []string{"GET /\x1b"}}},
		Folders: []report.WhereFolder{{Folder: "app", Skipped: []string{"b\x1b: no"}}}}
	var out strings.Builder
	if err := report.WhereText(&out, w, 80, true); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "\x1b") || !strings.Contains(out.String(), `a\x1b[31m.go:1`) {
		t.Errorf("%q", out.String())
	}
}

// Whoever stands in a program's folder without a kasoku.yaml means that program; elsewhere
// nothing is searched by chance.
func TestSourceOfThisFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	var said strings.Builder
	a := &App{cli: &CLI{}, UI: ui.New(io.Discard, &said, ui.Options{})}
	a.cli.File = "kasoku.yaml"
	job := &whereJob{WhereCmd: &WhereCmd{}, app: a}
	if got, err := job.roots(); err == nil || len(got) > 0 {
		t.Errorf("an empty folder: %q, %v", got, err)
	}
	if err := os.WriteFile("go.mod", []byte("module shop\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := job.roots(); err != nil || len(got) != 1 || got[0] != "." || !strings.Contains(said.String(), "this folder") {
		t.Errorf("%q, %v; said %q", got, err, said.String())
	}
	if err := os.WriteFile("kasoku.yaml", []byte("version: 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := job.roots(); err == nil {
		t.Errorf("kasoku.yaml without an application: %q", got)
	}
}
