// Command gen writes docs/reference/scenario.schema.json and docs/reference/scenario-keys.md from
// the table of package load. `go generate ./internal/load` runs it in that
// package's folder.
package main

import (
	"bytes"
	"fmt"
	"os"

	"kasoku/internal/load"
)

// docs is relative to internal/load.
const docs = "../../docs/reference/"

func main() {
	if err := write(); err != nil {
		fmt.Fprintf(os.Stderr, "write the schema of scenario.yaml: %v\n", err)
		os.Exit(1)
	}
}

func write() error {
	schema, err := load.Schema()
	if err != nil {
		return err
	}
	if err := os.WriteFile(docs+load.SchemaURL, schema, 0o644); err != nil {
		return err
	}
	var keys bytes.Buffer
	if err := load.WriteKeys(&keys); err != nil {
		return err
	}
	return os.WriteFile(docs+"scenario-keys.md", keys.Bytes(), 0o644)
}
