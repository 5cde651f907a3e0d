package store

import (
	"encoding/json"
	"fmt"
)

// SaveStep inserts the step and sets its ID, or updates it if it has one.
func (s *Store) SaveStep(x *Step) error {
	if x.ID == 0 {
		id, err := s.insert("save a step", `INSERT INTO steps (session, seq, plan, outcome, kept, tx, doc) VALUES (?, ?, ?, ?, ?, ?, '{}')`,
			x.Session, x.Seq, x.Plan.ID, string(x.Verdict.Outcome), x.Kept, x.Tx)
		if err != nil {
			return err
		}
		x.ID = id
	}
	doc, err := json.Marshal(x)
	if err != nil {
		return fmt.Errorf("save step %d: %w", x.ID, err)
	}
	return s.update("step", x.ID, `UPDATE steps SET session = ?, seq = ?, plan = ?, outcome = ?, kept = ?, tx = ?, doc = ? WHERE id = ?`,
		x.Session, x.Seq, x.Plan.ID, string(x.Verdict.Outcome), x.Kept, x.Tx, string(doc), x.ID)
}

// Step returns one step, ErrNotFound (wrapped) if there is none.
func (s *Store) Step(id int64) (*Step, error) {
	xs, err := s.steps(`WHERE id = ?`, id)
	if err != nil {
		return nil, err
	}
	if len(xs) == 0 {
		return nil, s.missing("step", id)
	}
	return &xs[0], nil
}

// StepOfTx returns the step whose changes are an entry of the journal, ErrNotFound
// (wrapped) if there is none.
func (s *Store) StepOfTx(tx int64) (*Step, error) {
	xs, err := s.steps(`WHERE tx = ? ORDER BY id DESC LIMIT 1`, tx)
	if err != nil {
		return nil, err
	}
	if len(xs) == 0 || tx == 0 {
		return nil, s.missing("step of journal entry", tx)
	}
	return &xs[0], nil
}

// Steps returns the steps of a session in order.
func (s *Store) Steps(session int64) ([]Step, error) {
	return s.steps(`WHERE session = ? ORDER BY seq, id`, session)
}

// Judged counts the steps that have a verdict which the target has followed.
func Judged(steps []Step) (n int) {
	for i := range steps {
		if steps[i].Verdict.Outcome != "" && !steps[i].Ended.IsZero() {
			n++
		}
	}
	return n
}

func (s *Store) steps(where string, args ...any) ([]Step, error) {
	return docs[Step](s, "read steps", `SELECT id, doc FROM steps `+where, args,
		func(x *Step, id int64) { x.ID = id })
}
