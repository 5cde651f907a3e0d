package store

import "testing"

// TestPages: a list goes on where its last page ended.
func TestPages(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 3 {
		if err := s.SaveSession(&Session{Command: "run"}); err != nil {
			t.Fatal(err)
		}
		if err := s.SaveRun(&Run{Kind: Probe}); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := s.Runs(RunFilter{Before: 3, Limit: 1})
	if err != nil || len(runs) != 1 || runs[0].ID != 2 {
		t.Errorf("%v %v", runs, err)
	}
	sessions, err := s.SessionsBefore(3, 10)
	if err != nil || len(sessions) != 2 || sessions[0].ID != 2 || sessions[1].ID != 1 {
		t.Errorf("%v %v", sessions, err)
	}
}
