package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/report"
	"kasoku/internal/sqllog"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/trace"
	"kasoku/internal/ui"
)

// WhereCmd finds statements in source.
type WhereCmd struct {
	What   string   `arg:"" optional:"" help:"A statement of SQL, or a route such as /users/:id; default: the heaviest statements." name:"statement|route"`
	Source []string `help:"A folder of source; may be repeated (default: the folders of the applications in kasoku.yaml; without one this folder, if it holds a program)." placeholder:"FOLDER"`
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
	sources, err := job.sources(ctx)
	if err != nil {
		return err
	}
	a.UI.Clear()
	w := report.FindSources(sources, statements, job.calls, c.Limit)
	w.Run = job.run
	return a.print(w, func(out io.Writer) error { return report.WhereText(out, w, textWidth(out), job.one()) })
}

// whereJob is one call of the command.
type whereJob struct {
	*WhereCmd
	app   *App
	run   int64          // that the statements are of; 0: of none
	calls *trace.Summary // of that run
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
	all := run.Evidence.Statements
	j.run, j.calls = run.ID, run.Evidence.Requests
	if j.What != "" {
		out, followed, ok := report.MadeBy(j.calls, j.What, all)
		if !ok {
			hint := "the run followed no requests; `kasoku run` does"
			if len(followed) > 0 {
				hint = "followed were: " + strings.Join(followed, ", ")
			}
			return nil, ui.Coded(ui.BadInput, fmt.Errorf("run %d followed no request of %s", run.ID, j.What), hint)
		}
		return out, nil
	}
	if len(all) == 0 {
		return nil, ui.Coded(ui.BadInput, fmt.Errorf("run %d recorded no statements", run.ID), "name a log of them: kasoku where --log slow.log")
	}
	return all, nil
}

// sources reads the folders.
func (j *whereJob) sources(ctx context.Context) (report.Sources, error) {
	folders := j.Source
	if len(folders) == 0 {
		var err error
		if folders, err = j.roots(); err != nil {
			return nil, err
		}
	}
	if j.app.UI.Draws() {
		j.app.UI.Progress("reading the source in " + strings.Join(folders, ", "))
	}
	out, err := report.ReadSources(ctx, folders)
	switch {
	case ctx.Err() != nil:
		return nil, ui.Coded(ui.Interrupted, errors.New("interrupted; nothing was written"), "")
	case err != nil:
		return nil, ui.Coded(ui.BadInput, err, "name a folder of source: --source FOLDER")
	}
	return out, nil
}

// roots are the folders of the applications in kasoku.yaml. Where there is no such file, it
// is the current folder, if that is the top of a program's source.
func (j *whereJob) roots() ([]string, error) {
	if !stackThere(j.app.cli.File) && sourceTop(".") {
		j.app.UI.Warn("there is no "+j.app.cli.File+": the source in this folder is read", "")
		return []string{"."}, nil
	}
	st, err := stack.Load(j.app.cli.File)
	if err != nil {
		return nil, ui.Coded(ui.BadInput, err, "name a folder of source: --source FOLDER")
	}
	here, elsewhere := report.SourceRoots(st)
	switch {
	case len(here) > 0:
		return here, nil
	case len(elsewhere) > 0:
		return nil, ui.Coded(ui.BadInput, fmt.Errorf("the source lies on other hosts (%s)", strings.Join(elsewhere, ", ")), "name a copy of it on this machine: --source FOLDER")
	}
	return nil, ui.Coded(ui.BadInput, fmt.Errorf("%s names no application with a root", j.app.cli.File), "name a folder of source: --source FOLDER")
}

// topFiles lie at the top of a program's source: what its version control or the package
// manager of its language keeps there.
var topFiles = []string{".git", "go.mod", "composer.json", "package.json", "Gemfile", "pyproject.toml", "requirements.txt", "cpanfile", "pom.xml", "build.gradle", "build.gradle.kts"}

// sourceTop reports whether a folder is the top of a program's source.
func sourceTop(dir string) bool {
	return slices.ContainsFunc(topFiles, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	})
}

// mostLocated places of one piece of work are told.
const mostLocated = 2

// locate fills in the lines of a report's work that nothing has told yet, from the source
// on this machine. What cannot be read is left out: a report does without.
func locate(ctx context.Context, m *report.Model, st *stack.Stack) {
	if !slices.ContainsFunc(m.Work, func(w diagnose.Work) bool {
		return w.OfDriver() || len(w.Programs) > 0 || w.Statement != "" && len(w.Sources) == 0
	}) {
		return
	}
	var sources report.Sources
	roots, _ := report.SourceRoots(st)
	for _, root := range roots {
		if one, err := report.ReadSources(ctx, []string{root}); err == nil {
			sources = append(sources, one...)
		}
	}
	m.Locate(func(statement string) []string { return sources.Lines(statement, mostLocated) })
	m.Starts(func(program string) []string { return sources.Starts(program, mostLocated) })
	m.Drivers(sources.Drivers(mostLocated))
}
