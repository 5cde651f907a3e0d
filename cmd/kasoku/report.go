package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"kasoku/internal/report"
	"kasoku/internal/ui"
)

// ReportCmd writes a session's report.
type ReportCmd struct {
	Session int64  `arg:"" optional:"" help:"Session; default: the last one."`
	Output  string `short:"o" help:"File; its ending chooses the form: .html, .md, .json. Default: .kasoku/report-SESSION.html." placeholder:"FILE"`
}

// Help is shown below the flags.
func (ReportCmd) Help() string {
	return "One self-contained HTML file that needs no network; also Markdown and JSON.\n\nExamples:\n  kasoku report\n  kasoku report 3 -o report.md\n  kasoku report -o /tmp/report.html"
}

// Run implements the command.
func (c *ReportCmd) Run(ctx context.Context, a *App) error {
	p, err := a.read()
	if err != nil {
		return err
	}
	defer p.Store.Close()
	id := c.Session
	if id == 0 {
		s, err := p.Store.LastSession()
		if err != nil {
			return ui.Coded(ui.BadInput, err, "a report is of a session, and there is none yet: kasoku tune; of a single run: kasoku show RUN --all")
		}
		id = s.ID
	}
	m, err := report.Build(ctx, p.Store, id, report.Options{Rule: p.rule(), Version: Version})
	if err != nil {
		return ui.Coded(ui.BadInput, err, "kasoku history lists sessions")
	}
	locate(ctx, m, p.Stack)
	if a.cli.JSON {
		return report.JSON(a.Out, m)
	}
	path := c.Output
	if path == "" {
		path = filepath.Join(p.Dir, fmt.Sprintf("report-%d.html", id))
	}
	write := map[string]func(io.Writer, *report.Model) error{".html": report.HTML, ".md": report.Markdown, ".json": report.JSON}[filepath.Ext(path)]
	if write == nil {
		return ui.Coded(ui.Usage, fmt.Errorf("%s: a report ends in .html, .md or .json", path), "")
	}
	var b bytes.Buffer
	if err := write(&b, m); err != nil {
		return err
	}
	if err := putFile(path, b.Bytes(), true); err != nil {
		return ui.Coded(ui.Failure, err, "name another file with -o")
	}
	fmt.Fprintln(a.Out, path)
	return nil
}
