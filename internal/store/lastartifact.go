package store

import (
	"database/sql"
	"errors"
	"fmt"
)

// LastArtifact returns the newest artifact of that name and the run that it
// belongs to, ErrNotFound (wrapped) if there is none.
func (s *Store) LastArtifact(name string) (data []byte, run int64, err error) {
	err = s.db.QueryRow(`SELECT run, data FROM artifacts WHERE name = ? ORDER BY run DESC LIMIT 1`, name).Scan(&run, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, fmt.Errorf("artifact %s of any run in %s: %w", name, s.path, ErrNotFound)
	}
	if err != nil {
		return nil, 0, s.fail("read artifact "+name, err)
	}
	return data, run, nil
}
