// Package history checks what transactions did and saw against isolation levels, by the
// method of Elle (Kingsbury and Alvaro, VLDB 2020): each key is a list, each write appends
// an element of its own to one, so a read tells which writes came before it and in which
// order, and the order of all transactions follows.
//
//  1. a history (this file): the transactions of all processes, with their outcomes
//  2. orders (order.go): for each key the longest list read, which all others begin
//  3. direct anomalies (direct.go): what one read, or the reads of one transaction, show
//  4. cycles (graph.go, cycles.go): of ww, wr and rw dependencies, and of real time
//
// What is found is counted by class. Which classes a level allows is not decided here:
// a server's own histories say that.
package history

import (
	"fmt"
	"strings"
)

// Outcome is how a transaction ended.
type Outcome string

// Outcomes.
const (
	Committed Outcome = "ok"
	Aborted   Outcome = "no"    // nothing of it may ever be seen
	Unknown   Outcome = "maybe" // the answer to COMMIT was lost, or the process was killed
)

// Kind is what an operation does.
type Kind string

// Kinds of operations.
const (
	Append Kind = "a"
	Read   Kind = "r" // a plain read
	Lock   Kind = "l" // a locking read, of the newest state
	Save   Kind = "s" // SAVEPOINT
	Undo   Kind = "u" // ROLLBACK TO the last savepoint
)

// Op is one operation. Times are nanoseconds of a clock that all processes share.
type Op struct {
	Kind  Kind  `json:"o"`
	Key   int   `json:"k,omitempty"`
	Value int   `json:"v,omitempty"` // of an append; no two are equal
	List  []int `json:"l,omitempty"` // of a read
	At    int64 `json:"t,omitempty"` // when the statement was sent
	// Failed: the statement was refused and its effects undone; the transaction went on.
	Failed bool `json:"f,omitempty"`
}

// Txn is a transaction. Begin is when it was begun, before its first statement was sent,
// End when its outcome was known, 0 if that was never.
type Txn struct {
	Process int     `json:"p"` // 0 and more; -1: after all others
	Begin   int64   `json:"b"`
	End     int64   `json:"e,omitempty"`
	Outcome Outcome `json:"x"`
	Ops     []Op    `json:"ops"`
}

// String is the transaction in words, its operations by their kinds' letters.
func (t Txn) String() string {
	var ops []string
	for _, op := range t.Ops {
		switch op.Kind {
		case Append:
			ops = append(ops, fmt.Sprintf("a %d %d", op.Key, op.Value))
		case Read, Lock:
			ops = append(ops, fmt.Sprintf("%s %d %v", op.Kind, op.Key, op.List))
		case Save, Undo:
			ops = append(ops, string(op.Kind))
		}
	}
	return fmt.Sprintf("%d{%s}", t.Process, strings.Join(ops, ", "))
}

// Result is what Check found.
type Result struct {
	// Counts is how often each class was found. Cycles are counted up to mostWitnesses.
	Counts map[string]int
	// Examples is one of each class, in words.
	Examples map[string]string
	Txns     int
	Outcomes map[Outcome]int
	Reads    int
	Appends  int
}

func (r *Result) found(class, example string) {
	if r.Counts[class] == 0 {
		r.Examples[class] = example
	}
	r.Counts[class]++
}

// Check looks at a history. A transaction of process -1 began when all others had ended and
// has read everything: only with it lost appends are found.
func Check(txns []Txn) *Result {
	r := &Result{Counts: map[string]int{}, Examples: map[string]string{}, Txns: len(txns), Outcomes: map[Outcome]int{}}
	h := &checked{Result: r, txns: txns}
	for _, t := range txns {
		r.Outcomes[t.Outcome]++
		for _, op := range t.Ops {
			switch op.Kind {
			case Append:
				r.Appends++
			case Read, Lock:
				r.Reads++
			case Save, Undo:
			}
		}
	}
	h.writersOf()
	h.orders()
	h.direct()
	h.cycles()
	return r
}
