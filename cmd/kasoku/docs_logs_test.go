package main

import (
	"fmt"
	"strings"
	"time"
)

// shopLog is an access log in LTSV of half an hour, with the routes that docs/reference/digest.md shows;
// items take that long.
func shopLog(day int, items time.Duration) string {
	routes := []struct {
		method, path, cache string
		n                   int
		took                time.Duration
	}{
		{"GET", "/items/%d", "HIT", 69, items},
		{"GET", "/search?q=%d", "-", 20, 165 * time.Millisecond},
		{"GET", "/users/%d/posts", "-", 41, 43 * time.Millisecond},
		{"POST", "/login", "-", 10, 85 * time.Millisecond},
		{"POST", "/cart", "-", 20, 21 * time.Millisecond},
		{"GET", "/static/%016x.css", "HIT", 40, 0},
	}
	if items < 50*time.Millisecond { // as much later as the page's second log is
		routes[4].took += 3 * time.Millisecond
		routes[1].took += 5 * time.Millisecond
	}
	var b strings.Builder
	at := time.Date(2026, 11, day, 1, 0, 0, 0, time.UTC)
	for i := range 100 {
		for k, r := range routes {
			if i >= r.n {
				continue
			}
			path, behind, cache := r.path, fmt.Sprintf("%.3f", (r.took-time.Millisecond).Seconds()), r.cache
			if strings.Contains(path, "%") {
				path = fmt.Sprintf(path, 7919*(i+1))
			}
			if r.took == 0 {
				path = fmt.Sprintf(r.path, 0x9e3779b97f4a7c15*uint64(2*i+1))
			}
			if r.took == 0 {
				behind = "-"
			}
			if r.cache == "HIT" && r.took > 0 && i%3 == 0 {
				cache = "MISS"
			}
			status := 200
			if i == 1 {
				status = 404
			} else if i == 2 && r.took > 0 {
				status = 502
			}
			fmt.Fprintf(&b, "time:%s\thost:192.0.2.%d\tmethod:%s\turi:%s\tstatus:%d\tsize:%d\treqtime:%.3f\tapptime:%s\tcache:%s\n",
				at.Add(time.Duration(i)*18*time.Second).Format(time.RFC3339), k, r.method, path, status, 200*(k+1), (r.took + time.Duration(i%5)*r.took/20).Seconds(), behind, cache)
		}
	}
	return b.String()
}

// shopSlowLog is a slow log of MariaDB whose three heaviest classes docs/reference/digest.md shows.
func shopSlowLog() string {
	statements := []struct {
		n    int
		text string
	}{
		{45, "SELECT * FROM users WHERE id = %d"},
		{18, "SELECT id, login, name FROM users WHERE login = 'u%d' AND deleted = 0"},
		{14, "SELECT o.id, o.total, u.name FROM orders o JOIN users u ON u.id = o.user_id WHERE o.user_id = %d ORDER BY o.created_at DESC LIMIT 10"},
		{9, "SELECT * FROM items WHERE owner = %d"},
		{8, "UPDATE items SET seen = 1 WHERE id = %d"},
	}
	var b strings.Builder
	b.WriteString("mariadbd, Version: 10.11.19-MariaDB (Debian 12). started with:\nTcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\nTime\t\t    Id Command\tArgument\nuse shop;\n")
	for i := range 45 {
		for _, s := range statements {
			if i >= s.n {
				continue
			}
			scan := "No"
			if i%2 == 0 {
				scan = "Yes"
			}
			fmt.Fprintf(&b, "# Time: 261121 10:00:%02d\n# User@Host: shop[shop] @ localhost []\n# Thread_id: 6  Schema: shop  QC_hit: No\n"+
				"# Query_time: 0.0008%02d  Lock_time: 0.000081  Rows_sent: 14  Rows_examined: %d\n# Rows_affected: 0  Bytes_sent: 100\n# Full_scan: %s  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No\n"+
				"# Filesort: No  Filesort_on_disk: No  Merge_passes: 0  Priority_queue: No\nSET timestamp=%d;\n"+s.text+";\n", i%8, i, 900+i, scan, 1795255200+i%8, i)
		}
	}
	return b.String()
}
