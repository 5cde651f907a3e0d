package change

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"kasoku/internal/host"
)

// systemctl enable makes the links that a unit's [Install] section asks for:
// of its targets, of its aliases, and of other units that it names. Disable
// removes them all, also those that an administrator had made or left out. So
// the links themselves are kept and compared.

// links lists the symlinks below systemdDir that concern the unit, sorted, as
// "path -> target".
func (a *unitAct) links(ctx context.Context) ([]string, error) {
	if a.c.Unit.Supervisor != "" {
		return nil, nil
	}
	names, err := a.installed(ctx)
	if err != nil {
		return nil, err
	}
	r, err := a.h.Run(ctx, host.Command{Argv: []string{"find", systemdDir, "-type", "l", "-printf", `%p -> %l\n`}})
	if err == nil && r.ExitCode != 0 {
		err = errors.New(tail(r))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: list %s: %w", a.subject(), systemdDir, err)
	}
	var out []string
	for line := range strings.Lines(string(r.Stdout)) {
		line = strings.TrimSuffix(line, "\n")
		p, target, _ := strings.Cut(line, " -> ")
		if slices.Contains(names, path.Base(p)) || slices.Contains(names, path.Base(target)) {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out, nil
}

// installed are the unit's own name and those that its [Install] section names.
func (a *unitAct) installed(ctx context.Context) ([]string, error) {
	names := []string{a.c.Unit.Name}
	r, err := a.systemctl(ctx, "cat", a.c.Unit.Name)
	if err != nil {
		return nil, err
	}
	// A masked unit has no file to show: then its own name is what there is.
	for s := bufio.NewScanner(bytes.NewReader(r.Stdout)); s.Scan(); {
		key, value, _ := strings.Cut(strings.TrimSpace(s.Text()), "=")
		if key = strings.TrimSpace(key); key == "Also" || key == "Alias" {
			names = append(names, strings.Fields(value)...)
		}
	}
	return names, nil
}

// restoreLinks makes the unit's links what they were.
func (a *unitAct) restoreLinks(ctx context.Context) error {
	now, err := a.links(ctx)
	if err != nil || slices.Equal(now, a.c.Unit.Links) {
		return err
	}
	var steps [][]string
	for _, l := range now {
		if p, _, _ := strings.Cut(l, " -> "); !slices.Contains(a.c.Unit.Links, l) {
			steps = append(steps, []string{"rm", "-f", "--", p})
		}
	}
	for _, l := range a.c.Unit.Links {
		if p, target, _ := strings.Cut(l, " -> "); !slices.Contains(now, l) {
			steps = append(steps, []string{"mkdir", "-p", "--", path.Dir(p)}, []string{"ln", "-sfn", "--", target, p})
		}
	}
	for _, argv := range append(steps, []string{"systemctl", "daemon-reload"}) {
		r, err := a.h.Run(ctx, host.Command{Argv: argv, Timeout: unitTimeout})
		if err == nil && r.ExitCode != 0 {
			err = errors.New(tail(r))
		}
		if err != nil {
			return fmt.Errorf("%s: put back its links: %s: %w", a.subject(), commandLine(argv), err)
		}
	}
	return nil
}
