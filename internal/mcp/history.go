package mcp

import (
	"context"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/report"
	"kasoku/internal/store"
)

// HistoryInput bounds the list.
type HistoryInput struct {
	Limit int  `json:"limit,omitempty" jsonschema:"sessions, and runs, at most; 1 to 100; default 10"`
	Runs  bool `json:"runs,omitempty" jsonschema:"list runs, too"`
}

// History is what was done, newest session first.
type History struct {
	Sessions []PastSession `json:"sessions"`
	Runs     []PastRun     `json:"runs,omitempty"`
	Kept     []Kept        `json:"kept"`
	Levels   string        `json:"levels,omitempty" jsonschema:"the score of what was in place over time, with each change of level: its date, its size, what Kasoku did then"`
}

// PastSession with its steps.
type PastSession struct {
	Session
	Steps []PastStep `json:"steps"`
}

// PastStep is one experiment.
type PastStep struct {
	ID          int64  `json:"id" jsonschema:"show step/ID tells all"`
	Title       string `json:"title"`
	Outcome     string `json:"outcome"`
	Effect      string `json:"effect,omitempty"`
	Kept        bool   `json:"kept"`
	Transaction int64  `json:"transaction,omitempty"`
}

// PastRun is one measured load.
type PastRun struct {
	ID      int64     `json:"id"`
	Kind    string    `json:"kind"`
	Label   string    `json:"label"`
	Started time.Time `json:"started"`
	Score   float64   `json:"score"`
	Unfit   string    `json:"unfit,omitempty"`
}

// Bounds of the list.
const (
	fewSessions  = 10
	mostSessions = 100
)

func (s *Server) addHistory() {
	add(s, "history", "History", "Sessions with their experiments and verdicts, and what is kept. Look here before you propose what was tried already.",
		func(_ context.Context, v *View, in HistoryInput) (History, error) { return history(v, in) })
}

func history(v *View, in HistoryInput) (History, error) {
	out := History{Sessions: []PastSession{}, Kept: []Kept{}}
	if in.Limit == 0 {
		in.Limit = fewSessions
	}
	if in.Limit < 1 || in.Limit > mostSessions {
		return out, hintf("leave limit out for 10", "limit is %d; it must be from 1 to %d", in.Limit, mostSessions)
	}
	sessions, err := v.Store.Sessions(in.Limit)
	if err != nil {
		return out, err
	}
	for i := range sessions {
		x := PastSession{Session: session(&sessions[i]), Steps: []PastStep{}}
		steps, err := v.Store.Steps(sessions[i].ID)
		if err != nil {
			return out, err
		}
		for _, st := range steps {
			x.Steps = append(x.Steps, PastStep{st.ID, change.Redact(st.Plan.Title), string(st.Verdict.Outcome), report.Effect(st.Verdict), st.Kept, st.Tx})
		}
		out.Sessions = append(out.Sessions, x)
	}
	if in.Runs {
		runs, err := v.Store.Runs(store.RunFilter{Limit: in.Limit})
		if err != nil {
			return out, err
		}
		for _, r := range runs {
			out.Runs = append(out.Runs, PastRun{r.ID, r.Kind, change.Redact(r.Label), r.Started, r.Score, r.Unfit})
		}
	}
	txs, err := change.Read(v.Dir)
	for _, tx := range txs {
		if tx.InForce() {
			out.Kept = append(out.Kept, Kept{tx.ID, change.Redact(tx.Title)})
		}
	}
	if err != nil {
		return out, err
	}
	levels, err := report.Levels(v.Store, report.LevelOptions{Smallest: v.Stack.Tune.Effect(), Journal: txs})
	if err != nil {
		return out, err
	}
	var text strings.Builder
	err = report.LevelsText(&text, levels, nil)
	out.Levels = change.Redact(text.String())
	return out, err
}
