// SPDX-License-Identifier: Apache-2.0

package accelerator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// format is the version of files of rules that is understood.
const format = 1

// Keys that one read asks for: by itself, and what a rule may say.
const (
	usualKeys = 500
	limitKeys = 5000
)

// Rules are what a file allows, for any number of connections.
type Rules struct {
	targets []*target
	byText  map[string]*role
	byHash  map[uint64][]*role
	longest int // bytes; longer statements are none of a rule
}

// file is a file of rules.
type file struct {
	Format int    `json:"format"`
	Rules  []rule `json:"rules"`
}

// rule is one of a file.
type rule struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`      // "prefetch"
	After     string `json:"after"`     // the statement whose rows have the keys
	Column    string `json:"column"`    // the column of these rows
	Statement string `json:"statement"` // the read by one key
	Most      int    `json:"most"`      // keys of one read; 0: usualKeys
	Staleness string `json:"staleness"` // "": none, "allowed"
}

// role is what a statement is in the rules.
type role struct {
	text    string
	target  int // it is the read of this target; -1: of none
	sources []source
}

// source is a column of a statement's rows whose values are keys of a target.
type source struct {
	column string
	target int
}

// Load reads a file of rules. An error names the file, the rule and what is wrong with it.
func Load(name string) (*Rules, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// Parse is Load for the text of a file.
func Parse(data []byte) (*Rules, error) {
	var f file
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is something after the rules")
	}
	if f.Format != format {
		return nil, fmt.Errorf("format %d; this version understands %d", f.Format, format)
	}
	r := &Rules{byText: map[string]*role{}, byHash: map[uint64][]*role{}}
	seen := map[string]bool{}
	for i, one := range f.Rules {
		if one.ID == "" || seen[one.ID] {
			return nil, fmt.Errorf("rule %d: id %q; each rule has one of its own", i+1, one.ID)
		}
		seen[one.ID] = true
		if err := r.add(one); err != nil {
			return nil, fmt.Errorf("rule %s: %w", one.ID, err)
		}
	}
	return r, nil
}

func (r *Rules) add(one rule) error {
	switch {
	case one.Kind != "prefetch":
		return fmt.Errorf("kind %q; there is: prefetch", one.Kind)
	case one.Staleness != "" && one.Staleness != "allowed":
		return fmt.Errorf("staleness %q; there is: allowed", one.Staleness)
	case one.Column == "":
		return errors.New("column is missing")
	case one.Most < 0 || one.Most == 1 || one.Most > limitKeys:
		return fmt.Errorf("most %d; it may be 2 to %d", one.Most, limitKeys)
	}
	if e := first(one.After); e != reads {
		return errors.New("after: no statement that begins with SELECT or WITH")
	}
	s, err := take(one.Statement)
	if err != nil {
		return fmt.Errorf("statement: %w", err)
	}
	to := r.roleOf(one.Statement)
	if to.target < 0 {
		to.target = len(r.targets)
		most := one.Most
		if most == 0 {
			most = usualKeys
		}
		r.targets = append(r.targets, &target{shape: s, query: one.Statement, id: one.ID, role: to, most: most, stale: one.Staleness != ""})
	}
	t := r.targets[to.target]
	t.stale = t.stale && one.Staleness != ""
	if one.Most != 0 && one.Most < t.most {
		t.most = one.Most
	}
	from := r.roleOf(one.After)
	from.sources = append(from.sources, source{one.Column, to.target})
	return nil
}

// roleOf is the role of a statement, a new one if there is none.
func (r *Rules) roleOf(text string) *role {
	if found := r.role(text); found != nil {
		r.byText[text] = found
		return found
	}
	h := hash(text)
	made := &role{text: text, target: -1}
	r.byText[text] = made
	r.byHash[h] = append(r.byHash[h], made)
	r.longest = max(r.longest, 2*len(text)+64)
	return made
}

// role is the role of a statement, nil if it has none. Spaces and comments do not count.
func (r *Rules) role(query string) *role {
	if found := r.byText[query]; found != nil {
		return found
	}
	if len(query) > r.longest {
		return nil
	}
	for _, found := range r.byHash[hash(query)] {
		if same(found.text, query) {
			return found
		}
	}
	return nil
}

// hash is FNV-1a over the tokens.
func hash(query string) uint64 {
	h := uint64(14695981039346656037)
	for l := (lexer{s: query}); ; {
		t := l.next()
		if t.kind == end {
			return h
		}
		for i := t.from; i < t.to; i++ {
			h = (h ^ uint64(query[i])) * 1099511628211
		}
		h *= 1099511628211
	}
}

// same says whether two statements have the same tokens.
func same(a, b string) bool {
	for la, lb := (lexer{s: a}), (lexer{s: b}); ; {
		ta, tb := la.next(), lb.next()
		switch {
		case ta.kind != tb.kind || a[ta.from:ta.to] != b[tb.from:tb.to]:
			return false
		case ta.kind == end:
			return true
		}
	}
}

// target is a read by key that may be answered from memory.
type target struct {
	shape
	query  string // as the rule has it
	id     string // of the first rule that has it
	role   *role
	most   int
	stale  bool        // an earlier state may be answered
	broken atomic.Bool // its rows cannot be told apart by key; it is never answered again
	counts [counters]atomic.Int64
}

// What is counted of a target.
const (
	answered = iota
	fetched
	passedOn
	counters
)

func (t *target) count(what int) { t.counts[what].Add(1) }

// Count is what a rule has done since the start, over all connections.
type Count struct {
	ID       string // of the first rule that has the statement
	Answered int64  // reads answered from memory
	Fetched  int64  // reads of many keys sent for them
	Passed   int64  // reads of the rule's statement sent as they were while memory was in use
	Broken   bool   // rows could not be told apart by key, so the rule is off
}

// Counts are those of each statement that rules have.
func (r *Rules) Counts() []Count {
	var out []Count
	for _, t := range r.targets {
		out = append(out, Count{t.id, t.counts[answered].Load(), t.counts[fetched].Load(), t.counts[passedOn].Load(), t.broken.Load()})
	}
	return out
}
