package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"kasoku/internal/change"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// journalView is the list of what was changed, newest first.
type journalView struct {
	Txs   []change.Tx
	Kept  int
	Next  string
	Later bool
}

func (s *Server) journal(w http.ResponseWriter, r *http.Request) {
	before, ok := s.before(w, r)
	if !ok {
		return
	}
	txs, err := change.Read(s.o.Dir)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	v := journalView{Later: before != 0}
	for _, tx := range txs {
		if tx.InForce() {
			v.Kept++
		}
	}
	slices.Reverse(txs)
	if before != 0 {
		txs = slices.DeleteFunc(txs, func(tx change.Tx) bool { return tx.ID >= before })
	}
	if len(txs) > perPage {
		txs = txs[:perPage]
		v.Next = fmt.Sprintf("before=%d", txs[perPage-1].ID)
	}
	v.Txs = txs
	s.render(w, r, http.StatusOK, "journal", page{Title: "Journal", At: "journal", Busy: s.atWork()}, v)
}

// entryView is one entry with its diffs, and whether it can be put back here.
type entryView struct {
	change.Tx
	Diffs []string
	Step  *store.Step
	// CanUndo; WhyNot says what stands against it otherwise.
	CanUndo bool
	WhyNot  string
}

func (s *Server) entry(w http.ResponseWriter, r *http.Request) {
	id, ok := s.number(w, r, r.PathValue("id"))
	if !ok {
		return
	}
	v, err := s.entryView(r, id)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.render(w, r, http.StatusOK, "entry", page{Title: fmt.Sprintf("Journal entry %d", id), At: "journal", Busy: s.atWork()}, v)
}

func (s *Server) entryView(r *http.Request, id int64) (*entryView, error) {
	txs, err := change.Read(s.o.Dir)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(txs, func(tx change.Tx) bool { return tx.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("journal entry %d: %w", id, store.ErrNotFound)
	}
	tx, err := change.Load(s.o.Dir, txs[i])
	if err != nil {
		return nil, err
	}
	v := &entryView{Tx: tx}
	for _, c := range tx.Changes {
		v.Diffs = append(v.Diffs, change.Diff(c))
	}
	if v.Step, err = s.o.Store.StepOfTx(id); err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	v.CanUndo, v.WhyNot = s.mayUndo(r, tx)
	return v, nil
}

// mayUndo says whether a button is of use.
func (s *Server) mayUndo(r *http.Request, tx change.Tx) (bool, string) {
	busy := s.atWork()
	switch {
	case !tx.InForce():
		return false, ""
	case s.o.Undo == nil:
		return false, fmt.Sprintf("This dashboard only shows; kasoku undo %d puts it back.", tx.ID)
	case busy != "":
		return false, fmt.Sprintf("Kasoku is at work (%s); putting back waits until it ends.", busy)
	case s.loginOf(r) == nil:
		return false, "Log in with the token to put it back here."
	}
	return true, ""
}

// undo puts one entry back as `kasoku undo` does. It goes on if the browser
// leaves: half an undo is for nobody.
func (s *Server) undo(w http.ResponseWriter, r *http.Request) {
	id, ok := s.number(w, r, r.PathValue("id"))
	if !ok {
		return
	}
	if s.o.Undo == nil {
		s.fail(w, r, http.StatusForbidden, "This dashboard only shows.", fmt.Sprintf("kasoku undo %d", id))
		return
	}
	if busy := s.atWork(); busy != "" {
		s.fail(w, r, http.StatusConflict, "Kasoku is at work: "+busy+".", "Wait until it ends, or stop it; then press the button again.")
		return
	}
	if !s.undoing.TryLock() {
		s.fail(w, r, http.StatusConflict, "Another entry is being put back.", "Wait for it.")
		return
	}
	defer s.undoing.Unlock()
	if err := s.o.Undo(context.WithoutCancel(r.Context()), id); err != nil {
		s.fail(w, r, undoStatus(err), err.Error(), ui.Hint(err))
		return
	}
	http.Redirect(w, r, fmt.Sprintf("/journal/%d", id), http.StatusSeeOther)
}

func undoStatus(err error) int {
	var later *change.LaterError
	var conflict *change.ConflictError
	switch {
	case errors.Is(err, change.ErrUnknown):
		return http.StatusNotFound
	case errors.As(err, &later), errors.As(err, &conflict), errors.Is(err, change.ErrBusy), errors.Is(err, change.ErrPending):
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}
