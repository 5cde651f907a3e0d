package shell

import (
	"slices"
	"testing"
)

func TestFindOption(t *testing.T) {
	runs := func(words []string) bool {
		return slices.Contains(words, "gunicorn") || slices.Contains(words, "/opt/venv/bin/gunicorn")
	}
	env := func(name string) (string, bool) { return "3", name == "WORKERS" }
	for _, c := range []struct {
		script   string
		value    float64 // 0: nothing is found
		variable string
		set      string // the script with 4
	}{
		{"#!/bin/bash\nset -euo pipefail\nWORKERS=${WORKERS:-1}\npython ping.py\nexec gunicorn 'app:create()' \\\n  --bind 0.0.0.0:80 \\\n  --workers $WORKERS\n", 3, "WORKERS", ""},
		{"N=${N:-1}\nexec gunicorn app --workers \"$N\"\n", 1, "", "N=${N:-4}\nexec gunicorn app --workers \"$N\"\n"},
		{"cd /srv && exec /opt/venv/bin/gunicorn -w 2 app # two\n", 2, "", "cd /srv && exec /opt/venv/bin/gunicorn -w 4 app # two\n"},
		{"gunicorn --workers=2 app", 2, "", "gunicorn --workers=4 app"},
		{"gunicorn -w2 app", 2, "", "gunicorn -w4 app"},
		{"gunicorn --workers=${WORKERS} app", 3, "WORKERS", ""},
		{"if [[ $X == y ]]; then echo no; fi\ngunicorn --workers 1 --workers 2 app", 2, "", "if [[ $X == y ]]; then echo no; fi\ngunicorn --workers 1 --workers 4 app"},
		{"gunicorn --workers $(nproc) app", 0, "", ""},
		{"gunicorn app", 0, "", ""},
		{"pip install gunicorn\ngunicorn -w 1 app", 1, "", "pip install gunicorn\ngunicorn -w 4 app"},
		{"if a; then gunicorn -w 1 app; else gunicorn -w 2 app; fi", 0, "", ""},
		{"echo gunicorn-w", 0, "", ""},
		{"gunicorn --workers", 0, "", ""},
		{"gunicorn '", 0, "", ""},
	} {
		n := FindOption(c.script, runs, []string{"-w", "--workers"}, env)
		switch {
		case n == nil && c.value != 0:
			t.Errorf("%q: nothing", c.script)
		case n == nil:
		case n.Value != c.value || n.Variable != c.variable:
			t.Errorf("%q: %+v", c.script, n)
		case c.set != "" && n.Set(c.script, 4) != c.set:
			t.Errorf("%q: %q", c.script, n.Set(c.script, 4))
		}
	}
}
