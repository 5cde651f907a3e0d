package main

import (
	"context"
	"io"
	"path/filepath"

	"kasoku/internal/record"
	"kasoku/internal/ui"
)

// ClientFlags are those of scenarios made of other tools' files.
type ClientFlags struct {
	DraftFlags  `embed:""`
	File        string `arg:"" help:"The file; - is standard input."`
	Origin      string `help:"Take the requests to this origin (default: the one with most)." placeholder:"URL"`
	KeepSecrets bool   `help:"Do not mask the values of fields named like a secret."`
}

// draftOf makes the scenario of a file. what names the file in messages.
func (f *ClientFlags) draftOf(a *App, what string, from func(io.Reader, record.ClientOptions) (*record.Draft, error)) error {
	in, done, err := openLogs([]string{f.File})
	if err != nil {
		return ui.Coded(ui.BadInput, err, "name a readable "+what)
	}
	defer done()
	o := record.ClientOptions{Name: f.name(f.File), Source: f.File, Origin: f.Origin, KeepSecrets: f.KeepSecrets, Dir: "."}
	if f.File == "-" {
		o.Source = "standard input"
	} else if abs, err := filepath.Abs(f.File); err == nil {
		o.Dir = filepath.Dir(abs)
	}
	d, err := from(in, o)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "docs/reference/scenario.md tells what is read of a "+what)
	}
	return a.writeDraft(d, f.DraftFlags)
}

// ScenarioFromCurlCmd makes a scenario of curl command lines.
type ScenarioFromCurlCmd struct {
	ClientFlags `embed:""`
}

// Help is shown below the flags.
func (ScenarioFromCurlCmd) Help() string {
	return "Reads one or more commands as browsers copy them (\"Copy as cURL\", for bash, cmd or PowerShell) or as scripts have them. " +
		"Cookies and Authorization are never taken.\n\nExamples:\n  kasoku scenario from-curl requests.sh -o load\n  kasoku scenario from-curl - -o load < copied.txt"
}

// Run implements the command.
func (c *ScenarioFromCurlCmd) Run(_ context.Context, a *App) error {
	return c.draftOf(a, "file of curl commands", record.FromCurl)
}

// ScenarioFromPostmanCmd makes a scenario of a Postman collection.
type ScenarioFromPostmanCmd struct {
	ClientFlags `embed:""`
}

// Help is shown below the flags.
func (ScenarioFromPostmanCmd) Help() string {
	return "Reads collections v2.0 and v2.1: a session of each top folder, variables with the values of the collection. Scripts are not run, and told.\n\n" +
		"Example:\n  kasoku scenario from-postman shop.postman_collection.json -o load"
}

// Run implements the command.
func (c *ScenarioFromPostmanCmd) Run(_ context.Context, a *App) error {
	return c.draftOf(a, "Postman collection", record.FromPostman)
}

// ScenarioFromK6Cmd makes a scenario of a k6 script.
type ScenarioFromK6Cmd struct {
	ClientFlags `embed:""`
}

// Help is shown below the flags.
func (ScenarioFromK6Cmd) Help() string {
	return "Takes calls of k6/http whose arguments are plain: texts, templates, objects and constants. The script is not run; what is not plain is told with its line.\n\n" +
		"Example:\n  kasoku scenario from-k6 script.js -o load"
}

// Run implements the command.
func (c *ScenarioFromK6Cmd) Run(_ context.Context, a *App) error {
	return c.draftOf(a, "k6 script", record.FromK6)
}

// ScenarioFromJMeterCmd makes a scenario of a JMeter plan.
type ScenarioFromJMeterCmd struct {
	ClientFlags `embed:""`
}

// Help is shown below the flags.
func (ScenarioFromJMeterCmd) Help() string {
	return "Takes HTTP requests with their defaults, headers and user-defined variables: a session of each thread group. Assertions, extractors and scripts are told with their line.\n\n" +
		"Example:\n  kasoku scenario from-jmeter plan.jmx -o load"
}

// Run implements the command.
func (c *ScenarioFromJMeterCmd) Run(_ context.Context, a *App) error {
	return c.draftOf(a, "JMeter plan", record.FromJMeter)
}
