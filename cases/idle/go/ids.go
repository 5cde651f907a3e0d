package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// newID draws the next number, whatever transaction it is for. Deadlocks are
// tried again.
func (s *server) newID(ctx context.Context) (int64, error) {
	var last error
	for range 100 {
		result, err := s.db.ExecContext(ctx, "UPDATE id_generator SET id = LAST_INSERT_ID(id + 1)")
		if isDeadlock(err) {
			last = err
			continue
		}
		if err != nil {
			return 0, err
		}
		return result.LastInsertId()
	}
	return 0, fmt.Errorf("no id: %w", last)
}

func randomWord() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}
