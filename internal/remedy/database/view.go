package database

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
)

// view is one database server with what sizes are computed from.
type view struct {
	in  planning.Input
	svc *stack.Service
	db  *evidence.Database
	f   diagnose.Finding
	// set are values that this plan has settled before; they count as now.
	set map[string]int64
	// asked is the size that a search tries of its first knob, 0 if none does.
	asked int64
}

func newView(in planning.Input, f diagnose.Finding) (view, error) {
	v := view{in: in, svc: in.Stack.Service(f.Service), db: in.Snapshot.Databases[f.Service], f: f, set: map[string]int64{}}
	if v.svc == nil || v.db == nil {
		return v, fmt.Errorf("the variables of %s are not known", f.Service)
	}
	return v, nil
}

// has reports whether this server has the variable.
func (v view) has(name string) bool { _, ok := v.db.Variables[name]; return ok }

// persisted says why an option file cannot decide about a variable; "" if it
// can. What SET PERSIST wrote counts above every option file (MySQL manual,
// "Persisted System Variables"), with the time at which it was written, so that
// it could not be put back as it was.
func (v view) persisted(name string) string {
	value, ok := v.db.Persisted[name]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s is left alone: SET PERSIST wrote %s into mysqld-auto.cnf, which counts above the option files; RESET PERSIST %s first", name, value, name)
}

// tempTable reports whether temporary tables are in MySQL's TempTable engine,
// which temptable_max_ram bounds for all together, and tmp_table_size each one
// since 8.0.28 (MySQL manual, "Internal Temporary Table Use"). max_heap_table_size
// is of the MEMORY engine.
func (v view) tempTable() bool {
	return strings.EqualFold(v.db.Variables["internal_tmp_mem_storage_engine"], "TempTable")
}

// now is a variable's value, 0 if it is none or no number.
func (v view) now(name string) int64 {
	if n, ok := v.set[name]; ok {
		return n
	}
	n, err := strconv.ParseFloat(v.db.Variables[name], 64)
	if err != nil {
		return 0
	}
	return int64(n)
}

// delta is what a counter rose by in the run's window; 0 if it is not known.
func (v view) delta(name string) float64 {
	for k, n := range v.in.Evidence.Counters[v.svc.Name].Delta {
		if strings.EqualFold(k, name) {
			return n
		}
	}
	return 0
}

// value is a status variable at the window's end; 0 if it is not known.
func (v view) value(name string) int64 {
	for k, text := range v.in.Evidence.Counters[v.svc.Name].Value {
		if strings.EqualFold(k, name) {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return 0
			}
			return int64(n)
		}
	}
	return 0
}

// connections that were open at most; the limit if that is not known.
func (v view) connections() int64 {
	if n := v.value("Max_used_connections"); n > 0 {
		return n
	}
	return max(v.now("max_connections"), 1)
}

// keepsConnections reports whether clients stay connected over requests: then
// a value that a session takes when it begins reaches them by a restart only.
// One connection for every second request is the sign of those that do not
// (as in the rule db.connect-per-request).
func (v view) keepsConnections() bool {
	load := v.in.Evidence.Load
	return load == nil || v.delta("Connections") < 0.5*float64(load.Succeeded)
}

// perConnection are buffers that each connection may take (MySQL manual, "How
// MySQL Uses Memory"), and shared are taken once.
var (
	perConnection = []string{"sort_buffer_size", "read_buffer_size", "read_rnd_buffer_size", "join_buffer_size", "thread_stack", "binlog_cache_size"}
	shared        = []string{"innodb_buffer_pool_size", "innodb_log_buffer_size", "key_buffer_size", "query_cache_size", "aria_pagecache_buffer_size"}
)

// each is what one connection may take, once each.
func (v view) each() int64 {
	sum := min(v.now("tmp_table_size"), v.now("max_heap_table_size"))
	for _, name := range perConnection {
		sum += v.now(name)
	}
	return sum
}

// most is what the server may take if every allowed connection took all.
func (v view) most() int64 {
	sum := v.now("max_connections") * v.each()
	for _, name := range shared {
		sum += v.now(name)
	}
	return sum
}

// memory is what its host has for the server, bytes: all of it without the
// regulation's headroom and without what all other processes used at the most. 0: not
// known.
func (v view) memory() int64 {
	all := planning.MachineOf(v.in, v.svc).Memory
	free := all - all*int64(v.in.Stack.Regulation.Headroom())/100
	if sys := v.in.Evidence.On(planning.HostOf(v.svc)); sys != nil && sys.MemoryTotal > 0 {
		own := v.in.Evidence.Services[v.svc.Name].RSS
		free -= max(sys.MemoryTotal-sys.MemoryAvailable-own, 0)
	}
	return max(free, min(all, 1)) // 1: there is none
}

// with is the view after a variable was set.
func (v view) with(name string, n int64) view {
	set := maps.Clone(v.set)
	set[name] = n
	if name == "tmp_table_size" { // the two are raised together
		set["max_heap_table_size"] = max(n, v.now("max_heap_table_size"))
	}
	v.set = set
	return v
}

// mib prints bytes.
func mib(n int64) string {
	if n < 10*planning.MiB {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n/planning.MiB)
}
