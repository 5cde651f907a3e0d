package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/ui"
)

// UndoCmd puts kept changes back.
type UndoCmd struct {
	IDs       []string `arg:"" optional:"" name:"id" help:"The journal's numbers of kept changes (kasoku history), or ranges of them: 4, 2-5, 7-."`
	All       bool     `help:"Put everything back as it was found."`
	WithLater bool     `help:"Also put back later changes of the same things, newest first."`
}

// Help is shown below the flags.
func (UndoCmd) Help() string {
	return "Every file gets back its bytes, mode, owner and time; variables and indexes their values; services are reloaded or restarted, and what did not run before is stopped. A file that somebody else changed meanwhile is not overwritten.\n\nExamples:\n  kasoku undo 4\n  kasoku undo 2-5\n  kasoku undo 2 --with-later\n  kasoku undo --all"
}

// Run implements the command.
func (c *UndoCmd) Run(ctx context.Context, a *App) error {
	if (len(c.IDs) == 0) == !c.All {
		return ui.Coded(ui.Usage, fmt.Errorf("undo: name kept changes, or --all"), "kasoku history lists them")
	}
	var spans []span
	for _, text := range c.IDs {
		s, err := parseSpan(text)
		if err != nil {
			return ui.Coded(ui.Usage, err, "kasoku undo 4, kasoku undo 2-5, kasoku undo 7-")
		}
		spans = append(spans, s)
	}
	p, err := a.write(ctx)
	if err != nil {
		return err
	}
	defer p.Close()
	x := p.Exec
	before := x.Kept()
	if c.All {
		if err = p.Exec.UndoAll(ctx); err == nil {
			err = p.closeJournal() // which removes what Kasoku keeps on hosts
		}
	} else {
		err = c.undo(ctx, p.Exec, spans)
	}
	back := map[int64]bool{}
	for _, tx := range x.History() {
		back[tx.ID] = tx.State == change.StateUndone
	}
	undone := slices.DeleteFunc(before, func(tx change.Tx) bool { return !back[tx.ID] })
	printed := a.print(undone, func(w io.Writer) error {
		for _, tx := range undone {
			fmt.Fprintf(w, "put back #%d %s\n", tx.ID, tx.Title)
		}
		if len(undone) == 0 && err == nil {
			fmt.Fprintln(w, "nothing is kept, so there is nothing to put back")
		}
		return nil
	})
	if err != nil {
		return undoError(err)
	}
	return printed
}

// undo puts back what the spans name, newest first, so that they are not each
// other's later changes.
func (c *UndoCmd) undo(ctx context.Context, x *change.Executor, spans []span) error {
	var ids []int64
	for _, s := range spans {
		found := false
		for _, tx := range x.Kept() {
			if s.has(tx.ID) {
				found = true
				if !slices.Contains(ids, tx.ID) {
					ids = append(ids, tx.ID)
				}
			}
		}
		if s.first == s.last && !found {
			ids = append(ids, s.first) // Undo tells why not
		} else if !found {
			return fmt.Errorf("%w: none of #%s is kept", change.ErrUnknown, s)
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Backward(ids) {
		kept := slices.ContainsFunc(x.Kept(), func(tx change.Tx) bool { return tx.ID == id })
		if !kept && len(ids) > 1 && c.WithLater {
			continue // it went with an earlier one
		}
		if err := x.Undo(ctx, id, c.WithLater); err != nil {
			return err
		}
	}
	return nil
}

// undoError says what to do about it.
func undoError(err error) error {
	var later *change.LaterError
	var conflict *change.ConflictError
	switch {
	case errors.As(err, &later):
		ids := make([]string, 0, len(later.Later)+1)
		for _, tx := range later.Later {
			ids = append(ids, strconv.FormatInt(tx.ID, 10))
		}
		all := strings.Join(append(ids, strconv.FormatInt(later.Tx, 10)), " ")
		return ui.Coded(ui.BadInput, err, fmt.Sprintf("kasoku undo %s, or the same by kasoku undo %d --with-later", all, later.Tx))
	case errors.Is(err, change.ErrUnknown):
		return ui.Coded(ui.BadInput, err, "kasoku history lists what is kept")
	case errors.As(err, &conflict):
		return ui.Coded(ui.NeedsRecovery, err, fmt.Sprintf("look at it with kasoku show tx/%d and kasoku verify; then put it right and kasoku recover, or kasoku recover --abandon %d", conflict.Tx, conflict.Tx))
	}
	return ui.Coded(ui.Failure, err, "nothing else was touched; kasoku verify shows the state")
}

// span is a range of journal numbers, both ends in it.
type span struct{ first, last int64 }

func (s span) has(id int64) bool { return s.first <= id && id <= s.last }

func (s span) String() string {
	if s.last == maxID {
		return fmt.Sprintf("%d-", s.first)
	}
	return fmt.Sprintf("%d-%d", s.first, s.last)
}

// maxID ends a range that is open.
const maxID = int64(1<<63 - 1)

// parseSpan reads "4", "2-5" or "7-". A "#" in front is what history prints.
func parseSpan(text string) (span, error) {
	number := func(s string) (int64, error) {
		n, err := strconv.ParseInt(strings.TrimPrefix(s, "#"), 10, 64)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("undo: %q is neither a number from 1 nor a range of them", text)
		}
		return n, nil
	}
	from, to, ranged := strings.Cut(text, "-")
	first, err := number(from)
	if err != nil {
		return span{}, err
	}
	switch {
	case !ranged:
		return span{first, first}, nil
	case to == "":
		return span{first, maxID}, nil
	}
	last, err := number(to)
	if err == nil && last < first {
		err = fmt.Errorf("undo: the range %q ends before it begins", text)
	}
	return span{first, last}, err
}
