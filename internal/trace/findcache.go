package trace

// Commands of caches by what they do. Redis: commands reference; memcached:
// protocol.txt.
var (
	cacheReads = wordSet("get gets mg gat mget hget hmget hgetall hkeys hvals hlen hexists exists lrange lindex llen smembers sismember scard zrange zrangebyscore zrevrange zscore zrank zrevrank zcard getrange strlen ttl pttl type")
	cacheSets  = wordSet("set setex psetex hset hmset ms")
	// Reads that answer differently each time, or are there for their effect,
	// are in none of these.
	redisSingles = wordSet("get set setex hget hset hgetall hmget hincrby incr incrby decr decrby exists expire pexpire ttl sadd srem sismember smembers scard zadd zincrby zscore zrank zrem zcard lpush rpush lrange llen del unlink getset append strlen hexists hlen hdel type zrevrank")
)

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	start := 0
	for i := 0; i <= len(words); i++ {
		if i == len(words) || words[i] == ' ' {
			out[words[start:i]] = true
			start = i + 1
		}
	}
	return out
}

// known: its key is known, not a placeholder.
func (c *call) keyed() bool {
	return len(c.Keys) > 0 && c.Keys[0] != "" && c.Keys[0] != "?" && c.Kind == ""
}

// findSameKeys: a key read again, with nothing written to it between.
func findSameKeys(st *stream) []occurrence {
	type id struct {
		verb, key string
		value     uint64
	}
	live := map[id][]*call{}
	var order []id
	var done [][]*call
	for i := range st.calls {
		c := &st.calls[i]
		if !c.keyed() {
			continue
		}
		if !cacheReads[c.verb] {
			for _, key := range c.Keys {
				for _, have := range order {
					if have.key == key && live[have] != nil {
						done = append(done, live[have])
						delete(live, have)
					}
				}
			}
			continue
		}
		for _, key := range c.Keys {
			n := id{c.verb, key, c.Value}
			if live[n] == nil {
				order = append(order, n)
			}
			live[n] = append(live[n], c)
		}
	}
	for _, n := range order {
		if live[n] != nil {
			done = append(done, live[n])
			delete(live, n)
		}
	}
	var out []occurrence
	for _, calls := range done {
		if len(calls) < again {
			continue
		}
		out = append(out, occurrence{kind: SameRead, what: calls[0].what, calls: calls, could: 1,
			better: "once; keep the value in a map for the rest of the request"})
	}
	return out
}

// findSameWrites: a key set again to what it was set to before in the request.
// memcached's stream shows a value's size only; there the same size counts.
func findSameWrites(st *stream) []occurrence {
	type written struct {
		value uint64
		size  int64
		calls []*call
	}
	live := map[string]*written{}
	var order []string
	var out []occurrence
	end := func(w *written) {
		if len(w.calls) < again {
			return
		}
		better := "once; or add, which leaves a value that is there"
		if w.value == 0 {
			better += " (values of the same size; the stream does not show them)"
		}
		out = append(out, occurrence{kind: SameWrite, what: w.calls[0].what, calls: w.calls, could: 1, better: better})
	}
	for i := range st.calls {
		c := &st.calls[i]
		if !c.keyed() || cacheReads[c.verb] {
			continue
		}
		for _, key := range c.Keys {
			w := live[key]
			same := w != nil && cacheSets[c.verb] && w.calls[0].verb == c.verb && w.value == c.Value && w.size == c.Size && (c.Value != 0 || c.Size != 0)
			if same {
				w.calls = append(w.calls, c)
				continue
			}
			if w != nil {
				end(w)
				delete(live, key)
			}
			if cacheSets[c.verb] {
				live[key] = &written{value: c.Value, size: c.Size, calls: []*call{c}}
				order = append(order, key)
			}
		}
	}
	for _, key := range order {
		if w := live[key]; w != nil {
			end(w)
			delete(live, key)
		}
	}
	return out
}

// findSingles: single commands of one form for several keys one after another,
// each its own round trip. A set of the key that was just missed belongs to
// the loop.
func findSingles(st *stream) []occurrence {
	var out []occurrence
	var run []*call
	flush := func() {
		if o, ok := singles(st.system, run); ok {
			out = append(out, o)
		}
		run = nil
	}
	for i := range st.calls {
		c := &st.calls[i]
		if c.Kind != "" {
			continue
		}
		if len(run) > 0 && c.what == run[0].what && c.verb == run[0].verb && len(c.Keys) == 1 {
			run = append(run, c)
			continue
		}
		if len(run) > 0 && fills(run[len(run)-1], c) {
			continue
		}
		flush()
		if len(c.Keys) == 1 && single(st.system, c.verb) {
			run = []*call{c}
		}
	}
	flush()
	return out
}

func single(system, verb string) bool {
	if system == Memcached {
		return verb == "get" || verb == "gets" || verb == "mg"
	}
	return redisSingles[verb]
}

// fills: after a miss the value is made and set.
func fills(get, set *call) bool {
	return cacheReads[get.verb] && !cacheReads[set.verb] && len(set.Keys) == 1 && len(get.Keys) == 1 && get.Keys[0] == set.Keys[0]
}

// singles judges one run of commands of the same form.
func singles(system string, run []*call) (occurrence, bool) {
	keys := map[string]bool{}
	trips := map[[2]uint64]bool{}
	alone := 0
	for _, c := range run {
		if c.keyed() {
			keys[c.Keys[0]] = true
		}
		if c.Batch > 0 {
			trips[[2]uint64{c.Conn, uint64(c.Batch)}] = true
		} else {
			alone++
		}
	}
	unknown := len(run) > 0 && !run[0].keyed()
	if alone+len(trips) < fewest || !unknown && len(keys) < fewest {
		return occurrence{}, false
	}
	o := occurrence{kind: SingleGets, what: run[0].what, calls: run, could: 1, better: "one multi-get of all keys (getMulti, gets of several keys)"}
	if system == Redis {
		o.kind = SingleRedis
		switch run[0].verb {
		case "get":
			o.better = "one MGET of all keys, or a pipeline"
		case "set":
			o.better = "one MSET of all keys, or a pipeline"
		default:
			o.better = "one pipeline of all of them"
		}
	}
	return o, true
}
