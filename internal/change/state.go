package change

import (
	"bytes"
	"fmt"
	"slices"

	"kasoku/internal/stack"
)

// txn is a Tx with how far each of its changes came.
type txn struct {
	Tx
	progress []progress
	// activating holds the strongest activation begun per service.
	activating map[string]Activation
	// inPhase holds the same for each phase.
	inPhase map[int]map[string]Activation
	// was is what a service's Stater told before its first activation.
	was map[string]stack.State
	// why it is being put back.
	why string
	// deciding: its hosts wait for the controller's word, and do not put it
	// back by themselves.
	deciding bool
	// back are the hosts on which all of it is put back.
	back map[string]bool
}

// progress of one change, as the journal tells it.
type progress struct {
	intent, applied, skipped, restored bool
}

// history is the journal's content in memory.
type history struct {
	lines int64
	txs   []*txn // by ID, ascending
	// format of the last lines, and the project's ID, "" before format 2.
	format  int
	project string
	// entries are what starts hosts' guards after a reboot, by host.
	entries map[string]string
}

func (h *history) tx(id int64) *txn {
	i, ok := slices.BinarySearchFunc(h.txs, id, func(t *txn, id int64) int { return int(t.ID - id) })
	if !ok {
		return nil
	}
	return h.txs[i]
}

func (h *history) nextID() int64 {
	if len(h.txs) == 0 {
		return 1
	}
	return h.txs[len(h.txs)-1].ID + 1
}

// replay reads a journal. It returns how many bytes at its beginning are whole
// lines; what follows is a line that was being written when the power failed.
func replay(name string, data []byte) (*history, int64, error) {
	h := &history{}
	var good int64
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			break
		}
		r, err := parseRecord(data[:end])
		if err == nil {
			err = h.take(r)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("journal %s, line %d: damaged: %w; nothing was changed: see README.txt beside it for putting things back by hand", name, h.lines+1, err)
		}
		good += int64(end) + 1
		data = data[end+1:]
	}
	return h, good, nil
}

// take adds one line to the history.
func (h *history) take(r record) error {
	if r.N != h.lines+1 {
		return fmt.Errorf("it is numbered %d, lines are missing or doubled", r.N)
	}
	if h.lines == 0 || r.Format != 0 {
		if r.Format < 1 || r.Format > version {
			return fmt.Errorf("format %d, this Kasoku knows formats up to %d", r.Format, version)
		}
		h.format, h.project = r.Format, r.Project
		h.lines++
		return nil
	}
	if r.Tx == 0 {
		if err := h.takeHost(r); err != nil {
			return err
		}
		h.lines++
		return nil
	}
	if r.Op == opBegin {
		if r.Tx < h.nextID() {
			return fmt.Errorf("tx %d begins a second time", r.Tx)
		}
		h.txs = append(h.txs, &txn{Tx: Tx{ID: r.Tx, Title: r.Title, Plan: r.Plan, Session: r.Session, State: StateApplying,
			Begun: r.Time, Changes: r.Changes}, progress: make([]progress, len(r.Changes)), activating: map[string]Activation{}, was: map[string]stack.State{}, inPhase: map[int]map[string]Activation{}})
		h.lines++
		return nil
	}
	t := h.tx(r.Tx)
	if t == nil {
		return fmt.Errorf("tx %d never began", r.Tx)
	}
	if err := t.take(r); err != nil {
		return fmt.Errorf("tx %d: %w", r.Tx, err)
	}
	h.lines++
	return nil
}

// takeHost adds a line about a host.
func (h *history) takeHost(r record) error {
	switch r.Op {
	case opArming, opArmed:
		if h.entries == nil {
			h.entries = map[string]string{}
		}
		h.entries[r.Host] = r.Value
	case opDisarmed:
		delete(h.entries, r.Host)
	case opNoted:
	default:
		return fmt.Errorf("%q is not known to this Kasoku", r.Op)
	}
	return nil
}

// ofChange are the ops that speak of one change.
var ofChange = []op{opIntent, opApplied, opSkipped, opRestored}

func (t *txn) take(r record) error {
	if slices.Contains(ofChange, r.Op) {
		if r.Change == nil || *r.Change < 0 || *r.Change >= len(t.Changes) {
			return fmt.Errorf("%s of a change that it does not have", r.Op)
		}
		t.takeChange(r.Op, *r.Change, r.Value)
		return nil
	}
	if !t.Pending() && r.Op != opUndoing && r.Op != opNoted {
		return fmt.Errorf("%s after it was %s", r.Op, t.State)
	}
	switch r.Op {
	case opActivating:
		how := Reload
		if r.How == Restart.String() {
			how = Restart
		}
		t.activating[r.Service] = max(t.activating[r.Service], how)
		if t.inPhase[r.Phase] == nil {
			t.inPhase[r.Phase] = map[string]Activation{}
		}
		t.inPhase[r.Phase][r.Service] = max(t.inPhase[r.Phase][r.Service], how)
		if _, known := t.was[r.Service]; !known && r.Value != "" {
			t.was[r.Service] = stack.State(r.Value)
		}
	case opActivated:
		t.State = StateApplied
	case opKept:
		t.State, t.Ended, t.deciding = StateKept, r.Time, false
	case opDeciding:
		t.deciding = true
	case opBackHere:
		if t.back == nil {
			t.back = map[string]bool{}
		}
		t.back[r.Host] = true
	case opNoted:
	case opReverting:
		t.State, t.Error, t.why, t.deciding = StateReverting, r.Error, r.Error, false
	case opUndoing:
		t.State, t.Error, t.back = StateUndoing, r.Error, nil
	case opProblem:
		t.Error = r.Error
	case opReverted, opUndone:
		t.State, t.Ended, t.Error = StateReverted, r.Time, r.Error
		if r.Op == opUndone {
			t.State = StateUndone
		}
	default:
		return fmt.Errorf("%q is not known to this Kasoku", r.Op)
	}
	return nil
}

func (t *txn) takeChange(o op, i int, value string) {
	p := &t.progress[i]
	switch o {
	case opIntent:
		p.intent = true
	case opApplied:
		p.applied = true
		t.Changes[i].Reported = value
	case opSkipped:
		p.skipped = true
	case opRestored:
		p.restored = true
	}
}

// copy returns the Tx for callers, who may keep and change it.
func (t *txn) copy() Tx {
	c := t.Tx
	c.Changes = slices.Clone(t.Changes)
	return c
}
