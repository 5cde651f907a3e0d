package trace

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/sqllog"
)

// short lists events as "mark 1", "connect", "get a b"; with ~n their batch.
func short(events []Event) []string {
	var out []string
	for _, e := range events {
		switch {
		case e.Marked:
			out = append(out, fmt.Sprint("mark ", e.Mark))
		case e.Call.Batch > 0:
			out = append(out, fmt.Sprintf("%s ~%d", e.Call.Text, e.Call.Batch))
		default:
			out = append(out, strings.TrimSpace(e.Call.Kind+" "+e.Call.Text))
		}
	}
	return out
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The capture's commands are: get of the mark, two sets, get, get of three
// keys, mg, ms, add, incr, delete, touch, gat, append, get, cas; on another
// connection three pipelined gets.
func TestMemcachedEventsOfACapture(t *testing.T) {
	data := fixture(t, "memcached-watch-1.6.18.txt")
	got, err := MemcachedEvents(bytes.NewReader(data), "cache")
	if err != nil {
		t.Fatal(err)
	}
	if got.Bad != 0 || got.Skipped != 0 || got.Missing != 0 {
		t.Errorf("%+v", got)
	}
	// The mark's own connection, which made all but the last three, is left out.
	want := []string{"connect", "connect", "mark 0", "get user:1", "get user:2", "get user:3"}
	if s := short(got.Events); !slices.Equal(s, want) {
		t.Errorf("got  %q\nwant %q", s, want)
	}
	// The same without the mark.
	got, err = MemcachedEvents(strings.NewReader(strings.ReplaceAll(string(data), "kasoku-mark-0", "other")), "cache")
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"connect", "connect", "connect", "get other", "set user:1", "set user:1", "get user:1", "get user:1", "get user:2 user:3", "get user:1", "set user:9",
		"add n", "get n", "get user:1", "get n", "get n", "append n", "get a%b", "cas n", "get user:1", "get user:2", "get user:3"}
	// In this capture 11 µs passed after the first of the three keys.
	if s := short(got.Events); !slices.Equal(s, want) {
		t.Errorf("got  %q\nwant %q", s, want)
	}
	if c := got.Events[4].Call; c.Size != 5 || c.Keys[0] != "user:1" || c.System != Memcached || c.Service != "cache" || got.Events[4].At.Nanosecond() != 146380000 {
		t.Errorf("%+v at %s", c, got.Events[4].At)
	}
}

func TestMemcachedEvents(t *testing.T) {
	const in = "OK\r\n" +
		"ts=10.7 gid=4 type=item_get key=b status=found clsid=1 cfd=9 size=1\r\n" +
		"ts=10.5 gid=3 type=item_get key=a status=found clsid=1 cfd=9 size=1\r\n" +
		"ts=10.8 gid=5 type=item_get key=c status=found clsid=1 cfd=9 size=1\r\n" +
		"skipped=12\r\n[skipped: 3]\r\nnonsense\r\nts=x gid=1 type=item_get\r\n" +
		"ts=10.900 gid=8 type=item_store key=d status=stored cmd=set ttl=0 clsid=1 cfd=8 size=4\r\n" +
		"ts=10.990 gid=11 type=item_get key=kasoku-mark-1 status=not_found clsid=0 cfd=7 size=0\r\n" +
		"ts=9.990 gid=1 type=item_get key=kasoku-mark-0 status=not_found clsid=0 cfd=7 size=0\r\n"
	got, err := MemcachedEvents(strings.NewReader(in), "cache")
	if err != nil {
		t.Fatal(err)
	}
	if s, want := short(got.Events), []string{"mark 0", "get a b c", "set d", "mark 1"}; !slices.Equal(s, want) || got.Skipped != 15 || got.Bad != 2 || got.Missing != 5 {
		t.Errorf("%q, %+v", s, got)
	}
}

func TestLookups(t *testing.T) {
	calls := cache(Memcached, "get a", "get b", "get a", "get c")
	Lookups(calls, Memcached, 1)
	if calls[2].Text != "change a" || calls[3].Text != "get c" {
		t.Errorf("%+v", calls)
	}
	Lookups(calls, Memcached, 5)
	if calls[0].Text != "change a" || calls[3].Text != "change c" {
		t.Errorf("%+v", calls)
	}
}

func TestRedisEventsOfACapture(t *testing.T) {
	data := fixture(t, "redis-monitor-7.0.15.txt")
	other := strings.ReplaceAll(string(data), `"ECHO" "kasoku-mark-0"`, `"ECHO" "x"`)
	got, err := RedisEvents(strings.NewReader(other), "redis")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"AUTH", "ECHO", "SET user:1", "GET user:1", "MGET a b", "SELECT", "GET x", "GET y", "GET z", "MULTI", "INCR k", "EXEC", "HELLO", "EVAL", "HSET h", "INFO", "MIGRATE"}
	if s := short(got.Events); !slices.Equal(s, want) || got.Bad != 0 {
		t.Errorf("got  %q\nwant %q, %d bad", s, want, got.Bad)
	}
	if _, _, args, ok := parseMonitorLine(`1.000001 [0 1:2] "SET" "user:1" "a b\"c\n\xff"`); !ok || args[2] != "a b\"c\n\xff" {
		t.Errorf("%q", args)
	}
	if got, err = RedisEvents(bytes.NewReader(data), "redis"); err != nil || len(got.Events) != 1 || !got.Events[0].Marked {
		t.Errorf("what came from the mark's connection stays: %q, %v", short(got.Events), err)
	}
	unix := strings.ReplaceAll(string(data), "127.0.0.1:60170", "unix:/run/r.sock")
	if got, err = RedisEvents(strings.NewReader(unix), "redis"); err != nil || len(got.Events) != len(want)-1 {
		t.Errorf("%q, %v", short(got.Events), err)
	}
}

func TestRedisPipeline(t *testing.T) {
	const in = "1.000100 [0 1:2] \"GET\" \"a\"\r\n1.000102 [0 1:2] \"GET\" \"b\"\r\n1.000103 [0 1:3] \"GET\" \"x\"\r\n1.000104 [0 1:2] \"GET\" \"c\"\r\n1.000150 [0 1:2] \"GET\" \"d\"\r\n" +
		"1.000160 [0 lua] \"GET\" \"e\"\r\nnonsense\r\n1.1 [0 1:2] \"GET\"\r\n"
	got, err := RedisEvents(strings.NewReader(in), "redis")
	if err != nil {
		t.Fatal(err)
	}
	if s, want := short(got.Events), []string{"GET a ~1", "GET b ~1", "GET x", "GET c ~1", "GET d"}; !slices.Equal(s, want) || got.Bad != 2 {
		t.Errorf("%q, %d bad", s, got.Bad)
	}
}

func TestRedisKeys(t *testing.T) {
	for in, want := range map[string]string{
		"get a": "[a] []", "set a v EX 60": "[a] [v EX 60]", "mget a b": "[a b] []", "mset a 1 b 2": "[a b] [1 2]", "eval s 2 a b c": "[a b] [s c]",
		"eval s x": "[] [s x]", "ping": "[] []", "hset h f v": "[h] [f v]", "del a b": "[a b] []", "auth x": "[] [x]", "eval s 99999999999999999999": "[] [s 99999999999999999999]",
	} {
		f := strings.Fields(in)
		keys, rest := redisKeys(f[0], f[1:])
		if got := fmt.Sprint(keys, rest); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestRedisValues(t *testing.T) {
	value := func(words string) uint64 { return redisCall("redis", strings.Fields(words)).Value }
	if value("SET a 1") != value("set a 1") || value("SET a 1") == value("SET a 2") || value("SET a 1") == 0 || value("HGET a 12 3") == value("HGET a 1 23") {
		t.Error("values are not told apart")
	}
	if value("SET lock me NX PX 100") != 0 {
		t.Error("an attempt to set is taken for a set")
	}
}

func TestGeneralEvents(t *testing.T) {
	e := func(thread uint64, command, text string) sqllog.GeneralEntry {
		return sqllog.GeneralEntry{Thread: thread, Command: command, Text: text}
	}
	events := GeneralEvents([]sqllog.GeneralEntry{
		e(5, "Query", MarkText(0)), e(7, "Connect", "app@localhost on shop using Socket"), e(7, "Query", "SET NAMES utf8"), e(7, "Init DB", "shop"),
		e(7, "Prepare", "SELECT * FROM t WHERE id = ?"), e(7, "Execute", "SELECT * FROM t WHERE id = 1"), e(7, "Close stmt", ""), e(7, "Quit", ""),
		e(5, "Query", "SELECT 1"), e(9, "Query", "SELECT 2"), e(5, "Query", MarkText(1)),
		e(8, "Connect", "bob@localhost on  using TCP/IP"), e(8, "Connect", "Access denied for user 'bob'@'localhost' (using password: YES)"),
	}, "db", map[uint64]bool{9: true})
	want := []string{"mark 0", "connect", "SET NAMES utf8", "USE shop", "prepare SELECT * FROM t WHERE id = ?", "execute SELECT * FROM t WHERE id = 1", "close", "mark 1", "connect"}
	if got := short(events); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if !events[8].Call.Failed || events[1].Call.Failed {
		t.Error("a refused login is not told from one that was let in")
	}
}

func TestSplit(t *testing.T) {
	at := func(n int64) time.Time { return time.Unix(n, 0) }
	call := func(text string) Call { return Call{Text: text} }
	db := []Event{{Call: call("before")}, {Marked: true, Mark: 0}, {Call: call("q1")}, {Call: call("q2")}, {Marked: true, Mark: 2}, {Call: call("q3")}, {Marked: true, Mark: 3}, {Call: call("after")}}
	mc := []Event{{At: at(1), Marked: true, Mark: 0}, {At: at(3), Call: call("get b")}, {At: at(9), Marked: true, Mark: 1}, {At: at(10), Call: call("get c")}}
	rd := []Event{{At: at(1), Marked: true, Mark: 0}, {At: at(2), Call: call("GET a")}, {At: at(4), Call: call("GET d")}}
	calls, before := Split([][]Event{db, mc, rd}, 3)
	var got []string
	for _, c := range calls {
		line := ""
		for _, x := range c {
			line += x.Text + ", "
		}
		got = append(got, line)
	}
	if want := []string{"q1, q2, GET a, get b, GET d, ", "get c, ", "q3, "}; !slices.Equal(got, want) || before[0] != 1 || before[1] != 0 {
		t.Errorf("%q, %v", got, before)
	}
}

func FuzzMemcachedEvents(f *testing.F) {
	f.Add(fixture(f, "memcached-watch-1.6.18.txt"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := MemcachedEvents(bytes.NewReader(data), "cache")
		if err != nil {
			t.Fatal(err)
		}
		calls, _ := Split([][]Event{got.Events}, 4)
		Summarize([]Request{{Calls: calls[0]}}, Options{})
	})
}

func FuzzRedisEvents(f *testing.F) {
	f.Add(fixture(f, "redis-monitor-7.0.15.txt"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := RedisEvents(bytes.NewReader(data), "redis")
		if err != nil {
			t.Fatal(err)
		}
		calls, _ := Split([][]Event{got.Events}, 4)
		Summarize([]Request{{Calls: calls[0]}}, Options{})
	})
}

func FuzzSummarizeSQL(f *testing.F) {
	f.Add("SELECT * FROM t WHERE id = 1", "UPDATE t SET a = 'x' WHERE id = 2", "k:1")
	f.Fuzz(func(t *testing.T, a, b, key string) {
		var calls []Call
		for _, text := range []string{a, b, a, b, a, b, a, a} {
			calls = append(calls, Call{System: SQL, Text: text}, Call{System: Redis, Text: "GET " + key, Keys: []string{key}})
		}
		Summarize(times(3, calls), Options{})
	})
}
