package diagnose

import (
	"fmt"
	"strings"
)

// Rates below which a counter says nothing: what happens less than once a
// second costs less than any run can show.
const rare = 1.0

// ownLooks: Kasoku's own look at a server, at both ends of a window, was seen to make
// a temporary table on disk and a join without an index (MariaDB 10.11). In a window
// of a second that is not rare; so many events and fewer say nothing.
const ownLooks = 3

// dbLimit is a cache or limit of the server whose counter tells that it is too
// small. Each comes from the manual's text on the status variable.
type dbLimit struct {
	rule, counter string
	variables     []string // to raise
	// full is the status variable that stands at the first variable's value
	// when the cache is full; "" if the counter alone tells.
	full string
	// per is what one such event costs at most, seconds of the database's CPU;
	// 0: it is waiting, not CPU.
	per float64
	// rows are counters of the rows that such events handle, the first that the
	// server has counts, and perRow what each costs more at most, seconds.
	rows   []string
	perRow float64
	title  string
	text   string // what the counter means
}

// dbLimits of MariaDB and MySQL. The costs are upper ends: opening a table
// parses its definition (0.2 ms), a thread's creation takes 0.1 ms, a temporary
// table on disk is a file (1 ms) and each of its rows is looked up and written there
// (10 µs, twice what TestBufferSize in cases/remedies/database tells with -v: 2,500
// groups take 15.2 ms of CPU so, and 2.2 ms in memory, MariaDB 10.11), a merge pass reads and writes the sort buffer once (2 ms); they only bound
// the gain, they are no claim.
var dbLimits = []dbLimit{
	{"db.thread-cache", "Threads_created", []string{"thread_cache_size"}, "", 1e-4, nil, 0,
		"starts a thread for nearly each connection", "threads were started because none was kept (thread_cache_size)"},
	{"db.table-cache", "Opened_tables", []string{"table_open_cache"}, "Open_tables", 2e-4, nil, 0,
		"opens tables again and again", "tables were opened although they had been open before (table_open_cache is full)"},
	{"db.definition-cache", "Opened_table_definitions", []string{"table_definition_cache"}, "Open_table_definitions", 2e-4, nil, 0,
		"reads table definitions again and again", "definitions were read again (table_definition_cache is full)"},
	{"db.binlog-cache", "Binlog_cache_disk_use", []string{"binlog_cache_size"}, "", 1e-3, nil, 0,
		"writes transactions to a temporary file before the binary log", "transactions did not fit into binlog_cache_size"},
	{"db.tmp-disk", "Created_tmp_disk_tables", []string{"tmp_table_size", "max_heap_table_size"}, "", 1e-3, []string{"Handler_tmp_write", "Handler_write"}, 1e-5,
		"makes temporary tables on disk", "temporary tables did not fit into memory, or hold TEXT or BLOB columns, which never do (tmp_table_size, max_heap_table_size: the smaller counts)"},
	{"db.sort-merge", "Sort_merge_passes", []string{"sort_buffer_size"}, "", 2e-3, nil, 0,
		"sorts in several passes", "sorts did not fit into sort_buffer_size"},
	{"db.log-buffer", "Innodb_log_waits", []string{"innodb_log_buffer_size"}, "", 0, nil, 0,
		"waits for its log buffer", "transactions waited because the log buffer was full"},
	{"db.pool-wait", "Innodb_buffer_pool_wait_free", []string{"innodb_io_capacity"}, "", 0, nil, 0,
		"waits for free pages", "a page was needed while none was clean: writing back is behind"},
}

// judgeLimit makes the rule of one limit.
func judgeLimit(l dbLimit) func(m *model) ([]Finding, string) {
	return func(m *model) ([]Finding, string) {
		return m.eachDB(func(v dbView) []Finding {
			n, ok := v.delta(l.counter)
			if !ok || n <= max(rare*m.window, ownLooks) {
				return nil
			}
			now, known := v.variable(l.variables[0])
			if l.full != "" {
				if have, ok := v.value(l.full); !ok || !known || have < 0.95*now {
					return nil // there is room: it is another reason
				}
			}
			if l.counter == "Threads_created" {
				// A thread kept for each connection is what the cache is for.
				if conns, _ := v.delta("Connections"); n < 0.1*conns {
					return nil
				}
			}
			if l.counter == "Sort_merge_passes" {
				// One pass for a sort is also what comes of too low an estimate of
				// its rows, whatever the buffer (MariaDB 10.11, 3,000 rows: one pass
				// with 256 KiB and with 16 MiB, ten with 4 KiB).
				scans, _ := v.delta("Sort_scan")
				ranges, _ := v.delta("Sort_range")
				if n <= scans+ranges {
					return nil
				}
			}
			var settings []Setting
			for _, name := range l.variables {
				value, ok := fold(v.db.Variables, name)
				if !ok {
					return nil // this version has none, so it cannot be asked for
				}
				settings = append(settings, Setting{Service: v.svc.Name, Name: name, Now: value, Up: 1})
			}
			f := about(v.svc.Name, v.svc.Name+" "+l.title,
				fmt.Sprintf("%s rose by %.0f in %.0f s (%s): %s. %s now.", l.counter, n, m.window, perSecond(n, m.window), l.text, nowText(settings)),
				"counter "+l.counter+" of "+v.svc.Name).asks(settings...)
			if l.per == 0 {
				return []Finding{f.bounded(m.boundWait())}
			}
			return []Finding{f.bounded(m.boundBy(v.svc.Name, min(v.perReq, l.cost(v, n)/(m.x*m.window))))}
		})
	}
}

// cost of n such events at most, seconds of the database's CPU.
func (l dbLimit) cost(v dbView, n float64) float64 {
	for _, name := range l.rows {
		if rows, ok := v.delta(name); ok {
			return n*l.per + rows*l.perRow
		}
	}
	return n * l.per
}

func nowText(settings []Setting) string {
	var out []string
	for _, s := range settings {
		out = append(out, fmt.Sprintf("%s is %s", s.Name, s.Now))
	}
	return strings.Join(out, ", ")
}

// nearLimit: a high-water mark from here on is at its limit for every burst.
const nearLimit = 0.85

// connectionUse is a database's limit of connections, how many were open at
// most since its start, and how many were refused in the run; ok is false if
// that is not known.
func (v dbView) connectionUse() (limit, used, refused float64, ok bool) {
	limit, ok = v.variable("max_connections")
	used, seen := v.value("Max_used_connections")
	refused, _ = v.delta("Connection_errors_max_connections")
	return limit, used, refused, ok && seen && limit > 0
}

func judgeMaxConnections(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		limit, used, refused, ok := v.connectionUse()
		if !ok || used < nearLimit*limit && refused == 0 {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+" is at its limit of connections",
			fmt.Sprintf("Max_used_connections is %.0f of max_connections = %.0f; %.0f connections were refused in the run. Each connection takes memory, so fewer workers or kept connections are the other way.", used, limit, refused),
			"Max_used_connections, max_connections of "+v.svc.Name).
			asks(Setting{Service: v.svc.Name, Name: "max_connections", Now: fmt.Sprint(limit), Up: 1}).bounded(m.boundWait())}
	})
}

func judgeAborted(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		connects, _ := v.delta("Aborted_connects")
		clients, _ := v.delta("Aborted_clients")
		conns, _ := v.delta("Connections")
		// One in a hundred may be a client that was stopped.
		if connects+clients < 2 || connects+clients < 0.01*conns {
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+" loses connections",
			fmt.Sprintf("%.0f log-ins failed (Aborted_connects) and %.0f clients went without saying goodbye (Aborted_clients) in %.0f s, of %.0f connections: back_log, wait_timeout (%s s), or clients that end early.",
				connects, clients, m.window, conns, v.db.Variables["wait_timeout"]),
			"Aborted_connects, Aborted_clients of "+v.svc.Name).bounded(m.boundWait())}
	})
}

// judgeRowLocks finds transactions that wait for one another's rows.
func judgeRowLocks(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		waiting, waits := m.lockWait[v.svc.Name], m.lockWaits[v.svc.Name]
		// A twentieth of the requests' time is about what a run can show.
		if waiting < 0.05*max(m.inSystem, 1) {
			return nil
		}
		text := fmt.Sprintf("%.1f transactions wait for a row lock on average (Innodb_row_lock_time), %.2f waits per request", waiting, waits)
		cites := []string{"Innodb_row_lock_time, Innodb_row_lock_waits of " + v.svc.Name}
		subject := map[string]string{}
		if i := m.slowestWrite(v.svc.Name); i >= 0 {
			s := m.in.Evidence.Statements[i]
			text += fmt.Sprintf("; the write that takes most time is %s (%d times, %s each)", s.Fingerprint, s.Count, seconds(s.Total.Seconds()/float64(s.Count)))
			cites = append(cites, fmt.Sprintf("statement #%d", i+1))
			subject["statement"] = s.Fingerprint
		}
		f := about(v.svc.Name, "Transactions wait for each other's rows in "+v.svc.Name,
			text+". A row that every transaction changes serialises all of them until commit.", cites...)
		f.Subject = subject
		return []Finding{f.bounded(m.boundWait())}
	})
}

// slowestWrite is the index of the database's write with most total time, -1
// if none is known.
func (m *model) slowestWrite(service string) int {
	for i, s := range m.in.Evidence.Statements { // most total time first
		verb, _, _ := strings.Cut(s.Fingerprint, " ")
		if s.Service == service && s.Count > 0 && (verb == "UPDATE" || verb == "INSERT" || verb == "DELETE" || verb == "REPLACE") {
			return i
		}
	}
	return -1
}

func judgeDeadlocks(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		n, _ := v.delta("Innodb_deadlocks")
		if n < 1 {
			return nil
		}
		return []Finding{about(v.svc.Name, "Transactions deadlock in "+v.svc.Name,
			fmt.Sprintf("%.0f deadlocks in %.0f s: one of two transactions is rolled back each time and must be tried again. Writing rows in the order of an index avoids it.", n, m.window),
			"Innodb_deadlocks of "+v.svc.Name).bounded(m.boundDelay(m.lockWait[v.svc.Name] / m.x))}
	})
}

// judgeIsolation: gap locks of REPEATABLE READ are a reason of lock waits. With a
// binary log of statements InnoDB refuses to write at READ COMMITTED (error 1665:
// "InnoDB is limited to row-logging"), so nothing is asked for there.
func judgeIsolation(m *model) ([]Finding, string) {
	why := ""
	out, missing := m.eachDB(func(v dbView) []Finding {
		level := v.db.Variables["transaction_isolation"]
		if level == "" {
			level = v.db.Variables["tx_isolation"]
		}
		if level != "REPEATABLE-READ" && level != "SERIALIZABLE" || m.lockWait[v.svc.Name] < 0.05*max(m.inSystem, 1) {
			return nil
		}
		if On(v.db.Variables["log_bin"]) && strings.EqualFold(v.db.Variables["binlog_format"], "STATEMENT") {
			why = v.svc.Name + ": transactions wait for locks, but with binlog_format = STATEMENT InnoDB writes nothing at READ-COMMITTED"
			return nil
		}
		return []Finding{about(v.svc.Name, v.svc.Name+" locks gaps between rows",
			fmt.Sprintf("transaction_isolation is %s and %.1f transactions wait for locks on average. READ-COMMITTED takes no gap locks; a transaction then may see what others committed meanwhile.", level, m.lockWait[v.svc.Name]),
			"transaction_isolation, Innodb_row_lock_time of "+v.svc.Name).
			asks(Setting{Service: v.svc.Name, Name: "transaction_isolation", Now: level, To: "READ-COMMITTED"}).bounded(m.boundWait())}
	})
	if why == "" {
		why = missing
	}
	return out, why
}
