// Command testtimes prints where the time of the last test run went: its slowest
// packages and its slowest tests. It reads the events that `go test -json` wrote
// (scripts/test.sh keeps them) and writes a table; it measures nothing itself.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	file := flag.String("events", ".cache/test/events.json", "events of go test -json")
	most := flag.Int("n", 30, "how many packages and tests are shown")
	flag.Parse()
	if err := show(*file, *most); err != nil {
		fmt.Fprintln(os.Stderr, "testtimes:", err)
		os.Exit(1)
	}
}

func show(file string, most int) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("%w; make test writes it", err)
	}
	defer f.Close()
	t, err := read(f)
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	t.print(os.Stdout, most)
	return nil
}
