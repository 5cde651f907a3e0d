package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"kasoku/internal/experiment"
)

// stored is a result as -add keeps it. Its runs are left out.
type stored struct {
	Part  string        `json:"part"`
	Title string        `json:"title"`
	Base  base          `json:"base"`
	Kept  bool          `json:"kept"`
	Took  time.Duration `json:"took"`
	// Patience, pairs; 0: none.
	Patience int                `json:"patience,omitempty"`
	Verdict  experiment.Verdict `json:"verdict"`
}

// loadResults reads those of earlier runs; none if name is "" or not there. Those
// of a part that is to be tried ("": all) with other than that many pairs at most
// are refused.
func loadResults(name, part string, most int) ([]result, error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var all []stored
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var out []result
	for _, s := range all {
		if (part == "" || part == s.Part) && s.Verdict.MaxPairs != most {
			return nil, fmt.Errorf("%s: %q was tried with at most %d pairs, and there may be %d now (-pairs); name another file", name, s.Title, s.Verdict.MaxPairs, most)
		}
		out = append(out, result{trial: trial{part: s.Part, title: s.Title, base: s.Base}, verdict: s.Verdict, kept: s.Kept, took: s.Took, patience: s.Patience})
	}
	return out, nil
}

// saveResults keeps them for later runs; "" keeps nothing.
func saveResults(name string, results []result) error {
	if name == "" {
		return nil
	}
	var all []stored
	for _, r := range results {
		s := stored{Part: r.part, Title: r.title, Base: r.base, Kept: r.kept, Took: r.took, Patience: r.patience, Verdict: r.verdict}
		s.Verdict.Samples = nil
		all = append(all, s)
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	// Whole or not at all, whenever it is interrupted.
	next := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".new")
	if err := os.WriteFile(next, append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(next, name)
}

// untried are the changes that the results do not have yet. The same one may be
// there several times.
func untried(all []trial, results []result) []trial {
	type name struct{ part, title string }
	had := map[name]int{}
	for _, r := range results {
		had[name{r.part, r.title}]++
	}
	var out []trial
	for _, t := range all {
		if k := (name{t.part, t.title}); had[k] > 0 {
			had[k]--
			continue
		}
		out = append(out, t)
	}
	return out
}
