package main

import (
	"strings"
	"testing"

	"kasoku/internal/remedy"
)

func TestRead(t *testing.T) {
	got, err := read(strings.NewReader(`{"remedy":"nginx.gzip","plan":"nginx.gzip:web","pairs":8,"effect":0.5}` + "\n"))
	if err != nil || len(got) != 1 || got[0].Remedy != "nginx.gzip" || got[0].Effect != 0.5 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := read(strings.NewReader("{}\n{\"remedy\":\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a torn line: %v", err)
	}
}

// What is measured again takes the place of what was; the rest stays, in order.
func TestMerge(t *testing.T) {
	old := []remedy.Effect{{Plan: "b", Test: "T", Effect: 1}, {Plan: "a", Test: "T", Effect: 1}}
	got := merge(old, []remedy.Effect{{Plan: "b", Test: "T", Effect: 2}, {Plan: "b", Test: "S", Effect: 3}})
	var text []string
	for _, e := range got {
		text = append(text, e.Plan+e.Test+strings.Repeat("+", int(e.Effect)))
	}
	if s := strings.Join(text, " "); s != "aT+ bS+++ bT++" {
		t.Error(s)
	}
	if old[0].Effect != 1 {
		t.Error("the old ones were changed")
	}
}
