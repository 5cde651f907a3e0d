package index

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkCommands shows what costStatement, costSent and costSentByte stand for, and
// what a command costs outside of the statement's own time (internal/remedy/database,
// commandCPU): server-µs/op is the CPU of the server's process, statement-µs/op the time that
// it counts as the statement's.
func BenchmarkCommands(b *testing.B) {
	db := startMariaDB(b)
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	pid := pidOf(b, conn)
	run := func(sql string) {
		if _, err := conn.ExecContext(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	run("CREATE DATABASE sent")
	run("USE sent")
	run("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(40), d VARCHAR(40), v VARCHAR(1000))")
	run("INSERT INTO t SELECT seq, seq, seq, REPEAT('c', 20), REPEAT('d', 20), REPEAT('v', 1000) FROM seq_1_to_10000")
	for _, c := range []struct {
		name, sql string
		args      []any
	}{
		{"nothing", "DO 0", nil},
		{"a key", "SELECT a FROM t WHERE id = 5000", nil},
		{"a key, prepared and closed", "SELECT a FROM t WHERE id = ?", []any{5000}},
		{"10000 counted", "SELECT COUNT(LENGTH(v)) FROM t", nil},
		{"10000 sent", "SELECT id, a, b, c, d FROM t", nil},
		{"10000 sent with 1000 bytes", "SELECT id, a, b, c, d, v FROM t", nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			before := cpuOf(b, pid)
			for b.Loop() {
				rows, err := conn.QueryContext(b.Context(), c.sql, c.args...)
				if err != nil {
					b.Fatal(err)
				}
				for rows.Next() {
				}
				rows.Close()
			}
			b.ReportMetric((cpuOf(b, pid)-before)/float64(b.N)*1e6, "server-µs/op")
			b.StopTimer()
			run("SET profiling_history_size = 1")
			run("SET profiling = 1")
			run(strings.ReplaceAll(c.sql, "?", "5000"))
			var own float64
			if err := conn.QueryRowContext(b.Context(), "SELECT SUM(duration) FROM information_schema.profiling").Scan(&own); err != nil {
				b.Fatal(err)
			}
			run("SET profiling = 0")
			b.ReportMetric(own*1e6, "statement-µs/op")
		})
	}
}

// pidOf the server behind a connection.
func pidOf(b *testing.B, conn *sql.Conn) int {
	var file string
	if err := conn.QueryRowContext(context.Background(), "SELECT @@pid_file").Scan(&file); err != nil {
		b.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		b.Fatal(err)
	}
	return pid
}

// cpuOf a process in seconds, by the scheduler's sum of its threads.
func cpuOf(b *testing.B, pid int) float64 {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		b.Fatal(err)
	}
	total := 0.0
	for _, t := range tasks {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, t.Name()))
		if err != nil {
			continue
		}
		var ns float64
		if _, err := fmt.Sscan(string(text), &ns); err == nil {
			total += ns / 1e9
		}
	}
	return total
}
