package main

import (
	"reflect"
	"testing"
)

// A seed tells all of a schema, so that a failure can be looked at again; no schema is
// larger than promised.
func TestDraw(t *testing.T) {
	forms := map[string]bool{}
	for seed := range int64(400) {
		a, b := draw(seed), draw(seed)
		if a.drawn(1) != b.drawn(1) || !reflect.DeepEqual(a.candidates(), b.candidates()) {
			t.Fatalf("seed %d differs from itself", seed)
		}
		if n := len(a.stmts); n < 1 || n > 6 || len(a.candidates()) > mostCandidates {
			t.Errorf("seed %d: %d statements, %d candidates", seed, n, len(a.candidates()))
		}
		for _, x := range a.tables {
			if x.rows > mostRows {
				t.Errorf("seed %d: %s has %d rows", seed, x.name, x.rows)
			}
		}
		for _, st := range a.stmts {
			forms[st.Form[:6]] = true
		}
	}
	for _, kind := range []string{"SELECT", "UPDATE", "DELETE", "INSERT"} {
		if !forms[kind] {
			t.Errorf("no %s was drawn", kind)
		}
	}
}

// The verdict counts rows, bytes and what got worse each by itself.
func TestVerdict(t *testing.T) {
	s := &schema{stmts: []statement{{Count: 1, Form: "SELECT a"}, {Count: 1, Form: "SELECT b"}}}
	of := func(bytes int64, reads ...float64) figures {
		f := figures{reads: reads, bytes: bytes, set: []index{{"t", []string{"a"}}}}
		for _, n := range reads {
			f.rows += n
		}
		return f
	}
	for _, c := range []struct {
		name       string
		advised    figures
		near, fine bool
	}{
		{"as good", of(1000, 1000, 1000), true, true},
		{"too many rows", of(1000, 1000, 1700), false, true},
		{"too many bytes", of(1300, 1000, 1000), false, true},
		{"one statement is worse than without", of(1000, 200, 2000), true, false},
	} {
		v := &verdict{s: s, none: of(0, 9000, 1700), best: of(1000, 1000, 1000), advised: c.advised}
		if v.near() != c.near || (v.worse() == "") != c.fine {
			t.Errorf("%s: near %t, worse %q", c.name, v.near(), v.worse())
		}
	}
}
