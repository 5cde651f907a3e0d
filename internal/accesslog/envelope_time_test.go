package accesslog

import (
	"fmt"
	"strings"
	"testing"
)

// A line without a time has its envelope's.
func TestEnvelopeTimes(t *testing.T) {
	const line, json = `INFO:     192.0.2.7:50000 - "GET /a HTTP/1.1" 200 OK`, `INFO:     192.0.2.7:50000 - \"GET /a HTTP/1.1\" 200 OK`
	for name, c := range map[string]struct{ envelope, want string }{
		"docker":                 {`{"log":"` + json + `\n","stream":"stdout","time":"2024-05-12T09:50:4%d.123456789Z"}`, "2024-05-12 09:50:42"},
		"Filebeat":               {`{"@timestamp":"2024-05-12T09:50:4%d.123Z","message":"` + json + `","host":{"name":"web"}}`, "2024-05-12 09:50:42"},
		"journald":               {`{"__REALTIME_TIMESTAMP":"171550744%d123456","MESSAGE":"` + json + `","_PID":"7"}`, "2024-05-12 09:50:42"},
		"CRI":                    {`2024-05-12T11:50:4%d.123456789+02:00 stdout F ` + line, "2024-05-12 09:50:42"},
		"syslog, RFC 5424":       {`<190>1 2024-05-12T09:50:4%d.123Z web app 12 - - ` + line, "2024-05-12 09:50:42"},
		"rsyslog":                {`2024-05-12T09:50:4%d.123+00:00 web app[12]: ` + line, "2024-05-12 09:50:42"},
		"syslog without a year":  {`May 12 09:50:4%d web app[12]: ` + line, ""},
		"a name alone":           {`[pod/web-1/app] ` + line + "%.0d", ""},
		"a time within the line": {`{"log":"192.0.2.7 - - [12/May/2024:08:00:0%d +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"curl\"\n","time":"2024-05-12T09:50:40Z"}`, "2024-05-12 08:00:02"},
	} {
		var log strings.Builder
		var last string
		for i := range 3 {
			last = fmt.Sprintf(c.envelope, i)
			log.WriteString(last + "\n")
		}
		f, err := Detect([]byte(log.String()))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		rows := NewRows(f, true)
		for _, line := range strings.Split(strings.TrimSpace(log.String()), "\n") {
			var row Row
			if why := rows.Parse([]byte(line), &row); why != "" || row.Status != 200 {
				t.Errorf("%s: %s %+v", name, why, row)
			}
			if line != last {
				continue
			}
			e, _ := NewRows(f, true).Entry([]byte(line))
			for _, at := range []string{unlessZero(row.Time.IsZero(), row.Time.UTC().Format("2006-01-02 15:04:05")), unlessZero(e.Time.IsZero(), e.Time.UTC().Format("2006-01-02 15:04:05"))} {
				if at != c.want {
					t.Errorf("%s: %q, want %q", name, at, c.want)
				}
			}
		}
	}
}

func unlessZero(zero bool, text string) string {
	if zero {
		return ""
	}
	return text
}
