package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Routes that ask memcached and Redis.

// bannerBad: the same key for each part of the page.
func bannerBad(s *service, ctx context.Context, _ int) (answer, error) {
	out := answer{}
	for _, part := range []string{"top", "middle", "bottom"} {
		banner, err := get(ctx, s.cache, "banner")
		if err != nil {
			return nil, err
		}
		out[part] = banner
	}
	return out, nil
}

func bannerClean(s *service, ctx context.Context, _ int) (answer, error) {
	banner, err := get(ctx, s.cache, "banner")
	return answer{"top": banner, "middle": banner, "bottom": banner}, err
}

// keys returns "prefix:1" to "prefix:10".
func keys(prefix string) []string {
	var out []string
	for n := 1; n <= 10; n++ {
		out = append(out, fmt.Sprint(prefix, ":", n))
	}
	return out
}

// cardsBad: ten keys, ten gets.
func cardsBad(s *service, ctx context.Context, _ int) (answer, error) {
	var cards []string
	for _, key := range keys("card") {
		card, err := get(ctx, s.cache, key)
		if err != nil {
			return nil, err
		}
		cards = append(cards, card)
	}
	return answer{"cards": cards}, nil
}

func cardsClean(s *service, ctx context.Context, _ int) (answer, error) {
	items, err := getMulti(ctx, s.cache, keys("card"))
	if err != nil {
		return nil, err
	}
	var cards []string
	for _, key := range keys("card") {
		if items[key] == nil {
			return nil, fmt.Errorf("memcached has no %s; run: case.sh reset", key)
		}
		cards = append(cards, string(items[key].Value))
	}
	return answer{"cards": cards}, nil
}

// scoresBad: ten keys, ten commands.
func scoresBad(s *service, ctx context.Context, _ int) (answer, error) {
	var scores []int
	for _, key := range keys("score") {
		score, err := s.redis.Get(ctx, key).Int()
		if err != nil {
			return nil, err
		}
		scores = append(scores, score)
	}
	return answer{"scores": scores}, nil
}

func scoresClean(s *service, ctx context.Context, _ int) (answer, error) {
	values, err := s.redis.MGet(ctx, keys("score")...).Result()
	if err != nil {
		return nil, err
	}
	var scores []int
	for i, v := range values {
		score, err := strconv.Atoi(fmt.Sprint(v))
		if err != nil {
			return nil, fmt.Errorf("redis, score:%d: %w; run: case.sh reset", i+1, err)
		}
		scores = append(scores, score)
	}
	return answer{"scores": scores}, nil
}

// motdBad: the same value again and again.
func motdBad(s *service, ctx context.Context, _ int) (answer, error) {
	for range 3 {
		if err := s.redis.Set(ctx, "motd", "open", 0).Err(); err != nil {
			return nil, err
		}
	}
	return answer{"motd": "open"}, nil
}

func motdClean(s *service, ctx context.Context, _ int) (answer, error) {
	now, err := s.redis.Get(ctx, "motd").Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	if now != "open" {
		if err := s.redis.Set(ctx, "motd", "open", 0).Err(); err != nil {
			return nil, err
		}
	}
	return answer{"motd": "open"}, nil
}
