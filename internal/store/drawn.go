package store

import "kasoku/internal/load"

// Drawn is how many rows of each pool the project's runs have drawn from data
// that nothing resets; empty if none has.
func (s *Store) Drawn() (load.Rows, error) {
	rows, err := s.db.Query(`SELECT pool, rows FROM drawn`)
	if err != nil {
		return nil, s.fail("read the rows drawn", err)
	}
	defer rows.Close()
	out := load.Rows{}
	for rows.Next() {
		var pool string
		var n int64
		if err := rows.Scan(&pool, &n); err != nil {
			return nil, s.fail("read the rows drawn", err)
		}
		out[pool] = uint64(max(n, 0))
	}
	if err := rows.Err(); err != nil {
		return nil, s.fail("read the rows drawn", err)
	}
	return out, nil
}

// SaveDrawn replaces what Drawn returns for the pools named.
func (s *Store) SaveDrawn(r load.Rows) error {
	tx, err := s.begin()
	if err != nil {
		return s.fail("save the rows drawn", err)
	}
	defer tx.Rollback() // after Commit it does nothing
	for pool, n := range r {
		if _, err := tx.Exec(`INSERT INTO drawn (pool, rows) VALUES (?, ?) ON CONFLICT (pool) DO UPDATE SET rows = excluded.rows`, pool, int64(n)); err != nil {
			return s.fail("save the rows drawn", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return s.fail("save the rows drawn", err)
	}
	return nil
}
