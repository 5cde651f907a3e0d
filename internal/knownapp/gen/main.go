// Command gen writes docs/reference/applications.md from the table of package knownapp.
// `go generate ./internal/knownapp` runs it in that package's folder.
package main

import (
	"bytes"
	"fmt"
	"os"

	"kasoku/internal/knownapp"
)

// target is relative to internal/knownapp.
const target = "../../docs/reference/applications.md"

func main() {
	var b bytes.Buffer
	err := knownapp.WriteDocument(&b)
	if err == nil {
		err = os.WriteFile(target, b.Bytes(), 0o644)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "write %s: %v\n", target, err)
		os.Exit(1)
	}
}
