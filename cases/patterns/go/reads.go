package main

import (
	"context"
	"database/sql"
)

// Routes that read the database.

// post is one row of the list page.
type post struct {
	ID     int    `json:"id"`
	author int    // its ID
	Title  string `json:"title"`
}

func (s *service) page(ctx context.Context) (out []post, err error) {
	err = s.db.each(ctx, "SELECT id, author_id, title FROM posts ORDER BY id LIMIT 10", nil, func(rows *sql.Rows) error {
		var p post
		err := rows.Scan(&p.ID, &p.author, &p.Title)
		out = append(out, p)
		return err
	})
	return out, err
}

// posts has no pattern: one statement.
func posts(s *service, ctx context.Context, _ int) (answer, error) {
	page, err := s.page(ctx)
	return answer{"posts": page}, err
}

// home has no pattern: one call to each server, two to the database.
func home(s *service, ctx context.Context, _ int) (answer, error) {
	var p post
	err := s.db.row(ctx, "SELECT id, author_id, title FROM posts WHERE id = ?", []any{1}, &p.ID, &p.author, &p.Title)
	if err != nil {
		return nil, err
	}
	var author string
	if err := s.db.row(ctx, "SELECT name FROM authors WHERE id = ?", []any{p.author}, &author); err != nil {
		return nil, err
	}
	banner, err := get(ctx, s.cache, "banner")
	if err != nil {
		return nil, err
	}
	score, err := s.redis.Get(ctx, "score:1").Int()
	return answer{"title": p.Title, "author": author, "banner": banner, "score": score}, err
}

// feedBad: n+1, a statement for each post.
func feedBad(s *service, ctx context.Context, _ int) (answer, error) {
	page, err := s.page(ctx)
	if err != nil {
		return nil, err
	}
	var feed []answer
	for _, p := range page {
		var name string
		if err := s.db.row(ctx, "SELECT name FROM authors WHERE id = ?", []any{p.author}, &name); err != nil {
			return nil, err
		}
		feed = append(feed, answer{"title": p.Title, "author": name})
	}
	return answer{"feed": feed}, nil
}

func feedClean(s *service, ctx context.Context, _ int) (answer, error) {
	page, err := s.page(ctx)
	if err != nil {
		return nil, err
	}
	var ids []any
	for _, p := range page {
		ids = append(ids, p.author)
	}
	names := map[int]string{}
	err = s.db.each(ctx, "SELECT id, name FROM authors WHERE id IN ("+placeholders(len(ids))+")", ids, func(rows *sql.Rows) error {
		var id int
		var name string
		err := rows.Scan(&id, &name)
		names[id] = name
		return err
	})
	var feed []answer
	for _, p := range page {
		feed = append(feed, answer{"title": p.Title, "author": names[p.author]})
	}
	return answer{"feed": feed}, err
}

func (s *service) authorName(ctx context.Context, id int) (name string, err error) {
	err = s.db.row(ctx, "SELECT name FROM authors WHERE id = ?", []any{id}, &name)
	return name, err
}

// profileBad: the same row for the title, the heading and the footer.
func profileBad(s *service, ctx context.Context, id int) (answer, error) {
	out := answer{}
	for _, part := range []string{"title", "heading", "footer"} {
		name, err := s.authorName(ctx, id)
		if err != nil {
			return nil, err
		}
		out[part] = name
	}
	return out, nil
}

func profileClean(s *service, ctx context.Context, id int) (answer, error) {
	name, err := s.authorName(ctx, id)
	return answer{"title": name, "heading": name, "footer": name}, err
}

// accountBad: three statements on one row of one table.
func accountBad(s *service, ctx context.Context, id int) (answer, error) {
	var name, email, city string
	for _, q := range []struct {
		text string
		into *string
	}{
		{"SELECT name FROM authors WHERE id = ?", &name},
		{"SELECT email FROM authors WHERE id = ?", &email},
		{"SELECT city FROM authors WHERE id = ?", &city},
	} {
		if err := s.db.row(ctx, q.text, []any{id}, q.into); err != nil {
			return nil, err
		}
	}
	return answer{"name": name, "email": email, "city": city}, nil
}

func accountClean(s *service, ctx context.Context, id int) (answer, error) {
	var name, email, city string
	err := s.db.row(ctx, "SELECT name, email, city FROM authors WHERE id = ?", []any{id}, &name, &email, &city)
	return answer{"name": name, "email": email, "city": city}, err
}

// tagBad: prepared on the server, executed once, closed.
func tagBad(s *service, ctx context.Context, id int) (answer, error) {
	var name string
	err := s.db.preparedRow(ctx, "SELECT name FROM tags WHERE id = ?", []any{id}, &name)
	return answer{"tag": name}, err
}

func tagClean(s *service, ctx context.Context, id int) (answer, error) {
	var name string
	err := s.db.row(ctx, "SELECT name FROM tags WHERE id = ?", []any{id}, &name)
	return answer{"tag": name}, err
}
