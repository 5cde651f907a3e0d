package evidence

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// readStatus reads SHOW GLOBAL STATUS. It costs about 2 ms.
func readStatus(ctx context.Context, q querier) (map[string]string, error) {
	status, err := readPairs(ctx, q, "SHOW GLOBAL STATUS")
	if err != nil {
		return nil, fmt.Errorf("read counters of the database: %w", err)
	}
	return status, nil
}

// innodbMetrics are counters that MariaDB has among its status variables and
// MySQL in a table of its own, where they count unless somebody has switched
// them off (MySQL manual, "InnoDB INFORMATION_SCHEMA Metrics Table"). They get
// MariaDB's names.
var innodbMetrics = map[string]string{
	"lock_deadlocks":               "Innodb_deadlocks",
	"adaptive_hash_searches":       "Innodb_adaptive_hash_hash_searches",
	"adaptive_hash_searches_btree": "Innodb_adaptive_hash_non_hash_searches",
}

// readMetrics reads innodbMetrics of a MySQL server; none if the account lacks
// PROCESS.
func readMetrics(ctx context.Context, q querier) map[string]string {
	pairs, err := readPairs(ctx, q, `SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE STATUS = 'enabled'
		AND NAME IN ('lock_deadlocks', 'adaptive_hash_searches', 'adaptive_hash_searches_btree')`)
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for name, value := range pairs {
		out[innodbMetrics[strings.ToLower(name)]] = value
	}
	return out
}

// gauges are status variables that go up and down, by lower-case name or
// beginning of it (MariaDB Knowledge Base, "Server Status Variables" and
// "InnoDB Status Variables"; MySQL manual, "Server Status Variables").
var gauges = []string{
	"threads_connected", "threads_running", "threads_cached", "open_", "max_used_connections", "max_statement_time_",
	"innodb_buffer_pool_bytes_", "innodb_buffer_pool_pages_data", "innodb_buffer_pool_pages_dirty",
	"innodb_buffer_pool_pages_free", "innodb_buffer_pool_pages_misc", "innodb_buffer_pool_pages_total",
	"innodb_buffer_pool_pages_old", "innodb_checkpoint_age", "innodb_checkpoint_max_age", "innodb_data_pending_",
	"innodb_history_list_length", "innodb_mem_", "innodb_num_open_files", "innodb_os_log_pending_",
	"innodb_page_size", "innodb_row_lock_current_waits", "innodb_row_lock_time_avg", "innodb_row_lock_time_max",
	"innodb_ibuf_free_list", "innodb_ibuf_size", "innodb_ibuf_segment_size", "innodb_undo_truncations", "innodb_current_row_locks",
	"key_blocks_", "qcache_free_", "qcache_queries_in_cache", "qcache_total_blocks", "memory_used", "not_flushed_delayed_rows",
	"slave_open_temp_tables", "tc_log_", "threadpool_threads", "threadpool_idle_threads", "wsrep_", "last_query_cost",
	"rpl_semi_sync_", "uptime_since_flush_status", "prepared_stmt_count", "ssl_",
}

func gauge(name string) bool {
	l := strings.ToLower(name)
	for _, g := range gauges {
		if l == g || strings.HasPrefix(l, g) && (strings.HasSuffix(g, "_") || g == "memory_used") {
			return !strings.HasPrefix(l, "opened_")
		}
	}
	return false
}

// statusDelta is the difference of two readings. A counter that became
// smaller (FLUSH STATUS, a restart) is left out of Delta.
func statusDelta(begin, end map[string]string) CounterDelta {
	out := CounterDelta{Delta: map[string]float64{}, Value: end}
	for name, text := range end {
		if gauge(name) {
			continue
		}
		now, err1 := strconv.ParseFloat(text, 64)
		was, err2 := strconv.ParseFloat(begin[name], 64)
		if err1 == nil && err2 == nil && now >= was {
			out.Delta[name] = now - was
		}
	}
	return out
}
