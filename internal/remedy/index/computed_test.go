package index

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/evidence"
)

// The statement that would help is told to the letter, as the server can take it.
func TestNotesHaveStatements(t *testing.T) {
	users := define("users", 200000, "id:int(11):200000 login:varchar(80):200000 age:int(11):80 data:longtext:1000 created_at:datetime:150000", "PRIMARY(id)")
	maria, eleven, mysql := Options{}, Options{Finds: true}, Options{MySQL: true, Finds: true, Functional: true}
	for _, c := range []struct {
		sql  string
		opts Options
		ddl  string
		text string
	}{
		{"SELECT * FROM users WHERE LOWER(login) = 'x'", maria, "ALTER TABLE `app`.`users` ADD COLUMN `login_lower` VARCHAR(80) AS (LOWER(`login`)) VIRTUAL INVISIBLE, ADD INDEX `kasoku_login_lower` (`login_lower`)", "compare that column"},
		{"SELECT * FROM users WHERE LOWER(users.login) = 'x'", eleven, "ALTER TABLE `app`.`users` ADD COLUMN `login_lower` VARCHAR(80) AS (LOWER(`login`)) VIRTUAL INVISIBLE, ADD INDEX `kasoku_login_lower` (`login_lower`)", "without a change of the statement"},
		{"SELECT * FROM users WHERE age + 1 = 20", mysql, "CREATE INDEX `kasoku_age_computed` ON `app`.`users` ((`age`+1))", "without a change of the statement"},
		{"SELECT * FROM users WHERE JSON_VALUE(data, '$.area') = '3'", maria, "ALTER TABLE `app`.`users` ADD COLUMN `data_json_value` VARCHAR(255) AS (JSON_VALUE(`data`, '$.area')) VIRTUAL INVISIBLE, ADD INDEX `kasoku_data_json_value` (`data_json_value`)", "generated column"},
		{"SELECT * FROM users WHERE MONTH(created_at) = 3", maria, "ALTER TABLE `app`.`users` ADD COLUMN `created_at_month` SMALLINT AS (MONTH(`created_at`)) VIRTUAL INVISIBLE, ADD INDEX `kasoku_created_at_month` (`created_at_month`)", "range of times"},
		{"SELECT * FROM users WHERE DATE(created_at) = '2025-03-01'", maria, "", "range of times"},
		{"SELECT * FROM users WHERE login LIKE '%part%'", maria, "ALTER TABLE `app`.`users` ADD FULLTEXT INDEX (`login`)", "answers otherwise"},
		{"SELECT * FROM users WHERE login LIKE '%part%'", mysql, "ALTER TABLE `app`.`users` ADD FULLTEXT INDEX (`login`) WITH PARSER ngram", "answers otherwise"},
	} {
		users.Schema = "app"
		s := run(c.sql, 1000, 60*second, 200000, 1)
		s.Schema = "app"
		_, notes := Advise([]evidence.Statement{s}, []evidence.Table{users}, c.opts)
		if len(notes) != 1 || !strings.EqualFold(strings.ReplaceAll(notes[0].DDL, ", '$", ",'$"), strings.ReplaceAll(c.ddl, ", '$", ",'$")) || !strings.Contains(notes[0].Text, c.text) {
			t.Errorf("%s: notes %+v\nwant %s, with %q", c.sql, notes, c.ddl, c.text)
		}
	}
}

// A real server takes these statements, and then reads a few rows where it read all.
func TestServerTakesGeneratedColumns(t *testing.T) {
	await.SkipShort(t)
	db := startMariaDB(t)
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	execute(t, conn, "CREATE DATABASE computed")
	execute(t, conn, "USE computed")
	execute(t, conn, "CREATE TABLE people (id INT PRIMARY KEY, login VARCHAR(80), age INT, data JSON, born DATETIME, code VARCHAR(20))")
	execute(t, conn, "INSERT INTO people SELECT seq, CONCAT('User', seq), seq % 4000, CONCAT('{\"area\": \"a', seq % 3000, '\"}'), '2001-01-01' + INTERVAL seq HOUR, seq FROM seq_1_to_12000")
	read, err := evidence.ReadDatabase(ctx, conn)
	if err != nil {
		t.Fatal(err)
	}
	opts := OptionsFor(read)
	for _, c := range []struct{ condition, rewritten string }{
		{"LOWER(login) = 'user77'", "login_lower = 'user77'"},
		{"age * 2 = 154", "age_computed = 154"},
		{"JSON_VALUE(data, '$.area') = 'a77'", "data_json_value = 'a77'"},
		{"MONTH(born) = 2", "born_month = 2"},
		{"CAST(code AS SIGNED) = 77", "code_cast = 77"},
	} {
		sql := "SELECT id FROM people WHERE " + c.condition
		s := run(sql, 1000, 60*second, 12000, 4)
		s.Schema = "computed"
		_, notes := Advise([]evidence.Statement{s}, read.Tables, opts)
		if len(notes) != 1 || notes[0].DDL == "" {
			t.Errorf("%s: notes %+v", sql, notes)
			continue
		}
		before := rowsRead(t, conn, sql)
		columns := fieldsOf(t, conn, "SELECT * FROM people LIMIT 1")
		execute(t, conn, notes[0].DDL)
		if got := fieldsOf(t, conn, "SELECT * FROM people LIMIT 1"); got != columns {
			t.Errorf("%s: SELECT * has %s, before %s", sql, got, columns)
		}
		if n := rowsRead(t, conn, "SELECT id FROM people WHERE "+c.rewritten); n > before/8 {
			t.Errorf("%s: %.0f rows are read, before %.0f", c.rewritten, n, before)
		}
	}
}

// fieldsOf a query's result.
func fieldsOf(t *testing.T, conn *sql.Conn, query string) string {
	t.Helper()
	rows, err := conn.QueryContext(context.Background(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, ",")
}

// growing is a table that is written at one end and emptied at the other, and what does it.
func growing() (events evidence.Table, write, clean evidence.Statement) {
	events = define("events", 3e6, "id:bigint(20):3000000 made:datetime:2900000 kind:int(11):20", "PRIMARY(id)", "m(made)")
	events.Columns[1].Nullable = false
	return events, run("INSERT INTO events (made, kind) VALUES ('2026-03-05', 1)", 50000, 60*second, 0, 0),
		run("DELETE FROM events WHERE made < '2025-11-05 00:00:00'", 30, 60*second, 100000, 0)
}

// A large table from which rows go by their age is to be partitioned by months, with its
// reasons, where nothing stands against it; a real server takes the statement.
func TestPartitions(t *testing.T) {
	events, write, clean := growing()
	reading := run("SELECT COUNT(*) FROM events WHERE made > '2026-03-01'", 300, 6*second, 5000, 1)
	notes := func(change func(*evidence.Table), statements ...evidence.Statement) []Note {
		table := events
		table.Indexes = slices.Clone(events.Indexes)
		table.Columns = slices.Clone(events.Columns)
		if change != nil {
			change(&table)
		}
		_, all := Advise(statements, []evidence.Table{table}, Options{})
		return slices.DeleteFunc(all, func(n Note) bool { return !strings.Contains(n.Text, "partition") })
	}
	got := notes(nil, write, clean, reading)
	if len(got) != 1 || !strings.Contains(got[0].Text, "300 of 300 executions") || !strings.Contains(got[0].DDL, "PARTITION p202511 VALUES LESS THAN ('2025-12-01')") ||
		!strings.Contains(got[0].DDL, "DROP PRIMARY KEY, ADD PRIMARY KEY (`id`, `made`)") {
		t.Errorf("notes %+v", got)
	}
	for name, c := range map[string]struct {
		change     func(*evidence.Table)
		statements []evidence.Statement
		why        string // "": no note at all
	}{
		"small":             {func(t *evidence.Table) { t.Rows = 5000 }, []evidence.Statement{write, clean}, ""},
		"partitioned":       {func(t *evidence.Table) { t.Partitioned = true }, []evidence.Statement{write, clean}, ""},
		"nothing is added":  {nil, []evidence.Statement{clean}, ""},
		"by another reason": {nil, []evidence.Statement{write, run("DELETE FROM events WHERE made < '2025-11-05' AND kind = 3", 30, 60*second, 100000, 0)}, ""},
		"a foreign key": {func(t *evidence.Table) {
			t.ForeignKeys = []evidence.ForeignKey{{Name: "f", Columns: []string{"kind"}, RefTable: "kinds"}}
		}, []evidence.Statement{write, clean}, "foreign keys"},
		"a unique index": {func(t *evidence.Table) {
			t.Indexes = append(t.Indexes, evidence.TableIndex{Name: "u", Unique: true, Columns: []string{"kind"}})
		}, []evidence.Statement{write, clean}, "less unique"},
		"NULL": {func(t *evidence.Table) { t.Columns[1].Nullable = true }, []evidence.Statement{write, clean}, "NULL"},
	} {
		got := notes(c.change, c.statements...)
		switch {
		case c.why == "" && len(got) > 0:
			t.Errorf("%s: %+v", name, got)
		case c.why != "" && (len(got) != 1 || !strings.Contains(got[0].Text, c.why) || got[0].DDL != ""):
			t.Errorf("%s: %+v, want %q", name, got, c.why)
		}
	}
}

// A real server takes the statement that makes partitions, for each type of time.
func TestServerTakesPartitions(t *testing.T) {
	await.SkipShort(t)
	db := startMariaDB(t)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	events, write, clean := growing()
	for _, base := range []string{"DATETIME", "TIMESTAMP", "DATE"} {
		execute(t, conn, "CREATE DATABASE IF NOT EXISTS app")
		execute(t, conn, "CREATE OR REPLACE TABLE app.events (id BIGINT AUTO_INCREMENT PRIMARY KEY, made "+base+" NOT NULL, kind INT, KEY m (made))")
		execute(t, conn, "INSERT INTO app.events (made, kind) SELECT '2025-10-20' + INTERVAL seq % 300 DAY, 1 FROM app.seq_1_to_3000")
		statements := []evidence.Statement{write, clean}
		for i := range statements {
			statements[i].Schema = "app"
		}
		table := events
		table.Schema = "app"
		table.Columns = slices.Clone(events.Columns)
		table.Columns[1].Type = strings.ToLower(base)
		_, all := Advise(statements, []evidence.Table{table}, Options{})
		at := slices.IndexFunc(all, func(n Note) bool { return strings.Contains(n.Text, "partition") })
		if at < 0 {
			t.Fatalf("%s: notes %+v", base, all)
		}
		execute(t, conn, all[at].DDL)
		execute(t, conn, "ALTER TABLE app.events DROP PARTITION p202511")
		read, err := evidence.ReadDatabase(t.Context(), conn)
		if err != nil || !slices.ContainsFunc(read.Tables, func(x evidence.Table) bool { return x.Name == "events" && x.Partitioned }) {
			t.Errorf("%s: it is not seen to be partitioned: %v", base, err)
		}
	}
}
