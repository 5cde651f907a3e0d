package patch

import "testing"

// What is a secret in Go is a text, by itself or by the name that it is given to; a
// variable's name is none.
func TestSecret(t *testing.T) {
	hunk := func(file, lines string) string {
		return "diff --git a/" + file + " b/" + file + "\n--- a/" + file + "\n+++ b/" + file + "\n@@ -1,2 +1,3 @@ func setup() {\n \tc := mysql.NewConfig()\n+\tc.InterpolateParams = true\n" + lines
	}
	for _, c := range []struct {
		lines  string
		secret bool
	}{
		{" \tc.Passwd = password\n", false},
		{" \tc.Passwd = os.Getenv(\"DB_PASSWORD\")\n", false},
		{" \tif password == \"\" {\n", false},
		{" \tpassword := r.FormValue(\"password\")\n", false},
		{" \tpassword := env.password\n", false},
		{" \tuser, password, err := account(r)\n", false},
		{" \t\tPasswd: conf.Password,\n \t\tAddr: \"127.0.0.1:3306\",\n", false},
		{" \tc.Passwd = \"hunter2hunter2\"\n", true},
		{" \tc.Passwd =\n \t\t\"hunter2hunter2\"\n", true},
		{" \t\tPasswd: \"hunter2hunter2\",\n", true},
		{" \t\t\"password\": \"hunter2hunter2\",\n", true},
		{" \tpassword := getEnv(\"DB_PASSWORD\", \"hunter2hunter2\")\n", true},
		{"-\tc.Passwd = \"hunter2hunter2\"\n", true},
		{" \tdb, err := sql.Open(\"mysql\", \"app:hunter2hunter2@tcp(127.0.0.1:3306)/app\")\n", true},
		{" \t// password: hunter2hunter2\n", true},
		{" \tconst text = `user: a\n password: hunter2hunter2\n", true}, // it ends outside of the hunk
	} {
		if got := Secret(hunk("main.go", c.lines)); got != c.secret {
			t.Errorf("%q: %v", c.lines, got)
		}
	}
	if !Secret(hunk("config.txt", " password = hunter2hunter2\n")) {
		t.Error("in another file a bare word is a secret")
	}
}
