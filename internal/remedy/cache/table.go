// Package cache plans changes of memcached and Redis.
package cache

import (
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// undoRestart is what taking back a plan of one file does.
const undoRestart = "the file's bytes, mode, owner and time come back, and the server is restarted: what a memcached holds is lost again"

// Remedies of this family, in the order in which they are listed for people.
var Remedies = []planning.Remedy{
	{
		ID: "cache.socket", Title: "Unix socket between application and memcached or Redis", Measures: []string{"C06", "I19"}, Rules: []string{"cache.loopback-tcp"},
		Reason: "A unix socket passes bytes between two processes without the TCP stack and leaves no TIME_WAIT. memcached cannot listen on both, so it and its clients are restarted together and its cache starts empty; Redis listens on both, and its clients follow.",
		Source: "memcached(1), -s, -a and -b; redis.conf, \"unixsocket\"; unix(7)",
		Reach:  0.2, Plan: planSocket, Test: "TestCaches",
		Command: "`-s /run/memcached/kasoku-cache.sock`, `-a 0770`, `-b 4096` in memcached.conf and the path in the clients' settings, then `systemctl restart memcached php8.2-fpm`",
		Undo:    "all files' bytes come back, then the server and its clients are restarted; the cache starts empty again",
	},
	{
		ID: "cache.memory", Title: "Memory for what is thrown out of a cache", Measures: []string{"C06"}, Rules: []string{"cache.evictions"},
		Reason: "An entry that is thrown out before it is used again is made again by the application and its database.",
		Source: "memcached(1), -m; redis.conf, \"maxmemory\"",
		Reach:  0.3, Plan: planMemory, Test: "TestCaches",
		Command: "`-m 128` in memcached.conf, or `maxmemory 128mb` in redis.conf, then `systemctl restart memcached`", Undo: undoRestart,
	},
	{
		ID: "cache.connections", Title: "Connections of memcached and Redis", Measures: []string{"C13"}, Rules: []string{"cache.connections"},
		Reason: "A client beyond the limit waits until another leaves (memcached) or is refused (Redis): servers × workers must stay below it.",
		Source: "memcached(1), -c; redis.conf, \"maxclients\"",
		Reach:  0.5, Plan: planConnections, Test: "TestCaches",
		Command: "`-c 2048` in memcached.conf, or `maxclients 20000` in redis.conf, then `systemctl restart memcached`", Undo: undoRestart,
	},
	{
		ID: "redis.persistence", Title: "Redis writes to disk less often", Measures: []string{"I19"}, Rules: []string{"redis.persistence"},
		Reason: "Synced at each write, every client waits for the disk; a snapshot forks the server and copies the pages that are written meanwhile.",
		Source: "redis.conf, \"appendfsync\" and \"save\"; Redis manual, \"Redis persistence\"",
		Trades: []regulation.Trade{regulation.Durability}, Reach: 0.5, Plan: planPersistence, Test: "TestCaches",
		Command: "`appendfsync everysec` in redis.conf, then `systemctl restart redis-server`",
		Undo:    "the file's bytes, mode, owner and time come back, and Redis is restarted; it keeps its data",
	},
}
