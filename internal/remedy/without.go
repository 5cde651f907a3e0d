package remedy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
)

// Without plans to take changes out again that are in force, while all that
// was changed after them stays. changes are of one transaction, in the order
// in which they were applied, with the bytes of their files. Taking out the
// same lines that a later change edited too is an error, and so are kinds that
// can only be undone as the journal does it: last first.
//
// A file that the changes created becomes empty, which says nothing in any
// format that Kasoku creates files of (sysctl.d, tmpfiles.d, unit drop-ins,
// ini, nginx); a folder stays. kasoku undo removes both.
func Without(snap *evidence.Snapshot, changes []change.Change) ([]change.Change, error) {
	last := 0
	for _, c := range changes {
		last = max(last, c.Phase)
	}
	var out []change.Change
	made := map[string][]byte{} // host and path → bytes as planned so far
	for _, c := range slices.Backward(changes) {
		r := change.Change{Kind: c.Kind, Host: c.Host, Service: c.Service, Activate: c.Activate, Phase: last - c.Phase, SameTime: c.SameTime, Why: "without: " + c.Why}
		switch c.Kind {
		case change.KindFile:
			if err := withoutEdit(snap, c, &r, made); err != nil {
				return nil, err
			}
		case change.KindVariable, change.KindSysctl:
			if c.BeforeValue == "" {
				return nil, fmt.Errorf("%s was set without looking at what it was", c.Variable)
			}
			r.Variable, r.BeforeValue, r.AfterValue = c.Variable, c.AfterValue, c.BeforeValue
			if c.Reported != "" {
				r.BeforeValue = c.Reported
			}
		case change.KindIndex:
			if c.Drop {
				return nil, fmt.Errorf("index %s was dropped; kasoku undo makes it again", c.Index.Name)
			}
			r.Index, r.Drop = c.Index, true
		case change.KindTable:
			r.Table = &change.Table{Schema: c.Table.Schema, Name: c.Table.Name, Engine: c.Table.Before, Before: c.Table.Engine}
		case change.KindProcess, change.KindUnit:
			if err := withoutTurn(snap, c, &r); err != nil {
				return nil, err
			}
		case change.KindDir, change.KindRestart:
			continue
		default:
			return nil, fmt.Errorf("a change of kind %s can only be taken out when nothing came after it (kasoku undo)", c.Kind)
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("nothing of it can be taken out while later changes stay")
	}
	return out, nil
}

// withoutEdit fills r with the file as it is now, less what c edited.
func withoutEdit(snap *evidence.Snapshot, c change.Change, r *change.Change, made map[string][]byte) error {
	if c.Before == nil || c.After == nil || c.After.Content == nil {
		return fmt.Errorf("%s: its bytes are not known any more", c.Path)
	}
	name := c.Host
	if name == "" {
		name = "local"
	}
	file, known := snap.Files[name][c.Path]
	now, again := made[name+c.Path]
	switch {
	case !again && known:
		now = file.Content
	case !again:
		// Not a service's own file (sysctl.d, tmpfiles.d …): Kasoku made it,
		// and the executor refuses if someone else has edited it since.
		now = c.After.Content
	}
	left := []byte{}
	if c.Before.Hash != "" {
		merged, err := lessEdit(string(c.Before.Content), string(c.After.Content), string(now))
		if err != nil {
			return fmt.Errorf("%s: %w", c.Path, err)
		}
		left = []byte(merged)
	}
	made[name+c.Path] = left
	before, after := *c.After, *c.After
	before.Content, before.Hash = now, host.HashOf(now)
	if known && !again {
		before.ModTime = file.ModTime
	}
	after.Content, after.Hash = left, host.HashOf(left)
	r.Path, r.Before, r.After = c.Path, &before, &after
	return nil
}

// lessEdit is now without the edit that led from before to after: the edits
// from after to now and those from after back to before, put on after together.
// Edits that touch are refused: between equal lines their order is a guess.
func lessEdit(before, after, now string) (string, error) {
	later, back := udiff.Lines(after, now), udiff.Lines(after, before)
	for _, x := range later {
		for _, y := range back {
			if x.Start <= y.End && y.Start <= x.End && x != y {
				return "", fmt.Errorf("a later change edited the same lines, or those beside them")
			}
		}
	}
	both, ok := udiff.Merge(later, back)
	if !ok {
		return "", fmt.Errorf("a later change edited the same lines")
	}
	return udiff.Apply(after, both)
}

// editsBeyond reports whether the edits from before to after take away lines
// that are not the original's: somebody else has written them since.
func editsBeyond(original, before, after string) bool {
	of := map[string]bool{}
	for _, line := range strings.Split(original, "\n") {
		of[line] = true
	}
	for _, e := range udiff.Lines(before, after) {
		for _, line := range strings.Split(strings.TrimSuffix(before[e.Start:e.End], "\n"), "\n") {
			if e.End > e.Start && !of[line] {
				return true
			}
		}
	}
	return false
}
