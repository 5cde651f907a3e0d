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
	Command string          `json:"command"`
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

// save writes a kind's row into the folder.
func (m *results) save(dir, kind string) error {
	b, err := json.MarshalIndent(m.row(kind), "", "\t")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, kind+".json"), append(b, '\n'), 0o644)
	}
	return err
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
		b, err := os.ReadFile(filepath.Join(dir, k.name+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var r row
		if err == nil {
			err = json.Unmarshal(b, &r)
		}
		if err == nil && r.Kind != k.name {
			err = fmt.Errorf("it is of the kind %q", r.Kind)
		}
		if err != nil {
			return fmt.Errorf("the row of %s in %s: %w; remove it and run -kinds %s again", k.name, dir, err, k.name)
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
	return fmt.Sprintf("make faults ARGS=%q", strings.Join(args, " "))
}
