// Command effects reads what the tests of cases/remedies measured of each remedy
// (bed.Effect appends a line to a file for each plan), prints it, and with -write
// makes it what docs/reference/catalogue/README.md says. It ends with 1 if a remedy of the table
// has no effect measured, there or on a case, and does not say why. `make bench-effects` runs both.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"kasoku/internal/remedy"
)

const recorded = "internal/remedy/effects.json"

func main() {
	f := flag.NewFlagSet("effects", flag.ExitOnError)
	write := f.Bool("write", false, "put what was measured in place of the same plans' in "+recorded)
	_ = f.Parse(os.Args[1:]) // ExitOnError
	if f.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: effects [-write] FILE")
		os.Exit(2)
	}
	missing, err := run(f.Arg(0), *write)
	if err != nil {
		fmt.Fprintln(os.Stderr, "effects:", err)
		os.Exit(2)
	}
	if missing > 0 {
		os.Exit(1)
	}
}

func run(path string, write bool) (missing int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	fresh, err := read(file)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	old, err := remedy.Effects()
	if err != nil {
		return 0, err
	}
	all := merge(old, fresh)
	for _, e := range fresh {
		fmt.Printf("%-34s %s  (%s)\n", e.Plan, e, e.Test)
	}
	for _, r := range remedy.Table {
		if r.Effect == "" && r.Unmeasured == "" && !slices.ContainsFunc(all, func(e remedy.Effect) bool { return e.Remedy == r.ID }) {
			fmt.Printf("%-34s not measured\n", r.ID)
			missing++
		}
	}
	word := "ok    "
	if missing > 0 {
		word = "MISSED"
	}
	told := 0
	for _, r := range remedy.Table {
		if r.Unmeasured != "" {
			told++
		}
	}
	fmt.Printf("%s remedies with an effect measured: %d of %d, and %d that say why none can be (bar: all together)\n", word, len(remedy.Table)-missing-told, len(remedy.Table), told)
	if !write {
		return missing, nil
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return 0, err
	}
	return missing, os.WriteFile(recorded, append(text, '\n'), 0o644)
}

// read returns the effects of a file of JSON lines.
func read(r io.Reader) ([]remedy.Effect, error) {
	var out []remedy.Effect
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		var e remedy.Effect
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, e)
	}
	return out, lines.Err()
}

// merge puts new effects in place of those of the same plan in the same test.
func merge(old, fresh []remedy.Effect) []remedy.Effect {
	all := slices.DeleteFunc(slices.Clone(old), func(o remedy.Effect) bool {
		return slices.ContainsFunc(fresh, func(e remedy.Effect) bool { return e.Plan == o.Plan && e.Test == o.Test })
	})
	all = append(all, fresh...)
	slices.SortFunc(all, func(a, b remedy.Effect) int { return cmp.Or(cmp.Compare(a.Plan, b.Plan), cmp.Compare(a.Test, b.Test)) })
	return all
}
