package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"kasoku/bench/field/fingerprint"
)

// Result is all that the table goes by. A step that is not done yet has left its
// field empty.
type Result struct {
	App      string        `json:"app"`
	Started  time.Time     `json:"started"`
	Complete bool          `json:"complete"`
	Machine  string        `json:"machine"`
	Tree     string        `json:"tree"` // commit; "": unknown
	Budget   time.Duration `json:"budget"`

	// Installed, Filled, Told and ByHand are when these steps were done.
	Installed time.Time         `json:"installed,omitzero"`
	Filled    time.Time         `json:"filled,omitzero"`
	Before    fingerprint.Print `json:"-"` // in a file of its own
	Told      time.Time         `json:"told,omitzero"`
	ByHand    time.Time         `json:"by_hand,omitzero"`
	Session   *Session          `json:"session,omitempty"`
	// Runs of the three in turns.
	Runs []Run `json:"runs,omitempty"`
	// Undo is what `kasoku undo --all` left; nil before it.
	Undo *Undo `json:"undo,omitempty"`
}

// Session is what `kasoku tune` did.
type Session struct {
	Took    time.Duration `json:"took"`
	Stopped string        `json:"stopped"`
	Reason  string        `json:"reason"` // store.StopBudget, …
	Gain    float64       `json:"gain"`   // as Kasoku says
	Steps   []Step        `json:"steps"`
}

// Step is one experiment of it.
type Step struct {
	Title   string  `json:"title"`
	Kept    bool    `json:"kept"`
	Outcome string  `json:"outcome"`
	Effect  float64 `json:"effect"` // candidate ÷ baseline − 1
	// Expected is the factor that it was chosen for; 0: not known.
	Expected float64       `json:"expected,omitempty"`
	Took     time.Duration `json:"took"`
}

// Run is one measured load.
type Run struct {
	Side  string  `json:"side"`  // asFound, byHand or byKasoku
	Score float64 `json:"score"` // points/s, higher is better
	// Wrong counts answers that were wrong, late or missing.
	Wrong    int64 `json:"wrong"`
	Requests int64 `json:"requests"`
}

// The three that are compared.
const (
	asFound  = "as found"
	byHand   = "by hand"
	byKasoku = "Kasoku"
)

// Undo is the host after `kasoku undo --all` against it before Kasoku came.
type Undo struct {
	Exit        int                      `json:"exit"`
	Differences []fingerprint.Difference `json:"differences"`
}

func loadResult(dir string) (*Result, error) {
	text, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		return nil, err
	}
	r := &Result{}
	return r, json.Unmarshal(text, r)
}

// save replaces the file at once.
func (r *Result) save(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return replace(filepath.Join(dir, "result.json"), append(text, '\n'))
}

func replace(file string, text []byte) error {
	if err := os.WriteFile(file+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
