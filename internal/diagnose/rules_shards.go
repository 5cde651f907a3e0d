package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/stack"
)

const (
	// hotShard: a shard that is asked this many times as often as the mean of
	// all. A key spread by a hash gives each the same but for noise: of 1,000
	// keys over four shards the busiest seldom holds more than 1.12 times the
	// mean (binomial, 95 %).
	hotShard = 1.3
	// shardCalls to all in a run are the least that are judged.
	shardCalls = 1000
)

// judgeHotShard: databases with the same tables, or instances of memcached, that
// one service asks share one set of keys; one of them gets far more (I18).
func judgeHotShard(m *model) ([]Finding, string) {
	var out []Finding
	for _, group := range m.shards() {
		calls := make([]float64, len(group))
		sum, most := 0.0, 0
		for i, svc := range group {
			n, ok := m.shardCalls(svc)
			if !ok {
				return nil, m.unread(svc.Name)
			}
			calls[i], sum = n, sum+n
			if n > calls[most] {
				most = i
			}
		}
		mean := sum / float64(len(group))
		if sum < shardCalls || calls[most] < hotShard*mean {
			continue
		}
		var texts []string
		cpu := 0.0
		for i, svc := range group {
			texts = append(texts, fmt.Sprintf("%s got %.0f (%s)", svc.Name, calls[i], percent(calls[i]/sum)))
			cpu += m.perReq[svc.Name] / float64(len(group))
		}
		hot := group[most]
		out = append(out, about(hot.Name, fmt.Sprintf("%s is a hot shard", hot.Name),
			fmt.Sprintf("Of %.0f calls in the run %s: ×%.2f of an even share. Unless one key is asked that often, it is how the shard follows from the key: IDs that several processes make have low digits that collide, and their modulo with them; a hash of the whole key spreads them.", sum, strings.Join(texts, ", "), calls[most]/mean),
			"counters of "+hot.Name).bounded(m.boundBy(hot.Name, m.perReq[hot.Name]-cpu)))
	}
	return out, ""
}

// shardCalls is how often a shard was asked in the run.
func (m *model) shardCalls(svc *stack.Service) (float64, bool) {
	delta := m.counters(svc.Name)
	if svc.Kind != stack.Memcached {
		return delta("Questions")
	}
	get, ok := delta("cmd_get")
	set, _ := delta("cmd_set")
	return get + set, ok
}

// shards are groups of services that one service asks and that share its keys,
// each group once, in the order of the stack.
func (m *model) shards() (out [][]*stack.Service) {
	seen := map[string]bool{}
	for i := range m.in.Stack.Services {
		by := map[string][]*stack.Service{}
		var keys []string
		for _, name := range slices.Compact(slices.Sorted(slices.Values(m.in.Stack.Services[i].TalksTo))) {
			svc := m.in.Stack.Service(name)
			if svc == nil || svc.SpareFor != "" {
				continue
			}
			if key := m.shardOf(svc); key != "" {
				keys = append(keys, key)
				by[key] = append(by[key], svc)
			}
		}
		for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
			var names []string
			for _, svc := range by[key] {
				names = append(names, svc.Name)
			}
			if id := strings.Join(names, "\n"); len(names) > 1 && !seen[id] {
				seen[id] = true
				out = append(out, by[key])
			}
		}
	}
	return out
}

// shardOf names what a service may be a shard of; "": of nothing. Databases are
// by their tables, whose schemas are often named by the shard; those that
// replicate, or are nodes of one cluster, hold the same rows.
func (m *model) shardOf(svc *stack.Service) string {
	switch svc.Kind {
	case stack.Memcached:
		return string(svc.Kind)
	case stack.MariaDB, stack.MySQL:
	default:
		return "" // what several Redis hold is not seen
	}
	db := m.in.Snapshot.Databases[svc.Name]
	if db == nil || db.Replicas != 0 {
		return ""
	}
	if cluster, _ := fold(db.Variables, "wsrep_on"); strings.EqualFold(cluster, "on") {
		return ""
	}
	var names []string
	for _, t := range db.Tables {
		names = append(names, t.Name)
	}
	return strings.Join(slices.Sorted(slices.Values(names)), "\n")
}
