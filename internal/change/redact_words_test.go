package change

import "testing"

// A word that names a secret may stand where a value is expected.
func TestRedactNamesInARow(t *testing.T) {
	for text, want := range map[string]string{
		"/etc/passwd password x9k":                               "/etc/passwd [hidden] [hidden]",
		"/etc/passwd DB_PASSWORD='x9k q'":                        "/etc/passwd [hidden]='[hidden]'",
		"the password, token: x9k":                               "the password, [hidden]: [hidden]",
		"requirepass secret":                                     "requirepass [hidden]",
		"requirepass secret # found":                             "requirepass [hidden] [hidden] found",
		"SELECT password, token FROM users":                      "SELECT password, [hidden] FROM users",
		"SELECT password FROM users":                             "SELECT password FROM users",
		"INSERT INTO u (hashed_password, address, n) VALUES (?)": "INSERT INTO u (hashed_password, address, n) VALUES (?)",
		"define('DB_PASSWORD', 'x9k')":                           "define('DB_PASSWORD', '[hidden]')",
		"connect(password, 'x9k')":                               "connect(password, '[hidden]')",
		"password = 'a b'; token=\"c\"":                          "password = '[hidden]'; token=\"[hidden]\"",
		"/etc/passwd [hidden] [hidden], 3 x":                     "/etc/passwd [hidden] [hidden], 3 x",
	} {
		if got := Redact(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := Redact(Redact(text)); got != want {
			t.Errorf("%q, twice: %q, want %q", text, got, want)
		}
	}
}
