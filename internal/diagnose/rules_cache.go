package diagnose

import (
	"fmt"
	"math"
	"strings"

	"kasoku/internal/stack"
)

// Signs of memcached (its doc/protocol.txt, "Statistics") and Redis (manual,
// INFO), and of Varnish (varnish-counters(7)).

func judgeEvictions(m *model) ([]Finding, string) {
	return m.eachCounted(func(svc *stack.Service, delta, value func(string) (float64, bool)) []Finding {
		n, _ := delta("evictions")
		name, setting, limit := "evictions", "-m", "limit_maxbytes"
		if svc.Kind == stack.Redis {
			n, _ = delta("evicted_keys")
			name, setting, limit = "evicted_keys", "maxmemory", "maxmemory"
		}
		if n/m.window < rare {
			return nil
		}
		have, _ := value(limit)
		text := fmt.Sprintf("%s rose by %.0f in %.0f s at a limit of %s; what was thrown away is made again.", name, n, m.window, size(int64(have)))
		if sample, ok := value("sample_items"); ok && sample > 0 {
			never, _ := value("sample_items_without_expiry")
			text += fmt.Sprintf(" Of %.0f sampled entries %.0f have no expiry; an application that gives each one makes room by itself.", sample, never)
		}
		return []Finding{about(svc.Name, svc.Name+" throws entries away for lack of memory", text,
			"counter "+name+" of "+svc.Name).
			asks(Setting{Service: svc.Name, Name: setting, Now: size(int64(have)), Up: 1, Memory: int64(have)}).bounded(m.boundApp())}
	}, stack.Memcached, stack.Redis)
}

// boundApp is the bound when all work of the application and its databases
// went away for cached answers.
func (m *model) boundApp() (ceiling, string) {
	saved := map[string]float64{}
	for _, svc := range m.in.Stack.Services {
		if svc.IsDatabase() || svc.Kind == stack.PHPFPM || svc.Kind == stack.App {
			saved[svc.Name] = m.perReq[svc.Name]
		}
	}
	return m.boundOf(saved)
}

// boundCalls is the bound when a service and all of the kernel's work were
// spared: that of calls to it.
func (m *model) boundCalls(service string) (ceiling, string) {
	at := map[string]float64{}
	for _, k := range m.machines {
		at[k.name] = k.sysCPU
	}
	at[m.hostOf(service)] += m.perReq[service]
	return m.boundAt(at)
}

// lowHits: below it more than half of the look-ups are in vain.
const lowHits = 0.5

func judgeHitRate(m *model) ([]Finding, string) {
	return m.eachCounted(func(svc *stack.Service, delta, _ func(string) (float64, bool)) []Finding {
		hit, miss := "get_hits", "get_misses"
		switch svc.Kind {
		case stack.Redis:
			hit, miss = "keyspace_hits", "keyspace_misses"
		case stack.Varnish:
			hit, miss = "MAIN.cache_hit", "MAIN.cache_miss"
		default: // memcached's names, as above
		}
		h, okH := delta(hit)
		n, okM := delta(miss)
		if !okH || !okM || (h+n)/m.window < rare || h >= lowHits*(h+n) {
			return nil
		}
		return []Finding{about(svc.Name, fmt.Sprintf("%s has only %s of what it is asked for", svc.Name, percent(h/(h+n))),
			fmt.Sprintf("%.0f hits and %.0f misses in %.0f s: keys that are never set, that expire too soon or that hold something which differs for each request.", h, n, m.window),
			hit+", "+miss+" of "+svc.Name).bounded(m.boundApp())}
	}, stack.Memcached, stack.Redis, stack.Varnish)
}

func judgeCacheRefuses(m *model) ([]Finding, string) {
	return m.eachCounted(func(svc *stack.Service, delta, value func(string) (float64, bool)) []Finding {
		// A memcached that is full answers with an error at once
		// (maxconns_fast, the default of 1.6); without it, it stops to accept
		// (doc/protocol.txt: rejected_connections, listen_disabled_num).
		n, _ := delta("listen_disabled_num")
		name, setting := "listen_disabled_num", "-c"
		if fast, _ := delta("rejected_connections"); svc.Kind == stack.Memcached && fast > 0 {
			n, name = fast, "rejected_connections"
		}
		if svc.Kind == stack.Redis {
			n, _ = delta("rejected_connections")
			name, setting = "rejected_connections", "maxclients"
		}
		limit, okL := value("max_connections")
		now, okN := value("curr_connections")
		if svc.Kind == stack.Redis {
			limit, okL = value("maxclients")
			now, okN = value("connected_clients")
		}
		near := okL && okN && limit > 0 && now >= nearLimit*limit
		if n == 0 && !near {
			return nil
		}
		return []Finding{about(svc.Name, svc.Name+" is at its limit of connections",
			fmt.Sprintf("%s rose by %.0f in %.0f s; %.0f of %.0f connections are in use. Watch servers × workers when connections are kept.", name, n, m.window, now, limit),
			name+" of "+svc.Name).asks(Setting{Service: svc.Name, Name: setting, Now: fmt.Sprint(limit), Up: 1}).bounded(m.boundWait())}
	}, stack.Memcached, stack.Redis)
}

// judgeCacheConnects: a connection for each request (C12, C13).
func judgeCacheConnects(m *model) ([]Finding, string) {
	return m.eachCounted(func(svc *stack.Service, delta, _ func(string) (float64, bool)) []Finding {
		name := "total_connections"
		if svc.Kind == stack.Redis {
			name = "total_connections_received"
		}
		n, ok := delta(name)
		per := n / (m.x * m.window)
		if !ok || per < 0.5 {
			return nil
		}
		return []Finding{about(svc.Name, "The application connects to "+svc.Name+" for each request",
			fmt.Sprintf("%.0f connections for %.0f right answers (%.2f each). Persistent connections (a persistent id, pconnect, a pool) save the set-up; servers × workers must stay below the limit.", n, m.x*m.window, per),
			name+" of "+svc.Name).bounded(m.boundCalls(svc.Name))}
	}, stack.Memcached, stack.Redis)
}

// manyGets per request are more than a page's parts: they are of a list.
const manyGets = 10

func judgeManyGets(m *model) ([]Finding, string) {
	return m.eachCounted(func(svc *stack.Service, delta, _ func(string) (float64, bool)) []Finding {
		name := "cmd_get"
		if svc.Kind == stack.Redis {
			name = "total_commands_processed"
		}
		n, ok := delta(name)
		per := n / (m.x * m.window)
		if !ok || per < manyGets {
			return nil
		}
		return []Finding{about(svc.Name, fmt.Sprintf("Each request sends %.0f commands to %s", per, svc.Name),
			fmt.Sprintf("%s rose by %.0f for %.0f right answers. If they go one by one, each waits a round trip: one multi-get or a pipeline waits once.", name, n, m.x*m.window),
			name+" of "+svc.Name).bounded(m.boundCalls(svc.Name))}
	}, stack.Memcached, stack.Redis)
}

const (
	// slowerBy: the last third's median over the first's that is growth, not
	// noise; slowCache a median that is slow for a look-up on one host.
	slowerBy  = 2.0
	slowCache = 1e-3
)

func judgeCacheLatency(m *model) ([]Finding, string) {
	var out []Finding
	seen := false
	for _, p := range m.in.Evidence.Latencies {
		seen = true
		grows := p.First > 0 && float64(p.Last) >= slowerBy*float64(p.First) && p.Last.Seconds() >= slowCache/2
		if !grows && p.P50.Seconds() < slowCache {
			continue
		}
		text := fmt.Sprintf("%s took %s at the median (p99 %s, %d probes); %s in the first third of the run, %s in the last.",
			p.Command, seconds(p.P50.Seconds()), seconds(p.P99.Seconds()), p.Count, seconds(p.First.Seconds()), seconds(p.Last.Seconds()))
		if grows {
			text += " Entries that never expire pile up and are evicted one by one; an expiry of an hour or less keeps it level."
		}
		out = append(out, about(p.Service, p.Service+" answers slowly", text, "latency probe of "+p.Service).bounded(m.boundDelay(p.P50.Seconds())))
	}
	if !seen && len(m.in.Stack.OfKind(stack.Memcached, stack.Redis)) > 0 {
		return nil, "no latency of a cache was probed"
	}
	return out, ""
}

func judgeRedisPersistence(m *model) ([]Finding, string) {
	return m.eachCounted(func(svc *stack.Service, _, _ func(string) (float64, bool)) []Finding {
		v := m.in.Evidence.Counters[svc.Name].Value
		save, _ := fold(v, "config.save")
		fsync, _ := fold(v, "config.appendfsync")
		aof, _ := fold(v, "aof_enabled")
		var texts []string
		var asks []Setting
		if aof == "1" && fsync == "always" {
			texts = append(texts, "every write is synced to disk (appendfsync always)")
			asks = append(asks, Setting{Service: svc.Name, Name: "appendfsync", Now: "always", To: "everysec"})
		}
		if changes, _ := fold(v, "rdb_changes_since_last_save"); strings.TrimSpace(save) != "" && changes != "" {
			if n, _ := number(changes); n/m.window >= 1000 {
				texts = append(texts, fmt.Sprintf("snapshots are written while %.0f writes wait for the next (save %s): each forks and copies pages", n, save))
				asks = append(asks, Setting{Service: svc.Name, Name: "save", Now: save, Up: -1})
			}
		}
		if len(texts) == 0 {
			return nil
		}
		return []Finding{about(svc.Name, svc.Name+" writes to disk under load", strings.Join(texts, "; ")+". Less often loses the last writes in a crash.", "INFO persistence, CONFIG of "+svc.Name).
			asks(asks...).bounded(m.boundWait())}
	}, stack.Redis)
}

func judgeVarnishStorage(m *model) ([]Finding, string) {
	return m.eachCounted(func(svc *stack.Service, delta, _ func(string) (float64, bool)) []Finding {
		n, _ := delta("MAIN.n_lru_nuked")
		if n/m.window < rare {
			return nil
		}
		return []Finding{about(svc.Name, svc.Name+"'s storage is full",
			fmt.Sprintf("%.0f objects were thrown out for new ones in %.0f s (MAIN.n_lru_nuked).", n, m.window), "MAIN.n_lru_nuked of "+svc.Name).
			asks(Setting{Service: svc.Name, Name: "-s", Up: 1}).bounded(m.boundApp())}
	}, stack.Varnish)
}

// judgeVarnishQueue: requests that wait for a thread. MAIN.threads_limited counts
// only when a pool reaches its limit, and stays as it is while the pool is there
// (cache_wrk.c, pool_herder), so that all threads at work and a queue tell it, too.
func judgeVarnishQueue(m *model) ([]Finding, string) {
	return m.eachCounted(func(svc *stack.Service, delta, value func(string) (float64, bool)) []Finding {
		limited, _ := delta("MAIN.threads_limited")
		queued, _ := delta("MAIN.sess_queued")
		dropped, _ := delta("MAIN.sess_dropped")
		failed, _ := delta("MAIN.threads_failed")
		threads, _ := value("MAIN.threads")
		full := false
		if start, err := FindVarnishStart(m.in.Snapshot, svc); err == nil {
			full = threads >= float64(start.Number("thread_pools")*start.Number("thread_pool_max")) && queued/m.window >= rare
		}
		if limited+dropped+failed == 0 && !full {
			return nil
		}
		f := about(svc.Name, svc.Name+" has too few threads",
			fmt.Sprintf("%.0f times no thread could be made (MAIN.threads_limited), %.0f requests waited for one of %.0f, and %.0f sessions were dropped in %.0f s.", limited+failed, queued, threads, dropped, m.window), "MAIN.threads_limited, sess_queued and sess_dropped of "+svc.Name)
		switch {
		case limited > 0 || full:
			f = f.asks(Setting{Service: svc.Name, Name: "thread_pool_max", Up: 1})
		case dropped > 0:
			f.Text += " Below the limit the queue ran over (thread_queue_limit) while threads were being made: more should be kept."
			f = f.asks(Setting{Service: svc.Name, Name: "thread_pool_min", Up: 1})
		default:
			f.Text += " The operating system refused them (MAIN.threads_failed)."
		}
		return []Finding{f.bounded(m.boundWait())}
	}, stack.Varnish)
}

// judgeNoCache: nothing is kept although most statements read the same
// rows again and again (W05).
func judgeNoCache(m *model) ([]Finding, string) {
	if len(m.in.Stack.OfKind(stack.Memcached, stack.Redis)) > 0 {
		return nil, ""
	}
	return m.eachDB(func(v dbView) []Finding {
		reads, _ := v.delta("Com_select")
		writes := 0.0
		for _, c := range []string{"Com_insert", "Com_update", "Com_delete", "Com_replace"} {
			n, _ := v.delta(c)
			writes += n
		}
		share := m.perReq[v.svc.Name] / math.Max(m.allCPU, 1e-12)
		// A hundred reads for each write and a fifth of the CPU: what is read
		// hardly changes, and reading it is not cheap.
		if reads < 100*math.Max(writes, 1) || share < 0.2 {
			return nil
		}
		return []Finding{about(v.svc.Name, "What "+v.svc.Name+" is asked for hardly changes, and nothing keeps it",
			fmt.Sprintf("%.0f reads for %.0f writes in %.0f s, %s of the CPU per request; the stack has no memcached or Redis. Where the application supports one, it is a setting.", reads, writes, m.window, percent(share)),
			"Com_select, Com_insert, Com_update, Com_delete of "+v.svc.Name).bounded(m.serviceBound(v.svc.Name))}
	})
}
