// Command gen writes docs/catalogue.md from the tables of package remedy.
// `go generate ./internal/remedy` runs it in that package's folder.
package main

import (
	"bytes"
	"fmt"
	"os"

	"kasoku/internal/remedy"
)

// target is relative to internal/remedy.
const target = "../../docs/catalogue.md"

func main() {
	var b bytes.Buffer
	err := remedy.WriteCatalogue(&b)
	if err == nil {
		err = os.WriteFile(target, b.Bytes(), 0o644)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "write %s: %v\n", target, err)
		os.Exit(1)
	}
}
