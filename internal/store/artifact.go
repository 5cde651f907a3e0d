package store

import (
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"kasoku/internal/evidence"
)

// mostArtifact is the largest artifact that is kept, bytes: a profile has some
// 100 KB, and SQLite keeps a row in memory while it is written.
const mostArtifact = 64 << 20

// Artifact is a file that belongs to a run.
type Artifact struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// SaveArtifact keeps a file with a run, in place of an earlier one of that
// name. The name is one part of a path.
func (s *Store) SaveArtifact(run int64, name string, data []byte) error {
	if err := checkArtifact(name, data); err != nil {
		return fmt.Errorf("save artifact %q of run %d: %w", name, run, err)
	}
	var known int
	if err := s.db.QueryRow(`SELECT count(*) FROM runs WHERE id = ?`, run).Scan(&known); err != nil {
		return s.fail(fmt.Sprintf("save artifact %s of run %d", name, run), err)
	}
	if known == 0 {
		return s.missing("run", run)
	}
	_, err := s.insert(fmt.Sprintf("save artifact %s of run %d", name, run),
		`INSERT INTO artifacts (run, name, data) VALUES (?, ?, ?) ON CONFLICT (run, name) DO UPDATE SET data = excluded.data`, run, name, data)
	return err
}

func checkArtifact(name string, data []byte) error {
	switch {
	case name == "" || name == "." || name == ".." || len(name) > 200 || strings.ContainsAny(name, "/\\\x00\n"):
		return errors.New("the name is not one part of a path")
	case len(data) > mostArtifact:
		return fmt.Errorf("it has %d bytes, more than %d MiB", len(data), mostArtifact>>20)
	}
	return nil
}

// Artifacts lists what is kept with a run, by name.
func (s *Store) Artifacts(run int64) ([]Artifact, error) {
	operation := fmt.Sprintf("list artifacts of run %d", run)
	rows, err := s.db.Query(`SELECT name, length(data) FROM artifacts WHERE run = ? ORDER BY name`, run)
	if err != nil {
		return nil, s.fail(operation, err)
	}
	defer rows.Close()
	var out []Artifact
	for rows.Next() {
		var a Artifact
		if err := rows.Scan(&a.Name, &a.Bytes); err != nil {
			return nil, s.fail(operation, err)
		}
		out = append(out, a)
	}
	if err := rows.Err(); err != nil {
		return nil, s.fail(operation, err)
	}
	return out, nil
}

// Artifact returns one artifact's bytes, ErrNotFound (wrapped) if there is none
// of that name.
func (s *Store) Artifact(run int64, name string) ([]byte, error) {
	var data []byte
	err := s.db.QueryRow(`SELECT data FROM artifacts WHERE run = ? AND name = ?`, run, name).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("artifact %s of run %d in %s: %w", name, run, s.path, ErrNotFound)
	}
	if err != nil {
		return nil, s.fail(fmt.Sprintf("read artifact %s of run %d", name, run), err)
	}
	return data, nil
}

// nameProfiles gives each profile that has bytes the name of its artifact.
func nameProfiles(ev *evidence.Evidence) {
	if ev == nil {
		return
	}
	used := map[string]bool{}
	for i := range ev.Profiles {
		p := &ev.Profiles[i]
		if len(p.Data) == 0 {
			continue
		}
		base := plainName(strings.Join(strings.Fields("profile "+p.Service+" "+p.Tool+" "+p.Of), "-"))
		name := base + ".pb.gz"
		for n := 2; used[name]; n++ {
			name = fmt.Sprintf("%s-%d.pb.gz", base, n)
		}
		used[name] = true
		p.Artifact = name
	}
}

// notPlain is what file names are better without.
var notPlain = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

func plainName(s string) string { return notPlain.ReplaceAllString(s, "_") }

// saveProfiles keeps the profiles' bytes as artifacts of a stored run and lets
// go of them.
func (s *Store) saveProfiles(x *Run) error {
	if x.Evidence == nil {
		return nil
	}
	for i := range x.Evidence.Profiles {
		p := &x.Evidence.Profiles[i]
		if len(p.Data) == 0 || p.Artifact == "" {
			continue
		}
		if err := s.SaveArtifact(x.ID, p.Artifact, p.Data); err != nil {
			return err
		}
		p.Data = nil
	}
	return nil
}
