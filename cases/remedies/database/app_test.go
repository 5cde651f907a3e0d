package database_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// route is a page of the application: it logs in, runs its statements and
// leaves, as a script does.
type route struct {
	weight int
	sql    func(n int64) []string // n counts the requests
	// rude clients go without saying goodbye.
	rude bool
}

func sorted(routes map[string]route) []string {
	var out []string
	for p := range routes {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// serve answers the routes until the end of the test, and returns its address.
func (s *server) serve(t *testing.T, routes map[string]route) string {
	t.Helper()
	var count atomic.Int64
	mux := http.NewServeMux()
	for path, r := range routes {
		mux.HandleFunc(path, func(w http.ResponseWriter, req *http.Request) {
			if err := s.visit(req.Context(), r, count.Add(1)); err != nil {
				http.Error(w, path+": "+err.Error(), http.StatusInternalServerError)
				t.Logf("%s: %v", path, err)
				return
			}
			fmt.Fprint(w, "done")
		})
	}
	app := httptest.NewServer(mux)
	t.Cleanup(app.Close)
	return app.URL
}

func (s *server) visit(ctx context.Context, r route, n int64) error {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName, cfg.InterpolateParams = "app", "app", "tcp", fmt.Sprintf("127.0.0.1:%d", s.port), "app", true
	cfg.Logger = log.New(io.Discard, "", 0)
	var line net.Conn
	cfg.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, address)
		line = c
		return c, err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, statement := range r.sql(n) {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%.60s: %w", statement, err)
		}
	}
	if r.rude {
		line.Close()
	}
	return nil
}
