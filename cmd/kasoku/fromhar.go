package main

import (
	"context"
	"io"
	"path/filepath"

	"kasoku/internal/record"
	"kasoku/internal/ui"
)

// ScenarioFromHARCmd makes a scenario of what a browser recorded.
type ScenarioFromHARCmd struct {
	DraftFlags  `embed:""`
	HAR         string `arg:"" name:"har" help:"HAR file; - is standard input."`
	Origin      string `help:"Take the requests to this origin (default: the one with most)." placeholder:"URL"`
	PerPage     bool   `help:"A session of each page instead of one of all."`
	Think       bool   `help:"With the recorded pauses between pages."`
	KeepSecrets bool   `help:"Do not mask the values of fields named like a secret."`
}

// Help is shown below the flags.
func (ScenarioFromHARCmd) Help() string {
	return "Takes requests, bodies and headers in their order; never Cookie or Authorization. Tokens that an earlier answer held are extracted from it in each run. " +
		"Save the HAR with content: developer tools, Network, \"Save all as HAR with content\".\n\nExample:\n  kasoku scenario from-har visit.har -o load"
}

// Run implements the command.
func (c *ScenarioFromHARCmd) Run(_ context.Context, a *App) error {
	in, done, err := openLogs([]string{c.HAR})
	if err != nil {
		return ui.Coded(ui.BadInput, err, "name a readable HAR file")
	}
	defer done()
	d, err := record.FromHAR(in, record.HAROptions{Name: c.name(c.HAR), Source: c.HAR, Origin: c.Origin, PerPage: c.PerPage, Think: c.Think, KeepSecrets: c.KeepSecrets})
	if err != nil {
		return ui.Coded(ui.BadInput, err, "kasoku scenario from-har --help tells what can be chosen")
	}
	return a.writeDraft(d, c.DraftFlags)
}

// ScenarioFromOpenAPICmd makes a scenario of an API's description.
type ScenarioFromOpenAPICmd struct {
	DraftFlags `embed:""`
	API        string `arg:"" name:"file" help:"OpenAPI 3 or Swagger 2 document, YAML or JSON; - is standard input."`
	ByPath     bool   `help:"A session of each first path segment instead of each tag."`
	Writes     bool   `help:"Take POST, PUT, PATCH and DELETE too."`
}

// Help is shown below the flags.
func (ScenarioFromOpenAPICmd) Help() string {
	return "Each operation becomes a step, with values from the document's examples, defaults and schemas; several values become a pool. Parts that are wrong are left out and told with their line. " +
		"What a person must fill in (tokens, ids that exist) is listed.\n\nExample:\n  kasoku scenario from-openapi openapi.yaml -o load"
}

// Run implements the command.
func (c *ScenarioFromOpenAPICmd) Run(_ context.Context, a *App) error {
	o := record.OpenAPIOptions{Name: c.Name, Source: c.API, ByPath: c.ByPath, Writes: c.Writes}
	data, err := c.read(&o)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "name a readable OpenAPI file")
	}
	d, err := record.FromOpenAPI(data, o)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "kasoku scenario from-openapi --help tells what can be chosen")
	}
	return a.writeDraft(d, c.DraftFlags)
}

func (c *ScenarioFromOpenAPICmd) read(o *record.OpenAPIOptions) ([]byte, error) {
	if c.API == "-" {
		o.Source = "standard input"
	} else {
		abs, err := filepath.Abs(c.API)
		if err != nil {
			return nil, err
		}
		o.Dir = filepath.Dir(abs)
	}
	in, done, err := openLogs([]string{c.API}) // unpacks
	if err != nil {
		return nil, err
	}
	defer done()
	return io.ReadAll(io.LimitReader(in, record.MaxOpenAPI+1))
}
