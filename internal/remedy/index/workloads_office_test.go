package index

// officeWorkloads are what shops' back offices, logs and directories ask.
var officeWorkloads = []realWorkload{
	{
		name: "menus", // outer joins that a condition makes inner ones: the tree of shelves is best entered by the parent
		schema: []string{
			"CREATE TABLE shelves (id INT, store INT, PRIMARY KEY (id, store))",
			"INSERT INTO shelves SELECT seq, 0 FROM seq_1_to_400",
			"CREATE TABLE paths (shelf_id INT, path_id INT, level INT, PRIMARY KEY (shelf_id, path_id))",
			"INSERT INTO paths SELECT seq, seq, 2 FROM seq_1_to_400",
			"INSERT IGNORE INTO paths SELECT seq, CRC32(seq) % 60, 1 FROM seq_61_to_400",
			"INSERT IGNORE INTO paths SELECT seq, CRC32(seq) % 12, 0 FROM seq_61_to_400",
			"CREATE TABLE placed (thing_id INT, shelf_id INT, PRIMARY KEY (thing_id, shelf_id), KEY shelf_id (shelf_id))",
			"INSERT INTO placed SELECT seq, 1 + CRC32(seq*3) % 400 FROM seq_1_to_3000",
		},
		statements: []realStatement{
			each(3000, "SELECT COUNT(DISTINCT t.thing_id) FROM shelves s LEFT JOIN paths p ON (p.shelf_id = s.id AND s.store = 0) LEFT JOIN placed t ON t.shelf_id = p.shelf_id WHERE t.thing_id > 0 AND p.path_id = $", 7, 30, 250),
		},
		columns: map[string][]string{"paths": {"path_id", "shelf_id"}, "placed": {"shelf_id"}, "shelves": {"store"}},
	},
	{
		name: "sessions", // one row by a long key; old ones deleted
		schema: []string{
			"CREATE TABLE sessions (id INT PRIMARY KEY, sid VARCHAR(300), expires INT, data TEXT)",
			"INSERT INTO sessions SELECT seq, CONCAT(SHA2(seq, 256), SHA2(seq*3, 256)), 1600000000 + CRC32(seq) % 900000, REPEAT('d', 100) FROM seq_1_to_4000",
		},
		statements: []realStatement{
			each(1000, "SELECT data FROM sessions WHERE sid = CONCAT(SHA2($, 256), SHA2($*3, 256))", 5, 3000),
			writing(10, each(20, "DELETE FROM sessions WHERE expires < 1600000000 + $", 2000, 2400)),
		},
		columns: map[string][]string{"sessions": {"sid(64)", "expires"}},
	},
	{
		name: "pages", // a text column by its beginning
		schema: []string{
			"CREATE TABLE pages (id INT PRIMARY KEY, url TEXT, site INT, fetched DATETIME)",
			"INSERT INTO pages SELECT seq, CONCAT('/', MD5(seq), '/', seq), CRC32(seq) % 60, '2024-01-01' + INTERVAL CRC32(seq*3) % 900000 SECOND FROM seq_1_to_4000",
		},
		statements: []realStatement{
			each(800, "SELECT * FROM pages WHERE url = CONCAT('/', MD5($), '/', $)", 5, 3000),
			each(300, "SELECT id, fetched FROM pages WHERE site = $ ORDER BY fetched LIMIT 5", 5, 50),
		},
		columns: map[string][]string{"pages": {"url(64)", "site", "fetched"}},
	},
	{
		name: "catalogue", // products by category, price and the beginning of a name
		schema: []string{
			"CREATE TABLE products (id INT PRIMARY KEY, category_id INT, price INT, name VARCHAR(100), stock INT)",
			"INSERT INTO products SELECT seq, CRC32(seq) % 50, CRC32(seq*3) % 10000, CONCAT(SUBSTR(MD5(seq), 1, 6), ' thing'), CRC32(seq*5) % 30 FROM seq_1_to_5000",
		},
		statements: []realStatement{
			each(600, "SELECT * FROM products WHERE category_id = $ AND price BETWEEN 1000 AND 1500", 5, 45),
			each(300, "SELECT * FROM products WHERE category_id = $ ORDER BY price LIMIT 10", 5, 45),
			each(300, "SELECT * FROM products WHERE name LIKE 'ab$%'", 1, 9),
			each(50, "UPDATE products SET stock = 5 WHERE category_id = $ AND price < 100", 5, 45),
		},
		columns: map[string][]string{"products": {"category_id", "price", "name"}},
	},
	{
		name: "invoices", // open ones of a customer, totals of a month
		schema: []string{
			"CREATE TABLE invoices (id INT PRIMARY KEY, customer_id INT, paid_at DATE NULL, due DATE, amount INT)",
			"INSERT INTO invoices SELECT seq, CRC32(seq) % 250, IF(CRC32(seq*3) % 10 = 0, NULL, '2024-01-05'), '2024-01-01' + INTERVAL CRC32(seq*5) % 300 DAY, CRC32(seq*7) % 900 FROM seq_1_to_5000",
		},
		statements: []realStatement{
			each(500, "SELECT * FROM invoices WHERE customer_id = $ AND paid_at IS NULL", 5, 200),
			each(200, "SELECT SUM(amount) FROM invoices WHERE due = '2024-03-0$'", 2, 7),
			each(100, "SELECT id FROM invoices WHERE paid_at IS NULL AND due < '2024-01-1$'", 1, 2),
		},
		columns: map[string][]string{"invoices": {"customer_id", "paid_at", "due"}},
	},
	{
		name: "audit", // written all the time, hardly ever read
		schema: []string{
			"CREATE TABLE audit (id INT PRIMARY KEY AUTO_INCREMENT, actor INT, action INT, at DATETIME)",
			"INSERT INTO audit SELECT seq, CRC32(seq) % 700, CRC32(seq*3) % 30, '2024-01-01' + INTERVAL seq SECOND FROM seq_1_to_4000",
		},
		statements: []realStatement{
			writing(1, each(20000, "INSERT INTO audit (actor, action, at) VALUES ($, 1, NOW())", 1, 2)),
			each(10, "SELECT * FROM audit WHERE action = $ AND at > '2024-01-01 01:00:00'", 5, 6),
			each(600, "SELECT COUNT(*) FROM audit WHERE actor = $", 5, 600),
		},
		columns: map[string][]string{"audit": {"actor", "action", "at"}},
	},
	{
		name: "staff", // three tables in a row
		schema: []string{
			"CREATE TABLE offices (id INT PRIMARY KEY, city VARCHAR(30))",
			"INSERT INTO offices SELECT seq, CONCAT('city', seq) FROM seq_1_to_2000",
			"CREATE TABLE teams (id INT PRIMARY KEY, office_id INT, kind INT)",
			"INSERT INTO teams SELECT seq, 1 + CRC32(seq) % 2000, CRC32(seq*3) % 30 FROM seq_1_to_3000",
			"CREATE TABLE people (id INT PRIMARY KEY, team_id INT, born DATE, email VARCHAR(60))",
			"INSERT INTO people SELECT seq, 1 + CRC32(seq*5) % 3000, '1970-01-01' + INTERVAL CRC32(seq) % 9000 DAY, CONCAT('p', seq, '@x') FROM seq_1_to_4000",
		},
		statements: []realStatement{
			each(500, "SELECT p.email FROM offices o JOIN teams t ON t.office_id = o.id JOIN people p ON p.team_id = t.id WHERE o.city = 'city$'", 5, 1500),
			each(500, "SELECT * FROM people WHERE email = 'p$@x'", 5, 1500),
		},
		columns: map[string][]string{"offices": {"city"}, "teams": {"office_id", "kind"}, "people": {"team_id", "born", "email"}},
	},
	{
		name: "tickets", // lists of values, several orders
		schema: []string{
			"CREATE TABLE tickets (id INT PRIMARY KEY, assignee INT, state INT, updated_at DATETIME, queue INT)",
			"INSERT INTO tickets SELECT seq, CRC32(seq) % 120, CRC32(seq*3) % 6, '2024-01-01' + INTERVAL CRC32(seq*5) % 900000 SECOND, CRC32(seq*7) % 15 FROM seq_1_to_5000",
		},
		statements: []realStatement{
			each(600, "SELECT * FROM tickets WHERE assignee = $ AND state IN (1, 2)", 5, 100),
			each(300, "SELECT id FROM tickets WHERE queue = $ AND state = 0 ORDER BY updated_at LIMIT 1", 3, 12),
			each(100, "SELECT * FROM tickets WHERE assignee IN ($, 7, 8)", 5, 100),
		},
		columns: map[string][]string{"tickets": {"assignee", "state", "updated_at", "queue"}},
	},
	{
		name: "sensors", // a series' latest values and its range
		schema: []string{
			"CREATE TABLE samples (id BIGINT PRIMARY KEY, sensor_id INT, at INT, value INT)",
			"INSERT INTO samples SELECT seq, CRC32(seq) % 80, seq * 10, CRC32(seq*3) % 1000 FROM seq_1_to_5000",
		},
		statements: []realStatement{
			each(500, "SELECT value FROM samples WHERE sensor_id = $ AND at >= 30000 AND at < 33000", 5, 70),
			each(400, "SELECT MAX(at) FROM samples WHERE sensor_id = $", 5, 70),
			each(50, "SELECT sensor_id, MAX(at) FROM samples GROUP BY sensor_id", ""),
			writing(1, each(200, "INSERT INTO samples VALUES (900000 + $, 1, 2, 3)", 1, 2)),
		},
		columns: map[string][]string{"samples": {"sensor_id", "at", "value"}},
	},
	{
		name: "accounts", // what cannot be helped beside what can
		schema: []string{
			"CREATE TABLE accounts (id INT PRIMARY KEY, email VARCHAR(80), phone VARCHAR(20), region INT)",
			"INSERT INTO accounts SELECT seq, CONCAT('u', seq, '@example.com'), CONCAT('+81', CRC32(seq)), CRC32(seq*3) % 40 FROM seq_1_to_4000",
			"CREATE TABLE logins (id INT PRIMARY KEY, account_id INT, at DATETIME)",
			"INSERT INTO logins SELECT seq, 1 + CRC32(seq*7) % 4000, '2024-01-01' + INTERVAL seq SECOND FROM seq_1_to_5000",
		},
		statements: []realStatement{
			each(700, "SELECT * FROM accounts WHERE email = 'u$@example.com'", 5, 3000),
			each(20, "SELECT COUNT(*) FROM accounts WHERE LOWER(phone) LIKE '%$5'", 1, 2),
			each(200, "SELECT a.id, a.email FROM accounts a WHERE a.region = 7 AND EXISTS (SELECT 1 FROM logins l WHERE l.account_id = a.id AND l.at > '2024-01-01 00:$0:00')", 1, 3),
		},
		columns: map[string][]string{"accounts": {"email", "phone", "region"}, "logins": {"account_id", "at"}},
	},
	{
		name: "remarks", // two columns that only together are selective
		schema: []string{
			"CREATE TABLE remarks (id INT PRIMARY KEY, target_type INT, target_id INT, author_id INT, hidden TINYINT)",
			"INSERT INTO remarks SELECT seq, CRC32(seq) % 12, CRC32(seq*3) % 200, CRC32(seq*5) % 900, CRC32(seq*7) % 20 = 0 FROM seq_1_to_5000",
		},
		statements: []realStatement{
			each(800, "SELECT * FROM remarks WHERE target_type = 3 AND target_id = $ AND hidden = 0", 5, 150),
			each(200, "SELECT DISTINCT target_id FROM remarks WHERE author_id = $", 5, 800),
		},
		columns: map[string][]string{"remarks": {"target_type", "target_id", "author_id", "hidden"}},
	},
}
