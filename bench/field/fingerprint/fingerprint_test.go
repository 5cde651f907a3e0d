package fingerprint

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const host = "file\t/etc/a\tmode=644 owner=0:0 size=3 time=1.5 links=1\n" +
	"bytes\t/etc/a\tab\n" +
	"sysctl\tkernel.core_pattern\tcore\tand more\n" +
	"table\tshop.orders\tCREATE TABLE `orders` (\\n  KEY `a` (`a`),\\n  KEY `b` (`b`)\\n)\n" +
	"sysctl\tkernel.two\tone\n" +
	"sysctl\tkernel.two\tother\n" +
	"file\t/etc/with\nbreak\tmode=600\n"

func read(t *testing.T, text string) Print {
	t.Helper()
	p, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Nothing differs from itself, also after it was kept as JSON.
func TestSame(t *testing.T) {
	p := read(t, host)
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var again Print
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if d := Diff(p, again); len(d) > 0 {
		t.Errorf("differs from itself: %v", d)
	}
	if got := p[Object{"sysctl", "kernel.two"}]; !strings.HasPrefix(got, "one\nother") {
		t.Errorf("two lines of one object are %q", got)
	}
}

// Each kind of difference is found and named by its object, and nothing else is.
func TestDiff(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"a file's time", "time=1.5", "time=1.6", "file /etc/a: was mode=644 owner=0:0 size=3 time=1.5 links=1, is mode=644 owner=0:0 size=3 time=1.6 links=1"},
		{"its bytes", "bytes\t/etc/a\tab", "bytes\t/etc/a\tba", "bytes /etc/a: was ab, is ba"},
		{"the order of keys", "KEY `a` (`a`),\\n  KEY `b` (`b`)", "KEY `b` (`b`),\\n  KEY `a` (`a`)", "table shop.orders: was CREATE TABLE `orders` (\\n  KEY `a` (`a`),\\n  KEY `b` (`b`)\\n), is CREATE TABLE `orders` (\\n  KEY `b` (`b`),\\n  KEY `a` (`a`)\\n)"},
		{"a new object", "bytes\t/etc/a\tab\n", "bytes\t/etc/a\tab\nunit\tx.service\tenabled\n", "unit x.service: new (enabled)"},
		{"one that is gone", "sysctl\tkernel.core_pattern\tcore\tand more\n", "", "sysctl kernel.core_pattern: gone (core\tand more)"},
	} {
		d := Diff(read(t, host), read(t, strings.Replace(host, c.old, c.new, 1)))
		if len(d) != 1 || d[0].String() != c.want {
			t.Errorf("%s: got %v, want %s", c.name, d, c.want)
		}
	}
}

// Text that is no fingerprint is an error, not a host without objects.
func TestParseNothing(t *testing.T) {
	for _, text := range []string{"", "bash: find: command not found\n", "\n"} {
		if p, err := Parse(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read as %v", text, p)
		}
	}
}

// A script that fails on the way is an error with its own words.
func TestCollectFails(t *testing.T) {
	program := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho 'file\t/a\tx'\necho no route to host >&2\nexit 255\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Collect(context.Background(), program); err == nil || !strings.Contains(err.Error(), "no route to host") {
		t.Errorf("got %v", err)
	}
}
