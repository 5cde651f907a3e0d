package calls

import (
	"context"
	"database/sql"
	"errors"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// want P1
func members(ctx context.Context, app *env.App, posts []env.Post) ([]env.Member, error) {
	var out []env.Member
	for _, p := range posts {
		m, err := getMember(ctx, app.DB.DB, p.UserID)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// want P1
func (s *shop) pointers(posts []env.Post) (out []*env.Member, err error) {
	for i := range posts {
		m, err := s.member(posts[i].UserID)
		if err != nil {
			return nil, err
		}
		if m != nil && i%2 == 0 {
			m.Nick = "even"
		}
		out = append(out, m)
	}
	return out, nil
}

// want P1
func names(app *env.App, posts []env.Post) ([]env.Post, error) {
	for i := range posts {
		if err := fillName(app, &posts[i]); err != nil {
			return nil, err
		}
	}
	return posts, nil
}

// want P2
func noted(app *env.App, posts []env.Post, kind int) (sums []int, err error) {
	for _, p := range posts {
		n, err := countNotes(app.DB, kind, p)
		if err != nil {
			return nil, err
		}
		sums = append(sums, n)
	}
	return sums, nil
}

// want P1
func (s *shop) allStars(posts []env.Post) ([]int, error) {
	tx, err := s.db.Begin()
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	var out []int
	for _, p := range posts {
		if p.Title != "" {
			out = append(out, s.stars(tx, p.ID))
		}
	}
	return out, tx.Commit()
}

// want P1
func labels(app *env.App, posts []env.Post) ([]string, error) {
	var out []string
	for i, p := range posts {
		text, err := label(app.DB, "by ", p.Author, i)
		if err != nil {
			return out, err
		}
		out = append(out, text)
	}
	return out, nil
}

// want P1
func nested(ctx context.Context, app *env.App, posts []env.Post) (map[string][]int64, error) {
	out := map[string][]int64{}
	for _, kind := range []string{"a", "b"} {
		for _, p := range posts {
			name, err := nameOf(ctx, app.DB, p.UserID)
			if err != nil && err != sql.ErrNoRows {
				return nil, err
			}
			out[kind+name] = append(out[kind+name], p.ID)
		}
	}
	return out, nil
}
