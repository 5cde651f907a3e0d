package change

import "testing"

func TestRedactLeavesUpstreams(t *testing.T) {
	for in, want := range map[string]string{
		"    fastcgi_pass 127.0.0.1:9000;":      "    fastcgi_pass 127.0.0.1:9000;",
		"proxy_pass http://app;":                "proxy_pass http://app;",
		"proxy_ssl_certificate_key /etc/k; x":   "proxy_ssl_certificate_key /etc/k; x",
		`proxy\_pass leads to 127.0.0.1:80`:     `proxy\_pass leads to 127.0.0.1:80`, // of a page of Markdown
		`db\_pass = geheim`:                     `db\_pass = [hidden]`,
		"db_pass = geheim":                      "db_pass = [hidden]",
		"ssl_password_file /etc/nginx/key.pass": "ssl_password_file /etc/nginx/key.pass",
		"DB_PASSWORD=geheim":                    "DB_PASSWORD=[hidden]",
	} {
		if got := Redact(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
