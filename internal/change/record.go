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
const version = 1

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
)

// record is one line of the journal.
type record struct {
	N      int64     `json:"n"` // line number, from 1
	Time   time.Time `json:"time"`
	Format int       `json:"kasoku_journal,omitempty"` // only in line 1
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
	Error   string `json:"error,omitempty"`
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
