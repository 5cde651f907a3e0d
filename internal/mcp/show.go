package mcp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/report"
	"kasoku/internal/store"
)

// ShowInput names one thing.
type ShowInput struct {
	What string `json:"what" jsonschema:"run/17, step/3 or tx/5"`
	All  bool   `json:"all,omitempty" jsonschema:"every row of a run's tables; default: the first 10"`
}

// Shown is one thing as a page of text.
type Shown struct {
	What string `json:"what"`
	Text string `json:"text"`
}

func (s *Server) addShow() {
	add(s, "show", "Show", "One run, experiment (step) or journal entry (tx) as a page of text, with its diffs.",
		func(_ context.Context, v *View, in ShowInput) (Shown, error) {
			text, err := show(v, in)
			return Shown{in.What, change.Redact(text)}, err
		})
}

func show(v *View, in ShowInput) (string, error) {
	const hint = "write run/17, step/3 or tx/5; history lists them"
	kind, num, _ := strings.Cut(in.What, "/")
	id, err := strconv.ParseInt(num, 10, 64)
	if err != nil {
		return "", hintf(hint, "%q names nothing", in.What)
	}
	var page strings.Builder
	switch kind {
	case "run":
		run, err := diagnosed(v, id)
		if err != nil {
			return "", err
		}
		limit := report.Most
		if in.All {
			limit = report.All
		}
		err = report.RunText(&page, run, run, limit)
		return page.String(), err
	case "step":
		st, err := v.Store.Step(id)
		if errors.Is(err, store.ErrNotFound) {
			return "", hintf(hint, "there is no step %d", id)
		}
		if err != nil {
			return "", err
		}
		err = report.StepText(&page, st)
		return page.String(), err
	case "tx":
		txs, err := change.Read(v.Dir)
		if err != nil {
			return "", err
		}
		for _, tx := range txs {
			if tx.ID != id {
				continue
			}
			if tx, err = change.Load(v.Dir, tx); err != nil {
				return "", err
			}
			fmt.Fprintf(&page, "#%d %s: %s\n", tx.ID, tx.Title, tx.State)
			for _, c := range tx.Changes {
				fmt.Fprintln(&page, change.Diff(c))
			}
			return page.String(), nil
		}
		return "", hintf(hint, "there is no journal entry %d", id)
	}
	return "", hintf(hint, "%q names nothing", in.What)
}
