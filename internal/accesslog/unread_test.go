package accesslog

import (
	"fmt"
	"strings"
	"testing"
)

// A log that is not read says what is wrong with it, and what to do.
func TestUnreadLogs(t *testing.T) {
	const iis = "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time cs-method cs-uri-stem cs-uri-query c-ip sc-status sc-win32-status time-taken\n"
	fastify := `{"level":30,"time":1715507440098,"pid":7,"reqId":"req-1","req":{"method":"GET","url":"/a","remoteAddress":"192.0.2.7"},"msg":"incoming request"}` + "\n" +
		`{"level":30,"time":1715507440147,"pid":7,"reqId":"req-1","res":{"statusCode":200},"responseTime":49.1,"msg":"request completed"}` + "\n"
	var inDocker []string
	for line := range strings.Lines(fastify) {
		inDocker = append(inDocker, fmt.Sprintf(`{"log":%q,"stream":"stdout","time":"2024-05-12T09:50:40.1Z"}`+"\n", line))
	}
	for log, want := range map[string]string{
		iis + "2024-05-12 09:50:40 GET /a 192.0.2.7 200 0 15\n":   "names 9 columns, and line 3 has 8 values",
		iis + "2024-05-12 09:50:40 GET /a - 192.0.2.7 two 0 15\n": "line 3 has as many values",
		"Started GET \"/\" for 192.0.2.7 at 2024-05-12 09:50:40 +0000\nProcessing by A#b as HTML\n  Rendered a (0.1ms)\nCompleted 200 OK in 79ms (Views: 78.8ms)\n\n":                            "lograge",
		"I, [2024-05-12T09:50:40.1 #7]  INFO -- : [f00] Started GET \"/\" for 192.0.2.7 at 2024-05-12 09:50:40 +0000\nI, [2024-05-12T09:50:40.2 #7]  INFO -- : [f00] Completed 200 OK in 79ms\n": "lograge",
		"[09:50:40.120] INFO (7): request completed\n    req: {\n      \"method\": \"GET\",\n      \"url\": \"/a\"\n    }\n    res: {\n      \"statusCode\": 200\n    }\n    responseTime: 12\n": "pino",
		"09:50:40.120 request_id=F1 [info] GET /a\n09:50:40.132 request_id=F1 [info] Sent 200 in 12ms\n":                                                                                         "logster",
		fastify:                      "group_by([.pid, .reqId])",
		strings.Join(inDocker, ""):   "group_by([.pid, .reqId])",
		"an odd line\nanother one\n": "give the log_format",
	} {
		f, err := Detect([]byte(log))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", log, f, err, want)
		}
	}
}
