package diagnose

import (
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/confedit/memcached"
	"kasoku/internal/confedit/redis"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// CacheAddress is a loopback TCP address as a client's settings name it.
type CacheAddress struct {
	Text   string // the bytes to replace
	Scheme string // "redis" of redis://…, "" if there is none
	User   string // "user:password@" of a URL
	Port   string
	DB     string // "1" of redis://127.0.0.1:6379/1
	Query  string // "?persistent=1"
}

// cacheAddress is host:port on loopback, with or without a URL around it.
var cacheAddress = regexp.MustCompile(`(?:([a-z][a-z+]*)://([^\s"'<>@/,;|]*@)?)?(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\]):([0-9]{1,5})(?:/([0-9]*))?(\?[^\s"'<>,;|]*)?`)

// comments begin lines that settings files have for people: examples of addresses among them.
var comments = []string{"#", ";", "//", "*", "/*"}

// inComment reports whether byte at of a settings file is in a line that is a comment.
func inComment(text string, at int) bool {
	line := strings.TrimLeft(text[strings.LastIndexByte(text[:at], '\n')+1:at], " \t")
	return slices.ContainsFunc(comments, func(c string) bool { return strings.HasPrefix(line, c) })
}

// ReplaceCacheAddresses returns text with every loopback address in the words
// that with gives for it. Those in comments stay.
func ReplaceCacheAddresses(text string, with func(CacheAddress) string) string {
	var out strings.Builder
	at := 0
	for _, m := range cacheAddress.FindAllStringSubmatchIndex(text, -1) {
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		end := m[1]
		if inComment(text, m[0]) {
			continue
		}
		// Part of a longer name or number is another address.
		if m[0] > 0 && strings.ContainsAny(text[m[0]-1:m[0]], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ||
			end < len(text) && strings.ContainsAny(text[end:end+1], "0123456789") {
			continue
		}
		a := CacheAddress{Text: text[m[0]:end], Scheme: group(1), User: group(2), Port: group(3), DB: group(4), Query: group(5)}
		out.WriteString(text[at:m[0]])
		out.WriteString(with(a))
		at = end
	}
	out.WriteString(text[at:])
	return out.String()
}

// WithSocket returns the address with a socket in place of host and port, in
// the form that clients of the kind take; "" if that is not known. memcached:
// the path itself (PHP's memcached, pymemcache, Dalli) or memcached:///path
// (Symfony). Redis: unix:///path for tcp:// (phpredis, Predis) and redis://
// (redis-py, go-redis), the path for a bare address (go-redis).
func (a CacheAddress) WithSocket(kind stack.Kind, socket string) string {
	switch {
	case kind == stack.Memcached && a.Scheme == "" && a.DB == "":
		return socket + a.Query
	case kind == stack.Memcached && a.Scheme == "memcached" && a.DB == "":
		return "memcached://" + a.User + socket + a.Query
	case kind == stack.Redis && a.Scheme == "" && a.DB == "" && a.Query == "":
		return socket
	case kind == stack.Redis && (a.Scheme == "tcp" || a.Scheme == "redis"):
		query := a.Query
		if a.DB != "" && a.DB != "0" {
			query = "?db=" + a.DB
			if len(a.Query) > 1 {
				query += "&" + a.Query[1:]
			}
		}
		return "unix://" + a.User + socket + query
	}
	return ""
}

// CacheClient is one place where a client on the cache's host names its
// loopback address.
type CacheClient struct {
	Service string // whose processes read it
	// File of settings; "" is session.save_path of a php-fpm service.
	File string
	// Text is the address as it is written.
	Text string
}

// CacheClients are the places that Kasoku can edit: session.save_path of
// PHP-FPM services and the settings of applications.
func CacheClients(st *stack.Stack, snap *evidence.Snapshot, cache *stack.Service) []CacheClient {
	ports := map[string]bool{}
	for _, e := range CacheListens(snap, cache) {
		if port, ok := Loopback(e); ok {
			ports[port] = true
		}
	}
	var out []CacheClient
	find := func(c CacheClient, text string) {
		ReplaceCacheAddresses(text, func(a CacheAddress) string {
			if ports[a.Port] {
				c.Text = a.Text
				out = append(out, c)
			}
			return a.Text
		})
	}
	for i := range st.Services {
		s := &st.Services[i]
		if hostOf(s) != hostOf(cache) {
			continue
		}
		if php := snap.PHP[s.Name]; php["session.save_handler"] == string(cache.Kind) {
			find(CacheClient{Service: s.Name}, php["session.save_path"])
		}
		for _, file := range s.Settings {
			name := s.Name
			if s.RunsIn != "" {
				name = s.RunsIn
			}
			find(CacheClient{Service: name, File: file}, string(snap.Files[hostOf(s)][file].Content))
		}
	}
	return out
}

// CacheListens are the endpoints of a cache by its configuration in the
// snapshot, else by kasoku.yaml.
func CacheListens(snap *evidence.Snapshot, cache *stack.Service) []string {
	if cache.Config != "" {
		read, glob := files(snap, cache)
		if out := stack.CacheEndpoints(cache, read, glob); len(out) > 0 {
			return out
		}
	}
	return cache.Listen
}

// MemcachedConfig parses a memcached service's options out of the snapshot.
func MemcachedConfig(snap *evidence.Snapshot, svc *stack.Service) (*memcached.Config, error) {
	read, _ := files(snap, svc)
	data, err := read(svc.Config)
	if err != nil {
		return nil, err
	}
	conf := memcached.Parse(svc.Config, data)
	return conf, conf.Err()
}

// RedisConfig parses a Redis service's configuration out of the snapshot.
func RedisConfig(snap *evidence.Snapshot, svc *stack.Service) (*redis.Config, error) {
	read, glob := files(snap, svc)
	conf, err := redis.Load(svc.Config, read, glob)
	if err != nil {
		return nil, err
	}
	return conf, conf.Err()
}
