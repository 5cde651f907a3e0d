package rewind

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// mostRedis is how much memory a Redis may use for its keys to be kept: they are kept
// in Kasoku's own.
const mostRedis = 1 << 30

// quiet: what goes wrong is in the errors.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func init() { redis.SetLogger(quiet{}) }

// redisStore is one Redis with its keys.
type redisStore struct {
	svc  *stack.Service
	host host.Host
	kept map[int]map[string]redisKey // by number of the database
}

type redisKey struct {
	dump string
	ttl  time.Duration // 0: it does not expire
}

func (s *redisStore) count() int {
	n := 0
	for _, keys := range s.kept {
		n += len(keys)
	}
	return n
}

// client asks one numbered database, over the connection that stack makes: where the
// server listens now, logged in.
func (s *redisStore) client(number int) *redis.Client {
	return redis.NewClient(&redis.Options{DB: number, PoolSize: 1, MaxRetries: -1, DialerRetries: 1, Protocol: 2, DisableIdentity: true,
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) { return stack.DialCache(ctx, s.host, s.svc) }})
}

// numbers are the databases that hold keys, and how much memory all of them use.
func (s *redisStore) numbers(ctx context.Context) (numbers []int, bytes int64, err error) {
	c := s.client(0)
	defer c.Close()
	text, err := c.Info(ctx).Result()
	if err != nil {
		return nil, 0, explainRedis(err)
	}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if n, ok := strings.CutPrefix(name, "db"); ok && strings.HasPrefix(value, "keys=") {
			if i, err := strconv.Atoi(n); err == nil {
				numbers = append(numbers, i)
			}
		}
		if name == "used_memory" {
			bytes, _ = strconv.ParseInt(value, 10, 64) // 0: not bounded then
		}
	}
	return numbers, bytes, nil
}

func explainRedis(err error) error {
	if text := err.Error(); strings.HasPrefix(text, "NOAUTH") || strings.HasPrefix(text, "NOPERM") {
		return fmt.Errorf("%w; write its login in kasoku.yaml, or name a command as load.reset", err)
	}
	return err
}

func (s *redisStore) take(ctx context.Context) error {
	numbers, bytes, err := s.numbers(ctx)
	if err != nil {
		return err
	}
	if bytes > mostRedis {
		return fmt.Errorf("it uses %d MiB, and at most %d are kept; name a command as load.reset", bytes>>20, mostRedis>>20)
	}
	s.kept = map[int]map[string]redisKey{}
	for _, n := range numbers {
		keys, err := s.read(ctx, n)
		if err != nil {
			return err
		}
		s.kept[n] = keys
	}
	return nil
}

// batch is how many keys are asked for at once.
const batch = 500

// read gets all keys of one database.
func (s *redisStore) read(ctx context.Context, number int) (map[string]redisKey, error) {
	c := s.client(number)
	defer c.Close()
	out := map[string]redisKey{}
	var cursor uint64
	for {
		names, next, err := c.Scan(ctx, cursor, "", batch).Result()
		if err != nil {
			return nil, explainRedis(err)
		}
		pipe := c.Pipeline()
		dumps, ttls := make([]*redis.StringCmd, len(names)), make([]*redis.DurationCmd, len(names))
		for i, name := range names {
			dumps[i], ttls[i] = pipe.Dump(ctx, name), pipe.PTTL(ctx, name)
		}
		if len(names) > 0 {
			if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
				return nil, explainRedis(err)
			}
		}
		for i, name := range names {
			dump, err := dumps[i].Result()
			if errors.Is(err, redis.Nil) {
				continue // it expired meanwhile
			}
			if err != nil {
				return nil, explainRedis(err)
			}
			out[name] = redisKey{dump: dump, ttl: max(0, ttls[i].Val())}
		}
		if cursor = next; cursor == 0 {
			return out, nil
		}
	}
}

// back makes each database hold the kept keys and no others, each with the time it had
// left. n counts the keys that were written or taken away.
func (s *redisStore) back(ctx context.Context) (n int, err error) {
	numbers, _, err := s.numbers(ctx)
	if err != nil {
		return 0, err
	}
	for number := range s.kept {
		numbers = append(numbers, number)
	}
	done := map[int]bool{}
	for _, number := range numbers {
		if done[number] {
			continue
		}
		done[number] = true
		changed, err := s.restore(ctx, number)
		n += changed
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (s *redisStore) restore(ctx context.Context, number int) (n int, err error) {
	now, err := s.read(ctx, number)
	if err != nil {
		return 0, err
	}
	c := s.client(number)
	defer c.Close()
	pipe := c.Pipeline()
	flush := func(least int) error {
		if pipe.Len() < max(1, least) {
			return nil
		}
		_, err := pipe.Exec(ctx)
		return err
	}
	for name := range now {
		if _, ok := s.kept[number][name]; !ok {
			pipe.Del(ctx, name)
			n++
			if err := flush(batch); err != nil {
				return n, err
			}
		}
	}
	for name, k := range s.kept[number] {
		was, there := now[name]
		switch {
		case !there || was.dump != k.dump:
			pipe.RestoreReplace(ctx, name, k.ttl, k.dump)
			n++
		case k.ttl > 0:
			pipe.PExpire(ctx, name, k.ttl)
		case was.ttl > 0:
			pipe.Persist(ctx, name)
			n++
		}
		if err := flush(batch); err != nil {
			return n, err
		}
	}
	return n, flush(1)
}

// emptyWait bounds emptying a memcached.
const emptyWait = 5 * time.Second

// empty tells a memcached to forget everything.
func empty(ctx context.Context, h host.Host, svc *stack.Service) error {
	c, err := stack.DialCache(ctx, h, svc)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(emptyWait)); err != nil {
		return err
	}
	if _, err := c.Write([]byte("flush_all\r\n")); err != nil {
		return err
	}
	answer := make([]byte, 64)
	n, err := c.Read(answer)
	if err != nil {
		return err
	}
	if text := strings.TrimSpace(string(answer[:n])); text != "OK" {
		return fmt.Errorf("flush_all was answered with %q", text)
	}
	return nil
}
