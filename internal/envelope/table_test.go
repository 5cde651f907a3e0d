package envelope

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string // nil: it is no table
	}{
		"names":              {"time,method,path,status\n1,GET,\"/a,b\",200\n", []string{`{"time":"1","method":"GET","path":"/a,b","status":"200"}`}},
		"quotes in quotes":   {"@timestamp,@message\n1,\"x \"\"GET /\"\" 200\"\n", []string{`{"@timestamp":"1","@message":"x \"GET /\" 200"}`}},
		"for people":         {"Date;Time;URL;Response Time (ms)\n2024-05-12;22:06:00;/a;12\n", []string{`{"time":"2024-05-12 22:06:00","url":"/a","response_time_ms":"12"}`}},
		"tabs":               {"time\tmethod\turi\n1\tGET\t/a\n", []string{`{"time":"1","method":"GET","uri":"/a"}`}},
		"Datadog":            {"Date,@http.method,@duration\n1,GET,12\n", []string{`{"date":"1","http.method":"GET","duration":"12"}`}},
		"thousands":          {"method,duration_ns\nGET,\"12,500,000\"\n", []string{`{"method":"GET","duration_ns":"12500000"}`}},
		"a decimal comma":    {"method;duration_ms\nGET;\"12,500\"\n", []string{`{"method":"GET","duration_ms":"12,500"}`}},
		"names again":        {"method,path\nGET,/a\nmethod,path\nGET,/b\n", []string{`{"method":"GET","path":"/a"}`, `{"method":"GET","path":"/b"}`}},
		"a row too short":    {"method,path\nGET\nGET,/b\n", []string{`GET`, `{"method":"GET","path":"/b"}`}},
		"a value of lines":   {"message,host\n\"GET /a\nx\",h\n", []string{`{"message":"GET /a\nx","host":"h"}`}},
		"without names":      {"1,2,GET,/a,200,\"x y\"\n1,2,GET,/b,,-\n", []string{`1 2 GET /a 200 "x y"`, `1 2 GET /b - -`}},
		"of another thing":   {"name,age,city\nx,1,y\nx,2,y\n", nil},
		"an access log":      {"1.2.3.4, 5.6.7.8 - - [x] \"GET / HTTP/1.1\" 200 5\n", nil},
		"IIS's own format":   {"203.0.113.1, -, 5/12/24, 22:06:00, W3SVC1, WEB1, 192.0.2.1, 12, 300, 5120, 200, 0, GET, /a, -,\n", []string{`{"client_ip":"203.0.113.1","remote_user":"-","date_text":"5/12/24","time_text":"22:06:00","service":"W3SVC1","server_name":"WEB1","server_ip":"192.0.2.1","duration_ms":"12","received":"300","bytes_sent":"5120","status":"200","win_status":"0","method":"GET","path":"/a","query":"-"}`}},
		"a quote not closed": {"method,path\nGET,\"/a\n", []string{`GET,"/a`}},
	} {
		table := TableOf([]byte(c.text))
		if (table == nil) != (c.want == nil) {
			t.Errorf("%s: %q is a table: %v", name, c.text, table != nil)
		}
		if table == nil {
			continue
		}
		var got []string
		if err := table.Rows(strings.NewReader(c.text), func(r []byte) error { got = append(got, string(r)); return nil }); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q is\n%q, want\n%q", name, c.text, got, c.want)
		}
	}
}

// Of a row that does not end the begin is kept.
func TestRowsAreBounded(t *testing.T) {
	table := TableOf([]byte("method,path\nGET,/a\n"))
	long := io.LimitReader(&zeros{}, 64<<20)
	rows, longest := 0, 0
	err := table.Rows(io.MultiReader(strings.NewReader("method,path\n"), long, strings.NewReader("\nGET,/b\n")), func(r []byte) error {
		rows, longest = rows+1, max(longest, len(r))
		return nil
	})
	if err != nil || rows != 2 || longest > longestRow {
		t.Errorf("%d rows, the longest of %d bytes, %v; want 2 of at most %d", rows, longest, err, longestRow)
	}
}
