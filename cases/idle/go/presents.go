package main

import (
	"database/sql"
	"net/http"
	"slices"
	"strings"
)

// pageSize is how many presents a page has, and how many are received at once.
const pageSize = 20

// presents lists one page of what waits, the newest first.
func (s *server) presents(r *http.Request, userID, _ int64) (object, error) {
	page, err := number(r, "page")
	if err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(r.Context(), "SELECT "+presentColumns+` FROM user_presents WHERE user_id = ? AND deleted_at IS NULL
		ORDER BY created_at DESC, id LIMIT ? OFFSET ?`, userID, pageSize+1, (page-1)*pageSize)
	list, err := readPresents(rows, err)
	if err != nil {
		return nil, err
	}
	next := len(list) > pageSize
	list = list[:min(len(list), pageSize)]
	ids := []int64{}
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return object{"presents": list, "present_ids": ids, "next": next}, nil
}

// receive gives a user what is in presents, one after the other.
func (s *server) receive(r *http.Request, userID, now int64) (object, error) {
	var in struct {
		IDs []int64 `json:"present_ids"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if len(in.IDs) == 0 || len(in.IDs) > pageSize {
		return nil, refuse(http.StatusBadRequest, "1 to 20 presents are received at once")
	}
	ctx := r.Context()
	args := []any{userID}
	for _, id := range in.IDs {
		args = append(args, id)
	}
	rows, err := s.db.QueryContext(ctx, "SELECT "+presentColumns+" FROM user_presents WHERE user_id = ? AND deleted_at IS NULL AND id IN (?"+
		strings.Repeat(", ?", len(in.IDs)-1)+")", args...)
	list, err := readPresents(rows, err)
	if err != nil {
		return nil, err
	}
	if len(list) != len(in.IDs) {
		return nil, refuse(http.StatusConflict, "no such presents")
	}
	slices.SortFunc(list, func(a, b present) int { return slices.Index(in.IDs, a.ID) - slices.Index(in.IDs, b.ID) })
	var u user
	err = s.inTx(ctx, func(tx *sql.Tx) (err error) {
		for _, p := range list {
			done, err := tx.ExecContext(ctx, "UPDATE user_presents SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL", now, p.ID)
			if err != nil {
				return err
			}
			if n, err := done.RowsAffected(); err != nil || n != 1 {
				return refuse(http.StatusConflict, "received meanwhile")
			}
			if err := s.obtain(ctx, tx, userID, p.ItemType, p.ItemID, p.Amount, "present", now); err != nil {
				return err
			}
		}
		u, err = getUser(ctx, tx, userID)
		return err
	})
	return object{"received": len(list), "presents": list, "user": u}, err
}
