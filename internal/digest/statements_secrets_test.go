package digest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Secrets in statements of PostgreSQL, whose names stand in double quotes, reach
// no form of the digest; what is no secret stays.
func TestPostgresSecretsAreMasked(t *testing.T) {
	statements := []string{`SELECT * FROM "users" WHERE "users"."password_digest" = 'hunter2' AND "login" = 'seen1'`,
		`UPDATE "users" SET "reset_token" = 'hunter2', "name" = 'seen2'`, `INSERT INTO u ("email", password) VALUES ('seen3','hunter2')`,
		`SELECT 1 FROM u WHERE "pwd" = $$hunter2$$ AND "odd name" = E'seen4\''`}
	log := "2025-03-02 10:00:01.000 UTC [1] LOG:  database system is ready to accept connections\n"
	for _, s := range statements {
		log += "2025-03-02 10:00:02.000 UTC [1] a@shop LOG:  duration: 5.000 ms  statement: " + s + "\n"
	}
	// The other dialect's log first: each class is masked by its own.
	slow := "# Time: 250302 10:00:01\n# User@Host: a[a] @ b []\n# Query_time: 0.5  Lock_time: 0 Rows_sent: 1  Rows_examined: 1\nSET timestamp=1740909601;\nSELECT \"seen5\" FROM u WHERE 'hunter2' = `token`;\n"
	s, err := StatementLogs(t.Context(), []Input{inputOf("slow.log", []byte(slow)), inputOf("pg.log", []byte(log))}, StatementOptions{})
	if err != nil || len(s.Classes) != 5 {
		t.Fatalf("%+v %v", s, err)
	}
	var examples string
	for _, c := range s.Classes {
		examples += c.Example + "\n"
	}
	for _, want := range []string{"seen1", "seen2", "seen3", "seen4", "seen5"} {
		if !strings.Contains(examples, want) {
			t.Errorf("%s is masked in %s", want, examples)
		}
	}
	var b bytes.Buffer
	for _, err := range []error{s.CSV(&b), json.NewEncoder(&b).Encode(s), WriteText(&b, s.View([]string{"a"}, 0), 240), WriteHTML(&b, s.View([]string{"a"}, 0)), WriteMarkdown(&b, s.View([]string{"a"}, 0))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if at := strings.Index(b.String(), "hunter2"); at >= 0 {
		t.Errorf("%s", b.String()[max(at-200, 0):at+20])
	}
}
