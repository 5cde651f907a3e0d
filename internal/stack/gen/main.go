// Command gen writes the schema of kasoku.yaml and the page of its keys, in
// docs/reference, from the table of package stack. `go generate ./internal/stack`
// runs it in that package's folder.
package main

import (
	"bytes"
	"fmt"
	"os"

	"kasoku/internal/stack"
)

// docs is relative to internal/stack.
const docs = "../../docs/reference/"

func main() {
	if err := write(); err != nil {
		fmt.Fprintf(os.Stderr, "write the schema of kasoku.yaml: %v\n", err)
		os.Exit(1)
	}
}

func write() error {
	schema, err := stack.Schema()
	if err != nil {
		return err
	}
	if err := os.WriteFile(docs+stack.SchemaURL, schema, 0o644); err != nil {
		return err
	}
	var keys bytes.Buffer
	if err := stack.WriteKeys(&keys); err != nil {
		return err
	}
	return os.WriteFile(docs+"kasoku-yaml-keys.md", keys.Bytes(), 0o644)
}
