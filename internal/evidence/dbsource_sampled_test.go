package evidence

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

// Connections that are older than the log are seen while they work: the statement that takes
// most of their time has most of the sampled time, what it examines, and its plan.
func TestOldConnectionsAreSampled(t *testing.T) {
	await.SkipShort(t)
	l := startLive(t)
	svc := l.st.Service("db")
	l.db.SetMaxOpenConns(8)
	defer l.db.SetMaxOpenConns(2) // as stack.OpenDB has it
	for _, q := range []string{"CREATE TABLE shop.seen (id INT PRIMARY KEY, n INT, v VARCHAR(60)) ENGINE=InnoDB", "INSERT INTO shop.seen SELECT seq, seq % 9000, REPEAT('v', 50) FROM shop.seq_1_to_60000"} {
		if _, err := l.db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { l.db.Exec("DROP TABLE shop.seen") })
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer stop()
	for range 2 {
		conn, err := l.db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.ExecContext(ctx, "USE shop"); err != nil {
			t.Fatal(err)
		}
		clients.Go(func() {
			defer conn.Close()
			for ctx.Err() == nil {
				for _, q := range []string{"SELECT v FROM seen WHERE n = 17", "SELECT v FROM seen WHERE id = 17"} {
					rows, err := conn.QueryContext(ctx, q)
					if err != nil {
						return
					}
					for rows.Next() {
					}
					rows.Close()
				}
			}
		})
	}
	for _, q := range []string{"SET GLOBAL slow_query_log = ON", "SET GLOBAL long_query_time = 0"} {
		if _, err := l.db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	defer l.db.Exec("SET GLOBAL slow_query_log = OFF")
	defer l.db.Exec("SET GLOBAL long_query_time = 10")
	d, err := openDBSource(t.Context(), host.NewLocal(), svc, true)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	window := 2 * time.Second
	look := func(sums bool) ([]Statement, Health) {
		d.start(t.Context())
		if !sums {
			d.digests = nil // as without performance_schema
		}
		d.digests2 = nil
		time.Sleep(window)
		d.stop(t.Context())
		statements, health := d.statements(t.Context())
		return statements, health[0]
	}
	statements, health := look(false)
	for window < time.Minute && (len(statements) == 0 || statements[0].Sampled < 20) { // a machine that stalls looks less often
		window *= 2
		statements, health = look(false)
	}
	if health.OK || health.OldConnections != "db" || health.Sampled == 0 || !strings.Contains(health.Text, "estimates") {
		t.Fatalf("health %+v", health)
	}
	s := statements[0]
	each := float64(s.RowsExamined) / float64(max(s.Count, 1))
	if !strings.Contains(s.Fingerprint, "n = ?") || s.Schema != "shop" || s.Total < window/4 || s.Total > 3*window ||
		each < 50000 || each > 150000 || s.FullScans != s.Count || s.Explain == "" {
		t.Errorf("the statement that scans: %+v", s)
	}
	for _, s := range statements {
		if strings.Contains(s.Fingerprint, "PROCESSLIST") {
			t.Errorf("Kasoku's own: %+v", s)
		}
	}
	statements, health = look(true)
	if !health.OK || health.OldConnections != "" || health.Sampled != 0 || len(statements) == 0 || statements[0].Sampled != 0 {
		t.Errorf("with the server's own sums: %+v, %+v", health, statements)
	}
}
