package diagnose

import (
	"fmt"

	"kasoku/internal/stack"
)

// perConnection are the buffers that a connection may take, each as often as a
// statement needs it; once each is the usual estimate (MySQL manual, "How MySQL
// Uses Memory").
var perConnection = []string{"sort_buffer_size", "read_buffer_size", "read_rnd_buffer_size", "join_buffer_size", "thread_stack", "binlog_cache_size", "max_heap_table_size"}

// shared are taken once.
var sharedBuffers = []string{"innodb_buffer_pool_size", "innodb_log_buffer_size", "key_buffer_size", "query_cache_size", "aria_pagecache_buffer_size"}

// pageWriteCost is at most the CPU time that a checkpoint takes to write a page,
// in seconds: a checksum over it and two writes (doublewrite). On cases/login it
// was below 40 µs (docs/reference/database-settings.md).
const pageWriteCost = 100e-6

// oldCheckpoint is the part of what the redo log holds from which on writers may
// wait for a checkpoint: from 7/8 on pages are written as fast as can be, at the
// whole of it writers wait (MariaDB manual, "InnoDB Page Flushing").
const oldCheckpoint = 0.9

// checkpointCost is at most the CPU time per request that a larger redo log saves
// where this one is full after so many seconds: that of the pages which a
// checkpoint writes by then. Where writers may wait for a checkpoint, or all for
// the disk, it may be all that the database spends.
func (m *model) checkpointCost(svc *stack.Service, full float64) float64 {
	all := m.perReq[svc.Name]
	_, counter, missing := m.database(svc.Name)
	value := m.values(svc.Name)
	dirty, known := value("Innodb_buffer_pool_pages_dirty")
	if missing != "" || !known || m.x <= 0 || full <= 0 || m.at(svc.Name).sys.DiskBusy >= saturatedDisk {
		return all
	}
	age, _ := value("Innodb_checkpoint_age")
	if most, ok := value("Innodb_checkpoint_max_age"); ok && age >= oldCheckpoint*most {
		return all
	}
	flushed, _ := counter("Innodb_buffer_pool_pages_flushed")
	return min(max(flushed/m.window, dirty/full)*pageWriteCost/m.x, all)
}

// judgeOvercommit: what the configuration allows is more than there is.
func judgeOvercommit(m *model) ([]Finding, string) {
	known := true
	for _, svc := range m.in.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		known = known && m.memoryOf(svc) > 0
	}
	if !known {
		return nil, "the host's memory is not known"
	}
	return m.eachDB(func(v dbView) []Finding {
		var once, each float64
		for _, name := range sharedBuffers {
			n, _ := v.variable(name)
			once += n
		}
		for _, name := range perConnection {
			n, _ := v.variable(name)
			each += n
		}
		used, _ := v.value("Max_used_connections")
		limit, _ := v.variable("max_connections")
		total := once + used*each
		// Nine tenths: the kernel and the other services need the rest.
		if total < 0.9*float64(m.memoryOf(v.svc)) {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+" may take more memory than there is",
			fmt.Sprintf("%s of shared buffers and %s for each connection; with the %.0f connections that were open at most (limit %.0f) that is %s of %s.",
				size(int64(once)), size(int64(each)), used, limit, size(int64(total)), size(m.memoryOf(v.svc))),
			"variables of "+v.svc.Name).
			asks(Setting{Service: v.svc.Name, Name: "innodb_buffer_pool_size", Now: v.db.Variables["innodb_buffer_pool_size"], Up: -1},
				Setting{Service: v.svc.Name, Name: "tmp_table_size", Now: v.db.Variables["tmp_table_size"], Up: -1}).atMost(1, "it is a risk, not a gain")}
	})
}

// judgePoolTooLarge: a buffer pool of several times the data is memory that
// others lack.
func judgePoolTooLarge(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		pool, _ := v.variable("innodb_buffer_pool_size")
		s := m.at(v.svc.Name).sys
		if v.db.DataBytes <= 0 || pool < 1<<30 || pool < 4*float64(v.db.DataBytes) || s.MemoryTotal == 0 || float64(s.MemoryAvailable) > 0.15*float64(s.MemoryTotal) {
			return nil
		}
		to := max(2*v.db.DataBytes, 256<<20)
		return []Finding{about(v.svc.Name, v.svc.Name+"'s buffer pool is much larger than its data",
			fmt.Sprintf("the pool is %s, data and indexes are %s, and only %s of memory are available; %s would hold all of it and leave room to grow.", size(int64(pool)), size(v.db.DataBytes), size(s.MemoryAvailable), size(to)),
			"innodb_buffer_pool_size of "+v.svc.Name).
			asks(Setting{Service: v.svc.Name, Name: "innodb_buffer_pool_size", Now: fmt.Sprintf("%.0f", pool), To: fmt.Sprint(to), Up: -1, Memory: to - int64(pool)}).bounded(m.boundWait())}
	})
}
