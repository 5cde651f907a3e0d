package store

import (
	"maps"
	"testing"

	"kasoku/internal/load"
)

func TestDrawn(t *testing.T) {
	s := open(t)
	if got, err := s.Drawn(); err != nil || len(got) != 0 {
		t.Errorf("a new store has %v, %v", got, err)
	}
	for _, r := range []load.Rows{{"users": 7, "homes": 3}, {"users": 9}} {
		if err := s.SaveDrawn(r); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Drawn(); err != nil || !maps.Equal(got, load.Rows{"users": 9, "homes": 3}) {
		t.Errorf("got %v, %v", got, err)
	}
}
