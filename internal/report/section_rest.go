package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// failures: the answers that were wrong, each kind once.
func failures(run *store.Run) Section {
	s := Section{ID: "failures", Title: "Wrong answers", Columns: []string{"`request", "expected", "got", "step"}, Bad: true}
	if run.Evidence.Load == nil {
		return s
	}
	l := run.Evidence.Load
	if l.Mismatches+l.Timeouts+l.Errors == 0 && len(l.Samples) > 0 && l.Samples[0].Step == "load.command" {
		// A benchmark that passes has words to say, too.
		said := Section{ID: "said", Title: "What the benchmark said", Columns: []string{"`message"}}
		for _, m := range l.Samples {
			said.Rows = append(said.Rows, []string{m.Got})
		}
		return said
	}
	s.Note = fmt.Sprintf("%d wrong, %d without an answer in time, %d errors of connections; samples", l.Mismatches, l.Timeouts, l.Errors)
	for _, m := range l.Samples {
		s.Rows = append(s.Rows, []string{m.Request, m.Expected, m.Got, m.Step})
	}
	return s
}

// serviceLogs: what services complained about.
func serviceLogs(run *store.Run) Section {
	s := Section{ID: "logs", Title: "Error logs during the run", Columns: []string{"service", "level", ">times", "`message"}}
	for _, l := range run.Evidence.Logs {
		s.Rows = append(s.Rows, []string{l.Service, l.Level, number(l.Count), l.Text})
	}
	return s
}

// cacheCounters are where servers count what they could answer from memory:
// memcached "stats", Redis INFO, Varnish MAIN counters, OPcache status, InnoDB
// buffer pool.
var cacheCounters = []struct{ cache, hits, misses, evictions string }{
	{"memcached", "get_hits", "get_misses", "evictions"},
	{"redis", "keyspace_hits", "keyspace_misses", "evicted_keys"},
	{"varnish", "MAIN.cache_hit", "MAIN.cache_miss", "MAIN.n_lru_nuked"},
	{"OPcache", "opcache.opcache_statistics.hits", "opcache.opcache_statistics.misses", "opcache.opcache_statistics.oom_restarts"},
	{"query cache", "Qcache_hits", "Qcache_inserts", "Qcache_lowmem_prunes"},
}

// caches: hits and misses in the window.
func caches(run *store.Run) Section {
	s := Section{ID: "caches", Title: "Caches", Columns: []string{"service", "cache", ">hits", ">misses", ">hit rate", ">evicted"}}
	counters := run.Evidence.Counters
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		d := counters[name].Delta
		for _, c := range cacheCounters {
			hits, misses := d[c.hits], d[c.misses]
			if hits+misses > 0 {
				s.Rows = append(s.Rows, []string{name, c.cache, ui.Count(hits), ui.Count(misses), share(hits, hits+misses), ui.Count(d[c.evictions])})
			}
		}
		if asked, read := d["Innodb_buffer_pool_read_requests"], d["Innodb_buffer_pool_reads"]; asked > 0 {
			s.Rows = append(s.Rows, []string{name, "InnoDB buffer pool", ui.Count(asked - read), ui.Count(read), share(asked-read, asked), "–"})
		}
	}
	return s
}

func latencies(run *store.Run) Section {
	s := Section{ID: "latencies", Title: "Latency of caches", Note: "one small command at a time; first and last third: medians",
		Columns: []string{"service", "command", ">times", ">p50", ">p99", ">max", ">first third", ">last third"}}
	for _, l := range run.Evidence.Latencies {
		s.Rows = append(s.Rows, []string{l.Service, l.Command, number(l.Count), orDash(l.P50), orDash(l.P99), orDash(l.Max), orDash(l.First), orDash(l.Last)})
	}
	return s
}

// topFunctions: where profiles saw the time go, the service that used most CPU
// first; what waits comes after what works, and profiles of a few samples last.
func topFunctions(run *store.Run) Section {
	s := Section{ID: "functions", Title: "Where the code spends its time", Note: "self: in the function itself; total: with what it called",
		Columns: []string{"service", ">self", ">total", "`function", "`line", "profile"}}
	type row struct {
		cells  []string
		weight float64
	}
	var rows []row
	for _, p := range run.Evidence.Profiles {
		what := p.Tool + ", CPU"
		switch {
		case p.Of != "":
			what = p.Tool + ", " + p.Of
		case p.Wall:
			what = p.Tool + ", elapsed time"
		}
		what = fmt.Sprintf("%s, %d samples", what, p.Samples)
		for _, f := range p.Top {
			r := row{weight: f.Self * run.Evidence.Services[p.Service].CPU}
			text := what
			switch {
			case f.Waiting:
				text += "; waits"
				r.weight /= 1e3
			case p.Of != "":
				r.weight /= 10
			}
			if p.Samples < fewSamples {
				text += " (few)"
				r.weight /= 1e6
			}
			r.cells = []string{p.Service, ui.Share(f.Self), ui.Share(f.Total), f.Function, f.File, text}
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.weight, a.weight) })
	for _, r := range rows {
		s.Rows = append(s.Rows, r.cells)
	}
	return s
}

// fewSamples: with fewer, a share of 10 % is uncertain by 6 points or more.
const fewSamples = 25

// healthy: what the other sources covered, and what was not judged.
func healthy(run *store.Run) Section {
	s := Section{ID: "health", Title: "What the evidence covers", Columns: []string{"source", "what it covers"}}
	for _, h := range run.Evidence.Health {
		if h.OK {
			s.Rows = append(s.Rows, []string{h.Source, h.Text})
		}
	}
	slices.SortStableFunc(s.Rows, func(a, b []string) int {
		judged := func(r []string) int {
			if strings.HasPrefix(r[1], "not judged") {
				return 0
			}
			return 1
		}
		return cmp.Compare(judged(a), judged(b))
	})
	return s
}

// counted: every counter that moved, and what it shows at the end. Only for
// those who ask for everything.
func counted(run *store.Run) Section {
	s := Section{ID: "counters", Title: "Counters", Columns: []string{"service", "counter", ">in the window", "at the end"}}
	for _, service := range slices.Sorted(maps.Keys(run.Evidence.Counters)) {
		c := run.Evidence.Counters[service]
		for _, name := range slices.Sorted(maps.Keys(c.Delta)) {
			if c.Delta[name] != 0 {
				s.Rows = append(s.Rows, []string{service, name, ui.Count(c.Delta[name]), c.Value[name]})
			}
		}
	}
	return s
}
