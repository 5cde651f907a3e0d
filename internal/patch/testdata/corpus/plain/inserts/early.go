package inserts

import (
	"database/sql"
	"errors"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Who calls it may take this error for none, and commit the rows before it.
//
// want P3 refused: end
func untilOdd(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if p.ID%2 == 1 {
			return errors.New("odd")
		}
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return err
		}
	}
	return nil
}
