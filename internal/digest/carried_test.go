package digest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// entriesOfJSON are six requests to two routes, of 12 to 17 ms.
func entriesOfJSON() (out []json.RawMessage) {
	for i := range 6 {
		out = append(out, json.RawMessage(fmt.Sprintf(`{"time":"2025-03-02T10:00:0%dZ","method":"GET","path":"/p/%d","status":200,"bytes":512,"duration_ms":%d,"tags":["a b",{"items":[{"n":1}]}]}`, i, i%2, 12+i)))
	}
	return out
}

// Entries that have no line each are read as such that have one, of any input.
func TestCarriedAccessLogs(t *testing.T) {
	entries := entriesOfJSON()
	encoded := func(v any, indent string) string {
		b, err := json.MarshalIndent(v, "", indent)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var pretty, side []string
	for _, e := range entries {
		pretty, side = append(pretty, encoded(e, "  ")), append(side, string(e))
	}
	var hits []any
	for _, e := range entries {
		hits = append(hits, map[string]any{"_index": "x", "_source": e})
	}
	table := "timestamp,method,path,status,bytes,duration_ms\n"
	bare := ""
	for i := range 6 {
		table += fmt.Sprintf("2025-03-02T10:00:0%dZ,GET,/p/%d,200,512,%d\n", i, i%2, 12+i)
		bare += fmt.Sprintf("2025-03-02T10:00:0%dZ,192.0.2.1,GET,/p/%d,200,512,0.0%d,\"an agent, of words\"\n", i, i%2, 12+i)
	}
	for name, text := range map[string]string{
		"a list in one line":     encoded(entries, ""),
		"a list, indented":       encoded(entries, "\t"),
		"objects, indented":      strings.Join(pretty, "\n"),
		"objects side by side":   strings.Join(side, ""),
		"records":                encoded(map[string]any{"records": entries}, ""),
		"records in two lines":   encoded(map[string]any{"Records": entries[:3]}, "") + "\n" + encoded(map[string]any{"Records": entries[3:]}, "") + "\n",
		"Elasticsearch's answer": encoded(map[string]any{"took": 3, "hits": map[string]any{"total": 6, "hits": hits}}, " "),
		"a table with names":     table,
		"names with underscores": strings.Replace(table, "timestamp,method,path,status,bytes,duration_ms", "timestamp,cs_method,cs_uri,sc_status,sc_bytes,time_taken_ms", 1),
		"a table without names":  bare,
	} {
		a := digestText(t, text, AccessOptions{})
		if a.Lines != 6 || a.Bad != 0 || len(a.Routes) != 1 && len(a.Routes) != 2 || len(a.Notes) == 0 {
			t.Errorf("%s: %d lines, %d bad, %d routes, notes %q", name, a.Lines, a.Bad, len(a.Routes), a.Notes)
			continue
		}
		total, n := int64(0), int64(0)
		for _, r := range a.Routes {
			total, n = total+int64(r.Time.Total), n+r.Time.Count
		}
		if n != 6 || total != 87e6 || a.From.Second() != 0 || a.To.Second() != 5 {
			t.Errorf("%s: %d times of %d ns in all, from %v to %v; want 6 of 87 ms within 5 s", name, n, total, a.From, a.To)
		}
	}
}

// Lines of entries within JSON or a table are read as they are by themselves.
func TestCarriedLines(t *testing.T) {
	line := func(i int) string {
		return fmt.Sprintf(`192.0.2.%d - - [02/Mar/2025:10:00:0%d +0000] "GET /p HTTP/1.1" 200 512 "-" "agent" 0.0%d`, i, i, 12+i)
	}
	var events, rows, values []any
	table, raw := "@timestamp,@message\n", "\"_time\",\"_raw\",host\n"
	for i := range 6 {
		events = append(events, map[string]any{"timestamp": 1, "message": line(i)})
		rows = append(rows, []any{map[string]any{"field": "@message", "value": line(i)}, map[string]any{"field": "@ptr", "value": "x"}})
		values = append(values, []string{"17", line(i)})
		quoted := `"` + strings.ReplaceAll(line(i), `"`, `""`) + `"`
		table += "2025-03-02 10:00:00.000," + quoted + "\n"
		raw += "\"2025-03-02\"," + quoted + ",web\n"
	}
	for name, v := range map[string]any{
		"events":   map[string]any{"events": events},
		"Insights": map[string]any{"results": rows, "status": "Complete"},
		"Loki":     map[string]any{"status": "success", "data": map[string]any{"result": []any{map[string]any{"stream": 1, "values": values}}}},
		"table":    table, "Splunk": raw,
	} {
		text, ok := v.(string)
		if !ok {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		a := digestText(t, text, AccessOptions{})
		if a.Lines != 6 || a.Bad != 0 || len(a.Routes) != 1 || a.Routes[0].Time.Total != 87e6 {
			t.Errorf("%s: %d lines, %d bad, %+v", name, a.Lines, a.Bad, a.Routes)
		}
	}
}

// An entry that is cut is told, and an odd one changes nothing of the others.
func TestCarriedOddEntries(t *testing.T) {
	var side []string
	for _, e := range entriesOfJSON() {
		side = append(side, string(e))
	}
	cut := "[" + strings.Join(side, ",\n ")
	a := digestText(t, cut[:len(cut)-40], AccessOptions{})
	if a.Bad != 1 || a.Routes[0].Count+a.Routes[len(a.Routes)-1].Count < 5 {
		t.Errorf("a list that is cut: %d bad, %+v", a.Bad, a.Routes)
	}
	odd := "[" + strings.Join(side[:3], ",") + `,{"odd":[1,{"deep":{}}]},` + strings.Join(side[3:], ",") + "]"
	if a = digestText(t, odd, AccessOptions{}); a.Lines != 7 || a.Bad != 1 || !strings.Contains(a.FirstBad, "odd") {
		t.Errorf("an odd object: %d of %d bad, the first %q", a.Bad, a.Lines, a.FirstBad)
	}
}

// What is no JSON and no table stays as it is.
func TestNotCarried(t *testing.T) {
	for _, text := range []string{
		`[02/Mar/2025:10:00:01 +0000] 192.0.2.1 "GET / HTTP/1.1" 200 5` + "\n",
		`[pid: 28|app: 0] {1 vars} GET /` + "\n",
		`{"time":"2025-03-02T10:00:00Z","method":"GET","path":"/a","status":200}` + "\n" + `{"time":"2025-03-02T10:00:00Z","method":"GET","path":"/a","status":200}` + "\n",
		strings.Repeat(`{"time":"2025-03-02T10:00:00Z","method":"GET","path":"/a","status":200,"upstream_response_time": 0.040, 0.050, "o":{"q":"}\""}}`+"\n", 3),
		"name,age\nx,1\n",
		"",
	} {
		if c := carriedBy([]byte(text)); c != nil {
			t.Errorf("%q: %s", text, c.note)
		}
	}
}

// Requests that are not understood are told, if they are most.
func TestNoRequestsIsTold(t *testing.T) {
	text := bytes.Repeat([]byte(`192.0.2.1 - - [02/Mar/2025:10:00:01 +0000] "odd words" 200 5`+"\n"), 4)
	if a := digestText(t, string(text), AccessOptions{}); !strings.Contains(fmt.Sprint(a.Warnings), "no request that is understood") {
		t.Errorf("the warnings are %q", a.Warnings)
	}
}
