package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"
)

// event is a line of `go test -json` (go doc test2json).
type event struct {
	Time    time.Time
	Action  string // run, pass, fail, skip, output, …
	Package string
	Test    string  // empty: the whole package
	Elapsed float64 // seconds
}

// took is how long one package or test ran.
type took struct {
	name    string
	seconds float64 // wall clock; of a parallel test with the time it waited
	result  string  // pass, fail or skip
}

// times is what a run's events tell.
type times struct {
	packages, tests []took
	wall            time.Duration // from the first event to the last
	sum             float64       // of the packages, seconds
	failed          int           // tests
}

// read takes the events that end a package or a test. Lines that are not events,
// such as the words of a build that failed, are passed over.
func read(r io.Reader) (*times, error) {
	t := &times{}
	var first, last time.Time
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Package == "" {
			continue
		}
		if !e.Time.IsZero() {
			if first.IsZero() {
				first = e.Time
			}
			last = e.Time
		}
		if e.Action != "pass" && e.Action != "fail" && e.Action != "skip" {
			continue
		}
		switch {
		case e.Test == "":
			t.packages = append(t.packages, took{e.Package, e.Elapsed, e.Action})
			t.sum += e.Elapsed
		case !strings.Contains(e.Test, "/"): // a subtest's time is in its test's
			t.tests = append(t.tests, took{e.Package + " " + e.Test, e.Elapsed, e.Action})
			if e.Action == "fail" {
				t.failed++
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(t.packages) == 0 {
		return nil, fmt.Errorf("it holds no package that ended")
	}
	t.wall = last.Sub(first)
	for _, list := range [][]took{t.packages, t.tests} {
		sort.SliceStable(list, func(i, j int) bool { return list[i].seconds > list[j].seconds })
	}
	return t, nil
}

func (t *times) print(w io.Writer, most int) {
	fmt.Fprintf(w, "%d packages, %d tests, %d failed: %s; packages one after the other %s\n",
		len(t.packages), len(t.tests), t.failed, t.wall.Round(time.Second), time.Duration(t.sum*float64(time.Second)).Round(time.Second))
	for _, part := range []struct {
		title string
		list  []took
	}{{"package", t.packages}, {"test", t.tests}} {
		fmt.Fprintf(w, "\n%9s  %s\n", "seconds", part.title)
		for _, x := range part.list[:min(most, len(part.list))] {
			note := ""
			if x.result != "pass" {
				note = "  (" + x.result + ")"
			}
			fmt.Fprintf(w, "%9.1f  %s%s\n", x.seconds, x.name, note)
		}
	}
}
