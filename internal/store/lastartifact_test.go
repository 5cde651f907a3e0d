package store

import (
	"errors"
	"testing"
)

func TestLastArtifact(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, _, err := s.LastArtifact("a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("of an empty store: %v", err)
	}
	var last int64
	for _, text := range []string{"first", "second"} {
		run := &Run{Kind: Scored}
		if err := s.SaveRun(run); err != nil {
			t.Fatal(err)
		}
		if err := s.SaveArtifact(run.ID, "a", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := s.SaveArtifact(run.ID, "b", []byte("another")); err != nil {
			t.Fatal(err)
		}
		last = run.ID
	}
	if data, run, err := s.LastArtifact("a"); err != nil || string(data) != "second" || run != last {
		t.Errorf("%q of run %d, %v", data, run, err)
	}
}
