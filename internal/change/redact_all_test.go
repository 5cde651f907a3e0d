package change

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRedactForms: secrets that no name = value tells.
func TestRedactForms(t *testing.T) {
	for in, want := range map[string]string{
		"CREATE USER a@b IDENTIFIED BY 'geheim'":                                 "CREATE USER a@b IDENTIFIED BY '[hidden]'",
		"ALTER USER a IDENTIFIED WITH mysql_native_password AS '*AB'":            "ALTER USER a IDENTIFIED WITH mysql_native_password AS '[hidden]'",
		"identified via x using PASSWORD('geheim')":                              "identified via x using PASSWORD('[hidden]')",
		"SET PASSWORD FOR 'a'@'%' = 'geheim'":                                    "SET PASSWORD FOR 'a'@'%' = '[hidden]'",
		"mariadb -uroot -pgeheim shop":                                           "mariadb -uroot -p[hidden] shop",
		"mysqladmin --port=3306 -p'ge heim' ping":                                "mysqladmin --port=3306 -p[hidden] ping",
		"redis-cli -h cache -a geheim PING":                                      "redis-cli -h cache -a [hidden] PING",
		"curl -u admin:geheim http://x/":                                         "curl -u admin:[hidden] http://x/",
		"Authorization: Bearer abc.def":                                          "Authorization: Bearer [hidden]",
		"authorization: Basic YWRtaW46Z2VoZWlt":                                  "authorization: Basic [hidden]",
		"Cookie: theme=dark; sid=geheim":                                         "Cookie: [hidden]",
		"Set-Cookie: PHPSESSID=geheim; Path=/":                                   "Set-Cookie: [hidden]",
		"GET /?PHPSESSID=geheim":                                                 "GET /?PHPSESSID=[hidden]",
		"got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl back":             "got [hidden] back",
		"ghp_0123456789abcdefghijABCDEFGHIJ012345":                               "[hidden]",
		"id AKIAIOSFODNN7EXAMPLE.":                                               "id [hidden].",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n": "-----BEGIN RSA PRIVATE KEY-----[hidden]-----END RSA PRIVATE KEY-----\n",
		// What must stay readable.
		"SELECT id FROM users WHERE token = ? AND password_hash = ?":                      "SELECT id FROM users WHERE token = ? AND password_hash = ?",
		"Access denied for user 'a'@'b' (using password: YES)":                            "Access denied for user 'a'@'b' (using password: YES)",
		"set req.http.Cookie = regsuball(req.http.Cookie, \"utm=x\", \"\");":              "set req.http.Cookie = regsuball(req.http.Cookie, \"utm=x\", \"\");",
		"mariadb -e 'SELECT 1' -P 3306":                                                   "mariadb -e 'SELECT 1' -P 3306",
		"CREATE INDEX by_token ON t (token)":                                              "CREATE INDEX by_token ON t (token)",
		"CREATE TABLE t (token VARCHAR(64) NOT NULL, salt BINARY(16), session_id bigint)": "CREATE TABLE t (token VARCHAR(64) NOT NULL, salt BINARY(16), session_id bigint)",
	} {
		wantEqual(t, in, Redact(in), want)
		wantEqual(t, "twice: "+in, Redact(Redact(in)), want)
	}
}

// TestRedactAll: every text of a tree, wherever it stands.
func TestRedactAll(t *testing.T) {
	const secret = "hunter2hunter2"
	type leaf struct {
		Text  string
		Left  string `json:"-"`
		Bytes []byte
		priv  string
	}
	type tree struct {
		Leaf   leaf
		To     *leaf
		List   []leaf
		Any    any
		Nested map[string]any
		By     map[string]string
		Args   []string
		Names  map[string]int
		Change Change
		Number float64
		None   *leaf
	}
	text := "password=" + secret
	v := tree{Leaf: leaf{Text: text, priv: text}, To: &leaf{Text: text}, List: []leaf{{Text: text}}, Any: leaf{Text: text},
		Nested: map[string]any{"a": []any{text, map[string]string{"token": secret}}}, By: map[string]string{"requirepass": secret, text: "x", "port": "6379"},
		Args: []string{"client", "--password", secret, "--user", "shop"}, Names: map[string]int{text: 3},
		Change: Change{Kind: KindVariable, Variable: "requirepass", BeforeValue: secret, AfterValue: secret, Also: map[string]string{"masterauth": secret}, Apply: []string{"mariadb -p" + secret}}, Number: 2.5}
	RedactAll(&v)
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), secret) {
		t.Errorf("not masked: %s", b)
	}
	for _, want := range []string{`"password=[hidden]"`, `"port":"6379"`, `"Args":["client","--password","[hidden]","--user","shop"]`, `"password=[hidden]":3`, `"token":"[hidden]"`, `2.5`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is gone from %s", want, b)
		}
	}
	if v.Leaf.priv != text {
		t.Error("a field that is not exported was written")
	}
	left := leaf{Left: text, Bytes: []byte(text)}
	RedactAll(&left)
	if left.Left != text || string(left.Bytes) != text {
		t.Errorf("what JSON leaves out was written: %+v", left)
	}
	RedactAll((*leaf)(nil))
	RedactAll(nil)
}
