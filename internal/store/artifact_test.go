package store

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
)

func artifactStore(t *testing.T) (*Store, *Run) {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	run := &Run{Kind: Diagnostic, Label: "x", Started: time.Now(), Evidence: &evidence.Evidence{}}
	if err := s.SaveRun(run); err != nil {
		t.Fatal(err)
	}
	return s, run
}

func TestArtifacts(t *testing.T) {
	s, run := artifactStore(t)
	for _, data := range [][]byte{[]byte("old and longer"), {0, 1, 2}} { // the second in place of the first
		if err := s.SaveArtifact(run.ID, "b.bin", data); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SaveArtifact(run.ID, "a.txt", []byte("text")); err != nil {
		t.Fatal(err)
	}
	all, err := s.Artifacts(run.ID)
	if err != nil || len(all) != 2 || all[0] != (Artifact{"a.txt", 4}) || all[1] != (Artifact{"b.bin", 3}) {
		t.Errorf("%+v %v", all, err)
	}
	if data, err := s.Artifact(run.ID, "b.bin"); err != nil || !bytes.Equal(data, []byte{0, 1, 2}) {
		t.Error(data, err)
	}
	if _, err := s.Artifact(run.ID, "c"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if err := s.SaveArtifact(run.ID+1, "a", nil); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	for _, name := range []string{"", ".", "..", "a/b", `a\b`, "a\nb", strings.Repeat("x", 300)} {
		if err := s.SaveArtifact(run.ID, name, nil); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
}

func TestProfilesOfARunAreArtifacts(t *testing.T) {
	s, run := artifactStore(t)
	run.Evidence.Profiles = []evidence.Profile{
		{Service: "db", Tool: "perf", Data: []byte("one")},
		{Service: "db", Tool: "perf", Data: []byte("two")},
		{Service: "../app", Tool: "go pprof", Of: "bytes allocated", Data: []byte("three")},
		{Service: "web", Tool: "perf"},
	}
	for range 2 { // a run is saved again with its diagnosis
		if err := s.SaveRun(run); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"profile-db-perf.pb.gz": "one", "profile-db-perf-2.pb.gz": "two", "profile-.._app-go-pprof-bytes-allocated.pb.gz": "three"}
	all, err := s.Artifacts(run.ID)
	if err != nil || len(all) != len(want) {
		t.Fatalf("%+v %v", all, err)
	}
	read, err := s.Run(run.ID)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range read.Evidence.Profiles {
		if i == 3 {
			if p.Artifact != "" {
				t.Errorf("%+v", p)
			}
			continue
		}
		if data, err := s.Artifact(run.ID, p.Artifact); err != nil || string(data) != want[p.Artifact] {
			t.Errorf("%s: %q %v", p.Artifact, data, err)
		}
		if run.Evidence.Profiles[i].Data != nil {
			t.Error("the bytes are still held")
		}
	}
}

// TestOldStoresGetArtifacts: a file of schema version 1 is brought up to date.
func TestOldStoresGetArtifacts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".kasoku")
	now := migrations
	migrations = now[:1]
	s, err := Open(dir)
	migrations = now
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.insert("save a run", `INSERT INTO runs (session, step, kind, side, label, started, score, unfit, config_hash)
		VALUES (0, 0, 'scored', '', 'old', ?, 1, '', '')`, stamp(time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if s, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.SaveArtifact(run, "x", []byte("y")); err != nil {
		t.Error(err)
	}
}
