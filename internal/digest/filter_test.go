package digest

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"kasoku/internal/accesslog"
	"kasoku/internal/sqllog"
)

func entry() *accesslog.Entry {
	return &accesslog.Entry{Method: []byte("POST"), Target: []byte("/api/items/7?page=2"), Status: 503, Bytes: 2_000_000,
		Request: 750 * time.Millisecond, Upstream: -1, Cache: []byte("MISS"), Client: []byte("10.0.0.1"), Agent: []byte("curl/8")}
}

func TestAccessFilter(t *testing.T) {
	for _, tt := range []struct {
		expr string
		want bool
	}{
		{"status>=500", true}, {"status>503", false}, {"status=5xx", true}, {"status=4XX", false}, {"status!=5xx", false},
		{"status<4xx", false}, {"status<=5xx", true}, {"status>4xx", true}, {"status == 503", true},
		{"method=post", true}, {"method!=POST", false}, {"method~^P", true},
		{"path~^/api", true}, {"path=/api/items/7", true}, {"query~page", true}, {"path~page", false},
		{"time>0.5s", true}, {"time>=750ms", true}, {"time<750ms", false}, {"time>0", true},
		{"bytes>1MB", true}, {"bytes>2MB", false}, {"bytes<2MiB", true}, {"bytes >= 2000k", true},
		{"cache=miss", true}, {"cache=", false}, {"client=10.0.0.1", true}, {"agent!~bot|curl", false},
		// What the log does not have is neither above nor below, but different.
		{"upstream>0s", false}, {"upstream<1s", false}, {"upstream!=1s", true}, {"user=", true}, {"referer=x", false},
	} {
		f, err := ParseAccessFilter([]string{tt.expr})
		if err != nil {
			t.Errorf("%s: %v", tt.expr, err)
			continue
		}
		if got := f.Keep()(entry()); got != tt.want {
			t.Errorf("%s is %v", tt.expr, got)
		}
	}
}

func TestFilterJoins(t *testing.T) {
	f, err := ParseAccessFilter([]string{"status>=500", "method=GET"})
	if err != nil {
		t.Fatal(err)
	}
	if f.Keep()(entry()) {
		t.Error("one of two conditions is enough")
	}
	if f, _ = ParseAccessFilter(nil); f.Keep() != nil {
		t.Error("without conditions every entry is looked at")
	}
	if f, _ = ParseAccessFilter([]string{"route~^/a"}); f.Keep() != nil {
		t.Error("a condition on routes is asked of every entry")
	}
}

func TestFilterErrors(t *testing.T) {
	for _, tt := range []struct {
		expr string
		at   int
		want string
	}{
		{"status=>500", 7, "value is expected"},
		{"", 0, "field's name"},
		{"  >5", 2, "field's name"},
		{"statsu>=500", 0, `no field "statsu"; choose from status`},
		{"status", 6, "needs a comparison"},
		{"status 500", 7, "is expected"},
		{"status>=5OO", 8, "404 or 5xx"}, {"status>=a", 8, "no number"},
		{"status>=500s", 8, "no known unit"},
		{"status>=", 8, "a value is expected"},
		{"method>=GET", 6, "is text"},
		{"status~5..", 6, "is a number"},
		{"time>0.5", 5, "needs a unit: 0.5s"},
		{"time>fast", 5, "no time"},
		{"time>-1s", 5, "no time"},
		{"bytes>1XB", 6, "no known unit"},
		{"path~[", 5, "not a regular expression"},
		{"!status=5", 0, "use != or !~"},
		{"!method", 1, "has one"},
		{"日=1", 0, "field's name"},
		{"path~日[", 5, "not a regular expression"},
		{"bytes>99999999999999999999", 6, "too large"},
	} {
		_, err := ParseAccessFilter([]string{tt.expr})
		var fe *FilterError
		if !errors.As(err, &fe) {
			t.Errorf("%q: %v, want a FilterError", tt.expr, err)
			continue
		}
		if fe.At != tt.at || !strings.Contains(fe.Why, tt.want) {
			t.Errorf("%q: at %d %q, want at %d …%s…", tt.expr, fe.At, fe.Why, tt.at, tt.want)
		}
	}
}

func TestStatementFilter(t *testing.T) {
	e := &sqllog.SlowEntry{Schema: "shop", SQL: "select 1", QueryTime: 120 * time.Millisecond, RowsExamined: 5000, FullScan: true}
	for _, tt := range []struct {
		expr string
		want bool
	}{
		{"schema=shop", true}, {"schema!=shop", false}, {"time>100ms", true}, {"rows_examined>1000", true}, {"rows_examined>5k", false},
		{"full_scan", true}, {"no_index", true}, {"failed", false}, {"!full_scan", false}, {"tmp_disk", false}, {"! tmp_disk", true}, {"sql~SELECT", true},
	} {
		f, err := ParseStatementFilter([]string{tt.expr})
		if err != nil {
			t.Errorf("%s: %v", tt.expr, err)
			continue
		}
		if got := f.Keep()(e); got != tt.want {
			t.Errorf("%s is %v", tt.expr, got)
		}
	}
	if _, err := ParseStatementFilter([]string{"full_scan=1"}); err == nil || !strings.Contains(err.Error(), "write full_scan or !full_scan") {
		t.Errorf("a flag with a value: %v", err)
	}
}

func TestApplyAccess(t *testing.T) {
	a := &Access{Timed: true, Routes: []Route{
		{Method: "GET", Route: "/a", Count: 10, Time: Times{Total: 6 * time.Second}, Share: 0.6},
		{Method: "GET", Route: "/api/x", Count: 5, Time: Times{Total: 3 * time.Second}, Share: 0.3},
		{Method: "GET", Route: "/api/y", Count: 2, Time: Times{Total: time.Second}, Share: 0.1},
	}}
	f, err := ParseAccessFilter([]string{"route~^/api"})
	if err != nil {
		t.Fatal(err)
	}
	ApplyAccess(f, a)
	if len(a.Routes) != 2 || a.Skipped != 10 || a.Routes[0].Share != 0.75 {
		t.Errorf("%+v", a)
	}
}

func TestApplyStatements(t *testing.T) {
	s := &Statements{Entries: 7, Classes: []Statement{
		{Fingerprint: "SELECT * FROM shop.users u JOIN orders o ON o.user = u.id WHERE id = ?", Count: 4},
		{Fingerprint: "(SELECT ?)", Count: 2},
		{Fingerprint: "COMMIT", Count: 1},
	}}
	for _, tt := range []struct {
		expr string
		want int64
	}{{"verb=select", 6}, {"verb=COMMIT", 1}, {"fingerprint~users", 4},
		{"table=users", 4}, {"table=shop.users", 4}, {"table=ORDERS", 4}, {"table!=users", 3}, {"table~^ord", 4}, {"table!~^ord", 3}, {"table=items", 0}} {
		f, err := ParseStatementFilter([]string{tt.expr})
		if err != nil {
			t.Fatal(err)
		}
		c := *s
		c.Classes = append([]Statement(nil), s.Classes...)
		ApplyStatements(f, &c)
		if c.Entries != tt.want || c.Skipped != 7-tt.want {
			t.Errorf("%s leaves %d, skips %d", tt.expr, c.Entries, c.Skipped)
		}
	}
}

// The guide lists every field there is.
func TestFieldsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/reference/digest.md")
	if err != nil {
		t.Fatal(err)
	}
	names := append(fieldNames(accessFields), fieldNames(routeFields)...)
	names = append(append(names, fieldNames(entryFields)...), fieldNames(classFields)...)
	for _, n := range names {
		if !strings.Contains(string(doc), "`"+n+"`") {
			t.Errorf("docs/reference/digest.md does not name the field `%s`", n)
		}
	}
}

func FuzzFilter(f *testing.F) {
	for _, s := range []string{"status>=500", "!no_index", "path~^/a(b", "time > 1.5 s", "bytes=1e9", "日本=x", "method!~\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		check := func(err error) {
			var fe *FilterError
			if err != nil && (!errors.As(err, &fe) || fe.At < 0 || fe.At > len(s)) {
				t.Errorf("%q: %v", s, err)
			}
		}
		a, err := ParseAccessFilter([]string{s})
		check(err)
		if err == nil {
			if k := a.Keep(); k != nil {
				k(entry())
			}
			ApplyAccess(a, &Access{Routes: []Route{{Route: "/"}}})
		}
		st, err := ParseStatementFilter([]string{s})
		check(err)
		if err == nil {
			if k := st.Keep(); k != nil {
				k(&sqllog.SlowEntry{})
			}
			ApplyStatements(st, &Statements{Classes: []Statement{{}}})
		}
	})
}

func TestParseMoment(t *testing.T) {
	zone := time.FixedZone("", 9*3600)
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, zone)
	for s, want := range map[string]time.Time{
		"2026-11-21T01:00:00Z":      time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC),
		"2026-11-21T10:00:00+09:00": time.Date(2026, 11, 21, 10, 0, 0, 0, zone),
		"2026-11-20 10:00":          time.Date(2026, 11, 20, 10, 0, 0, 0, zone),
		"2026-11-20 10:00:05":       time.Date(2026, 11, 20, 10, 0, 5, 0, zone),
		"2026-11-20":                time.Date(2026, 11, 20, 0, 0, 0, 0, zone),
		"10:30":                     time.Date(2026, 11, 21, 10, 30, 0, 0, zone),
		"-15m":                      now.Add(-15 * time.Minute),
		"1h":                        now.Add(-time.Hour),
		"2d":                        now.AddDate(0, 0, -2),
	} {
		if got, err := ParseMoment(s, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "yesterday", "25:00", "2026-13-01", "--5m", "+5m", "2026-11-21 10"} {
		if got, err := ParseMoment(s, now); err == nil {
			t.Errorf("%q is %v", s, got)
		}
	}
}
