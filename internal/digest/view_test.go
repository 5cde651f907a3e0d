package digest

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/ui"
)

func accessSample() *Access {
	return &Access{Format: "ltsv", Timed: true, Lines: 1510, Bad: 3, Skipped: 7, Bytes: 1 << 20,
		From: time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 21, 1, 10, 0, 0, time.UTC),
		FirstBad: `"garbage"`, BadAt: "access.log:17", Warnings: []string{"access.log: the last line is cut off"},
		Routes: []Route{
			{Method: "GET", Route: "/items/:id", Count: 1000, Status: [6]int64{2: 980, 4: 20}, Codes: map[int]int64{404: 15, 410: 5}, Bytes: 5 << 20, Share: 0.8,
				Time:     Times{Count: 1000, Total: 8 * time.Second, Mean: 8 * time.Millisecond, P50: 5 * time.Millisecond, P95: 30 * time.Millisecond, P99: 50 * time.Millisecond, Max: time.Second},
				Upstream: Times{Count: 900, Total: 7 * time.Second, Mean: 7777777 * time.Nanosecond}, Cache: map[string]int64{"HIT": 300, "MISS": 100}, Example: "/items/17?q=*"},
			{Method: "POST", Route: "/検索", Count: 500, Status: [6]int64{2: 499, 5: 1}, Bytes: 5000, Share: 0.2,
				Time: Times{Count: 500, Total: 2 * time.Second, Mean: 4 * time.Millisecond, P50: 4 * time.Millisecond, P95: 5 * time.Millisecond, P99: 6 * time.Millisecond, Max: 7 * time.Millisecond}},
		}}
}

func statementSample() *Statements {
	return &Statements{Format: "mariadb", Entries: 104, Commands: 2, Bytes: 4096, Classes: []Statement{
		{Schema: "shop", Fingerprint: "SELECT *\n FROM items WHERE owner = ?", Example: "SELECT * FROM items WHERE owner = 'x'", Count: 4, Total: 3 * time.Second,
			LockTime: time.Millisecond, RowsExamined: 40000, RowsSent: 1, FullScans: 4, NoIndex: 4, Filesorts: 1, P95: time.Second, Max: time.Second},
		{Schema: "shop", Fingerprint: "COMMIT", Count: 100, Total: time.Second},
	}}
}

func text(t *testing.T, d Digest, n, width int) string {
	t.Helper()
	var b strings.Builder
	if err := WriteText(&b, d.View([]string{"a.log", "b.log"}, n), width); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAccessText(t *testing.T) {
	got := text(t, accessSample(), 0, 0)
	want := `read            a.log, b.log: 1,510 lines, 1.00 MiB, format ltsv
period          2026-11-21 01:00:00 to 2026-11-21 01:10:00 UTC (10m, 2.50 requests/s)
requests        1,500 on 2 routes
left out        7 requests by filters or time
not understood  3 of 1,510 lines; the first is access.log:17: "garbage"
warning: access.log: the last line is cut off

count  share   total     mean      p50      p95      p99      max  upstream  4xx  5xx      size  hits  request
1,000   80 %  8.00 s  8.00 ms  5.00 ms  30.0 ms  50.0 ms   1.00 s   7.78 ms   20    0  5.12 KiB  75 %  GET /items/:id
  500   20 %  2.00 s  4.00 ms  4.00 ms  5.00 ms  6.00 ms  7.00 ms         –    0    1      10 B     –  POST /検索
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := text(t, accessSample(), 1, 0); !strings.Contains(got, "1 route is left out, with 20 % of the time; --limit 0 shows all") || strings.Contains(got, "検索") {
		t.Error(got)
	}
}

func TestUntimedText(t *testing.T) {
	a := accessSample()
	a.Timed = false
	got := text(t, a, 1, 0)
	for _, want := range []string{"1 route is left out, with 20 % of the requests"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "p95") {
		t.Errorf("columns of times without times:\n%s", got)
	}
}

func TestStatementText(t *testing.T) {
	got := text(t, statementSample(), 0, 120)
	for _, want := range []string{"104 statements in 2 classes", "full scan, filesort 25 %", "10.0k", "2 administrator commands", "0.250"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	for line := range strings.Lines(text(t, statementSample(), 0, 140)) {
		if n := ui.Width(strings.TrimSuffix(line, "\n")); n > 140 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestSort(t *testing.T) {
	a := accessSample()
	for by, first := range map[string]string{"": "/items/:id", "count": "/items/:id", "errors": "/items/:id", "bytes": "/items/:id", "route": "/items/:id", "p50": "/items/:id"} {
		a.Routes[0], a.Routes[1] = a.Routes[1], a.Routes[0]
		if err := a.Sort(by); err != nil || a.Routes[0].Route != first {
			t.Errorf("by %q: %s %v", by, a.Routes[0].Route, err)
		}
	}
	a.Routes[0].Time = Times{}
	a.Timed = false
	if err := a.Sort(""); err != nil || a.Routes[0].Count != 1000 {
		t.Errorf("without times the most frequent come first: %v", err)
	}
	s := statementSample()
	if err := s.Sort("count"); err != nil || s.Classes[0].Fingerprint != "COMMIT" {
		t.Errorf("%v %v", s.Classes[0], err)
	}
	if err := s.Sort("beauty"); err == nil || !strings.Contains(err.Error(), "choose from time, count") {
		t.Errorf("%v", err)
	}
	d := DiffAccess(accessSample(), accessSample())
	for _, x := range []Digest{a, s, d} {
		for _, k := range x.SortKeys() {
			if err := x.Sort(k); err != nil {
				t.Errorf("%T cannot be sorted by its key %s: %v", x, k, err)
			}
		}
	}
}

// nasty is text of a log that attacks whoever shows it.
var nasty = []string{
	`=HYPERLINK("http://evil","x")`, "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "|calc",
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "`</code><b>", "a|b||c", "```\n# head\n```", "[x](javascript:alert(1))",
	"\x1b[31mred\x1b[0m", "a\x00b", "\xff\xfe", "\u202eevil", "@everyone #12", "</style><script>", "{{.}}", "\\|",
}

func nastyAccess() *Access {
	a := &Access{Timed: true}
	for _, s := range nasty {
		a.Routes = append(a.Routes, Route{Method: s, Route: s, Example: s, Count: 1, Cache: map[string]int64{s: 1}, Codes: map[int]int64{500: 1}})
	}
	a.Warnings, a.FirstBad, a.Bad, a.BadAt = nasty, nasty[8], 1, nasty[9]
	return a
}

func TestCSVIsExactAndHarmless(t *testing.T) {
	s := statementSample()
	for i, x := range nasty {
		s.Classes = append(s.Classes, Statement{Schema: x, Fingerprint: x, Example: x, Count: int64(i), Total: 123456789})
	}
	d := DiffAccess(nastyAccess(), accessSample())
	for _, dig := range []Digest{nastyAccess(), s, d, accessSample()} {
		var b bytes.Buffer
		if err := dig.CSV(&b); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatalf("%T: %v", dig, err)
		}
		for _, row := range rows[1:] {
			for i, cell := range row {
				if strings.ContainsAny(cell, "\x00\x1b\r\n\t") {
					t.Errorf("%T, %s: %q", dig, rows[0][i], cell)
				}
				number := cell != "" && strings.Trim(cell, "-0123456789.") == "" && strings.LastIndexByte(cell, '-') <= 0
				if !number && cell != "" && strings.ContainsRune("=+-@|＝", []rune(cell)[0]) {
					t.Errorf("%T, %s: a formula: %q", dig, rows[0][i], cell)
				}
			}
		}
	}
	var b bytes.Buffer
	if err := s.CSV(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "0.123456789") {
		t.Error("times are not exact")
	}
}

// A log without times has no time of 0 seconds.
func TestCSVWithoutTimes(t *testing.T) {
	a := &Access{Routes: []Route{{Method: "GET", Route: "/", Count: 7}}}
	var b bytes.Buffer
	if err := a.CSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	times := 0
	for i, name := range rows[0] {
		if strings.HasSuffix(name, "_seconds") {
			times++
			if rows[1][i] != "" {
				t.Errorf("%s is %q", name, rows[1][i])
			}
		}
	}
	if times != 14 {
		t.Errorf("%d columns of times: %v", times, rows[0])
	}
}

func TestHTMLIsHarmless(t *testing.T) {
	for _, d := range []Digest{nastyAccess(), accessSample(), statementSample(), DiffAccess(nastyAccess(), accessSample()), &Access{}} {
		var b strings.Builder
		if err := WriteHTML(&b, d.View(nasty, 0)); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		for _, bad := range []string{"<script", "<img", "<b>", "\x1b", "\x00", "\u202e", "ZgotmplZ", "http://"} {
			if i := strings.Index(page, bad); i >= 0 && bad != "http://" {
				t.Errorf("%T: %q in …%s…", d, bad, page[max(0, i-60):min(len(page), i+60)])
			}
		}
		if !strings.Contains(page, "Content-Security-Policy") || strings.Contains(page, "src=\"") || strings.Contains(page, "<link") {
			t.Errorf("%T: the page loads something", d)
		}
	}
}

func TestMarkdownIsHarmless(t *testing.T) {
	var b strings.Builder
	v := nastyAccess().View([]string{"a|b.log"}, 0)
	if err := WriteMarkdown(&b, v); err != nil {
		t.Fatal(err)
	}
	columns := -1
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns < 0 {
			columns = n
		}
		if n != columns {
			t.Errorf("%d bars, want %d: %s", n, columns, line)
		}
	}
	if columns < 5 {
		t.Fatal("no table")
	}
	for line := range strings.Lines(b.String()) {
		if outside := codeSpans(line); strings.Contains(outside, "<") || strings.Contains(outside, "@e") {
			t.Errorf("not escaped: %s", line)
		}
	}
}

// codeSpans takes code spans out of a line.
func codeSpans(line string) string {
	for {
		start := strings.IndexByte(strings.ReplaceAll(line, "\\`", "  "), '`')
		if start < 0 {
			return line
		}
		n := len(line[start:]) - len(strings.TrimLeft(line[start:], "`"))
		fence := strings.Repeat("`", n)
		end := strings.Index(line[start+n:], fence)
		if end < 0 {
			return line
		}
		line = line[:start] + line[start+n+end+n:]
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0", time.Second: "1", 1500 * time.Millisecond: "1.5", 1: "0.000000001",
		-500 * time.Millisecond: "-0.5", -1500 * time.Millisecond: "-1.5", 100 * time.Second: "100"} {
		if got := seconds(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}

func TestDiff(t *testing.T) {
	a, b := accessSample(), accessSample()
	b.Routes[0].Time.Total, b.Routes[0].Time.Mean = 2*time.Second, 2*time.Millisecond
	b.Routes[1].Route = "/search"
	d := DiffAccess(a, b)
	if d.Rows[0].Route != "/items/:id" || d.Rows[0].New || d.Rows[0].Gone || d.Rows[0].A.Mean != 8*time.Millisecond || d.Rows[0].B.Mean != 2*time.Millisecond {
		t.Errorf("%+v", d.Rows[0])
	}
	state := map[string]string{}
	for _, r := range d.Rows {
		state[r.Route] = r.state()
	}
	if state["/検索"] != "gone" || state["/search"] != "new" {
		t.Errorf("%v", state)
	}
	if d.A.Total != 10*time.Second || d.B.Total != 4*time.Second || d.Rows[0].A.Share != 0.8 || d.Rows[0].B.Share != 0.5 {
		t.Errorf("%+v %+v", d.A, d.B)
	}
	out := text(t, d, 0, 0)
	for _, want := range []string{"change  −6.00 s (−60.0 %)", "−75.0 %", "A: access.log: the last line is cut off"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

func TestDiffWithoutTimes(t *testing.T) {
	a, b := accessSample(), accessSample()
	a.Timed = false
	b.Routes[1].Count = 10_000
	d := DiffAccess(a, b)
	if d.Timed || d.Rows[0].Route != "/検索" || d.Rows[0].B.Share < 0.9 {
		t.Errorf("%+v", d.Rows[0])
	}
	out := text(t, d, 0, 0)
	if !strings.Contains(out, "+9,500") || !strings.Contains(out, "only one of the logs has times") || strings.Contains(out, "p95") {
		t.Error(out)
	}
}

func TestDiffOfOtherPeriods(t *testing.T) {
	a, b := accessSample(), accessSample()
	b.To = b.To.Add(time.Hour)
	if d := DiffAccess(a, b); !slices.ContainsFunc(d.Warnings, func(w string) bool { return strings.Contains(w, "A covers 10m, B 1h10m") }) {
		t.Errorf("%v", d.Warnings)
	}
}

// Exchanging the sides exchanges new and gone and turns the change round.
func TestDiffIsSymmetric(t *testing.T) {
	statements := rapid.Custom(func(t *rapid.T) *Statements {
		s := &Statements{}
		for i := range rapid.IntRange(0, 5).Draw(t, "classes") {
			n := rapid.Int64Range(1, 100).Draw(t, "count")
			s.Classes = append(s.Classes, Statement{Fingerprint: fmt.Sprint("SELECT ", rapid.IntRange(0, 6).Draw(t, "class")+10*i%3), Count: n,
				Total: time.Duration(n * rapid.Int64Range(1, 1e9).Draw(t, "time"))})
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := statements.Draw(t, "a"), statements.Draw(t, "b")
		there, back := DiffStatements(a, b), DiffStatements(b, a)
		if len(there.Rows) != len(back.Rows) || there.A != back.B || there.B != back.A {
			t.Fatalf("%+v\n%+v", there, back)
		}
		rows := map[string]DiffRow{}
		for _, r := range back.Rows {
			rows[r.name()] = r
		}
		var shareA float64
		for _, r := range there.Rows {
			o := rows[r.name()]
			if r.New != o.Gone || r.Gone != o.New || r.A != o.B || r.B != o.A {
				t.Fatalf("%+v\n%+v", r, o)
			}
			shareA += r.A.Share
		}
		if there.A.Total > 0 && (shareA < 0.999 || shareA > 1.001) {
			t.Fatalf("shares sum up to %v", shareA)
		}
		for i := 1; i < len(there.Rows); i++ {
			x, y := &there.Rows[i-1], &there.Rows[i]
			if (x.B.Total - x.A.Total).Abs() < (y.B.Total - y.A.Total).Abs() {
				t.Fatalf("not in order: %+v before %+v", x, y)
			}
		}
	})
}

// A column that one route fills is shown, wherever that route stands.
func TestViewColumnsOfSome(t *testing.T) {
	for i := range 3 {
		a := accessSample()
		a.Routes = append(a.Routes[:0:0], a.Routes[0], a.Routes[0], a.Routes[0])
		for j := range a.Routes {
			r := &a.Routes[j]
			r.Service, r.Cache, r.Upstream = "", nil, Times{}
			if j == i {
				r.Service, r.Cache, r.Upstream = "web", map[string]int64{"HIT": 1}, Times{Count: 1}
			}
		}
		heads := fmt.Sprint(a.View(nasty, 0).Head)
		for _, want := range []string{"service", "hits", "upstream"} {
			if !strings.Contains(heads, want) {
				t.Errorf("the %d. route has it, and %q is not among the columns %s", i+1, want, heads)
			}
		}
	}
}

// A page that could not be written is no success.
func TestHTMLCannotBeWritten(t *testing.T) {
	r, w := io.Pipe()
	r.CloseWithError(io.ErrShortWrite)
	if err := WriteHTML(w, accessSample().View(nasty, 0)); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v", err)
	}
}
