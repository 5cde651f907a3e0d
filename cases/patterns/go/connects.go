package main

import "context"

// Routes that connect: to the database, memcached and Redis.

func firstTag(ctx context.Context, db *database) (answer, error) {
	var name string
	err := db.row(ctx, "SELECT name FROM tags WHERE id = ?", []any{1}, &name)
	return answer{"tag": name}, err
}

// connectDBBad: a connection for this request only.
func connectDBBad(s *service, ctx context.Context, _ int) (answer, error) {
	db := s.newDatabase()
	defer db.Close()
	return firstTag(ctx, db)
}

func connectDBClean(s *service, ctx context.Context, _ int) (answer, error) {
	return firstTag(ctx, s.db)
}

// connectMemcachedBad: a connection for this request only.
func connectMemcachedBad(s *service, ctx context.Context, _ int) (answer, error) {
	client := s.newMemcached(ctx)
	defer client.Close()
	card, err := get(ctx, client, "card:1")
	return answer{"card": card}, err
}

func connectMemcachedClean(s *service, ctx context.Context, _ int) (answer, error) {
	card, err := get(ctx, s.cache, "card:1")
	return answer{"card": card}, err
}

// connectRedisBad: a connection for this request only.
func connectRedisBad(s *service, ctx context.Context, _ int) (answer, error) {
	client := s.newRedis(ctx)
	defer client.Close()
	score, err := client.Get(ctx, "score:1").Int()
	return answer{"score": score}, err
}

func connectRedisClean(s *service, ctx context.Context, _ int) (answer, error) {
	score, err := s.redis.Get(ctx, "score:1").Int()
	return answer{"score": score}, err
}
