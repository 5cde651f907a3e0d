package main

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/redis/go-redis/v9"
)

// newMemcached makes a client; its new connections are noted in ctx's request.
func (s *service) newMemcached(request context.Context) *memcache.Client {
	client := memcache.New(s.conf["memcached_host"] + ":" + s.conf["memcached_port"])
	// As many as requests come at a time: none is made anew for each.
	client.MaxIdleConns = 16
	client.DialContext = func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		err = call(request, "memcached.dial", "memcached", "", func(context.Context) error {
			conn, err = new(net.Dialer).DialContext(ctx, network, address)
			return err
		})
		return conn, err
	}
	return client
}

// get asks memcached for one key.
func get(ctx context.Context, client *memcache.Client, key string) (value string, err error) {
	err = call(ctx, "get", "memcached", "get "+key, func(context.Context) error {
		item, err := client.Get(key)
		if err == nil {
			value = string(item.Value)
		}
		return err
	})
	return value, err
}

// getMulti asks memcached for many keys with one command.
func getMulti(ctx context.Context, client *memcache.Client, keys []string) (items map[string]*memcache.Item, err error) {
	err = call(ctx, "get", "memcached", "get "+strings.Join(keys, " "), func(context.Context) error {
		items, err = client.GetMulti(keys)
		return err
	})
	return items, err
}

// newRedis makes a client; its new connections are noted in ctx's request.
func (s *service) newRedis(request context.Context) *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: s.conf["redis_host"] + ":" + s.conf["redis_port"], PoolSize: 16})
	client.AddHook(hook{request})
	return client
}

// hook makes a span of each command and each new connection.
type hook struct{ request context.Context }

func (h hook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		err = call(h.request, "redis.dial", "redis", "", func(context.Context) error {
			conn, err = next(ctx, network, address)
			return err
		})
		return conn, err
	}
}

func (h hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return call(ctx, cmd.Name(), "redis", commandText(cmd), func(ctx context.Context) error { return next(ctx, cmd) })
	}
}

func (h hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// commandText is the command as one would type it.
func commandText(cmd redis.Cmder) string {
	return strings.TrimSuffix(fmt.Sprintln(cmd.Args()...), "\n")
}
