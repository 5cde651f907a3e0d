package accesslog

import (
	"strings"
	"testing"
)

// The lines of lograge 0.10's three formatters.
func TestLogrageIsMilliseconds(t *testing.T) {
	pairs := []string{"method=GET", "path=/items/22", "format=html", "controller=ItemsController", "action=show", "status=200", "duration=45.31", "view=27.19", "db=9.06"}
	kv := strings.Join(pairs, " ")
	var json []string
	for _, p := range pairs {
		key, value, _ := strings.Cut(p, "=")
		if key != "status" && key != "duration" && key != "view" && key != "db" {
			value = `"` + value + `"`
		}
		json = append(json, `"`+key+`":`+value)
	}
	for name, line := range map[string]string{
		"key=value":             kv,
		"with Rails' own begin": `I, [2024-05-12T10:00:00.123456 #1234]  INFO -- : [c3f0a1] ` + kv,
		"LTSV":                  strings.ReplaceAll(strings.Join(pairs, "\t"), "=", ":"),
		"JSON":                  "{" + strings.Join(json, ",") + "}",
	} {
		_, lines := reads(t, strings.Repeat(line+"\n", 3))
		if want := "GET /items/22 200 -1 45310/-1"; len(lines) != 3 || !strings.Contains(lines[2], want) {
			t.Errorf("%s: %q, want %s", name, lines, want)
		}
		f, err := Detect([]byte(line + "\n"))
		if err != nil || f.Doubt != nil || !strings.Contains(strings.Join(f.Notes, ""), "lograge") {
			t.Errorf("%s: %+v %v", name, f, err)
		}
	}
}
