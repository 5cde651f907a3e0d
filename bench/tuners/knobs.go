package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// knob is one setting that the random search draws: one of values, or a whole
// number between low and high, spread evenly over powers.
type knob struct {
	kind      stack.Kind
	key       string
	values    []string
	low, high float64
	unit      string
}

// knobs are the settings that Kasoku's own remedies for such a stack change
// and that trade nothing, with ranges as wide as the manuals call useful.
var knobs = []knob{
	{kind: stack.MariaDB, key: "innodb_buffer_pool_size", low: 16, high: 4096, unit: "M"},
	{kind: stack.MariaDB, key: "innodb_log_file_size", low: 8, high: 1024, unit: "M"},
	{kind: stack.MariaDB, key: "innodb_io_capacity", low: 100, high: 4000},
	{kind: stack.MariaDB, key: "innodb_io_capacity_max", low: 4000, high: 40000}, // never below the other
	{kind: stack.MariaDB, key: "innodb_lru_scan_depth", low: 100, high: 8192},
	{kind: stack.MariaDB, key: "innodb_max_dirty_pages_pct", low: 10, high: 99},
	{kind: stack.MariaDB, key: "innodb_flush_neighbors", values: []string{"0", "1", "2"}},
	{kind: stack.MariaDB, key: "innodb_flush_method", values: []string{"fsync", "O_DIRECT"}},
	{kind: stack.MariaDB, key: "innodb_log_buffer_size", low: 1, high: 256, unit: "M"},
	{kind: stack.MariaDB, key: "innodb_adaptive_hash_index", values: []string{"ON", "OFF"}},
	{kind: stack.MariaDB, key: "skip_name_resolve", values: []string{"ON", "OFF"}},
	{kind: stack.MariaDB, key: "max_connections", low: 64, high: 1024},
	{kind: stack.MariaDB, key: "back_log", low: 50, high: 1024},
	{kind: stack.MariaDB, key: "thread_cache_size", low: 1, high: 256},
	{kind: stack.MariaDB, key: "table_open_cache", low: 64, high: 8192},
	{kind: stack.MariaDB, key: "table_open_cache_instances", low: 1, high: 64},
	{kind: stack.MariaDB, key: "table_definition_cache", low: 400, high: 65536},
	{kind: stack.MariaDB, key: "open_files_limit", low: 1024, high: 65536},
	{kind: stack.MariaDB, key: "sort_buffer_size", low: 32, high: 8192, unit: "K"},
	{kind: stack.MariaDB, key: "join_buffer_size", low: 32, high: 8192, unit: "K"},
	{kind: stack.MariaDB, key: "read_buffer_size", low: 8, high: 2048, unit: "K"},
	{kind: stack.MariaDB, key: "read_rnd_buffer_size", low: 8, high: 4096, unit: "K"},
	{kind: stack.MariaDB, key: "tmp_table_size", low: 1, high: 256, unit: "M"},
	{kind: stack.MariaDB, key: "max_heap_table_size", low: 1, high: 256, unit: "M"},
	{kind: stack.MariaDB, key: "query_cache_size", values: []string{"0", "16M", "64M"}},
	{kind: stack.MariaDB, key: "query_cache_type", values: []string{"OFF", "ON"}},
	{kind: stack.PHPFPM, key: "opcache.enable", values: []string{"0", "1"}},
	{kind: stack.PHPFPM, key: "opcache.memory_consumption", low: 32, high: 512},
	{kind: stack.PHPFPM, key: "opcache.interned_strings_buffer", low: 4, high: 16}, // of memory_consumption
	{kind: stack.PHPFPM, key: "opcache.max_accelerated_files", low: 200, high: 100000},
	{kind: stack.PHPFPM, key: "opcache.jit", values: []string{"tracing", "function"}},
	{kind: stack.PHPFPM, key: "opcache.jit_buffer_size", values: []string{"0", "64M"}},
	{kind: stack.PHPFPM, key: "realpath_cache_size", values: []string{"16K", "4096K"}},
	{kind: stack.PHPFPM, key: "pm", values: []string{"static"}},
	{kind: stack.PHPFPM, key: "pm.max_children", low: 1, high: 64},
	{kind: stack.PHPFPM, key: "pm.max_requests", values: []string{"0", "500", "10000"}},
	{kind: stack.PHPFPM, key: "listen.backlog", low: 128, high: 4096},
	{kind: stack.Nginx, key: "worker_processes", low: 1, high: 8},
	{kind: stack.Nginx, key: "worker_connections", low: 256, high: 8192},
	{kind: stack.Nginx, key: "worker_rlimit_nofile", low: 1024, high: 65536},
	{kind: stack.Nginx, key: "sendfile", values: []string{"on", "off"}},
	{kind: stack.Nginx, key: "tcp_nopush", values: []string{"on", "off"}},
	{kind: stack.Nginx, key: "keepalive_timeout", values: []string{"0", "65s"}},
	{kind: stack.Nginx, key: "keepalive_requests", low: 10, high: 10000},
	{kind: stack.Nginx, key: "gzip_comp_level", low: 1, high: 9}, // where a switch compresses
	{kind: stack.Nginx, key: "gzip_min_length", low: 20, high: 4096},
}

// draw is a random value of the knob.
func (k knob) draw(r *rand.Rand) string {
	if len(k.values) > 0 {
		return k.values[r.IntN(len(k.values))]
	}
	v := math.Exp(math.Log(k.low) + r.Float64()*(math.Log(k.high)-math.Log(k.low)))
	return fmt.Sprintf("%.0f%s", v, k.unit)
}

// drawSets draws every knob of every service, as remedy.Set takes them. A
// variable that a server does not have is left out.
func drawSets(r *rand.Rand, st *stack.Stack, snap *evidence.Snapshot) []string {
	var out []string
	for _, k := range knobs {
		for _, svc := range st.OfKind(k.kind) {
			if k.kind == stack.MariaDB && !has(snap, svc.Name, k.key) {
				continue
			}
			out = append(out, fmt.Sprintf("%s.%s=%s", svc.Name, k.key, k.draw(r)))
		}
	}
	return out
}

// draws reports whether sets draw a service's setting.
func draws(sets []string, service, key string) bool {
	for _, s := range sets {
		if strings.HasPrefix(s, service+"."+key+"=") {
			return true
		}
	}
	return false
}
