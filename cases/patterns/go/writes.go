package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Routes that write to the database.

// note has no pattern: the second read is needed, a write is between.
func note(s *service, ctx context.Context, id int) (answer, error) {
	const read = "SELECT text, seen FROM notes WHERE id = ?"
	var text string
	var seen int
	if err := s.db.row(ctx, read, []any{id}, &text, &seen); err != nil {
		return nil, err
	}
	if _, err := s.db.exec(ctx, "UPDATE notes SET seen = seen + 1 WHERE id = ?", id); err != nil {
		return nil, err
	}
	err := s.db.row(ctx, read, []any{id}, &text, &seen)
	return answer{"text": text, "read": seen > 0}, err
}

// eventsBad: ten rows in ten statements.
func eventsBad(s *service, ctx context.Context, _ int) (answer, error) {
	for n := 1; n <= 10; n++ {
		if _, err := s.db.exec(ctx, "INSERT INTO events (kind, amount) VALUES (?, ?)", fmt.Sprint("kind", n), n); err != nil {
			return nil, err
		}
	}
	return answer{"added": 10}, nil
}

func eventsClean(s *service, ctx context.Context, _ int) (answer, error) {
	var values []any
	for n := 1; n <= 10; n++ {
		values = append(values, fmt.Sprint("kind", n), n)
	}
	rows := strings.TrimSuffix(strings.Repeat("(?, ?), ", 10), ", ")
	_, err := s.db.exec(ctx, "INSERT INTO events (kind, amount) VALUES "+rows, values...)
	return answer{"added": 10}, err
}

// stockBad: ten rows changed in ten statements.
func stockBad(s *service, ctx context.Context, _ int) (answer, error) {
	for id := 1; id <= 10; id++ {
		if _, err := s.db.exec(ctx, "UPDATE stock SET amount = amount - 1 WHERE id = ?", id); err != nil {
			return nil, err
		}
	}
	return answer{"taken": 10}, nil
}

func stockClean(s *service, ctx context.Context, _ int) (answer, error) {
	var ids []any
	for id := 1; id <= 10; id++ {
		ids = append(ids, id)
	}
	_, err := s.db.exec(ctx, "UPDATE stock SET amount = amount - 1 WHERE id IN ("+placeholders(10)+")", ids...)
	return answer{"taken": 10}, err
}

// grantsBad: a read and a write for each of five items.
func grantsBad(s *service, ctx context.Context, _ int) (answer, error) {
	var granted []string
	for id := 1; id <= 5; id++ {
		var name string
		if err := s.db.row(ctx, "SELECT name FROM tags WHERE id = ?", []any{id}, &name); err != nil {
			return nil, err
		}
		if _, err := s.db.exec(ctx, "INSERT INTO events (kind, amount) VALUES (?, ?)", name, id); err != nil {
			return nil, err
		}
		granted = append(granted, name)
	}
	return answer{"granted": granted}, nil
}

func grantsClean(s *service, ctx context.Context, _ int) (answer, error) {
	var granted []string
	var values []any
	const read = "SELECT id, name FROM tags WHERE id IN (?, ?, ?, ?, ?) ORDER BY id"
	err := s.db.each(ctx, read, []any{1, 2, 3, 4, 5}, func(rows *sql.Rows) error {
		var id int
		var name string
		err := rows.Scan(&id, &name)
		granted, values = append(granted, name), append(values, name, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	_, err = s.db.exec(ctx, "INSERT INTO events (kind, amount) VALUES (?, ?), (?, ?), (?, ?), (?, ?), (?, ?)", values...)
	return answer{"granted": granted}, err
}

// orderBad: the ID is made by changing a row that all orders wait for.
func orderBad(s *service, ctx context.Context, _ int) (answer, error) {
	id, err := s.db.exec(ctx, "UPDATE sequence SET id = LAST_INSERT_ID(id + 1)")
	if err != nil {
		return nil, err
	}
	_, err = s.db.exec(ctx, "INSERT INTO orders (id, item) VALUES (?, ?)", id, "book")
	return answer{"order": id}, err
}

func orderClean(s *service, ctx context.Context, _ int) (answer, error) {
	id, err := s.db.exec(ctx, "INSERT INTO orders (item) VALUES (?)", "book")
	return answer{"order": id}, err
}
