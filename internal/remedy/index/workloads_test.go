package index

import (
	"fmt"
	"slices"
	"strings"
)

// realWorkload is a schema with generated data and statements on it.
type realWorkload struct {
	name       string
	schema     []string
	statements []realStatement
	// columns whose single and ordered pairs of indexes are searched, by table.
	columns map[string][]string
}

// realStatement is one class: how often it runs, and some of its instances.
type realStatement struct {
	count     int64
	instances []string
	writes    float64 // rows that one run inserts, deletes or changes
}

// writing is a class that writes so many rows each time.
func writing(rows float64, s realStatement) realStatement {
	s.writes = rows
	return s
}

func each(count int64, format string, values ...any) realStatement {
	s := realStatement{count: count}
	for _, v := range values {
		s.instances = append(s.instances, strings.ReplaceAll(format, "$", fmt.Sprint(v)))
	}
	return s
}

func realWorkloads() []realWorkload {
	return slices.Concat(webWorkloads, playWorkloads, officeWorkloads)
}

var webWorkloads = []realWorkload{
	{
		name: "login",
		schema: []string{
			"CREATE TABLE users (id INT PRIMARY KEY AUTO_INCREMENT, login VARCHAR(255) NOT NULL, password VARCHAR(64))",
			"INSERT INTO users SELECT seq, CONCAT('user', seq), MD5(seq) FROM seq_1_to_6000",
			"CREATE TABLE login_log (id BIGINT PRIMARY KEY AUTO_INCREMENT, created_at DATETIME, user_id INT, login VARCHAR(255), ip VARCHAR(255), succeeded TINYINT)",
			"INSERT INTO login_log SELECT seq, '2024-01-01' + INTERVAL seq SECOND, MOD(seq*7919, 800), CONCAT('user', MOD(seq*7919, 800)), CONCAT('10.0.', MOD(seq*31, 97), '.', MOD(seq*17, 11)), CRC32(seq*3) % 10 < 7 FROM seq_1_to_8000",
		},
		statements: []realStatement{
			each(1000, "SELECT * FROM users WHERE login = '$'", "user5", "nobody"),
			each(1000, "SELECT COUNT(1) AS failures FROM login_log WHERE user_id = $ AND id > IFNULL((SELECT id FROM login_log WHERE user_id = $ AND succeeded = 1 ORDER BY id DESC LIMIT 1), 0)", 5, 799),
			each(1000, "SELECT COUNT(1) AS failures FROM login_log WHERE ip = '$' AND id > IFNULL((SELECT id FROM login_log WHERE ip = '$' AND succeeded = 1 ORDER BY id DESC LIMIT 1), 0)", "10.0.31.6", "10.0.93.7"),
			each(600, "SELECT * FROM login_log WHERE succeeded = 1 AND user_id = $ ORDER BY id DESC LIMIT 2", 5, 799),
		},
		columns: map[string][]string{"users": {"login", "password"}, "login_log": {"user_id", "ip", "succeeded"}},
	},
	{
		name: "blog",
		schema: []string{
			"CREATE TABLE posts (id INT PRIMARY KEY, author_id INT, category_id INT, created_at DATETIME, title VARCHAR(100), body TEXT)",
			"INSERT INTO posts SELECT seq, CRC32(seq) % 400, CRC32(seq*5) % 30, '2024-01-01' + INTERVAL CRC32(seq*11) % 9000000 SECOND, CONCAT('title ', seq), REPEAT('x', 100) FROM seq_1_to_6000",
			"CREATE TABLE comments (id INT PRIMARY KEY, post_id INT, user_id INT, created_at DATETIME, body VARCHAR(200))",
			"INSERT INTO comments SELECT seq, 1 + CRC32(seq) % 6000, CRC32(seq*7) % 900, '2024-01-01' + INTERVAL CRC32(seq*13) % 9000000 SECOND, REPEAT('y', 50) FROM seq_1_to_8000",
		},
		statements: []realStatement{
			each(500, "SELECT * FROM posts WHERE category_id = $ ORDER BY created_at DESC LIMIT 10", 3, 29),
			each(300, "SELECT id, title FROM posts WHERE author_id = $ ORDER BY created_at DESC LIMIT 20", 3, 299),
			each(1000, "SELECT c.*, p.title FROM posts p JOIN comments c ON c.post_id = p.id WHERE p.id = $", 30, 5500),
			each(200, "SELECT COUNT(*) FROM comments WHERE user_id = $", 3, 600),
		},
		columns: map[string][]string{"posts": {"author_id", "category_id", "created_at"}, "comments": {"post_id", "user_id", "created_at"}},
	},
	{
		name: "shop",
		schema: []string{
			"CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT, status VARCHAR(20), total INT, created_at DATETIME)",
			"INSERT INTO orders SELECT seq, CRC32(seq) % 600, ELT(1 + CRC32(seq*3) % 4, 'new', 'paid', 'sent', 'done'), CRC32(seq*5) % 5000, '2024-01-01' + INTERVAL seq*60 SECOND FROM seq_1_to_6000",
			"CREATE TABLE items (id INT PRIMARY KEY, order_id INT, product_id INT, quantity INT)",
			"INSERT INTO items SELECT seq, 1 + CRC32(seq*3) % 6000, CRC32(seq*7) % 800, 1 + seq % 5 FROM seq_1_to_8000",
		},
		statements: []realStatement{
			each(800, "SELECT o.id, i.product_id, i.quantity FROM orders o JOIN items i ON i.order_id = o.id WHERE o.customer_id = $", 5, 550),
			each(400, "SELECT * FROM orders WHERE customer_id = $ AND status = 'new'", 7, 500),
			each(200, "SELECT SUM(quantity) FROM items WHERE product_id = $", 7, 700),
			each(200, "SELECT * FROM orders WHERE created_at BETWEEN '2024-01-0$ 10:00:00' AND '2024-01-0$ 10:20:00'", 2, 8),
		},
		columns: map[string][]string{"orders": {"customer_id", "status", "created_at"}, "items": {"order_id", "product_id", "quantity"}},
	},
	{
		name: "queue",
		schema: []string{
			"CREATE TABLE jobs (id INT PRIMARY KEY, queue INT, state TINYINT, priority INT, run_at DATETIME, worker INT, payload VARCHAR(200))",
			"INSERT INTO jobs SELECT seq, CRC32(seq) % 40, CRC32(seq*3) % 4, CRC32(seq*5) % 100, '2024-01-01' + INTERVAL CRC32(seq*7) % 900000 SECOND, CRC32(seq*9) % 1000, REPEAT('p', 80) FROM seq_1_to_8000",
		},
		statements: []realStatement{
			each(1000, "SELECT * FROM jobs WHERE queue = $ AND state = 0 ORDER BY run_at LIMIT 5", 3, 39),
			each(500, "UPDATE jobs SET priority = 3 WHERE worker = $ AND state = 1", 3, 999),
			each(100, "DELETE FROM jobs WHERE worker = $", 17, 900),
		},
		columns: map[string][]string{"jobs": {"queue", "state", "run_at", "worker"}},
	},
	{
		name: "events",
		schema: []string{
			"CREATE TABLE devices (id INT PRIMARY KEY, serial VARCHAR(40), site_id INT)",
			"INSERT INTO devices SELECT seq, CONCAT('SN', seq*13), CRC32(seq) % 150 FROM seq_1_to_3000",
			"CREATE TABLE events (id BIGINT PRIMARY KEY, device_id INT, kind INT, at DATETIME, value DOUBLE)",
			"INSERT INTO events SELECT seq, 1 + CRC32(seq) % 3000, CRC32(seq*3) % 20, '2024-01-01' + INTERVAL CRC32(seq*7) % 9000000 SECOND, seq FROM seq_1_to_8000",
		},
		statements: []realStatement{
			each(1000, "SELECT MAX(at) FROM events WHERE device_id = $", 5, 1500, 2999),
			each(500, "SELECT e.* FROM devices d JOIN events e ON e.device_id = d.id WHERE d.serial = 'SN$'", 13, 2600, 32500),
			each(300, "SELECT * FROM events WHERE kind = $ ORDER BY at DESC LIMIT 10", 5, 12, 19),
			each(100, "SELECT COUNT(*) FROM devices WHERE site_id IN (SELECT site_id FROM devices WHERE serial = 'SN$')", 13, 2600, 32500),
		},
		columns: map[string][]string{"devices": {"serial", "site_id"}, "events": {"device_id", "kind", "at"}},
	},
}
