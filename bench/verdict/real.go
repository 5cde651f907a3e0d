package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/stat"
	"kasoku/internal/tune"
)

// realOptions are real's flags.
type realOptions struct {
	only, write, add string
	match            *regexp.Regexp
	n                int
	window           time.Duration
	foreign          float64
	patience, pairs  int
}

func parseReal(args []string) (realOptions, error) {
	var o realOptions
	f := flag.NewFlagSet("verdict real", flag.ContinueOnError)
	f.StringVar(&o.only, "only", "", "one part: aa (a comment is changed), harm or good")
	f.IntVar(&o.n, "n", 0, "changes of each part; 0: all")
	match := f.String("match", "", "only changes whose title matches this regular expression")
	f.StringVar(&o.write, "write", "", "file that the table is kept in, as Markdown")
	f.StringVar(&o.add, "add", "", "file of results, as JSON: what is in it is not tried again and counts, what is tried is added, so that all 50 may be tried in several runs")
	f.DurationVar(&o.window, "d", 2*time.Second, "measured window of a run where the case is quick, as of kasoku try -d; as found it is the scenario's")
	f.Float64Var(&o.foreign, "foreign", 0, "share of the machine that others may use before a run is no evidence; 0: as kasoku.yaml says")
	f.IntVar(&o.patience, "patience", 0, "pairs after which a change that does not lead makes way for others, as in kasoku tune while others wait (40 there; docs/adr/0017-more-pairs-that-make-way.md); 0: as in kasoku try, up to tune.max_pairs")
	f.IntVar(&o.pairs, "pairs", 0, fmt.Sprintf("most pairs of an experiment, as tune.max_pairs; 0: %d", experiment.DefaultRule().MaxPairs))
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case o.pairs != 0 && (o.pairs < stat.FirstLook || o.pairs > stat.LastLook):
		return o, fmt.Errorf("-pairs %d: write %d to %d", o.pairs, stat.FirstLook, stat.LastLook)
	case f.NArg() > 0 || o.n < 0 || o.window <= 0 || o.patience < 0:
		return o, errors.New("write: verdict real [flags]; -h tells them")
	case o.only != "" && !slices.Contains([]string{partAA, partHarm, partGood}, o.only):
		return o, fmt.Errorf("-only %s: write aa, harm or good", o.only)
	}
	var err error
	o.match, err = regexp.Compile(*match)
	return o, err
}

// most pairs of an experiment.
func (o realOptions) most() int {
	if o.pairs > 0 {
		return o.pairs
	}
	return experiment.DefaultRule().MaxPairs
}

// realTrials tries changes of which it is known what they do on real copies of
// the bank login, each as `kasoku try --keep` does, and puts back what was
// kept. It reports whether all were judged right.
func realTrials(ctx context.Context, args []string) (ok bool, err error) {
	o, err := parseReal(args)
	if err != nil {
		return false, err
	}
	all := trials(o.only, o.match, o.n)
	if len(all) == 0 {
		return false, fmt.Errorf("the title of no such change matches %q", o.match)
	}
	r := &realRun{options: o}
	if r.results, err = loadResults(o.add, o.only, o.most()); err != nil {
		return false, err
	}
	all = untried(all, r.results)
	r.all = len(r.results) + len(all)
	work, err := os.MkdirTemp("", "kv")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := os.Chmod(work, 0o755); err != nil { // the database's user must reach it
		return false, err
	}
	r.work = work
	fmt.Println(tableHead)
	for _, b := range []base{asFound, indexed, byHand} {
		own := slices.DeleteFunc(slices.Clone(all), func(t trial) bool { return t.base != b })
		if len(own) == 0 {
			continue
		}
		if err = r.onBase(ctx, b, own); err != nil {
			break
		}
	}
	held := r.tell(os.Stdout)
	if o.write != "" {
		err = errors.Join(err, r.save(o.write))
	}
	return held && err == nil, err
}

// realRun is what was tried so far.
type realRun struct {
	options realOptions
	work    string
	all     int
	results []result
}

// onBase brings a copy up and tries all changes on it.
func (r *realRun) onBase(ctx context.Context, b base, own []trial) (err error) {
	fmt.Fprintf(os.Stderr, "verdict: bring up the case, %s\n", b)
	window := r.options.window
	if b == asFound {
		window = 0 // as the scenario says: it answers some 60 requests a second
	}
	k, err := openBank(ctx, filepath.Join(r.work, fmt.Sprintf("b%d", len(r.results))), b, window, r.options.foreign)
	defer func() { err = errors.Join(err, k.close()) }()
	if err != nil {
		return err
	}
	for _, t := range own {
		if err := r.one(ctx, k, t); err != nil {
			return fmt.Errorf("%s: %w", t.title, err)
		}
	}
	return nil
}

// one tries one change. An error means that nothing can be said of it, or that
// the copy is not as it was.
func (r *realRun) one(ctx context.Context, k *bank, t trial) error {
	found, err := k.configuration()
	if err != nil {
		return err
	}
	prepared := len(t.before.edits) > 0 || t.before.sql != ""
	if prepared {
		if err := k.put(ctx, t.before); err != nil {
			return err
		}
	}
	p, err := k.proposal(t.title, t.act)
	if err != nil {
		return err
	}
	base, err := k.configuration()
	if err != nil {
		return err
	}
	began := time.Now()
	rule := k.rule
	rule.Patience, rule.MaxPairs = r.options.patience, r.options.most()
	tuner := &tune.Tuner{Stack: k.bench.Stack, Store: k.bench.Store, Exec: k.exec, Bench: k.bench, Rule: rule,
		UI: progress{fmt.Sprintf("%d of %d, %s", len(r.results)+1, r.all, t.title)}}
	step, err := tuner.Try(ctx, p)
	if err != nil {
		return err
	}
	got := result{trial: t, verdict: step.Verdict, kept: step.Kept, took: time.Since(began), patience: rule.Patience}
	r.results = append(r.results, got)
	if err := saveResults(r.options.add, r.results); err != nil {
		return err
	}
	fmt.Println(got)
	if step.Kept {
		if err := k.exec.Undo(ctx, step.Tx, false); err != nil {
			return fmt.Errorf("put it back: %w", err)
		}
	}
	now, err := k.configuration()
	if err != nil {
		return err
	}
	if !maps.Equal(now, base) {
		return errors.New("the files are not as they were before it")
	}
	if prepared {
		if err := k.put(ctx, t.before.back()); err != nil {
			return err
		}
		if now, err = k.configuration(); err != nil || !maps.Equal(now, found) {
			return errors.Join(err, errors.New("the files are not as they were before its base"))
		}
	}
	return nil
}

// progress is a tune.Reporter on one line of standard error.
type progress struct{ of string }

func (progress) Step(string) {}
func (p progress) Info(text string) {
	fmt.Fprintf(os.Stderr, "verdict: %s: %s\n", p.of, text)
}
func (p progress) Warn(problem, hint string) {
	fmt.Fprintf(os.Stderr, "verdict: %s: %s (%s)\n", p.of, problem, hint)
}
