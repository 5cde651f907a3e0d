package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// results of the matrix.
type results struct {
	out, log io.Writer
	verbose  bool
	cells    map[[2]string]*cell // kind, fault
	kinds    []string
	lost     []string
	steps    map[string]int
	commands map[string]string // that ran a kind
	took     time.Duration
}

func newResults(out, log io.Writer, verbose bool) *results {
	return &results{out: out, log: log, verbose: verbose, cells: map[[2]string]*cell{}, steps: map[string]int{}, commands: map[string]string{}}
}

// cell counts the cases of a kind and a fault.
type cell struct{ Cases, Kept, Back, Lost int }

// kind runs all cases of one kind.
func (m *results) kind(ctx context.Context, t *target, k *kind, s settings) error {
	if err := t.setUp(ctx, k); err != nil {
		return err
	}
	before, after, steps, err := t.rehearse(ctx, k)
	if err != nil {
		return err
	}
	m.kinds, m.steps[k.name], m.commands[k.name] = append(m.kinds, k.name), len(steps), commandLine()
	for n, f := range faults {
		if !slices.Contains(s.on, f.name) || f.applies != nil && !f.applies(k) {
			continue
		}
		c, began := &cell{}, time.Now()
		m.cells[[2]string{k.name, f.name}] = c
		for step := 1; step <= len(steps); step++ {
			if f.slow && step%s.reboots != 0 || f.cuts && step%s.cuts != 0 || f.once && step > 1 || !f.once && !f.slow && !f.cuts && (step+n)%s.every != 0 {
				continue
			}
			o, err := t.one(ctx, k, f, step, before, after)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return fmt.Errorf("%s before step %d (%s): %w", f.name, step, steps[step-1], err)
			}
			m.count(c, k, f, step, steps[step-1], o)
		}
		fmt.Fprintf(m.log, "%-9s %-16s %3d cases, %d kept, %d put back, %d lost; %.0f s\n", k.name, f.name, c.Cases, c.Kept, c.Back, c.Lost, time.Since(began).Seconds())
	}
	return nil
}

func (m *results) count(c *cell, k *kind, f *fault, step int, name string, o outcome) {
	c.Cases++
	switch {
	case o.problem != "":
		c.Lost++
		line := fmt.Sprintf("%s, %s before step %d (%s), %s: %s", k.name, f.name, step, name, firstLine(o.ended), o.problem)
		m.lost = append(m.lost, line)
		fmt.Fprintln(m.log, "LOST:", line)
	case o.state == "kept":
		c.Kept++
	default:
		c.Back++
	}
	if m.verbose {
		fmt.Fprintf(m.log, "  %-9s %-16s %2d %-28s %s; %s\n", k.name, f.name, step, name, firstLine(o.ended), o.state)
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// sum of all cases.
func (m *results) sum() (all cell) {
	for _, c := range m.cells {
		all.Cases, all.Kept, all.Back, all.Lost = all.Cases+c.Cases, all.Kept+c.Kept, all.Back+c.Back, all.Lost+c.Lost
	}
	return all
}

func (m *results) met(least int) bool {
	all := m.sum()
	return all.Lost == 0 && all.Cases >= least
}

// rows of the table: kinds down, faults across.
func (m *results) rows() [][]string {
	head := []string{"kind of change", "steps"}
	for _, f := range faults {
		head = append(head, f.name)
	}
	rows := [][]string{head}
	for _, k := range m.kinds {
		row := []string{k, fmt.Sprint(m.steps[k])}
		for _, f := range faults {
			c := m.cells[[2]string{k, f.name}]
			switch {
			case c == nil:
				row = append(row, "–")
			case c.Lost > 0:
				row = append(row, fmt.Sprintf("%d, %d LOST", c.Cases, c.Lost))
			default:
				row = append(row, fmt.Sprint(c.Cases))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (m *results) print() {
	rows := m.rows()
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	fmt.Fprintln(m.out)
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-len([]rune(cell))+2))
		}
		fmt.Fprintln(m.out, strings.TrimRight(line.String(), " "))
	}
	all := m.sum()
	fmt.Fprintf(m.out, "\n%d cases (bar: 500), %d lost (bar: 0); %d ended as kept, %d as before; %s\n", all.Cases, all.Lost, all.Kept, all.Back, m.took.Round(time.Second))
	for _, line := range m.lost {
		fmt.Fprintln(m.out, "LOST:", line)
	}
}

// markdown writes the page.
func (m *results) markdown(path string) error {
	var b strings.Builder
	b.WriteString(`# Faults

For whoever wants to know what is left when a host or its network breaks in the middle of a change.

What happens to a target when something breaks in the middle of a change. ` + "`make faults`" + ` breaks it at
every step of every kind of change, on a disposable host with systemd, nginx and MariaDB, reached by
SSH; then Kasoku recovers, and everything must be as before or as kept: files with bytes, mode and
owner, schema, variables, kernel settings, units, processes, packages, checkouts. This page is its
output.

A number is how many cases ran, one for each step or each so many of them. "–": the fault cannot meet that kind.
The rows were made by

`)
	var shown []string
	for _, k := range m.kinds {
		for line := range strings.SplitSeq(m.commands[k], "\n") {
			if !slices.Contains(shown, line) {
				fmt.Fprintf(&b, "    %s\n", line)
				shown = append(shown, line)
			}
		}
	}
	b.WriteString("\n")
	for i, row := range m.rows() {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	all := m.sum()
	fmt.Fprintf(&b, "\n%d cases, %d lost; %d ended as kept, %d as before.\n", all.Cases, all.Lost, all.Kept, all.Back)
	for _, line := range m.lost {
		fmt.Fprintf(&b, "\n- LOST: %s\n", firstLine(line))
	}
	b.WriteString("\n## The faults\n\n")
	for _, f := range faults {
		fmt.Fprintf(&b, "- **%s**: %s\n", f.name, f.what)
	}
	b.WriteString("\n## The kinds\n\n")
	for _, k := range kinds {
		fmt.Fprintf(&b, "- **%s**: %s\n", k.name, k.what)
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
