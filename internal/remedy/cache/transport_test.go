package cache

import (
	"strings"
	"testing"
)

// Settings that name the transport beside the address are switched with it, or refused.
func TestWithTransport(t *testing.T) {
	for _, c := range []struct{ name, before, want string }{
		{"a section of an ini file", "[db]\nnetwork = \"tcp\"\naddress = \"127.0.0.1:3306\"\n\n[redis]\nnetwork = \"tcp\" ; or unix\n\naddress = \"HERE\"\n",
			"[db]\nnetwork = \"tcp\"\naddress = \"127.0.0.1:3306\"\n\n[redis]\nnetwork = \"unix\" ; or unix\n\naddress = \"/run/kv.sock\"\n"},
		{"another section", "[db]\nnetwork = tcp\n[redis]\naddress = HERE\n", "[db]\nnetwork = tcp\n[redis]\naddress = /run/kv.sock\n"},
		{"an environment file", "DB_NETWORK=tcp\nKV_ADDR=HERE\nKV_NETWORK=tcp\n", "DB_NETWORK=tcp\nKV_ADDR=/run/kv.sock\nKV_NETWORK=unix\n"},
		{"a list with indentation", "db:\n  net: tcp\nkv:\n  pool:\n    net: tcp\n  addr: 'HERE'\n  net: 'tcp'\n", "db:\n  net: tcp\nkv:\n  pool:\n    net: tcp\n  addr: '/run/kv.sock'\n  net: 'unix'\n"},
		{"an object", "{\n  \"kv\": {\n    \"protocol\": \"tcp4\",\n    \"host\": \"HERE\"\n  }\n}\n", "{\n  \"kv\": {\n    \"protocol\": \"unix\",\n    \"host\": \"/run/kv.sock\"\n  }\n}\n"},
		{"a socket already", "net = unix\naddr = HERE\n", "net = unix\naddr = /run/kv.sock\n"},
		{"none", "addr = HERE\nnetwork_timeout = 5\n", "addr = /run/kv.sock\nnetwork_timeout = 5\n"},
		{"a transport that is not TCP", "proto = tls\naddr = HERE\n", ""},
		{"a scheme", "'scheme' => 'tcp',\n'host' => 'HERE',\n", ""},
	} {
		after := strings.ReplaceAll(c.before, "HERE", "/run/kv.sock")
		got, err := withTransport(strings.ReplaceAll(c.before, "HERE", "127.0.0.1:6379"), after)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}
