package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A spare is of the same kind as what it is spare for, on another host.
func TestSpareFor(t *testing.T) {
	const text = `version: 1
hosts: {h2: {ssh: h2}}
services:
  - {name: php, kind: php-fpm, config: /etc/fpm.conf}
  - {name: web, kind: nginx, config: /etc/nginx.conf}
  - {name: site, kind: apache, config: /etc/apache2.conf}
  - {name: site2, kind: apache, host: h2, config: /etc/apache2.conf, spare_for: site}
  - {name: php2, kind: php-fpm, host: %s, config: /etc/fpm.conf, spare_for: %s}
load: {scenario: s.yaml, url: "http://127.0.0.1"}
`
	for _, c := range []struct{ host, spareFor, says string }{
		{"h2", "php", ""},
		{"h2", "phq", `did you mean "php"?`},
		{"h2", "php2", "is this service itself"},
		{"h2", "web", "this is php-fpm for nginx"},
		{"h2", "site", "this is php-fpm for apache"},
		{"local", "php", "both are on host local"},
	} {
		path := filepath.Join(t.TempDir(), "kasoku.yaml")
		if err := os.WriteFile(path, fmt.Appendf(nil, text, c.host, c.spareFor), 0o644); err != nil {
			t.Fatal(err)
		}
		st, err := Load(path)
		switch {
		case c.says == "" && (err != nil || st.Service("php2").SpareFor != "php"):
			t.Errorf("%+v: %v", c, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%+v: %v", c, err)
		}
	}
}
