package main

import (
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// SchemaCmd prints the schemas that editors use.
type SchemaCmd struct {
	Of string `arg:"" optional:"" default:"config" enum:"config,scenario" help:"config: of kasoku.yaml; scenario: of scenario.yaml."`
}

// Help is shown below the flags.
func (SchemaCmd) Help() string {
	return "A JSON Schema made from what Kasoku itself reads. An editor with a YAML language server completes keys and marks errors by it if the file begins with\n  # yaml-language-server: $schema=kasoku.schema.json\n\n" +
		"Examples:\n  kasoku schema > kasoku.schema.json\n  kasoku schema scenario > scenario.schema.json"
}

// Run implements the command.
func (c SchemaCmd) Run(a *App) error {
	schema := stack.Schema
	if c.Of == "scenario" {
		schema = load.Schema
	}
	text, err := schema()
	if err != nil {
		return err
	}
	_, err = a.Out.Write(text)
	return err
}
