package stack

import (
	"context"
	"net"
	"slices"
	"strings"

	"kasoku/internal/confedit/memcached"
	"kasoku/internal/confedit/redis"
	"kasoku/internal/host"
)

// cacheSettings are those of memcached and Redis.
func cacheSettings(ctx context.Context, h host.Host, svc *Service) settings {
	if svc.Config == "" {
		return settings{}
	}
	return settings{endpoints: CacheEndpoints(svc, hostRead(ctx, h), hostGlob(ctx, h))}
}

// CacheEndpoints are where a memcached or Redis listens by its configuration.
// Addresses of kasoku.yaml stay as they are written there where the
// configuration does not contradict them; nil if it cannot be read.
func CacheEndpoints(svc *Service, read func(string) ([]byte, error), glob func(string) ([]string, error)) []string {
	switch svc.Kind {
	case Memcached:
		data, err := read(svc.Config)
		if err != nil {
			return nil
		}
		return memcachedEndpoints(svc, memcached.Parse(svc.Config, data))
	case Redis:
		conf, err := redis.Load(svc.Config, read, glob)
		if err != nil {
			return nil
		}
		return redisEndpoints(svc, conf)
	default: // is no cache of this protocol
	}
	return nil
}

// tcpAddresses are the addresses of kasoku.yaml that are no sockets.
func tcpAddresses(svc *Service) []string {
	var out []string
	for _, l := range svc.Listen {
		if !strings.HasPrefix(l, "unix:") {
			out = append(out, l)
		}
	}
	return out
}

// memcachedEndpoints: a socket turns TCP off (memcached(1), -s). Of several
// addresses (-l) memcached takes those that it can have, so kasoku.yaml's count
// if it names any.
func memcachedEndpoints(svc *Service, conf *memcached.Config) []string {
	if conf.Err() != nil {
		return nil
	}
	if s, ok := conf.Get("-s"); ok {
		return []string{"unix:" + s.Text}
	}
	if out := tcpAddresses(svc); len(out) > 0 {
		return out
	}
	port, address := "11211", "127.0.0.1"
	if p, ok := conf.Get("-p"); ok {
		port = p.Text
	}
	if l, ok := conf.Get("-l"); ok {
		address, _, _ = strings.Cut(l.Text, ",")
	}
	if _, _, err := net.SplitHostPort(address); err == nil {
		return []string{address}
	}
	return []string{net.JoinHostPort(strings.Trim(address, "[]"), port)}
}

// redisEndpoints: port 0 turns TCP off; the socket is beside it (redis.conf,
// "port" and "unixsocket"). A socket that kasoku.yaml does not name may be shut
// to Kasoku's user, so it counts only where there is nothing else.
func redisEndpoints(svc *Service, conf *redis.Config) []string {
	port, address := "6379", "127.0.0.1"
	if v, ok := conf.Get("port"); ok && len(v.Args) == 1 {
		port = v.Args[0]
	}
	if v, ok := conf.Get("bind"); ok && len(v.Args) > 0 && v.Args[0] != "*" {
		address = strings.TrimPrefix(v.Args[0], "-")
	}
	var out []string
	if port != "0" {
		out = tcpAddresses(svc)
		if len(out) == 0 {
			out = []string{net.JoinHostPort(address, port)}
		}
	}
	if v, ok := conf.Get("unixsocket"); ok && len(v.Args) == 1 && v.Args[0] != "" {
		if socket := "unix:" + v.Args[0]; len(out) == 0 || slices.Contains(svc.Listen, socket) {
			out = append(out, socket)
		}
	}
	return out
}
