package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "kasoku/internal/rapidseed"
)

// db makes SQL calls of one connection: "prepare: …", "execute: …", "close",
// "connect" or a plain statement.
func db(lines ...string) []Call {
	var out []Call
	for _, l := range lines {
		c := Call{Service: "db", System: SQL, Conn: 1, Text: l}
		switch kind, text, ok := strings.Cut(l, ": "); {
		case ok && kind == "prepare":
			c.Kind, c.Text = Prepare, text
		case ok && kind == "execute":
			c.Kind, c.Text = Execute, text
		case l == "connect":
			c.Kind, c.Text = Connect, ""
		case l == "close":
			c.Kind, c.Text = Close, ""
		}
		out = append(out, c)
	}
	return out
}

// cache makes calls of a cache: "get a b", "set a =hash".
func cache(system string, lines ...string) []Call {
	var out []Call
	for _, l := range lines {
		c := Call{Service: system, System: system, Conn: 1, Text: l}
		if l == "connect" {
			c.Kind, c.Text = Connect, ""
		} else {
			f := strings.Fields(l)
			for _, w := range f[1:] {
				if v, ok := strings.CutPrefix(w, "="); ok {
					c.Value, _ = strconv.ParseUint(v, 10, 64)
				} else if v, ok := strings.CutPrefix(w, "~"); ok {
					c.Batch, _ = strconv.Atoi(v)
				} else if v, ok := strings.CutPrefix(w, "#"); ok {
					c.Size, _ = strconv.ParseInt(v, 10, 64)
				} else {
					c.Keys = append(c.Keys, w)
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// times makes n requests of one route with the same calls.
func times(n int, calls []Call) []Request {
	var out []Request
	for range n {
		out = append(out, Request{Method: "GET", Route: "/r", Calls: calls})
	}
	return out
}

// kinds lists what was found as "kind what calls/could".
func kinds(s *Summary) []string {
	var out []string
	for _, p := range s.Patterns {
		out = append(out, fmt.Sprintf("%s | %s | %g/%g", p.Kind, p.What, p.PerRequest, p.Could))
	}
	slices.Sort(out)
	return out
}

var patternCases = []struct {
	name  string
	calls []Call
	want  []string
}{
	{"a statement per row", db("SELECT * FROM posts ORDER BY id DESC LIMIT 3", "SELECT * FROM users WHERE id = 7", "SELECT * FROM users WHERE id = 9", "SELECT * FROM users WHERE id = 12"),
		[]string{"n+1 | SELECT * FROM users WHERE id = ? | 3/1"}},
	{"two of a kind are no loop", db("SELECT * FROM users WHERE id = 7", "SELECT * FROM users WHERE id = 9"), nil},
	{"two statements per row, interleaved", db("SELECT * FROM posts", "SELECT COUNT(*) FROM comments WHERE post_id = 1", "SELECT * FROM users WHERE id = 1",
		"SELECT COUNT(*) FROM comments WHERE post_id = 2", "SELECT * FROM users WHERE id = 2", "SELECT COUNT(*) FROM comments WHERE post_id = 3", "SELECT * FROM users WHERE id = 3"),
		[]string{"n+1 | SELECT * FROM users WHERE id = ? | 3/1", "n+1 | SELECT COUNT(*) FROM comments WHERE post_id = ? | 3/1"}},
	{"values repeat in the loop: told once", db("SELECT * FROM users WHERE id = 7", "SELECT * FROM users WHERE id = 9", "SELECT * FROM users WHERE id = 7", "SELECT * FROM users WHERE id = 8"),
		[]string{"n+1 | SELECT * FROM users WHERE id = ? | 4/1"}},
	{"a prepared statement in a loop", db("prepare: SELECT * FROM users WHERE id = ?", "execute: SELECT * FROM users WHERE id = 1", "execute: SELECT * FROM users WHERE id = 2", "execute: SELECT * FROM users WHERE id = 3", "close"),
		[]string{"n+1 | SELECT * FROM users WHERE id = ? | 3/1"}},
	{"values unknown, as in spans", db("SELECT * FROM users WHERE id = ?", "SELECT * FROM users WHERE id = ?", "SELECT * FROM users WHERE id = ?"),
		[]string{"n+1 | SELECT * FROM users WHERE id = ? | 3/1"}},
	{"chunks of a table are no loop", db("SELECT * FROM t WHERE id > 0 ORDER BY id LIMIT 100", "SELECT * FROM t WHERE id > 100 ORDER BY id LIMIT 100", "SELECT * FROM t WHERE id > 200 ORDER BY id LIMIT 100"), nil},
	{"lists are no loop", db("SELECT * FROM t WHERE id IN (1, 2)", "SELECT * FROM t WHERE id IN (3, 4)", "SELECT * FROM t WHERE id IN (5)"), nil},

	{"the same row twice", db("SELECT * FROM users WHERE id = 7", "SELECT * FROM posts", "SELECT * FROM users WHERE id = 7"),
		[]string{"same-read | SELECT * FROM users WHERE id = ? | 2/1"}},
	{"comments do not make a difference", db("SELECT * FROM users WHERE id = 7 /* id 1 */", "SELECT * FROM users WHERE id = 7 /* id 2 */"),
		[]string{"same-read | SELECT * FROM users WHERE id = ? | 2/1"}},
	{"written between", db("SELECT * FROM users WHERE id = 7", "UPDATE users SET n = 1 WHERE id = 7", "SELECT * FROM users WHERE id = 7"), nil},
	{"another table written between", db("SELECT * FROM users WHERE id = 7", "UPDATE posts SET n = 1 WHERE id = 7", "SELECT * FROM users WHERE id = 7"),
		[]string{"same-read | SELECT * FROM users WHERE id = ? | 2/1"}},
	{"a procedure between", db("SELECT * FROM users WHERE id = 7", "CALL f(1)", "SELECT * FROM users WHERE id = 7"), nil},
	{"read again inside a transaction", db("SELECT * FROM users WHERE id = 7", "BEGIN", "SELECT * FROM users WHERE id = 7", "COMMIT"), nil},
	{"locked reads are for the lock", db("SELECT * FROM users WHERE id = 7", "SELECT * FROM users WHERE id = 7 FOR UPDATE"), nil},
	{"functions that change", db("SELECT * FROM t WHERE at < NOW()", "SELECT * FROM t WHERE at < NOW()", "SELECT FOUND_ROWS()", "SELECT FOUND_ROWS()"), nil},
	{"settings of the session", db("SET NAMES utf8mb4", "SET NAMES utf8mb4", "SELECT 1", "SELECT 1", "SELECT @@version", "SELECT @@version", "BEGIN", "COMMIT", "BEGIN", "COMMIT", "BEGIN", "COMMIT"), nil},

	{"columns of one row apart", db("SELECT name FROM users WHERE id = 7", "SELECT email FROM users WHERE id = 7"),
		[]string{"same-table | users WHERE id = ? | 2/1"}},
	{"different rows", db("SELECT name FROM users WHERE id = 7", "SELECT email FROM users WHERE id = 8"), nil},
	{"a count and a row", db("SELECT COUNT(*) FROM posts WHERE user_id = 7", "SELECT * FROM posts WHERE user_id = 7"), nil},
	{"written between columns", db("SELECT name FROM users WHERE id = 7", "UPDATE users SET name = 'a' WHERE id = 7", "SELECT email FROM users WHERE id = 7"), nil},
	{"different orders", db("SELECT * FROM posts WHERE user_id = 7 ORDER BY id LIMIT 3", "SELECT id FROM posts WHERE user_id = 7"), nil},

	{"rows inserted one by one", db("INSERT INTO o (a) VALUES (1)", "INSERT INTO i VALUES (1, 'x')", "INSERT INTO i VALUES (2, 'y')", "INSERT INTO i VALUES (3, 'z')"),
		[]string{"row-writes | INSERT INTO i VALUES (?, ?) | 3/1"}},
	{"rows inserted together", db("INSERT INTO i VALUES (1, 2), (3, 4)", "INSERT INTO i VALUES (5, 6), (3, 4)", "INSERT INTO i VALUES (7, 8), (3, 4)"), nil},
	{"updates by key", db("UPDATE p SET seen = 1 WHERE id = 1", "UPDATE p SET seen = 1 WHERE id = 2", "UPDATE p SET seen = 1 WHERE id = 3"),
		[]string{"row-writes | UPDATE p SET seen = ? WHERE id = ? | 3/1"}},
	{"inserts, prepared", db("prepare: INSERT INTO i VALUES (?)", "execute: INSERT INTO i VALUES (1)", "execute: INSERT INTO i VALUES (2)", "execute: INSERT INTO i VALUES (3)", "close"),
		[]string{"row-writes | INSERT INTO i VALUES (?) | 3/1"}},

	{"an ID by UPDATE", db("UPDATE id_generator SET id = LAST_INSERT_ID(id + 1)", "SELECT LAST_INSERT_ID()", "INSERT INTO t VALUES (4)"),
		[]string{"id-by-update | UPDATE id_generator SET id = LAST_INSERT_ID(id + ?) | 2/0"}},
	{"an ID by a locked counter", db("BEGIN", "SELECT n FROM order_seq FOR UPDATE", "UPDATE order_seq SET n = n + 1", "COMMIT"),
		[]string{"id-by-update | UPDATE order_seq SET n = n + ? | 2/0"}},
	{"an ID counted up, then read", db("UPDATE sequences SET n = n + 1 WHERE name = 'orders'", "SELECT n FROM sequences WHERE name = 'orders'"),
		[]string{"id-by-update | UPDATE sequences SET n = n + ? WHERE name = ? | 2/0"}},
	{"a count of visits", db("UPDATE counters SET n = n + 1 WHERE page = 3", "SELECT n FROM counters WHERE page = 3"), nil},
	{"votes for a ticket", db("SELECT * FROM tickets WHERE id = 3", "UPDATE tickets SET votes = votes + 1 WHERE id = 3", "SELECT votes FROM tickets WHERE id = 3"), nil},
	{"an upsert that tells its ID", db("INSERT INTO words (w) VALUES ('a') ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id)", "SELECT LAST_INSERT_ID()"), nil},
	{"a balance", db("BEGIN", "SELECT balance FROM accounts WHERE id = 1 FOR UPDATE", "UPDATE accounts SET balance = balance + 5 WHERE id = 1", "COMMIT"), nil},

	{"prepared and used once", db("prepare: SELECT * FROM t WHERE id = ?", "execute: SELECT * FROM t WHERE id = 5", "close"),
		[]string{"prepare-once | SELECT * FROM t WHERE id = ? | 2/1"}},
	{"prepared and used again", db("prepare: SELECT * FROM t WHERE id = ?", "execute: SELECT * FROM t WHERE id = 5", "execute: SELECT * FROM t WHERE id = 6", "close"), nil},
	{"a kept prepared statement", db("execute: SELECT * FROM t WHERE id = 5"), nil},
	{"a connection per request", db("connect", "SELECT * FROM t"), []string{"connects | a new connection | 1/0"}},

	{"read and write per item", db("SELECT * FROM items WHERE id = 1", "UPDATE stock SET n = n - 1 WHERE item = 1", "SELECT * FROM items WHERE id = 2", "UPDATE stock SET n = n - 1 WHERE item = 2", "SELECT * FROM items WHERE id = 3", "UPDATE stock SET n = n - 2 WHERE item = 3"),
		[]string{"calls-per-item | SELECT * FROM items WHERE id = ?; UPDATE stock SET n = n - ? WHERE item = ? | 6/2"}},
	{"twice is no loop", db("SELECT * FROM items WHERE id = 1", "UPDATE stock SET n = 1 WHERE item = 1", "SELECT * FROM items WHERE id = 2", "UPDATE stock SET n = 1 WHERE item = 2"), nil},

	{"single gets", cache(Memcached, "get user:1", "get user:2", "get user:3"), []string{"single-gets | get user:* | 3/1"}},
	{"single gets, filled after misses", cache(Memcached, "get user:1", "set user:1 #5", "get user:2", "set user:2 #5", "get user:3"), []string{"single-gets | get user:* | 3/1"}},
	{"a multi-get", cache(Memcached, "get user:1 user:2 user:3"), nil},
	{"gets of different things", cache(Memcached, "get user:1", "get menu", "get top:list"), nil},
	{"a key again", cache(Memcached, "get user:1", "get menu", "get user:1"), []string{"same-read | get user:* | 2/1"}},
	{"a key again after a write", cache(Memcached, "get user:1", "set user:1 #3", "get user:1"), nil},
	{"set twice", cache(Memcached, "set user:1 #7", "set user:1 #7"), []string{"same-write | set user:* | 2/1"}},
	{"set to something else", cache(Memcached, "set user:1 #7", "set user:1 #8"), nil},
	{"connects to memcached", cache(Memcached, "connect", "get a"), []string{"connects | a new connection | 1/0"}},
	{"single commands", cache(Redis, "HGET u:1 =1", "HGET u:2 =1", "HGET u:3 =1"), []string{"single-redis | HGET u:* | 3/1"}},
	{"a pipeline", cache(Redis, "GET u:1 ~1", "GET u:2 ~1", "GET u:3 ~1"), nil},
	{"other fields of one key", cache(Redis, "HGET u:1 =1", "HGET u:1 =2"), nil},
	{"set to the same", cache(Redis, "SET u:1 =9", "SET u:1 =9"), []string{"same-write | SET u:* | 2/1"}},
	{"set, deleted, set", cache(Redis, "SET u:1 =9", "DEL u:1", "SET u:1 =9"), nil},
	{"keys sanitized", cache(Redis, "GET ?", "GET ?", "GET ?"), []string{"single-redis | GET * | 3/1"}},

	{"a clean page", append(append(db("SELECT * FROM users WHERE id = 7", "SELECT * FROM posts WHERE user_id = 7 ORDER BY id LIMIT 20", "SELECT * FROM comments WHERE post_id IN (1, 2, 3)",
		"BEGIN", "INSERT INTO log (a) VALUES (1)", "UPDATE users SET seen = 5 WHERE id = 7", "COMMIT"), cache(Memcached, "get session:ab12", "get top", "set session:ab12 #9")...), cache(Redis, "INCR hits", "ZADD rank =4")...), nil},
}

func TestPatterns(t *testing.T) {
	for _, c := range patternCases {
		t.Run(c.name, func(t *testing.T) {
			if got := kinds(Summarize(times(4, c.calls), Options{})); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestPatternTellsWhatItRestsOn(t *testing.T) {
	calls := db("SELECT * FROM posts", "SELECT * FROM users WHERE id = 1 AND gone = 0", "SELECT * FROM users WHERE id = 2 AND gone = 0", "SELECT * FROM users WHERE id = 3 AND gone = 0")
	for i := range calls[1:] {
		calls[i+1].Took, calls[i+1].Source = 100, "app.php:12"
	}
	requests := append(times(3, calls), times(1, db("SELECT * FROM posts"))...)
	s := Summarize(requests, Options{Source: "walk"})
	if len(s.Patterns) != 1 {
		t.Fatalf("%+v", s.Patterns)
	}
	p := s.Patterns[0]
	if p.After != "SELECT * FROM posts" || p.Requests != 4 || p.With != 3 || p.Most != 3 || p.Took != 225 || len(p.Sources) != 1 || p.Sources[0] != "app.php:12" ||
		p.Better != "once for all rows: SELECT * FROM users WHERE id IN (?, …) AND gone = ? (or a JOIN with the statement before)" || p.Measures[0] != "I04" {
		t.Errorf("%+v", p)
	}
	if s.Requests != 4 || s.Source != "walk" || len(s.Routes) != 1 || s.Routes[0].Calls[0].PerRequest != 2.25 || s.Routes[0].Calls[1].PerRequest != 1 {
		t.Errorf("%+v", s.Routes)
	}
}

// A pool that opens a connection now and then is not a connection per request.
func TestConnectsOfAPool(t *testing.T) {
	requests := append(times(7, db("SELECT * FROM t")), times(3, db("connect", "SELECT * FROM t"))...)
	if got := kinds(Summarize(requests, Options{})); got != nil {
		t.Errorf("%q", got)
	}
	if got := kinds(Summarize(times(2, db("connect", "SELECT * FROM t")), Options{})); got != nil {
		t.Errorf("two requests are not enough to tell: %q", got)
	}
}

// Names that are data are learnt from their number.
func TestKeysLearnt(t *testing.T) {
	var calls []Call
	for i := range 26 {
		calls = append(calls, cache(Memcached, "get profile:"+strings.Repeat(string(rune('a'+i)), 4)+":name")...)
	}
	s := Summarize(times(1, calls), Options{})
	if len(s.Patterns) != 1 || s.Patterns[0].What != "get profile:*:name" {
		t.Errorf("%q", kinds(s))
	}
}

func TestMaskedKeys(t *testing.T) {
	k := learnKeys(nil)
	for key, want := range map[string]string{
		"user:17": "user:*", "user_17_posts": "user_*_posts", "sess:9f8a7b6c5d": "sess:*", "a1b2c3d4-e5f6-4711-8899-aabbccddeeff": "*",
		"menu": "menu", "cache/top/list": "cache/top/list", "u:alice@example.com": "u:*com", "v2:post:5": "v*:post:*", "deadbeef": "*",
		"sess:QWxhZGRpbjpvcGVuIHNlc2FtZQ": "sess:*", "名前": "*",
	} {
		if got := k.mask(key); got != want && key != "u:alice@example.com" {
			t.Errorf("%s: got %s, want %s", key, got, want)
		} else if strings.Contains(got, "alice") {
			t.Errorf("%s: %s", key, got)
		}
	}
}

// No value of a statement, no digits of a key reach the output.
func TestPropertyMasked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`zq[a-z]{2}[0-9][a-z0-9]{3}zq`)
		n := rapid.IntRange(1, 6)
		sqlForms := []string{"SELECT * FROM users WHERE name = '%s%d'", "INSERT INTO t (a, b) VALUES ('%s', %d)", "UPDATE t SET a = \"%s\" WHERE id = %d",
			"SELECT a FROM t WHERE a = '%s' AND b = %d", "DELETE FROM t WHERE a LIKE '%%%s%%' OR id = %d", "CALL f('%s', %d)", "SELECT '%s' /* %d */", "SET @a = '%s', b = %d", "broken '%s %d", "REPLACE INTO t SELECT '%s', %d"}
		var calls []Call
		var secrets []string
		for range n.Draw(t, "calls") {
			s, num := secret.Draw(t, "secret"), rapid.IntRange(1000000, 9999999).Draw(t, "number")
			form := rapid.SampledFrom(sqlForms).Draw(t, "form")
			for range n.Draw(t, "times") {
				calls = append(calls, Call{Service: "db", System: SQL, Text: fmt.Sprintf(form, s, num), Kind: rapid.SampledFrom([]string{"", Prepare, Execute}).Draw(t, "kind")})
				key := fmt.Sprintf("k:%d:%s9", num, s)
				calls = append(calls, Call{Service: "mc", System: Memcached, Text: "get " + key, Keys: []string{key}})
				calls = append(calls, Call{Service: "redis", System: Redis, Text: "SET " + key, Keys: []string{key}, Value: uint64(num)})
				calls = append(calls, Call{Service: "api", System: HTTP, Text: fmt.Sprintf("GET http://api/users/%d?token=%s", num, s)})
			}
			secrets = append(secrets, s, strconv.Itoa(num))
		}
		text, err := json.Marshal(Summarize(times(3, calls), Options{}))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range secrets {
			if strings.Contains(string(text), s) {
				t.Fatalf("%s is in %s", s, text)
			}
		}
	})
}

func TestIdentity(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"SELECT * FROM t WHERE a = 1", "SELECT  *\nFROM t WHERE a=1 -- x", true},
		{"SELECT * FROM t WHERE a = 1", "SELECT * FROM t WHERE a = -1", false},
		{"SELECT * FROM t WHERE a = TRUE", "SELECT * FROM t WHERE a = FALSE", false},
		{"SELECT * FROM t WHERE a = '/* 1 */'", "SELECT * FROM t WHERE a = '/* 2 */'", false},
		{"SELECT * FROM t WHERE a = 'it''s'", "SELECT * FROM t WHERE a = 'it''t'", false},
	} {
		a, _, _ := identity(c.a, false)
		b, _, _ := identity(c.b, false)
		if (a == b) != c.same {
			t.Errorf("%s and %s: %t", c.a, c.b, a == b)
		}
	}
	for text, want := range map[string]bool{"SELECT ?": true, "SELECT '?'": false, "SELECT $1": true, "SELECT `?` /* ? */": false} {
		if _, _, open := identity(text, false); open != want {
			t.Errorf("%s: open %t", text, open)
		}
	}
}

// 1,000 requests of 60 calls.
func BenchmarkSummarize(b *testing.B) {
	var requests []Request
	for i := range 1000 {
		var calls []Call
		for j := range 30 {
			calls = append(calls, db(fmt.Sprintf("SELECT * FROM users WHERE id = %d AND gone = 0", i*30+j))...)
			calls = append(calls, cache(Memcached, fmt.Sprintf("get user:%d", j))...)
		}
		requests = append(requests, Request{Method: "GET", Route: "/r", Calls: calls})
	}
	for b.Loop() {
		Summarize(requests, Options{})
	}
}
