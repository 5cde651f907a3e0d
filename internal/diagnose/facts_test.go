package diagnose

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/sqllog"
)

// With a load of one's own no request is followed. What the digests of statements and
// the access log hold is told all the same, for each answer; and nothing where they do
// not show it.
func TestFactsWithoutFollowedRequests(t *testing.T) {
	const users = "SELECT * FROM `users` WHERE `id` = 5"
	statement := func(text string, count, rows int64) evidence.Statement {
		return evidence.Statement{Service: "db", Fingerprint: sqllog.Fingerprint(text), Count: count, Total: time.Second, RowsSent: rows}
	}
	writes := func(text string, count, rows int64) evidence.Statement {
		return evidence.Statement{Service: "db", Fingerprint: sqllog.Fingerprint(text), Count: count, Total: time.Second, RowsAffected: rows}
	}
	log := []digest.Route{{Service: "web", Method: "GET", Route: "/", Count: 900, Status: [6]int64{2: 900}}, {Service: "web", Method: "POST", Route: "/comment", Count: 100, Status: [6]int64{3: 100}},
		{Service: "web", Method: "GET", Route: "/image/:id.png", Count: 8000, Status: [6]int64{2: 8000}}, {Service: "httpd", Method: "GET", Route: "/", Count: 10}}
	for _, c := range []struct {
		about, rule string
		statements  []evidence.Statement
		want        string // "" no finding
	}{
		{"a row each", "request.n+1", []evidence.Statement{statement(users, 2800, 2800)}, "2.8 for each answer"},
		{"a list is one statement", "request.n+1", []evidence.Statement{statement("SELECT * FROM `posts` WHERE `user_id` = 7", 2800, 28000)}, ""},
		{"once for each page", "request.n+1", []evidence.Statement{statement(users, 1000, 1000)}, ""},
		{"a count for each row", "request.n+1", []evidence.Statement{statement("SELECT COUNT(*) FROM `comments` WHERE `post_id` = 9", 20000, 20000)}, "20 for each answer"},
		{"a range", "request.n+1", []evidence.Statement{statement("SELECT * FROM `posts` WHERE `id` >= 4", 5000, 5000)}, ""},
		{"no key", "request.n+1", []evidence.Statement{statement("SELECT COUNT(*) FROM `posts`", 5000, 5000)}, ""},
		{"files of the log are no pages", "request.n+1", []evidence.Statement{statement(users, 1900, 1900)}, ""},
		{"rows one by one", "request.row-writes", []evidence.Statement{writes("insert into items (a) values (1)", 5000, 5000)}, "5 for each answer"},
		{"rows in one statement", "request.row-writes", []evidence.Statement{writes("insert into items (a) values (1), (2), (3)", 5000, 15000)}, ""},
		{"nobody counted the rows", "request.row-writes", []evidence.Statement{writes("insert into items (a) values (1)", 5000, 0)}, ""},
		{"a counter row", "request.id-by-update", []evidence.Statement{statement("UPDATE ids SET id = LAST_INSERT_ID(id + 1)", 100, 0)}, "0.1 for each answer"},
		{"many", "request.many-calls", []evidence.Statement{statement(users, 40000, 40000), statement("SELECT 1", 2000, 2000)}, "db is asked 42 times"},
		{"few", "request.many-calls", []evidence.Statement{statement(users, 4000, 4000)}, ""},
		{"for everybody", "request.master-data", []evidence.Statement{statement("SELECT * FROM `settings`", 950, 9500)}, "sent 0.95 times for each answer"},
		{"with a value", "request.master-data", []evidence.Statement{statement("SELECT * FROM `settings` WHERE `k` = 1", 950, 950)}, ""},
	} {
		in := healthy()
		in.Evidence.Requests, in.Evidence.Routes, in.Evidence.Statements = nil, log, c.statements
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range d.Findings {
			if f.Rule == c.rule {
				got += f.Title + ": " + f.Text
				if len(f.Evidence) < 2 || f.Evidence[1] != "access log of web" || f.Bound < 1 {
					t.Errorf("%s: told by %q, ×%.2f", c.about, f.Evidence, f.Bound)
				}
			}
		}
		if c.want == "" && got != "" || c.want != "" && !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.about, got, c.want)
		}
	}
	// Without a log the load's own count is asked; without statements nothing is judged.
	in := healthy()
	in.Evidence.Requests, in.Evidence.Routes, in.Evidence.Statements = nil, nil, []evidence.Statement{statement(users, 5000, 5000)}
	in.Evidence.Load = &load.Result{Workload: 12, Window: 10 * time.Second, Requests: 2000, Succeeded: 2000}
	if got := factText(t, in, "request.n+1"); !strings.Contains(got, "2.5 for each answer") {
		t.Errorf("without a log: %q", got)
	}
	in.Evidence.Statements = nil
	if got := factText(t, in, "request.n+1"); got != "" {
		t.Errorf("without statements: %q", got)
	}
}

func factText(t *testing.T, in Input, rule string) string {
	t.Helper()
	d, err := Diagnose(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Findings {
		if f.Rule == rule {
			return f.Text
		}
	}
	return ""
}
