package accesslog

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// everyFormat that lines are tried with.
func everyFormat(t testing.TB) []*Format {
	t.Helper()
	early, late := productFormats()
	out := append(append([]*Format{JSON(), LTSV(), HAProxy(), Line()}, early...), late...)
	out = append(out, usualColumns()...)
	for _, k := range known {
		f, err := namedFormat(k.name, k.text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	for i := range dialects {
		out = append(out, dialects[i].format())
	}
	return append(out, w3cFormat([]byte("#Fields: date time cs-method cs-uri"), draftWriter, Times{}))
}

// shortLines are empty, of one byte, of two that open something, and the
// begins of lines in every envelope.
func shortLines() []string {
	out := []string{""}
	for c := range 256 {
		out = append(out, string([]byte{byte(c)}))
	}
	opens := `{["'<#:=-,;|/\ 0a` + "\t\x1b\xc2"
	for i := range len(opens) {
		for j := range len(opens) {
			out = append(out, opens[i:i+1]+opens[j:j+1])
		}
	}
	for _, whole := range envelopedLines {
		for end := range len(whole) {
			out = append(out, whole[:end])
		}
	}
	return out
}

// envelopedLines hold nothing, or a dash.
var envelopedLines = []string{
	`web-1  | -`, `web-0001  | <12>`, "\x1b[36mweb-1  | \x1b[0m-", `2024-05-12T22:06:00.1Z stdout F -`, `2024-05-12T22:06:00.1Z -`, `May 12 22:06:00 web1 nginx[12]: -`,
	`May 12 22:06:00 2024 web1 nginx[12]: -`, `<190>1 2024-05-12T22:06:00Z web1 nginx 12 - - -`, `<190>1 2024-05-12T22:06:00Z web1 nginx 12 - [a b="c"] -`,
	`Sun 2024-05-12 22:06:00 UTC web1 nginx[12]: -`, `1715544360.123456 web1 nginx[12]: -`, `[    1.234567] web1 nginx[12]: -`, `[pod/web-7c9/nginx] -`, `web-7c9 nginx [-`,
	`{"log":"a b c d\n","stream":"stdout"}`, `{"MESSAGE":[32,10]}`, `{"message":[]}`, `12/May/2024:22:06:00 +0000`, `2024-05-12 22:06:00 -0700`,
	`GET / 200 5 - 1.5 ms`, `[GIN] 2024/05/12 - 22:06:00 | 200 | 1.5ms | 10.0.0.1 | GET "/"`,
}

func TestShortLines(t *testing.T) {
	lines := shortLines()
	for _, f := range everyFormat(t) {
		for _, wrapped := range []bool{false, true} {
			one := *f
			one.wrapped = wrapped
			one.others = []*Format{Line(), JSON(), LTSV(), HAProxy()}
			r := NewRows(&one, true)
			for _, line := range lines {
				mustNotPanic(t, f.Name, line, func() {
					one.count([][]byte{[]byte(line)})
					var row Row
					r.Header([]byte(line))
					r.Whole([]byte(line))
					r.Parse([]byte(line), &row)
					r.Entry([]byte(line))
				})
			}
		}
	}
	for _, line := range lines {
		mustNotPanic(t, "detect", line, func() {
			Detect([]byte(line))
			Detect([]byte(line + "\n"))
			NewReader(strings.NewReader(line+"\n"), nil).Next()
			unwrap([]byte(line), nil)
		})
	}
}

func mustNotPanic(t *testing.T, name, line string, f func()) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: the line %q: %v", name, line, p)
		}
	}()
	f()
}

// Container logs whose every second line is empty are read, whatever their
// envelope.
func TestEmptyInnerLines(t *testing.T) {
	const entry = `10.0.0.1 - - [12/May/2024:22:06:00 +0000] "GET /a HTTP/1.1" 200 12 "-" "curl/8"`
	for _, c := range []struct{ name, envelope string }{
		{"compose", "web-1  | "},
		{"CRI", "2024-05-12T22:06:00.1Z stdout F "},
		{"syslog", "May 12 22:06:00 web1 nginx[12]: "},
		{"RFC 5424", "<190>1 2024-05-12T22:06:00Z web1 nginx 12 - - "},
		{"kubectl", "[pod/web-7c9/nginx] "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			for range 6 {
				fmt.Fprintf(&b, "%s\n%s%s\n", c.envelope, c.envelope, entry)
			}
			f, err := Detect(b.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if good, bad, _ := f.Fit(b.Bytes()); good != 6 || bad != 0 {
				t.Errorf("%d lines fit and %d do not, want 6 and 0", good, bad)
			}
			r := NewReader(&b, nil)
			n := 0
			for r.Next() {
				n++
			}
			if n != 6 || r.Bad().Count != 0 || r.Err() != nil {
				t.Errorf("read %d entries and %d bad lines, want 6 and 0 (%v)", n, r.Bad().Count, r.Err())
			}
		})
	}
	for _, only := range []string{"web-1  | \n", "2024-05-12T22:06:00.1Z stdout F \n", "May 12 22:06:00 web1 nginx[12]: \n"} {
		if _, err := Detect([]byte(only)); err == nil {
			t.Errorf("%q is read as a log", only)
		}
	}
}
