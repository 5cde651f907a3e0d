package indexes

import (
	"context"
	"database/sql"
	"errors"
	"github.com/go-sql-driver/mysql"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/await"
	"kasoku/internal/remedy"
)

func number(t *testing.T, db *sql.DB, query string) (n float64) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

const indexBytes = `SELECT COALESCE(SUM(stat_value), 0) * @@innodb_page_size FROM mysql.innodb_index_stats
	WHERE database_name = 'shop' AND table_name = 'orders' AND stat_name = 'size' AND index_name LIKE 'kasoku%'`

// TestIndexesAndHotRow shows all remedies of the family on the shop as found.
func TestIndexesAndHotRow(t *testing.T) {
	b, db := shop(t)
	if !ordersWait(t, db) {
		t.Error("as found, an order does not wait for another's commit")
	}
	b.Show(t, func(t *testing.T, p remedy.Plan) {
		switch p.Remedy {
		case "mariadb.index":
			if len(p.Changes) != 1 || !strings.Contains(p.Changes[0].SQL(), "(`customer`") {
				t.Errorf("planned %v", p.ID)
			}
			db.Exec("ANALYZE TABLE shop.orders")
			real := number(t, db, indexBytes)
			t.Logf("the index takes %.2f MiB; %s", real/(1<<20), p.Why)
			if real < 1 {
				t.Error("the index has no pages")
			}
		case "mariadb.drop-index":
			if len(p.Changes) != 1 || !strings.Contains(p.Changes[0].SQL(), "DROP INDEX `by_order`") {
				t.Errorf("planned %v", p.ID)
			}
		case "mariadb.hot-row":
			rolledBack(t, db)
			if ordersWait(t, db) {
				t.Error("an order waits for another's commit although the counter is not in InnoDB")
			}
		}
	}, "mariadb.index", "mariadb.drop-index", "mariadb.hot-row")
	if n := number(t, db, indexBytes); n != 0 {
		t.Errorf("%.0f bytes of Kasoku's indexes are left", n)
	}
	if n := number(t, db, "SELECT COUNT(*) - COUNT(DISTINCT order_id) FROM shop.audit"); n != 0 {
		t.Errorf("%.0f order numbers were given out twice", n)
	}
}

// ordersWait says whether an order that takes a number waits until another that
// has one is committed: what the remedy is for. What it brings in orders per
// second is measured by `make bench-effects`.
func ordersWait(t *testing.T, db *sql.DB) bool {
	t.Helper()
	const take = "UPDATE shop.ids SET id = LAST_INSERT_ID(id + 1)"
	first, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Rollback()
	if _, err := first.Exec(take); err != nil {
		t.Fatal(err)
	}
	second, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, err := second.ExecContext(t.Context(), "SET innodb_lock_wait_timeout = 0"); err != nil {
		t.Fatal(err)
	}
	defer second.ExecContext(context.WithoutCancel(t.Context()), "SET innodb_lock_wait_timeout = DEFAULT")
	const waits = 1205 // ER_LOCK_WAIT_TIMEOUT
	_, err = second.ExecContext(t.Context(), take)
	var said *mysql.MySQLError
	if err != nil && !(errors.As(err, &said) && said.Number == waits) {
		t.Fatal(err)
	}
	return err != nil
}

// rolledBack sees the named change in semantics: the counter keeps what a
// rolled-back transaction added, and others see it before that.
func rolledBack(t *testing.T, db *sql.DB) {
	t.Helper()
	before := number(t, db, "SELECT id FROM shop.ids")
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("UPDATE shop.ids SET id = LAST_INSERT_ID(id + 1)"); err != nil {
		t.Fatal(err)
	}
	if now := number(t, db, "SELECT id FROM shop.ids"); now != before+1 {
		t.Errorf("others see %.0f before the commit, want %.0f", now, before+1)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if now := number(t, db, "SELECT id FROM shop.ids"); now != before+1 {
		t.Errorf("after the rollback the counter is %.0f, want %.0f", now, before+1)
	}
}

// TestCounterSurvivesCrash kills the server under load: a number that an order
// has is never given out again.
func TestCounterSurvivesCrash(t *testing.T) {
	dir := bed.Folder(t)
	db, again := mariadb(t, dir)
	if _, err := db.Exec("ALTER TABLE shop.ids ENGINE=Aria"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		ctx, stop := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		var orders atomic.Int64
		for range 4 {
			clients.Go(func() {
				for ctx.Err() == nil && order(ctx, db) == nil {
					orders.Add(1)
				}
			})
		}
		await.For(t, "orders to be taken", func() bool { return orders.Load() > 200 })
		bed.KillByPIDFile(t, dir+"/db.pid")
		stop()
		clients.Wait()
		again()
		await.NoError(t, "the server after the crash", db.Ping)
		counter, highest := number(t, db, "SELECT id FROM shop.ids"), number(t, db, "SELECT MAX(id) FROM shop.orders")
		t.Logf("after the crash the counter is %.0f, the highest order %.0f", counter, highest)
		if counter < highest || highest <= 1000000 {
			t.Errorf("the counter is %.0f and an order has %.0f", counter, highest)
		}
	}
}

func order(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "UPDATE shop.ids SET id = LAST_INSERT_ID(id + 1)"); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO shop.orders (id, customer, total) VALUES (LAST_INSERT_ID(), 1, 2)"); err != nil {
		return err
	}
	return tx.Commit()
}
