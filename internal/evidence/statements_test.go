package evidence

import (
	"context"
	"os"
	"testing"
)

// What each source tells of one statement of each kind.
func TestStatementFacts(t *testing.T) {
	l := startLive(t)
	ctx := context.Background()
	t.Cleanup(func() { // other tests count its distinct values
		if _, err := l.db.ExecContext(ctx, "UPDATE shop.users SET bio = NULL"); err != nil {
			t.Error(err)
		}
	})
	for _, diagnostic := range []bool{false, true} {
		if diagnostic {
			l.set(t, SlowLogVariables(take(t, l, TakeOptions{Brief: true}).Databases["db"], ""))
		}
		c, err := NewCollector(ctx, l.st, l.hosts, CollectorOptions{Generator: os.Getpid(), Diagnostic: diagnostic})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		// A connection that was there before keeps its old long_query_time.
		l.db.SetMaxIdleConns(0)
		defer l.db.SetMaxIdleConns(2)
		if err := c.Start(ctx); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			for _, sql := range []string{"SELECT COUNT(*) FROM shop.users a JOIN shop.users b ON a.bio = b.password_hash WHERE a.login = 'x'",
				"UPDATE shop.users SET city = CONCAT(city, '') , bio = RAND() WHERE email = '6@x'"} {
				if _, err := l.db.ExecContext(ctx, sql); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := l.db.ExecContext(ctx, "INSERT INTO shop.users (login, email) VALUES ('twice', '5@x')"); err == nil {
				t.Fatal("a duplicate key was accepted")
			}
		}
		ev, err := c.Stop(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		join := findStatement(ev, "SELECT COUNT(*) FROM shop.users a JOIN shop.users b ON a.bio = b.password_hash WHERE a.login = ?")
		if join == nil || join.Count != 3 || join.NoIndex != 3 || join.FullScans != 3 || join.FullJoins != 3 || join.RowsSent != 3 {
			t.Errorf("diagnostic %t: %+v", diagnostic, join)
		}
		update := findStatement(ev, "UPDATE shop.users SET city = CONCAT(city, ?), bio = RAND() WHERE email = ?")
		if update == nil || update.Count != 3 || update.RowsAffected != 3 || update.NoIndex != 0 {
			t.Errorf("diagnostic %t: %+v", diagnostic, update)
		}
		// MariaDB's slow log has no errors, and performance_schema no percentiles.
		failed := findStatement(ev, "INSERT INTO shop.users(login, email) VALUES (?, ?)")
		if !diagnostic && failed == nil {
			failed = findStatement(ev, "INSERT INTO shop.users(login, email) VALUES (?)")
		}
		switch {
		case failed == nil || failed.Count != 3:
			t.Errorf("diagnostic %t: %+v", diagnostic, failed)
		case diagnostic && (failed.P50 <= 0 || failed.Max < failed.P99):
			t.Errorf("%+v", failed)
		case !diagnostic && failed.Errors != 3:
			t.Errorf("%+v", failed)
		}
	}
}
