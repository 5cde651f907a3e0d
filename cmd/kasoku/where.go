package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/report"
	"kasoku/internal/source"
	"kasoku/internal/sqllog"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/trace"
	"kasoku/internal/ui"
)

// WhereCmd finds statements in source.
type WhereCmd struct {
	What   string   `arg:"" optional:"" help:"A statement of SQL, or a route such as /users/:id; default: the heaviest statements." name:"statement|route"`
	Source []string `help:"A folder of source; may be repeated (default: the folders of the applications in kasoku.yaml)." placeholder:"FOLDER"`
	Log    []string `help:"Take the statements from this log, as kasoku digest reads it, instead of a stored run; may be repeated." placeholder:"FILE"`
	RunID  int64    `name:"run" help:"A stored diagnostic run to take the statements from; default: the latest." placeholder:"ID"`
	Limit  int      `default:"20" help:"Statements at most; 0 is all." placeholder:"N"`
}

// Help is shown below the flags.
func (WhereCmd) Help() string {
	return "Finds the file, line and function in which a statement is made, in Go, PHP, Ruby, Python, Perl, JavaScript, TypeScript, Java and Kotlin. It only reads. " +
		"A place is told without a word if its text makes the statement and no other place holds it; \"probably\" says what speaks for the others.\n\nExamples:\n" +
		"  kasoku where\n  kasoku where /users/:id\n  kasoku where 'SELECT * FROM users WHERE id = 3' --source ~/app\n  kasoku where --log slow.log --source ~/app --json"
}

// whereResult is what the command prints as JSON.
type whereResult struct {
	Folders    []whereFolder    `json:"folders"`
	Run        int64            `json:"run,omitempty"` // the statements are of
	Statements []whereStatement `json:"statements"`    // the most time first
	// Parts (0–1) of the time of all statements whose place is sure, probable, unknown;
	// of those that are shown if the source has no times.
	Sure     float64 `json:"sure"`
	Probable float64 `json:"probable"`
	Unknown  float64 `json:"unknown"`
	// Drivers is the part of the time of what drivers send by themselves (COMMIT, SET …);
	// it is left out of all else.
	Drivers float64 `json:"drivers,omitempty"`
}

type whereFolder struct {
	Folder  string   `json:"folder"`
	Files   int      `json:"files"`
	Lines   int      `json:"lines"`
	Skipped []string `json:"skipped,omitempty"`
}

type whereStatement struct {
	Statement string         `json:"statement"` // its class
	Service   string         `json:"service,omitempty"`
	Count     int64          `json:"count,omitempty"`
	Total     time.Duration  `json:"total,omitempty"` // nanoseconds
	Share     float64        `json:"share,omitempty"` // 0–1 of the time of all
	Routes    []string       `json:"routes,omitempty"`
	Places    []source.Place `json:"places"`
}

// Run implements the command.
func (c *WhereCmd) Run(ctx context.Context, a *App) error {
	if c.Limit < 0 {
		return usage("--limit 0 shows all", "--limit must not be below 0")
	}
	if len(c.Log) > 0 && c.RunID != 0 {
		return usage("leave one of them out", "--log and --run both say where the statements come from")
	}
	job := &whereJob{WhereCmd: c, app: a}
	statements, err := job.statements(ctx)
	if err != nil {
		return err
	}
	indexes, err := job.indexes(ctx)
	if err != nil {
		return err
	}
	a.UI.Clear()
	job.find(indexes, statements)
	return a.print(job.result, job.print)
}

// whereJob is one call of the command.
type whereJob struct {
	*WhereCmd
	app    *App
	stack  *stack.Stack // nil until it is needed
	calls  *trace.Summary
	result whereResult
}

// one reports whether a single statement is asked for.
func (j *whereJob) one() bool { return j.What != "" && !strings.HasPrefix(j.What, "/") }

// statements are those that are looked for, the most time first.
func (j *whereJob) statements(ctx context.Context) ([]evidence.Statement, error) {
	if j.one() {
		if !strings.ContainsAny(j.What, " \t\n") {
			return nil, usage("kasoku where 'SELECT * FROM users WHERE id = 3', or kasoku where /users/:id", "%q is neither a statement nor a route", j.What)
		}
		return []evidence.Statement{{Fingerprint: sqllog.Fingerprint(j.What)}}, nil
	}
	if len(j.Log) > 0 {
		if j.What != "" {
			return nil, usage("leave --log out: a stored run tells which statements a route makes", "a log of statements does not tell routes")
		}
		return j.ofLogs(ctx)
	}
	run, err := j.app.diagnosed(j.RunID)
	if err != nil {
		return nil, err
	}
	if run == nil {
		return nil, ui.Coded(ui.BadInput, errors.New("no diagnostic run is stored, so no statements are known"), "`kasoku run` makes one; or name a statement, or a log of them: kasoku where --log slow.log --source FOLDER")
	}
	return j.ofRun(run)
}

func (j *whereJob) ofLogs(ctx context.Context) ([]evidence.Statement, error) {
	in, _, err := openInputs(j.Log)
	if err != nil {
		return nil, err
	}
	s, err := digest.StatementLogs(ctx, in, digest.StatementOptions{})
	if err != nil {
		return nil, digestError(err)
	}
	for _, w := range s.Warnings {
		j.app.UI.Warn(w, "")
	}
	return s.Classes, nil
}

// ofRun are a run's statements; for a route those that it makes.
func (j *whereJob) ofRun(run *store.Run) ([]evidence.Statement, error) {
	j.result.Run = run.ID
	all := run.Evidence.Statements
	j.calls = run.Evidence.Requests
	if j.What == "" {
		if len(all) == 0 {
			return nil, ui.Coded(ui.BadInput, fmt.Errorf("run %d recorded no statements", run.ID), "name a log of them: kasoku where --log slow.log")
		}
		return all, nil
	}
	var names []string
	var out []evidence.Statement
	found := false
	if j.calls != nil {
		for _, r := range j.calls.Routes {
			names = append(names, r.Route)
			if r.Route == j.What {
				found = true
				out = append(out, madeBy(r, all)...)
			}
		}
	}
	if !found {
		slices.Sort(names)
		hint := "the run followed no requests; `kasoku run` does"
		if len(names) > 0 {
			hint = "followed were: " + strings.Join(slices.Compact(names), ", ")
		}
		return nil, ui.Coded(ui.BadInput, fmt.Errorf("run %d followed no request of %s", run.ID, j.What), hint)
	}
	return out, nil
}

// madeBy are the statements of a route's requests, with what is known of their class.
func madeBy(r trace.RouteCalls, all []evidence.Statement) []evidence.Statement {
	var out []evidence.Statement
	for _, call := range r.Calls {
		if !strings.ContainsAny(call.What, " ") || call.System == "memcached" || call.System == "redis" {
			continue
		}
		at := slices.IndexFunc(all, func(s evidence.Statement) bool { return s.Fingerprint == call.What })
		if at >= 0 {
			out = append(out, all[at])
		} else {
			out = append(out, evidence.Statement{Service: call.Service, Fingerprint: call.What})
		}
	}
	return out
}

// located is an index with its folder.
type located struct {
	folder string
	index  *source.Index
}

// indexes reads the folders of source.
func (j *whereJob) indexes(ctx context.Context) ([]located, error) {
	folders := j.Source
	if len(folders) == 0 {
		var err error
		if folders, err = j.roots(); err != nil {
			return nil, err
		}
	}
	var out []located
	for _, folder := range folders {
		if j.app.UI.Draws() {
			j.app.UI.Progress("reading the source in " + folder)
		}
		if st, err := os.Stat(folder); err != nil || !st.IsDir() {
			return nil, ui.Coded(ui.BadInput, cmp.Or(err, fmt.Errorf("%s is no folder", folder)), "name a folder of source: --source FOLDER")
		}
		x, err := source.Build(ctx, os.DirFS(folder))
		switch {
		case ctx.Err() != nil:
			return nil, ui.Coded(ui.Interrupted, errors.New("interrupted; nothing was written"), "")
		case err != nil:
			return nil, ui.Coded(ui.BadInput, fmt.Errorf("%s: %w", folder, err), "name another folder: --source FOLDER")
		}
		out = append(out, located{folder, x})
		j.result.Folders = append(j.result.Folders, whereFolder{folder, x.Files, x.Lines, x.Skipped})
	}
	return out, nil
}

// roots are the folders of the applications in kasoku.yaml.
func (j *whereJob) roots() ([]string, error) {
	st, err := stack.Load(j.app.cli.File)
	if err != nil {
		return nil, ui.Coded(ui.BadInput, err, "name a folder of source: --source FOLDER")
	}
	out, elsewhere := rootsOf(st)
	switch {
	case len(out) > 0:
		return out, nil
	case len(elsewhere) > 0:
		return nil, ui.Coded(ui.BadInput, fmt.Errorf("the source lies on other hosts (%s)", strings.Join(elsewhere, ", ")), "name a copy of it on this machine: --source FOLDER")
	}
	return nil, ui.Coded(ui.BadInput, fmt.Errorf("%s names no application with a root", j.app.cli.File), "name a folder of source: --source FOLDER")
}

// rootsOf are the folders of a stack's applications on this machine, and those elsewhere.
func rootsOf(st *stack.Stack) (here, elsewhere []string) {
	for _, svc := range st.OfKind(stack.App) {
		switch {
		case svc.Root == "":
		case svc.HostName() != stack.LocalHost:
			elsewhere = append(elsewhere, fmt.Sprintf("%s on %s", svc.Root, svc.HostName()))
		case !slices.Contains(here, svc.Root):
			here = append(here, svc.Root)
		}
	}
	return here, elsewhere
}

// mostLocated places of one piece of work are told.
const mostLocated = 2

// locate fills in the lines of a report's work that nothing has told yet, from the source
// on this machine. What cannot be read is left out: a report does without.
func (a *App) locate(ctx context.Context, m *report.Model, st *stack.Stack) {
	roots, _ := rootsOf(st)
	if !slices.ContainsFunc(m.Work, func(w diagnose.Work) bool { return w.Statement != "" && len(w.Sources) == 0 }) {
		return
	}
	var indexes []located
	for _, root := range roots {
		if x, err := source.Build(ctx, os.DirFS(root)); err == nil {
			indexes = append(indexes, located{root, x})
		}
	}
	if len(indexes) == 0 {
		return
	}
	j := &whereJob{WhereCmd: &WhereCmd{}, app: a}
	m.Locate(func(statement string) []string {
		var out []string
		for _, p := range j.places(indexes, evidence.Statement{Fingerprint: statement}) {
			if len(out) == mostLocated {
				break
			}
			at := fmt.Sprintf("%s:%d", p.File, p.Line)
			if !p.Sure {
				at = "probably " + at
			}
			out = append(out, at)
		}
		return out
	})
}

// find fills in the result.
func (j *whereJob) find(indexes []located, statements []evidence.Statement) {
	statements = j.withoutDrivers(statements)
	slices.SortStableFunc(statements, func(a, b evidence.Statement) int { return cmp.Compare(b.Total, a.Total) })
	shown := len(statements)
	if j.Limit > 0 {
		shown = min(shown, j.Limit)
	}
	var all, weight float64
	for i, s := range statements {
		all += s.Total.Seconds()
		if i < shown {
			weight++
		}
	}
	for i, s := range statements {
		if i >= shown && all == 0 {
			break
		}
		w := whereStatement{Statement: s.Fingerprint, Service: s.Service, Count: s.Count, Total: s.Total, Routes: j.routes(s.Fingerprint), Places: j.places(indexes, s)}
		part := 1 / max(weight, 1)
		if all > 0 {
			w.Share = s.Total.Seconds() / all
			part = w.Share
		}
		switch {
		case len(w.Places) == 0:
			j.result.Unknown += part
		case w.Places[0].Sure:
			j.result.Sure += part
		default:
			j.result.Probable += part
		}
		if i < shown {
			j.result.Statements = append(j.result.Statements, w)
		}
	}
}

// byDrivers are how statements begin that calls of a driver make, such as Begin and Commit.
var byDrivers = map[string]bool{"BEGIN": true, "START": true, "COMMIT": true, "ROLLBACK": true, "SAVEPOINT": true, "RELEASE": true, "SET": true, "USE": true}

// withoutDrivers leaves out what drivers send by themselves.
func (j *whereJob) withoutDrivers(statements []evidence.Statement) []evidence.Statement {
	if j.one() {
		return statements
	}
	var all, theirs float64
	var out []evidence.Statement
	for _, s := range statements {
		verb, _, _ := strings.Cut(s.Fingerprint, " ")
		all += s.Total.Seconds()
		if byDrivers[strings.ToUpper(verb)] {
			theirs += s.Total.Seconds()
			continue
		}
		out = append(out, s)
	}
	if all > 0 {
		j.result.Drivers = theirs / all
	}
	return out
}

// places of a statement: what spans saw, else what the source holds.
func (j *whereJob) places(indexes []located, s evidence.Statement) []source.Place {
	out := []source.Place{}
	for _, x := range indexes {
		for _, p := range x.index.Find(s.Fingerprint) {
			p.File = filepath.Join(x.folder, filepath.FromSlash(p.File))
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b source.Place) int { return cmp.Compare(b.Covered, a.Covered) })
	if len(out) > 1 && out[0].Sure { // of several folders
		out = slices.DeleteFunc(out, func(p source.Place) bool { return p.Covered < out[0].Covered })
		for i := range out {
			if len(out) > 1 {
				out[i].Sure, out[i].Why = false, "one of several that hold the same text"
			}
		}
	}
	return out
}

// routes whose requests make the class.
func (j *whereJob) routes(class string) []string {
	var out []string
	if j.calls == nil {
		return nil
	}
	for _, r := range j.calls.Routes {
		if slices.ContainsFunc(r.Calls, func(c trace.CallClass) bool { return c.What == class }) {
			out = append(out, r.Method+" "+r.Route)
		}
	}
	return out
}
