package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"kasoku/bench/load/proc"
	"kasoku/internal/digest"
	"kasoku/internal/digest/slowgen"
)

// Bars of the issue.
const (
	timesPt  = 60 // throughput of pt-query-digest
	timesSlp = 20 // throughput of slp
)

// slowLog generates a log of n entries, or finds it in the cache.
func (b *bench) slowLog(n int) (log, error) {
	l := log{path: filepath.Join(b.cache, fmt.Sprintf("slow-%d.log", n)), lines: n}
	err := create(l.path, func(w io.Writer) error {
		b.say("writing %s", l.path)
		return slowgen.Write(w, slowgen.MariaDB, n)
	})
	if err != nil {
		return l, err
	}
	return l, b.warm(&l)
}

// slowLogs is part slow.
func (b *bench) slowLogs(ctx context.Context) error {
	whole, err := b.slowLog(b.entries)
	if err != nil {
		return err
	}
	part, err := b.slowLog(b.entries / tenth)
	if err != nil {
		return err
	}
	var ours, theirs []byte
	keep := func(to *[]byte) func([]byte) error {
		return func(stdout []byte) error { *to = slices.Clone(stdout); return nil }
	}
	const pt, slp = "pt-query-digest (1/10 of the log)", "slp (1/10 of the log)"
	got, err := b.compareTools(ctx, "slow log", []tool{
		{name: "kasoku", log: whole, args: []string{b.kasoku, "digest", "-q", "-o", "json", whole.path}, check: slowCount(whole)},
		{name: "kasoku (1/10 of the log)", log: part, args: []string{b.kasoku, "digest", "-q", "-o", "json", part.path}, rounds: 1, check: keep(&ours)},
		{name: pt, log: part, args: ptQueryDigest(b, part.path), rounds: 2, check: keep(&theirs)},
		{name: slp, log: part, args: b.find("slp", "my", "--file", part.path, "--format", "tsv", "--bundle-where-in", "--bundle-values", "--limit", "100000000"), rounds: 3},
		{name: "grep -c", log: whole, args: []string{"grep", "-c", "Query_time: 0.00", whole.path}},
	})
	if err != nil {
		return err
	}
	b.figures.judge("slow log", "throughput ÷ pt-query-digest's", bar{timesPt}, got["kasoku"], got[pt], "pt-query-digest did not run: scripts/peers.sh digest")
	b.figures.judge("slow log", "throughput ÷ slp's", bar{timesSlp}, got["kasoku"], got[slp], "slp did not run: scripts/peers.sh digest")
	if theirs == nil {
		b.figures = append(b.figures, figure{"slow log", "classes and counts", "equal", "pt-query-digest did not run", notJudged})
		return nil
	}
	differences, compared, err := sameClasses(ours, theirs)
	if err != nil {
		return err
	}
	b.figures.same("slow log", "classes and counts as pt-query-digest's", differences, compared)
	return b.everyForm(ctx)
}

// formEntries are enough for every class of the generator to come.
const formEntries = 2000

// everyForm compares classes and counts on a log of each server's form.
func (b *bench) everyForm(ctx context.Context) error {
	for _, f := range slowgen.Forms {
		path := filepath.Join(b.cache, fmt.Sprintf("slow-%d.%s.log", formEntries, f))
		if err := create(path, func(w io.Writer) error { return slowgen.Write(w, f, formEntries) }); err != nil {
			return err
		}
		var out [2][]byte
		for i, args := range [][]string{{b.kasoku, "digest", "-q", "-o", "json", path}, ptQueryDigest(b, path)} {
			r, err := proc.Run(ctx, proc.Command{Args: args, Limit: runLimit})
			if err != nil {
				return err
			}
			out[i] = r.Stdout
		}
		differences, compared, err := sameClasses(out[0], out[1])
		if err != nil {
			return err
		}
		b.figures.same("slow log", fmt.Sprintf("classes and counts, form of %s", f), differences, compared)
	}
	return nil
}

// ptQueryDigest is its command line; nil if it is not installed.
func ptQueryDigest(b *bench, path string) []string {
	return b.find("pt-query-digest", "--no-version-check", "--output", "json", "--limit", "100%", path)
}

func slowCount(l log) func([]byte) error {
	return func(stdout []byte) error {
		var s digest.Statements
		if err := json.Unmarshal(stdout, &s); err != nil {
			return err
		}
		if n := s.Entries + s.Commands; n != int64(l.lines) {
			return fmt.Errorf("%d entries; the log has %d", n, l.lines)
		}
		return nil
	}
}

// sameClasses compares the counts of all classes, most first: texts of
// fingerprints differ by design. pt-query-digest does not tell schemas apart.
func sameClasses(ours, theirs []byte) (differences []string, compared string, err error) {
	var k digest.Statements
	if err := json.Unmarshal(ours, &k); err != nil {
		return nil, "", fmt.Errorf("kasoku's JSON: %w", err)
	}
	var p struct {
		Classes []struct {
			Count int64 `json:"query_count"`
		} `json:"classes"`
	}
	if err := json.Unmarshal(theirs, &p); err != nil {
		return nil, "", fmt.Errorf("pt-query-digest's JSON: %w", err)
	}
	byText := map[string]int64{}
	for _, c := range k.Classes {
		byText[c.Fingerprint] += c.Count
	}
	var a, b []int64
	for _, n := range byText {
		a = append(a, n)
	}
	for _, c := range p.Classes {
		b = append(b, c.Count)
	}
	slices.Sort(a)
	slices.Sort(b)
	if len(a) != len(b) {
		differences = append(differences, fmt.Sprintf("%d classes, pt-query-digest has %d", len(a), len(b)))
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			differences = append(differences, fmt.Sprintf("a class of %d, pt-query-digest's has %d", a[i], b[i]))
		}
	}
	return differences, fmt.Sprintf("%d classes of %d entries", len(a), k.Entries), nil
}
