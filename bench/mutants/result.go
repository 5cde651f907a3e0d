package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// status is what became of a mutant.
type status string

const (
	killed   status = "killed"
	timedOut status = "timed out" // counts as killed
	survived status = "survived"
	equal    status = "equal" // no test can tell; counts neither way
)

func (s status) dead() bool { return s == killed || s == timedOut }

// result is one mutant in the results file.
type result struct {
	Number   int     `json:"number"`
	Group    string  `json:"group"`
	Mutant   string  `json:"mutant"` // site.id
	Kind     kind    `json:"kind"`
	File     string  `json:"file"`
	Line     int     `json:"line"`
	Status   status  `json:"status"`
	By       string  `json:"by,omitempty"`     // the test that failed
	Reason   string  `json:"reason,omitempty"` // why it is equal
	First    status  `json:"first"`            // what became of it when it was first drawn
	Seconds  float64 `json:"seconds"`          // of building and testing
	FileHash string  `json:"file_hash"`        // SHA-256, its first 16 digits
	TestHash string  `json:"test_hash"`        // of all test files of its package
}

func newResult(m mutant) result {
	return result{Number: m.number, Group: m.group, Mutant: m.id(), Kind: m.kind, File: m.file, Line: m.line}
}

// results is the file of -known and -write.
type results struct {
	Seed    int64    `json:"seed"`
	Count   int      `json:"count"`
	Results []result `json:"results"`
}

func readResults(name string) (map[string]result, error) {
	known := map[string]result{}
	if name == "" {
		return known, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read earlier results: %w", err)
	}
	var r results
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("read earlier results from %s: %w", name, err)
	}
	for _, x := range r.Results {
		known[x.Mutant] = x
	}
	return known, nil
}

func (r results) write(name string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return err
	}
	next := name + ".new"
	if err := os.WriteFile(next, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return os.Rename(next, name)
}

// hashes are those of the mutant's file and of the tests of its package.
func hashes(root string, m mutant) (file, tests string, err error) {
	if file, err = hash(root, m.file); err != nil {
		return "", "", err
	}
	tests, err = hash(root, m.pack.tests...)
	return file, tests, err
}

func hash(root string, names ...string) (string, error) {
	h := sha256.New()
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", name, len(data))
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// readEqual reads equal.txt: "mutant | reason", one per line; # starts a
// comment.
func readEqual(name string) (map[string]string, error) {
	data, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of equal mutants: %w", err)
	}
	out := map[string]string{}
	for i, line := range strings.Split(string(data), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndex(line, " | ")
		if at < 0 || strings.TrimSpace(line[at+3:]) == "" {
			return nil, fmt.Errorf("%s:%d: no reason; write the mutant, \" | \" and why no test can tell it", name, i+1)
		}
		out[strings.TrimSpace(line[:at])] = strings.TrimSpace(line[at+3:])
	}
	return out, nil
}

// tally counts a group's mutants.
type tally struct {
	group                       string
	drawn, before, after, equal int
}

// share is how many of those that a test can tell are killed.
func (t tally) share() float64 {
	if t.drawn == t.equal {
		return 1
	}
	return float64(t.after) / float64(t.drawn-t.equal)
}

// count returns a tally per group and one of all.
func count(list []result) []tally {
	total := tally{group: "all"}
	var out []tally
	for _, g := range groups {
		t := tally{group: g}
		for _, r := range list {
			if r.Group != g {
				continue
			}
			t.drawn++
			if r.First.dead() {
				t.before++
			}
			if r.Status.dead() {
				t.after++
			}
			if r.Status == equal {
				t.equal++
			}
		}
		if t.drawn > 0 {
			out = append(out, t)
		}
		total.drawn += t.drawn
		total.before += t.before
		total.after += t.after
		total.equal += t.equal
	}
	return append(out, total)
}

// table prints a row per group, as Markdown, and what is not killed. It returns
// the tally of all.
func table(w io.Writer, list []result) tally {
	fmt.Fprintln(w, "| Package | Drawn | Killed at first | Killed now | Equal | Share killed |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|")
	all := count(list)
	for _, t := range all {
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %.0f %% |\n", t.group, t.drawn, t.before, t.after, t.equal, 100*t.share())
	}
	for _, s := range []status{survived, equal} {
		head := map[status]string{survived: "Survivors:", equal: "Equal, which no test can tell:"}[s]
		for _, r := range list {
			if r.Status != s {
				continue
			}
			if head != "" {
				fmt.Fprintf(w, "\n%s\n\n", head)
				head = ""
			}
			fmt.Fprintf(w, "- %d, `%s`", r.Number, r.Mutant)
			if r.Reason != "" {
				fmt.Fprintf(w, ": %s", r.Reason)
			}
			fmt.Fprintln(w)
		}
	}
	return all[len(all)-1]
}
