package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/stack"
)

// judgeSessionConnect: a session store that is connected to for each request (C13).
func judgeSessionConnect(m *model) ([]Finding, string) {
	return m.eachPHP(func(svc *stack.Service, php map[string]string) []Finding {
		handler := php["session.save_handler"]
		kept, ask := false, Setting{Service: svc.Name}
		switch handler {
		case "memcached":
			kept = On(php["memcached.sess_persistent"])
			ask.Name, ask.Now, ask.To = "memcached.sess_persistent", "0", "1"
		case "redis", "memcache":
			kept = strings.Contains(php["session.save_path"], "persistent=1")
			ask.Name, ask.Now = "session.save_path", php["session.save_path"]
		default:
			return nil
		}
		if kept {
			return nil
		}
		f := about(svc.Name, "Sessions connect to "+handler+" for each request",
			fmt.Sprintf("session.save_handler is %s without a persistent connection; with one, servers × workers connections stay open and must be below the store's limit.", handler),
			"effective PHP settings of "+svc.Name).asks(ask).bounded(m.boundKernelOf(0.5, svc.Name))
		f.Subject = map[string]string{"handler": handler}
		return []Finding{f}
	})
}

// full is the share of a table or buffer of OPcache above which it is as good
// as full: OPcache stops adding scripts before the last byte.
const full = 0.95

// opcacheRooms are what of OPcache can be full, and what makes it larger.
var opcacheRooms = []struct{ room, setting string }{
	{"memory", "opcache.memory_consumption"}, {"files", "opcache.max_accelerated_files"}, {"strings", "opcache.interned_strings_buffer"},
}

// judgeOPcacheFull tells which of OPcache's rooms is full (PHP manual,
// opcache_get_status; the hash table's size is max_accelerated_files rounded up
// to a prime).
func judgeOPcacheFull(m *model) ([]Finding, string) {
	services := slices.DeleteFunc(PHPServices(m.in.Stack, m.in.Snapshot), func(svc *stack.Service) bool { return svc.Kind == stack.Apache && svc.Status == "" })
	missing := ""
	out, why := m.eachOf(services, func(svc *stack.Service, delta, value func(string) (float64, bool)) []Finding {
		if !m.tells(svc.Name, "opcache.") {
			missing = m.unread(svc.Name)
			return nil
		}
		php := m.in.Snapshot.PHP[svc.Name]
		var cites []string
		rooms := map[string]bool{}
		say := func(room, text string, args ...any) {
			rooms[room] = true
			cites = append(cites, fmt.Sprintf(text, args...))
		}
		isFull, okFull := fold(m.in.Evidence.Counters[svc.Name].Value, "opcache.cache_full")
		if oom, _ := delta("opcache.opcache_statistics.oom_restarts"); oom > 0 {
			say("memory", "%.0f restarts for lack of memory", oom)
		}
		keys, _ := value("opcache.opcache_statistics.num_cached_keys")
		most, okKeys := value("opcache.opcache_statistics.max_cached_keys")
		if hash, _ := delta("opcache.opcache_statistics.hash_restarts"); hash > 0 || okKeys && most > 0 && keys >= full*most {
			say("files", "%.0f of %.0f keys are used, %.0f restarts for lack of keys", keys, most, hash)
		}
		used, _ := value("opcache.interned_strings_usage.used_memory")
		buffer, okBuffer := value("opcache.interned_strings_usage.buffer_size")
		if okBuffer && buffer > 0 && used >= full*buffer {
			say("strings", "the buffer of interned strings is full (%s of %s), so every process keeps the rest for itself", size(int64(used)), size(int64(buffer)))
		}
		if okFull && On(isFull) && !rooms["memory"] && !rooms["files"] {
			say("memory", "the cache is full")
		}
		// What is compiled for the first time fills the cache; only what was in it lacks room.
		misses, _ := delta("opcache.opcache_statistics.misses")
		filled, _ := delta("opcache.opcache_statistics.num_cached_scripts")
		if again := misses - filled; again/m.window >= 10 {
			cites = append(cites, fmt.Sprintf("%.0f scripts a second were compiled again", again/m.window))
			if len(rooms) == 0 {
				rooms["memory"] = true
			}
		}
		if len(cites) == 0 {
			return nil
		}
		f := about(svc.Name, svc.Name+"'s OPcache is too small", strings.Join(cites, "; ")+".", "OPcache status of "+svc.Name)
		f.Subject = map[string]string{}
		for _, r := range opcacheRooms {
			room, name := r.room, r.setting
			if !rooms[room] {
				continue
			}
			ask := Setting{Service: svc.Name, Name: name, Now: php[name], Up: 1}
			// Both are MiB (PHP manual, "OPcache configuration").
			if mib, ok := number(php[name]); ok && room != "files" {
				ask.Memory = int64(mib) << 20
			}
			f.Subject[room] = php[name]
			f = f.asks(ask)
		}
		return []Finding{f.bounded(m.serviceBound(svc.Name))}
	})
	return out, cmp.Or(why, missing)
}
