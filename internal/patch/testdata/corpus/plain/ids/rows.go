package ids

import "context"

// The file does not name the type of its handle.
//
// want P8
func (s *shop) nextRow(ctx context.Context) (int64, error) {
	result, err := s.db.ExecContext(ctx, "UPDATE row_ids SET id = LAST_INSERT_ID(id + 1)")
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}
