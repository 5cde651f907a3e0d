package redact

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLine(t *testing.T) {
	for _, line := range []string{
		`{"req":{"headers":{"authorization":"Bearer s3cret"}},"msg":"starting"}`,
		`{"headers":{"Authorization":["Bearer s3cret"]}}`,
		`{"headers":{"cookie":["a=s3cret"]}}`,
		`{"password":"s3cret","msg":"x"}`, `{"password" : "s3cret\"s3cret"}`, `{"db_password":"s3cret`,
		`{"log":"{\"password\":\"s3cret\",\"a\":1}\n"}`, `{"log":"GET /?code=s3cret\n"}`,
		`level=info token=s3cret msg="x"`, `level=info api_key="s3cret s3cret"`, `session: s3cret`, `csrf_token='s3cret'`, `sid=s3cret`,
		`Bearer s3cret`, `got Basic czNjcmV0OnMzY3JldA==s3cret`, `password: s3cret`, `password=> s3cret`, `Authorization: Bearer s3cret`, `authorization=Bearer s3cret`,
		`GET /a?x=s3cret&y=s3cret`, `Set-Cookie: a=s3cret; b=s3cret`, `postgres://u:s3cret@db/x`, `jwt=s3cret`,
	} {
		got := Line(line)
		if strings.Contains(got, "s3cret") {
			t.Errorf("%s\nis shown as\n%s", line, got)
		}
		if again := Text(got); again != got { // as a report does
			t.Errorf("%s\nis masked twice:\n%s", got, again)
		}
	}
	for _, line := range []string{
		`level=info msg="server started" port=8080`, `2024/05/12 22:06:00 [error] 12#12: *1 open() "/a" failed (2: No such file or directory)`,
		`{"level":"info","msg":"starting","monkey":"x"}`,
	} {
		if got := Line(line); got != line {
			t.Errorf("%s\nis shown as\n%s", line, got)
		}
	}
}

// Whatever stands around it, the value of a password is not shown.
func TestLineAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"password", "db.password", "X-Api-Key", "access_token", "client-secret"}).Draw(t, "name")
		form := rapid.SampledFrom([]string{`"%s":"s3cret"`, `%s=s3cret`, `%s="s3cret"`, `%s: s3cret`, `'%s': 's3cret'`, `\"%s\":\"s3cret\"`}).Draw(t, "form")
		junk := rapid.StringMatching(`[a-z {}\[\],.:]{0,12}`)
		line := junk.Draw(t, "before") + " " + strings.Replace(form, "%s", name, 1) + " " + junk.Draw(t, "after")
		if got := Line(line); strings.Contains(got, "s3cret") {
			t.Fatalf("%s\nis shown as\n%s", line, got)
		}
	})
}
