package change

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// version of the journal's format, in its first line.
// Version 2 names the project, and has lines about hosts and their guards.
// Older formats are read; a newer one is refused.
const version = 2

// op is what a line of the journal says.
type op string

const (
	opBegin      op = "begin"      // a transaction begins; its changes follow in this line
	opIntent     op = "intent"     // change N is about to be written
	opApplied    op = "applied"    // change N is written; Value is what the server reports
	opSkipped    op = "skipped"    // change N was not written: its precondition failed
	opActivating op = "activating" // Service is about to take changes on, by How; Value is its state before
	opActivated  op = "activated"  // everything is in effect and checked
	opKept       op = "kept"
	opReverting  op = "reverting" // putting back begins, for the reason in Error
	opUndoing    op = "undoing"   // putting back a kept one begins
	opRestored   op = "restored"  // change N is put back
	opProblem    op = "problem"   // putting back failed for the reason in Error
	opReverted   op = "reverted"
	opUndone     op = "undone"

	opDeciding op = "deciding"  // all hosts agree that it may be kept; the controller decides
	opBackHere op = "back_here" // all of it that is on Host is put back
	opArming   op = "arming"    // Host is about to get a guard; Value is its entry for a reboot
	opArmed    op = "armed"
	opDisarmed op = "disarmed" // Host's guard and its entry are gone
	opNoted    op = "noted"    // a remark
)

// record is one line of the journal.
type record struct {
	N      int64     `json:"n"` // line number, from 1
	Time   time.Time `json:"time"`
	Format int       `json:"kasoku_journal,omitempty"` // in line 1, and where a newer Kasoku goes on
	Tx     int64     `json:"tx,omitempty"`
	Op     op        `json:"op,omitempty"`
	Change *int      `json:"change,omitempty"`

	Title   string   `json:"title,omitempty"`
	Plan    string   `json:"plan,omitempty"`
	Session int64    `json:"session,omitempty"`
	Changes []Change `json:"changes,omitempty"`

	Value   string `json:"value,omitempty"`
	Service string `json:"service,omitempty"`
	How     string `json:"how,omitempty"`
	Phase   int    `json:"phase,omitempty"` // of opActivating
	Error   string `json:"error,omitempty"`

	Project string `json:"project,omitempty"` // beside Format
	Host    string `json:"host,omitempty"`
	By      string `json:"by,omitempty"` // "guard": Host did it by itself
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// line encodes r with a checksum of all that stands before it in the line.
func (r record) line() ([]byte, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	b = b[:len(b)-1]
	return fmt.Appendf(b, `,"sum":"%08x"}`+"\n", crc32.Checksum(b, castagnoli)), nil
}

// parseRecord decodes one line without its newline.
func parseRecord(line []byte) (record, error) {
	var r record
	at := bytes.LastIndex(line, []byte(`,"sum":"`))
	if at < 0 {
		return r, errors.New("no checksum at the end of the line")
	}
	if want := fmt.Sprintf(`,"sum":"%08x"}`, crc32.Checksum(line[:at], castagnoli)); string(line[at:]) != want {
		return r, errors.New("the checksum does not match the line")
	}
	d := json.NewDecoder(bytes.NewReader(append(bytes.Clone(line[:at]), '}')))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, err
	}
	return r, nil
}
