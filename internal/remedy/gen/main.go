// Command gen writes docs/reference/catalogue from the tables of package remedy.
// `go generate ./internal/remedy` runs it in that package's folder.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"kasoku/internal/remedy"
)

// target is relative to internal/remedy.
const target = "../../docs/reference/catalogue"

func main() {
	if err := write(); err != nil {
		fmt.Fprintf(os.Stderr, "write %s: %v\n", target, err)
		os.Exit(1)
	}
}

// write replaces all pages, so that none of a family that went stays.
func write() error {
	pages, err := remedy.CataloguePages()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	if err := os.Mkdir(target, 0o755); err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(target, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
