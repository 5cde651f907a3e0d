package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// row is what came of one kind, as a file <kind>.json of the folder that -rows
// names. Runs of some kinds each, one after the other or side by side, so make
// one page; whoever gives a folder answers for its rows being of one tree.
type row struct {
	Kind    string          `json:"kind"`
	Command string          `json:"command"` // a line for each run
	Steps   int             `json:"steps"`
	Faults  map[string]cell `json:"faults"` // by the fault's name
	Lost    []string        `json:"lost,omitempty"`
}

// row of a kind that was run.
func (m *results) row(kind string) row {
	r := row{Kind: kind, Command: m.commands[kind], Steps: m.steps[kind], Faults: map[string]cell{}}
	for at, c := range m.cells {
		if at[0] == kind {
			r.Faults[at[1]] = *c
		}
	}
	for _, line := range m.lost {
		if strings.HasPrefix(line, kind+", ") {
			r.Lost = append(r.Lost, line)
		}
	}
	return r
}

// save writes a kind's row into the folder. What a row there tells of faults
// that this run did not have stays.
func (m *results) save(dir, kind string) error {
	r := m.row(kind)
	old, err := readRow(dir, kind)
	switch {
	case err == nil && old.Steps == r.Steps:
		r.add(old)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	b, err := json.MarshalIndent(r, "", "\t")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, kind+".json"), append(b, '\n'), 0o644)
	}
	return err
}

// add takes over the faults of an older row that r lacks.
func (r *row) add(old row) {
	added := false
	for fault, c := range old.Faults {
		if _, ok := r.Faults[fault]; ok {
			continue
		}
		r.Faults[fault], added = c, true
		for _, line := range old.Lost {
			if strings.HasPrefix(line, r.Kind+", "+fault+" ") {
				r.Lost = append(r.Lost, line)
			}
		}
	}
	if added {
		r.Command = old.Command + "\n" + r.Command
	}
}

// readRow reads a kind's row; the error is fs.ErrNotExist if there is none.
func readRow(dir, kind string) (row, error) {
	var r row
	b, err := os.ReadFile(filepath.Join(dir, kind+".json"))
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err == nil && r.Kind != kind {
		err = fmt.Errorf("it is of the kind %q", r.Kind)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the row of %s in %s: %w; remove it and run -kinds %s again", kind, dir, err, kind)
	}
	return r, err
}

// gather adds the folder's rows of the kinds that this run did not have, and
// sorts all as the table has them.
func (m *results) gather(dir string) error {
	ran := m.kinds
	m.kinds = nil
	for _, k := range kinds {
		if slices.Contains(ran, k.name) {
			m.kinds = append(m.kinds, k.name)
			continue
		}
		r, err := readRow(dir, k.name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		m.kinds, m.steps[k.name], m.commands[k.name] = append(m.kinds, k.name), r.Steps, r.Command
		m.lost = append(m.lost, r.Lost...)
		for fault, c := range r.Faults {
			m.cells[[2]string{k.name, fault}] = &c
		}
	}
	return nil
}

// commandLine is what this run was started by. What the make target adds, and
// where target and rows are, is left out: it changes nothing in what was run.
func commandLine() string {
	args := slices.Clone(os.Args[1:])
	for _, name := range []string{"-kasoku", "-rows", "-lab"} {
		if i := slices.Index(args, name); i >= 0 {
			args = slices.Delete(args, i, min(i+2, len(args)))
		}
	}
	for i, a := range args {
		if strings.Contains(a, " ") {
			args[i] = "'" + a + "'"
		}
	}
	return fmt.Sprintf("make faults ARGS=%q", strings.Join(args, " "))
}
