package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// A statement scans when it reads this many rows each time and this many for
// every row that it returns. A statement that finds its row at once takes as long as
// reading 200 rows (internal/remedy/index, costStatement), so from 100 on a third of its
// time can go, and what the index's upkeep costs is weighed against that; a ratio of 20
// leaves alone reports that read much because they return much.
const (
	scanRows  = 100
	scanRatio = 20
)

// Scans reports whether a statement reads far more rows than it needs.
func Scans(s evidence.Statement) bool {
	if s.Count == 0 {
		return false
	}
	perCall := s.RowsExamined / s.Count
	return perCall >= scanRows && s.RowsExamined >= scanRatio*max(s.RowsSent, s.Count) || Hidden(s) > 0
}

// Hidden is how many index entries a statement looks at in each run that are not among its
// rows examined (evidence.Hidden), where they are worth an index. 0: none, or not known.
func Hidden(s evidence.Statement) int64 {
	most, _ := evidence.Hidden(s)
	if s.Count == 0 || most < scanRows || most < scanRatio*max(s.RowsExamined, s.RowsSent, s.Count)/s.Count {
		return 0
	}
	return most
}

func judgeFullScan(m *model) ([]Finding, string) {
	var out []Finding
	judged := false
	for _, svc := range m.in.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		var all, scanning float64
		var examined, returned int64
		var cites []string
		for i, s := range m.in.Evidence.Statements {
			if s.Service != svc.Name {
				continue
			}
			judged = true
			all += s.Total.Seconds()
			if !Scans(s) {
				continue
			}
			scanning += s.Total.Seconds()
			examined, returned = examined+s.RowsExamined, returned+max(s.RowsSent, s.Count)
			cites = append(cites, fmt.Sprintf("statement #%d: %d times, %.2f s in all, %d rows examined for each of %s%s%s",
				i+1, s.Count, s.Total.Seconds(), s.RowsExamined/s.Count, s.Fingerprint, planned(s), pushed(s)))
		}
		if scanning == 0 {
			continue
		}
		f := Finding{Service: svc.Name, Evidence: cites,
			Title: fmt.Sprintf("%s reads many rows to find a few", svc.Name),
			Text: fmt.Sprintf("%s %.0f %% of %s's statement time (%.2f of %.2f s); for each row that is returned, %s are examined.",
				ui.Plural(len(cites), "statement class takes", "statement classes take"), 100*scanning/all, svc.Name, scanning, all, ui.Number(float64(examined)/float64(returned)))}
		f = f.bounded(m.boundBy(svc.Name, m.perReq[svc.Name]*scanning/all))
		out = append(out, f)
	}
	if !judged {
		return nil, "the run recorded no statements (a diagnostic run does)"
	}
	return out, ""
}

// planned says which tables the server's plan of a statement reads whole.
func planned(s evidence.Statement) string {
	var whole []string
	for _, t := range evidence.Plan(s.Explain) {
		if !t.Whole() {
			continue
		}
		text := t.Table + " whole (" + t.Access
		if t.Rows != nil {
			text += fmt.Sprintf(", about %v rows", t.Rows)
		}
		whole = append(whole, text+")")
	}
	if len(whole) == 0 {
		return ""
	}
	return "; its plan (EXPLAIN) reads " + strings.Join(whole, ", ")
}

// pushed says what a statement does that its rows examined do not tell.
func pushed(s evidence.Statement) string {
	n := Hidden(s)
	if n == 0 {
		return ""
	}
	if slices.ContainsFunc(evidence.Plan(s.Explain), func(t evidence.PlanTable) bool { return len(t.Intersected) > 0 }) {
		return "; its plan compares the entries of several indexes, which the server does not count as rows (index merge, intersection)"
	}
	return fmt.Sprintf("; its plan looks at about %d entries of an index, which the server does not count as rows (index condition pushdown)", n)
}

// database returns a service's snapshot and counters.
func (m *model) database(name string) (*evidence.Database, func(string) (float64, bool), string) {
	db := m.in.Snapshot.Databases[name]
	if db == nil {
		return nil, nil, fmt.Sprintf("%s: its variables could not be read", name)
	}
	c, ok := m.in.Evidence.Counters[name]
	if !ok {
		return nil, nil, m.unread(name)
	}
	get := func(key string) (float64, bool) {
		for k, v := range c.Delta {
			if strings.EqualFold(k, key) {
				return v, true
			}
		}
		return 0, false
	}
	return db, get, ""
}

// redoSeconds of writing that the redo log should hold. A checkpoint that is
// forced because the log is full stalls writers; ten minutes keep it in the
// background (MariaDB manual, "InnoDB Redo Log", advises sizing it by how much is written).
const redoSeconds = 600

func judgeDBMemory(m *model) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range m.in.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		db, counter, missing := m.database(svc.Name)
		if missing != "" {
			why = missing
			continue
		}
		pool, _ := strconv.ParseInt(db.Variables["innodb_buffer_pool_size"], 10, 64)
		redo, _ := strconv.ParseInt(db.Variables["innodb_log_file_size"], 10, 64)
		// MySQL and MariaDB before 10.5 have several files, all of this size.
		if n, err := strconv.ParseInt(db.Variables["innodb_log_files_in_group"], 10, 64); err == nil && n > 1 {
			redo *= n
		}
		// MySQL from 8.0.30 on counts all files together (manual, "Configuring
		// Redo Log Capacity").
		redoName := "innodb_log_file_size"
		if n, err := strconv.ParseInt(db.Variables["innodb_redo_log_capacity"], 10, 64); err == nil && n > 0 {
			redo, redoName = n, "innodb_redo_log_capacity"
		}
		reads, _ := counter("Innodb_buffer_pool_reads")
		written, _ := counter("Innodb_os_log_written")
		needRedo := int64(written / m.window * redoSeconds)
		var cites []string
		if reads > 0 && pool > 0 && db.DataBytes > pool {
			cites = append(cites, fmt.Sprintf("%.0f pages were read from files in %.0f s; the pool holds %d MiB, data and indexes are %d MiB",
				reads, m.window, pool>>20, db.DataBytes>>20))
		}
		if redo > 0 && needRedo > redo {
			cites = append(cites, fmt.Sprintf("the redo log of %d MiB would be full after %.0f s of this load",
				redo>>20, float64(redo)/(written/m.window)))
		}
		if len(cites) == 0 {
			continue
		}
		var asks []Setting
		if reads > 0 && db.DataBytes > pool {
			asks = append(asks, Setting{Service: svc.Name, Name: "innodb_buffer_pool_size", Now: db.Variables["innodb_buffer_pool_size"], Up: 1, Memory: db.DataBytes - pool})
		}
		if redo > 0 && needRedo > redo {
			asks = append(asks, Setting{Service: svc.Name, Name: redoName, Now: db.Variables[redoName], To: strconv.FormatInt(needRedo, 10), Up: 1})
		}
		f := Finding{Service: svc.Name, Evidence: cites, Settings: asks,
			Title:   svc.Name + "'s memory and redo log are small for its data",
			Text:    strings.Join(cites, "; ") + ".",
			Subject: map[string]string{"redo": strconv.FormatInt(needRedo, 10), "reads": strconv.FormatFloat(reads, 'f', 0, 64)}}
		var saved float64
		if redo > 0 && needRedo > redo {
			saved = m.checkpointCost(svc, float64(redo)/(written/m.window))
		}
		if reads > 0 && db.DataBytes > pool {
			f = f.bounded(m.boundDisk(svc.Name, saved*m.x*m.window+reads*pageReadCPU))
		} else {
			f = f.bounded(m.boundBy(svc.Name, saved))
		}
		out = append(out, f)
	}
	return out, why
}

func judgeCommitFlush(m *model) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range m.in.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		db, counter, missing := m.database(svc.Name)
		if missing != "" {
			why = missing
			continue
		}
		fsyncs, ok := counter("Innodb_os_log_fsyncs")
		if !ok {
			// MariaDB 10.8 and later count only data and log fsyncs together.
			fsyncs, _ = counter("Innodb_data_fsyncs")
		}
		commits, _ := counter("Handler_commit")
		flush := db.Variables["innodb_flush_log_at_trx_commit"]
		if flush != "1" || commits == 0 {
			continue
		}
		f := Finding{Service: svc.Name, Title: svc.Name + " writes its log to disk at every commit",
			Text: fmt.Sprintf("innodb_flush_log_at_trx_commit is 1: %.0f commits and %.0f fsyncs in %.0f s, disk in use %.0f %%. Changing it risks the last second of acknowledged writes.",
				commits, fsyncs, m.window, 100*m.at(svc.Name).sys.DiskBusy),
			Evidence: []string{"Handler_commit, fsync counters and innodb_flush_log_at_trx_commit of " + svc.Name},
			Settings: []Setting{{Service: svc.Name, Name: "innodb_flush_log_at_trx_commit", Now: "1"}}}
		f = f.bounded(m.boundDisk(svc.Name, fsyncs*flushCPU))
		out = append(out, f)
	}
	return out, why
}

// CPU seconds, at the most, of what a setting can save. They bound, so they are some
// times what was measured on a 2-CPU virtual machine with MariaDB 10.11.
const (
	// flushCPU of an fsync of the log: 85 µs in the process (1,500 writes of 512 bytes,
	// each with fdatasync, ext4), the rest for threads of the kernel and switching.
	flushCPU = 500e-6
	// pageReadCPU of a page that is not in the buffer pool: 16 µs where the kernel has it
	// in memory (100,000 rows by random keys, with a pool of 16 MiB and of 512 MiB).
	pageReadCPU = 100e-6
	// connectCPU of a connection and a log-in: 90 µs over a socket, 170 µs over TCP with a
	// password; a handshake of TLS is more.
	connectCPU = 2e-3
	// prepareCPU of a prepare and a close: 150 µs more than the statement as text.
	prepareCPU = 500e-6
)

// boundDisk is the bound when a database does without some of what it asks of its disk,
// such as flushes of its log or reads of pages: the CPU that they take, cpu seconds in the
// whole window, or their wait, which is no longer than the disk is in use while requests are
// under way. Where no disk is known, all that the database does.
func (m *model) boundDisk(service string, cpu float64) (ceiling, string) {
	sys := m.at(service).sys
	if len(sys.Disks) == 0 {
		return m.boundBy(service, m.perReq[service])
	}
	bound, formula := m.boundBy(service, min(m.perReq[service], cpu/(m.x*m.window)))
	if wait, text := m.boundDelay(m.latency() * sys.DiskBusy); wait.most > bound.most {
		return wait, text
	}
	return bound, formula
}

// connectsEach is connections for a right answer: one for every second is the
// sign of an application that keeps none.
const connectsEach = 0.5

func judgeConnects(m *model) ([]Finding, string) {
	var out []Finding
	why := ""
	for _, svc := range m.in.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		_, counter, missing := m.database(svc.Name)
		if missing != "" {
			why = missing
			continue
		}
		conns, ok := counter("Connections")
		perRequest := conns / (m.x * m.window)
		if !ok || perRequest < connectsEach {
			continue
		}
		f := Finding{Service: svc.Name, Title: "The application opens a database connection for each request",
			Text: fmt.Sprintf("%.0f connections for %.0f right answers (%.2f each). A persistent connection (PDO::ATTR_PERSISTENT, a pool) saves set-up and log-in; this is a change in the source, unless the application has a setting for it.%s",
				conns, m.x*m.window, perRequest, m.goPool()),
			Evidence: []string{"Connections of " + svc.Name}, Subject: map[string]string{"source": "yes"}}
		f = f.bounded(m.boundBy(svc.Name, min(m.perReq[svc.Name], perRequest*connectCPU)))
		out = append(out, f)
	}
	return out, why
}

func judgeLoopbackDB(m *model) ([]Finding, string) {
	var out []Finding
	for _, app := range m.in.Stack.OfKind(stack.App) {
		for _, file := range app.Settings {
			f, ok := m.in.Snapshot.Files[hostOf(app)][file]
			if !ok {
				continue
			}
			for _, a := range DatabaseAddresses(f.Content) {
				db := m.databaseAt(app, a.Port)
				if db == nil || !a.Loopback() {
					continue
				}
				found := Finding{Service: app.Name, Title: fmt.Sprintf("%s talks to %s over loopback TCP", app.Name, db.Name),
					Text: fmt.Sprintf("%s names %s:%s; both ends are on one host, so each statement passes the TCP stack twice for nothing.",
						file, a.Host, a.Port),
					Evidence: []string{file}, Subject: map[string]string{"file": file, "database": db.Name, "app": app.Name}}
				found = found.bounded(m.boundKernelOf(1, app.Name))
				out = append(out, found)
			}
		}
	}
	return out, ""
}

// databaseAt returns the database on the app's host that listens on port.
func (m *model) databaseAt(app *stack.Service, port string) *stack.Service {
	for _, db := range m.in.Stack.OfKind(stack.MariaDB, stack.MySQL) {
		snap := m.in.Snapshot.Databases[db.Name]
		if snap != nil && hostOf(db) == hostOf(app) && snap.Variables["port"] == port {
			return db
		}
	}
	return nil
}

func hostOf(s *stack.Service) string {
	if s.Host == "" {
		return "local"
	}
	return s.Host
}
