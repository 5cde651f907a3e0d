package accesslog

import (
	"fmt"
	"strings"
	"testing"
)

// Forms of single programs, by their manuals.
func TestMoreForms(t *testing.T) {
	const (
		json   = `{"time":"2024-05-12T09:50:40Z","method":"GET","uri":"/a","status":%s,"body_bytes":%s,"request_time":%s}`
		common = `192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 404 7100`
	)
	for _, c := range []struct{ name, line, format, want string }{
		{"a status with a fraction", fmt.Sprintf(json, "404.0", "7100", "0.049"), "json", "404 49000/-1 7100"},
		{"a status with its words", fmt.Sprintf(json, `"404 Not Found"`, "7100", "0.049"), "json", "404 49000/-1 7100"},
		{"a size with a fraction, a time with a unit", fmt.Sprintf(json, "404", "7100.0", `"49 ms"`), "json", "404 49000/-1 7100"},
		{"a decimal comma", fmt.Sprintf(json, "404", `"7100"`, `"0,049"`), "json", "404 49000/-1 7100"},
		{"none as -1", fmt.Sprintf(json, "404", "-1", "-1"), "json", "404 -1/-1 -1"},
		{"objects of an array", "[" + fmt.Sprintf(json, "404", "7100", "0.049") + ",", "json", "404 49000/-1 7100"},
		{"the last of an array", fmt.Sprintf(json, "404", "7100", "0.049") + "]", "json", "404 49000/-1 7100"},
		{"out of Elasticsearch", `{"_index":"x","_id":"1","_source":` + fmt.Sprintf(json, "404", "7100", "0.049") + `}`, "json", "404 49000/-1 7100"},
		{"%T/%D", common + ` "-" "curl" 0/49000`, "apache-times", "404 49000/-1 7100"},
		{"**%T/%D**", common + ` "-" "curl" **2/2049000**`, "apache-times", "404 2049000/-1 7100"},
		{"HAProxy 1.5, httplog clf", common + ` \"\" \"\" 41022 \511 "web" "app" "app1" \1 0 2 44 49 ---- 1 1 \0 0 3 0 0 "" "" \`, "haproxy-clf", "404 49000/44000 7100"},
		{"Amazon S3", `8e1f shop [12/May/2024:09:50:40 +0000] 192.0.2.7 arn:aws:iam::1:user/x 4F2A REST.GET.OBJECT a.png "GET /shop/a.png HTTP/1.1" 404 NoSuchKey 7100 - 49 12 "-" "curl/8.5" - abc= SigV4 - AuthHeader shop.s3.example TLSv1.3 - -`, "aws-s3", "404 49000/-1 7100"},
		{"Nginx Proxy Manager", `[12/May/2024:09:50:40 +0000] - 404 404 - GET https shop.example "/a?b=c" [Client 192.0.2.7] [Length 7100] [Gzip 2.75] [Sent-to 192.0.2.8] "curl/8.5" "-"`, "nginx-proxy-manager", "404 -1/-1 7100"},
		{"Kong", `{"latencies":{"request":49,"kong":5,"proxy":44},"request":{"size":75,"uri":"/a","url":"http://shop/a","headers":{"host":"shop","status":"999"},"method":"GET"},"client_ip":"192.0.2.7","response":{"headers":{},"status":404,"size":7100},"started_at":1715507440100}`, "json (kong)", "404 49000/44000 7100"},
		{"Traefik without a server", `{"DownstreamContentSize":7100,"DownstreamStatus":404,"Duration":49000000,"OriginDuration":0,"OriginStatus":0,"RequestMethod":"GET","RequestPath":"/a","StartUTC":"2024-05-12T09:50:40Z"}`, "json (traefik)", "404 49000/-1 7100"},
	} {
		log := strings.Repeat(c.line+"\n", 4)
		f, err := Detect([]byte(log))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		e, why := NewRows(f, false).Entry([]byte(c.line))
		if why != "" {
			t.Errorf("%s: %s: %s", c.name, f.Name, why)
			continue
		}
		if got := fmt.Sprintf("%d %d/%d %d", e.Status, micros(e.Request), micros(e.Upstream), e.Bytes); got != c.want || f.Name != c.format {
			t.Errorf("%s: %s by %s, want %s by %s", c.name, got, f.Name, c.want, c.format)
		}
	}
}

// The unit of a variable that the user names as the time is told by its values.
func TestUnitOfField(t *testing.T) {
	const text = `$remote_addr [$time_local] "$request" $status $body_bytes_sent $request_time $took`
	given, err := Nginx(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, values string
		want         int64 // µs of the last; -1: in doubt
	}{
		{"milliseconds", "21 17 49", 49_000},
		{"microseconds", "210000 170000 49000", 49_000},
		{"seconds", "0.021 0.017 0.049", 49_000},
		{"either", "2100 1700 4900", -1},
	} {
		var log strings.Builder
		line := ""
		for _, v := range strings.Fields(c.values) {
			line = `192.0.2.7 [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 200 7100 0.050 ` + v
			log.WriteString(line + "\n")
		}
		times := Times{Field: "took"}
		with, err := given.WithTimes(times)
		if err != nil {
			t.Fatal(err)
		}
		f := given.UnitOfField(with, times, []byte(log.String()))
		if c.want < 0 {
			if f.Doubt == nil {
				t.Errorf("%s: there is no doubt: %q", c.name, f.Notes)
			}
			continue
		}
		e, why := NewRows(f, false).Entry([]byte(line))
		if why != "" || micros(e.Request) != c.want || len(f.Notes) == 0 {
			t.Errorf("%s: %+v %s %q %v, want %d µs and a note", c.name, e, why, f.Notes, f.Doubt, c.want)
		}
	}
}

// A format that is given has the units that the values tell, too.
func TestUnitsOfGivenFormat(t *testing.T) {
	for _, c := range []struct {
		values string
		want   int64 // µs of the last; -1: in doubt
	}{
		{"11 37 90", 90_000}, {"0.011 0.037 0.09", 90_000}, {"1100 3700 4900", -1},
	} {
		var log strings.Builder
		line := ""
		for _, v := range strings.Fields(c.values) {
			line = `{"time":"2024-05-12T09:50:40Z","method":"GET","uri":"/a","status":200,"latency":` + v + "}"
			log.WriteString(line + "\n")
		}
		f := JSON().UnitsIn([]byte(log.String()))
		if c.want < 0 {
			if f.Doubt == nil {
				t.Errorf("%s: there is no doubt: %q", c.values, f.Notes)
			}
			continue
		}
		e, why := NewRows(f, false).Entry([]byte(line))
		if why != "" || micros(e.Request) != c.want {
			t.Errorf("%s: %+v %s %q, want %d µs", c.values, e, why, f.Notes, c.want)
		}
	}
}

// JSON that is not one object a line is refused with what to do.
func TestJSONOfSeveralLines(t *testing.T) {
	for _, log := range []string{"{\n  \"status\": 200,\n  \"uri\": \"/a\"\n}\n", `{"records": [{"status": 200, "uri": "/a"}]}` + "\n"} {
		if _, err := Detect([]byte(log)); err == nil || !strings.Contains(err.Error(), "jq -c") {
			t.Errorf("%q: %v, want a hint", log, err)
		}
	}
}
