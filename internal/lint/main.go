// Command lint checks the rules of this repository that the compiler and go
// vet do not know: which package may import which, who may write to a host,
// who may end the process, that every package says what it is for, that no text
// names a place or a tool of somebody's workplace, that links lead somewhere, and that
// no struct of the loop has more fields than a reader keeps in mind, and that what chooses
// its next step reads no clock.
//
// In: the repository's root (default: the current directory). Out: one line
// per violation as file:line: text, and exit status 1 if there is any. It is
// part of `make check`.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with its surroundings passed in.
func run(args []string, stdout, stderr io.Writer) int {
	root := "."
	switch {
	case len(args) == 1 && args[0] != "-h" && args[0] != "--help":
		root = args[0]
	case len(args) > 0:
		fmt.Fprintln(stderr, "usage: go run ./internal/lint [repository]")
		return 2
	}
	problems, err := check(root)
	if err != nil {
		fmt.Fprintf(stderr, "lint: %v\n", err)
		return 2
	}
	for _, p := range problems {
		fmt.Fprintln(stdout, p)
	}
	if len(problems) > 0 {
		fmt.Fprintf(stderr, "lint: %d violations\n", len(problems))
		return 1
	}
	return 0
}
