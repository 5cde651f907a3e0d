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
	"sync/atomic"
	"time"

	"kasoku/internal/accesslog"
	"kasoku/internal/digest"
	"kasoku/internal/scratch"
	"kasoku/internal/ui"
)

// DigestCmd sums logs up.
type DigestCmd struct {
	Logs      []string      `arg:"" optional:"" help:"Access logs, or logs and tables of statements (docs/reference/digest.md lists them), plain or packed by gzip, zstd, bzip2 or xz, or a folder of such; - or none is standard input." name:"file"`
	Diff      bool          `help:"Compare two logs, A and B; each may be several, as 'a.log,a.log.1' or 'old/*.log'."`
	Kind      string        `enum:"auto,access,slow" default:"auto" help:"What the logs are: access or slow (default: recognised)." placeholder:"KIND"`
	Format    string        `help:"Access logs: nginx's log_format or Apache's LogFormat text, or combined, common, ltsv, json, … (default: recognised)." placeholder:"TEXT"`
	TimeUnit  string        `help:"Access logs: the unit of times that name none: s, ms, us or ns (default: as the format, the field's name or the values tell)." placeholder:"UNIT"`
	TimeField string        `help:"Access logs: the field that is the request's time: its name, or its place in the line (1 is the first value, -1 the last; a text in quotes or in brackets counts as one value); none: there is none." placeholder:"FIELD"`
	Route     []string      `help:"Access logs: a route that is known, such as /items/:id or /files/*, or a regular expression that begins with ^; may be repeated." sep:"none" placeholder:"PATTERN"`
	Since     string        `help:"Leave out what is older: RFC 3339, '2026-11-21 10:00', 10:00, 15m or 2d (ago)." placeholder:"TIME"`
	Until     string        `help:"Leave out what is newer." placeholder:"TIME"`
	Filter    []string      `help:"Only what fits, such as 'status>=500', 'route~^/api', 'time>100ms', no_index; may be repeated, all must fit." sep:"none" placeholder:"EXPR"`
	Sort      string        `aliases:"by" help:"Sort by time (default), count, mean, p95, max, bytes, …; with --diff by the change of it." placeholder:"KEY"`
	Limit     *int          `help:"Rows at most; 0 is all (default: 30; all for csv and json)." placeholder:"N"`
	Explain   string        `help:"Statements: show how this MariaDB or MySQL would run the heaviest ones, without running them: 'mysql://user@host/schema?password_file=FILE' (docs/reference/digest.md)." placeholder:"DSN"`
	Try       bool          `help:"With --explain: make the missing indexes on copies of their tables, in a schema of its own on that server (at most 256 MiB, dropped afterwards), and show plans and rows read before and after (docs/reference/digest.md)."`
	TryTime   time.Duration `default:"1m" help:"How long --try may take at most (default: 1m)." placeholder:"DURATION"`
	Output    string        `short:"o" enum:"text,markdown,csv,json,html" default:"text" help:"text, markdown, csv, json or html." placeholder:"FORM"`
}

// Help is shown below the flags.
func (DigestCmd) Help() string {
	return "Tells where the time goes: requests by route (routes are learnt, /items/17 is /items/:id), statements by class. " +
		"docs/reference/digest.md has every field of --filter.\n\nExamples:\n" +
		"  kasoku digest /var/log/nginx/access.log\n" +
		"  kasoku digest access.log access.log.1 access.log.2.gz --since '2026-11-21 10:00'\n" +
		"  kasoku digest slow.log --filter 'time>100ms' --filter full_scan --by examined\n" +
		"  kasoku digest --diff before.log after.log\n" +
		"  ssh web zstdcat access.log.zst | kasoku digest -o html > digest.html"
}

// standardInput is its name in messages.
const standardInput = "standard input"

// shownRows of a digest for people, unless --limit says otherwise.
const shownRows = 30

// Run implements the command.
func (c *DigestCmd) Run(ctx context.Context, a *App) error {
	if a.cli.JSON {
		c.Output = "json"
	}
	if c.Limit != nil && *c.Limit < 0 {
		return usage("--limit 0 shows all", "--limit must not be below 0")
	}
	if len(c.Logs) == 0 {
		if ui.Columns(os.Stdin) > 0 { // a terminal
			return usage("kasoku digest access.log, or pipe a log into it", "no log is named")
		}
		c.Logs = []string{"-"}
	}
	sides := [][]string{c.Logs}
	if c.Diff {
		if len(c.Logs) != 2 {
			return usage("kasoku digest --diff A B; several logs of one side: 'a.log,a.log.1' or 'old/*.log'", "--diff compares two logs, not %d", len(c.Logs))
		}
		sides = nil
		for _, s := range c.Logs {
			sides = append(sides, logSet(s))
		}
	}
	if c.Explain != "" && c.Diff {
		return usage("explain the statements of one log", "--explain and --diff do not go together")
	}
	if c.Try && c.TryTime <= 0 {
		return usage("--try-time 5m", "--try-time must be above 0")
	}
	if c.Try && c.Explain == "" {
		return usage("kasoku digest slow.log --explain DSN --try", "--try needs --explain, which names the server")
	}
	job := &digestJob{DigestCmd: c, app: a, progress: newDigestProgress(a)}
	// A read from a terminal or a pipe cannot be ended from outside, so the
	// work is left behind when the person has had enough.
	done := make(chan error, 1)
	var result digest.Digest
	go func() {
		var err error
		if result, err = job.digest(ctx, sides); err == nil {
			err = job.plans(ctx, result)
		}
		done <- err
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	job.progress.clear()
	if ctx.Err() != nil {
		return job.interrupted(done)
	}
	if err != nil {
		return err
	}
	return c.write(a, result, sides)
}

// plans explains the statements, if it was asked for.
func (j *digestJob) plans(ctx context.Context, d digest.Digest) error {
	if j.Explain == "" {
		return nil
	}
	s, ok := d.(*digest.Statements)
	if !ok {
		return usage("leave it out", "--explain is for logs of statements; this is an access log")
	}
	if s.Format != "" && strings.Contains(s.Format, "postgresql") || strings.Contains(s.Format, "pg_stat_statements") {
		return usage("leave it out", "--explain asks MariaDB and MySQL; these are PostgreSQL's statements")
	}
	if err := d.Sort(j.Sort); err != nil {
		return ui.Coded(ui.Usage, err, "kasoku digest --help")
	}
	x, err := openExplainer(ctx, j.Explain)
	if err != nil {
		return err
	}
	defer x.db.Close()
	if j.Try {
		x.tell = func(text string) { fmt.Fprintln(j.app.Err, text) }
		x.limits = scratch.Limits{Time: j.TryTime}
		j.trying.Store(true)
		defer j.trying.Store(false)
	}
	x.explain(ctx, s)
	return nil
}

// dropWait is how long an interrupted try may take to drop its copies.
const dropWait = 45 * time.Second

// interrupted waits until what was made on a server is gone, and says so.
func (j *digestJob) interrupted(done <-chan error) error {
	if !j.trying.Load() {
		return ui.Coded(ui.Interrupted, errors.New("interrupted; nothing was written"), "")
	}
	select {
	case <-done:
		return ui.Coded(ui.Interrupted, errors.New("interrupted; nothing was written, and the copies on the server were dropped"), "")
	case <-time.After(dropWait):
		return ui.Coded(ui.Interrupted, errors.New("interrupted; the copies on the server may still be there"), "the next --try drops them")
	}
}

// logSet is one side of a comparison: a file, a list or a pattern.
func logSet(s string) []string {
	if _, err := os.Stat(s); err == nil || s == "-" {
		return []string{s}
	}
	var out []string
	for _, part := range strings.Split(s, ",") {
		names, err := filepath.Glob(part)
		if err != nil || len(names) == 0 {
			names = []string{part} // opening it says what is wrong
		}
		out = append(out, names...)
	}
	return out
}

// write prints the result in the form asked for.
func (c *DigestCmd) write(a *App, d digest.Digest, sides [][]string) error {
	if err := d.Sort(c.Sort); err != nil {
		return ui.Coded(ui.Usage, err, "kasoku digest --help")
	}
	limit := shownRows
	if c.Output == "csv" || c.Output == "json" {
		limit = 0
	}
	if c.Limit != nil {
		limit = *c.Limit
	}
	switch c.Output {
	case "json":
		d.Cut(limit)
		return writeJSON(a.Out, d)
	case "csv":
		for _, h := range d.Health() {
			a.UI.Warn(h, "")
		}
		d.Cut(limit)
		return d.CSV(a.Out)
	}
	for _, names := range sides {
		for i, name := range names {
			if name == "-" {
				names[i] = standardInput
			}
		}
	}
	names := sides[0]
	if c.Diff {
		names = []string{strings.Join(sides[0], ", "), strings.Join(sides[1], ", ")}
	}
	v := d.View(names, limit)
	switch c.Output {
	case "markdown":
		return digest.WriteMarkdown(a.Out, v)
	case "html":
		return digest.WriteHTML(a.Out, v)
	}
	return digest.WriteText(a.Out, v, textWidth(a.Out))
}

// pipedWidth is where lines are cut that go to no terminal: wide enough for
// nearly every route, while a statement of pages would bury the table.
const pipedWidth = 240

func textWidth(w io.Writer) int {
	if n := ui.Columns(w); n > 0 {
		return n
	}
	return pipedWidth
}

// digestJob reads the logs.
type digestJob struct {
	*DigestCmd
	app      *App
	progress *digestProgress

	kind         digest.Kind
	since, until time.Time
	access       digest.AccessOptions
	requests     *digest.AccessFilter
	statements   digest.StatementOptions
	entries      *digest.StatementFilter
	notes        [][]string  // of folders, by side
	trying       atomic.Bool // copies may be on a server
}

func (j *digestJob) digest(ctx context.Context, sides [][]string) (digest.Digest, error) {
	var inputs [][]digest.Input
	for _, names := range sides {
		in, notes, err := openInputs(names)
		if err != nil {
			return nil, err
		}
		inputs, j.notes = append(inputs, in), append(j.notes, notes)
	}
	if err := j.prepare(inputs); err != nil {
		return nil, err
	}
	j.progress.expect(inputs)
	var out []digest.Digest
	for i, in := range inputs {
		d, err := j.one(ctx, in, j.notes[i])
		if err != nil {
			return nil, digestError(err)
		}
		out = append(out, d)
	}
	if !j.Diff {
		return out[0], nil
	}
	if j.kind == digest.KindSlow {
		return digest.DiffStatements(out[0].(*digest.Statements), out[1].(*digest.Statements)), nil
	}
	return digest.DiffAccess(out[0].(*digest.Access), out[1].(*digest.Access)), nil
}

func (j *digestJob) one(ctx context.Context, in []digest.Input, notes []string) (digest.Digest, error) {
	defer j.progress.next(in)
	if j.kind == digest.KindSlow {
		s, err := digest.StatementLogs(ctx, in, j.statements)
		if err != nil {
			return nil, err
		}
		digest.ApplyStatements(j.entries, s)
		s.Warnings = slices.Concat(notes, s.Warnings)
		return s, nil
	}
	d, err := digest.AccessLogs(ctx, in, j.access)
	if err != nil {
		return nil, err
	}
	digest.ApplyAccess(j.requests, d)
	d.Notes = slices.Concat(notes, d.Notes)
	return d, nil
}

func digestError(err error) error {
	var damaged *digest.DamagedError
	if errors.As(err, &damaged) {
		return ui.Coded(ui.BadInput, err, fmt.Sprintf("copy it again, or take what can be unpacked: %s -dc %s 2>/dev/null | kasoku digest -", damaged.Packing, damaged.Name))
	}
	var doubt *accesslog.UnitDoubt
	if errors.As(err, &doubt) {
		return ui.Coded(ui.BadInput, err, doubtHint(doubt))
	}
	return ui.Coded(ui.BadInput, err, "kasoku digest --help tells how to name a format and a kind")
}

// doubtHint names the flags that decide between readings.
func doubtHint(d *accesslog.UnitDoubt) string {
	var flags []string
	for _, r := range d.Readings {
		flags = append(flags, r.Flag())
	}
	return "say which it is: " + strings.Join(flags, " or ")
}

// openInputs returns the logs that are named, and notes on folders.
func openInputs(names []string) (out []digest.Input, notes []string, err error) {
	stdin := false
	for _, name := range names {
		if name == "-" {
			if stdin {
				return nil, nil, usage("name it once", "standard input is named twice")
			}
			stdin = true
			out = append(out, digest.StreamInput(standardInput, os.Stdin))
			continue
		}
		if st, err := os.Stat(name); err == nil && st.IsDir() {
			in, note, err := digest.FolderInputs(name)
			if err != nil {
				return nil, nil, ui.Coded(ui.BadInput, err, "name logs: kasoku digest access.log access.log.1 access.log.2.gz")
			}
			out, notes = append(out, in...), append(notes, note)
			continue
		}
		in, err := digest.FileInput(name)
		if err != nil {
			return nil, nil, ui.Coded(ui.BadInput, err, "name logs that can be read: kasoku digest access.log access.log.1 access.log.2.gz")
		}
		out = append(out, in)
	}
	return out, notes, nil
}
