package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kasoku/internal/load"
)

// Draft is a scenario that is not written yet.
type Draft struct {
	Files []File `json:"-"` // scenario.yaml and its pools
	// Taken, LeftOut and Notes are sentences for people: what the scenario
	// holds, what it does not and why, and what to do by hand.
	Taken   []string `json:"taken"`
	LeftOut []string `json:"left_out"`
	Notes   []string `json:"notes"`
	// Requests of the source that could be taken, and how many of them the
	// sessions stand for (0…1).
	Requests int64   `json:"requests"`
	Coverage float64 `json:"coverage"`
	Routes   []Share `json:"routes"` // most frequent first
}

// Share is how often a route occurs.
type Share struct {
	Route    string  `json:"route"`
	Recorded int64   `json:"recorded"` // requests in the source
	Drafted  float64 `json:"drafted"`  // share of the scenario's requests, 0…1
}

// File of a draft, with its path in the folder.
type File struct {
	Name string
	Data []byte
}

// scenarioFile is the draft's main file.
const scenarioFile = "scenario.yaml"

// ErrExists: a file would be overwritten.
var ErrExists = errors.New("exists already")

// ErrUnsound: the scenario made is none that load can be made of.
var ErrUnsound = errors.New("the scenario that came of the source is not right")

// Write checks the draft and puts it into dir, which is made if need be. With
// force, files of the same names are overwritten; others in the folder stay.
// Nothing is written if the scenario is not right. The paths written are
// returned, scenario.yaml first.
func (d *Draft) Write(dir string, force bool) ([]string, error) {
	if !force {
		for _, f := range d.Files {
			name := filepath.Join(dir, f.Name)
			if _, err := os.Lstat(name); err == nil {
				return nil, fmt.Errorf("write %s: %w", name, ErrExists)
			}
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the scenario's folder: %w", err)
	}
	scratch, err := os.MkdirTemp(dir, ".draft-*")
	if err != nil {
		return nil, fmt.Errorf("write the scenario: %w", err)
	}
	defer os.RemoveAll(scratch)
	if err := d.check(scratch); err != nil {
		return nil, err
	}
	var written []string
	for _, f := range slices.Backward(d.Files) { // scenario.yaml last: it refers to the others
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, fmt.Errorf("make the pools' folder: %w", err)
		}
		if err := os.Rename(filepath.Join(scratch, f.Name), name); err != nil {
			return nil, fmt.Errorf("write the scenario: %w", err)
		}
		written = append(written, name)
	}
	slices.Reverse(written)
	return written, nil
}

// check writes the files into a folder of their own and compiles them.
func (d *Draft) check(dir string) error {
	for _, f := range d.Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("check the scenario: %w", err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			return fmt.Errorf("check the scenario: %w", err)
		}
	}
	if _, err := load.LoadScenario(filepath.Join(dir, scenarioFile)); err != nil {
		return fmt.Errorf("%w, so nothing was written: %s", ErrUnsound, strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	return nil
}

// Scenario returns scenario.yaml's text.
func (d *Draft) Scenario() []byte { return d.Files[0].Data }
