package stack

import (
	"context"
	"strings"
	"testing"

	"kasoku/internal/host"
)

func TestSameCommand(t *testing.T) {
	for _, c := range []struct {
		cmdline, start string
		want           bool
	}{
		{"php -S :80", "php -S :80", true},
		{"/usr/bin/php -S :80", "php -S :80", true},
		{"php -S :81", "php -S :80", false},
		{"gunicorn app", "setpriv --reuid=5 -- /opt/gunicorn app", true},
		{"/usr/bin/python3 /opt/gunicorn app", "/opt/gunicorn app", true},
		{"python3 b.py", "python3 a.py", false},
		{"python3", "python3 a.py", false},
		{"", "python3 a.py", false},
		{"x", "", false},
	} {
		if got := sameCommand(strings.Fields(c.cmdline), strings.Fields(c.start)); got != c.want {
			t.Errorf("%q by %q: %v", c.cmdline, c.start, got)
		}
	}
}

func TestRunTellsTheLastWords(t *testing.T) {
	_, err := run(context.Background(), host.NewLocal(), "", 0, "sh", "-c", "seq 1 50; echo broken >&2; exit 4")
	if err == nil || !strings.Contains(err.Error(), "exit status 4") || !strings.Contains(err.Error(), "broken") || strings.Contains(err.Error(), "\n  40\n") {
		t.Errorf("%v", err)
	}
}

func TestHostGlob(t *testing.T) {
	l := newLab(t)
	for _, f := range []string{"a/x.conf", "a/y.conf", "a/.z.conf", "b/x.conf", "a/x.txt"} {
		l.write(f, "")
	}
	glob := hostGlob(context.Background(), l.h)
	for pattern, want := range map[string]string{"a/*.conf": "a/x.conf a/y.conf", "*/x.conf": "a/x.conf b/x.conf", "a/x.conf": "a/x.conf", "none/*": "", "a/[": ""} {
		got, err := glob(l.path(pattern))
		if pattern == "a/[" {
			if err == nil {
				t.Error("a bad pattern was accepted")
			}
			continue
		}
		if text := strings.ReplaceAll(strings.Join(got, " "), l.dir+"/", ""); err != nil || text != want {
			t.Errorf("%s: %q, %v, want %q", pattern, text, err, want)
		}
	}
}
