package accesslog

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// reads shows what each line of a log is read as, and the format.
func reads(t *testing.T, log string) (format string, lines []string) {
	t.Helper()
	f, err := Detect([]byte(log))
	if err != nil {
		return err.Error(), nil
	}
	r := NewRows(f, true)
	for line := range bytes.Lines([]byte(log)) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 || r.Header(line) {
			continue
		}
		e, why := r.Entry(bytes.Clone(line))
		if why != "" {
			lines = append(lines, "refused: "+why)
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s %d %d %d/%d %s", e.Time.Format("15:04:05.000"), e.Client, e.Method, e.Target, e.Status, e.Bytes, micros(e.Request), micros(e.Upstream), e.Host))
	}
	return f.Name, lines
}

// Formats of services that cannot be run here: lines by the pages that the
// tables name. Of each: a usual request, one without an answer of the server
// behind, one of IPv6 or of HTTP/2, what is not HTTP.
func TestDocumentedFormats(t *testing.T) {
	for _, c := range []struct {
		name, format string
		lines, want  []string
	}{
		{"ALB", "aws-alb", []string{
			`https 2024-12-19T10:00:00.123456Z app/web/50dc6c495c0c9188 [2001:db8::5]:46532 10.0.0.66:9000 0.086 0.048 0.037 200 200 0 57 "GET https://shop.example:443/items/1?a=b HTTP/1.1" "curl/7.46.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:x "Root=1-5" "shop.example" "arn:aws:acm" 1 2024-12-19T10:00:00.000000Z "authenticate,forward" "-" "-" "10.0.0.66:9000" "200" "-" "-" TID_dc57cebed65b444ebc8177bb698fe166`,
			`http 2016-12-19T10:00:01.123456Z app/web/50dc6c495c0c9188 192.0.2.9:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET http://www.example.com:80/a%20b|c HTTP/1.1" "a \x22b\x22" - - arn:aws:x "Root=1-5" "-" "-"`,
			`h2 2024-12-19T10:00:02.123456Z app/web/50dc6c495c0c9188 192.0.2.9:2817 - -1 -1 -1 503 - 34 366 "GET https://www.example.com:443/gone HTTP/2.0" "curl" - - arn:aws:x "Root=1-5" "-" "-" 0 2024-12-19T10:00:00.000000Z "forward" "-" "-" "-" "-" "-" "-"`,
			`wss 2024-12-19T10:00:03.123456Z app/web/50dc6c495c0c9188 192.0.2.9:4 10.0.0.1:8010 0.000 30.001 0.000 101 101 218 786 "GET https://10.0.0.30:443/chat HTTP/1.1" "-" - - arn:aws:x "Root=1-5" "-" "-" 1 2024-12-19T10:00:00.000000Z "forward" "-" "-" "10.0.0.1:8010" "101" "-" "-"`,
			`http 2024-12-19T10:00:04.123456Z app/web/50dc6c495c0c9188 192.0.2.9:4 - -1 -1 -1 400 - 0 272 "- http://192.0.2.1:80- -" "-" - - - "-" "-" "-" - 2024-12-19T10:00:00.000000Z "-" "-" "-" "-" "-" "-" "-"`,
		}, []string{
			"10:00:00.123 2001:db8::5 GET https://shop.example:443/items/1?a=b 200 57 171000/48000 ",
			"10:00:01.123 192.0.2.9 GET http://www.example.com:80/a%20b|c 200 366 1000/1000 ",
			"10:00:02.123 192.0.2.9 GET https://www.example.com:443/gone 503 366 -1/-1 ",
			"10:00:03.123 192.0.2.9 GET https://10.0.0.30:443/chat 101 786 30001000/30001000 ",
			"10:00:04.123 192.0.2.9   400 272 -1/-1 ",
		}},
		{"classic ELB", "aws-elb", []string{
			`2015-05-13T23:39:43.945958Z my-elb 192.0.2.9:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://www.example.com:80/x HTTP/1.1" "curl/7.38.0" - -`,
			`2015-05-13T23:39:44.945958Z my-elb 192.0.2.9:2817 10.0.0.1:80 0.001065 0.000015 0.000023 - - 57 502 "- - - " "-" ECDHE-ECDSA-AES128-GCM-SHA256 TLSv1.2`,
			`2014-02-15T23:39:45.945958Z my-elb 192.0.2.9:2817 - -1 -1 -1 503 0 0 0 "GET http://www.example.com:80/ HTTP/1.1"`,
		}, []string{
			"23:39:43.945 192.0.2.9 GET http://www.example.com:80/x 200 29 1178/1048 ",
			"23:39:44.945 192.0.2.9   0 502 1103/15 ",
			"23:39:45.945 192.0.2.9 GET http://www.example.com:80/ 503 0 -1/-1 ",
		}},
		{"NLB", "aws-nlb", []string{
			`tls 2.0 2018-12-20T02:59:40 net/my-nlb/c6e77e28c25b2234 g3d4b5e8bb8464cd 192.0.2.9:51341 172.16.0.5:443 5 2 98 246 - arn:aws:acm - ECDHE-RSA-AES128-SHA tlsv12 - my-nlb.example - - - 2018-12-20T02:59:30`,
		}, []string{"02:59:40.000 192.0.2.9   0 246 5000/-1 "}},
		{"API Gateway", "aws-api-gateway", []string{
			`192.0.2.9 - - [09/Apr/2024:12:34:56 +0000]"GET /pets/{id} HTTP/1.1" 200 34 c6af9ac6-7b61-11e6-9a41-93e8deadbeef`,
		}, []string{"12:34:56.000 192.0.2.9 GET /pets/{id} 200 34 -1/-1 "}},
		{"CloudFront, real-time", "cloudfront-realtime", []string{
			strings.Join(strings.Fields(`1700000000.123 2001:db8::5 0.011 200 512 GET https d1.cloudfront.net /a/1 23 LAX1 id== shop.example 0.021 HTTP/2.0 IPv6 curl - - q=1 Hit - TLSv1.3`), "\t"),
			strings.Join(strings.Fields(`1700000001.123 192.0.2.9 0.001 502 0 GET https d1.cloudfront.net /a/2 23 LAX1 id== shop.example 0.002 HTTP/1.1 IPv4 curl - - - Error`), "\t"),
		}, []string{
			"22:13:20.123 2001:db8::5 GET /a/1?q=1 200 512 21000/-1 shop.example",
			"22:13:21.123 192.0.2.9 GET /a/2 502 0 2000/-1 shop.example",
		}},
		{"ingress-nginx", "ingress-nginx", []string{
			`192.0.2.9 - - [24/Aug/2024:01:30:24 +0000] "GET /a?b=c HTTP/2.0" 502 10 "-" "Mozilla/5.0 (X)" 1475 3.855 [shop-web-80] [] 10.0.0.1:80, 10.0.0.2:80 0, 10 1.100, 2.750 502, 502 c2c58cd42cb68822aae7d640ddf6583a`,
			`2001:db8::5 - - [24/Aug/2024:01:30:25 +0000] "GET /b HTTP/1.1" 308 164 "-" "-" 348 0.000 [shop-web-80] [] - - - - 835136ae24486dbb4156dcbe21f5d402`,
			`192.0.2.9 - - [24/Aug/2024:01:30:26 +0000] "" 400 0 "-" "-" 0 0.200 [] [] - - - - 835136ae24486dbb4156dcbe21f5d402`,
		}, []string{
			"01:30:24.000 192.0.2.9 GET /a?b=c 502 10 3855000/3850000 ",
			"01:30:25.000 2001:db8::5 GET /b 308 164 0/-1 ",
			"01:30:26.000 192.0.2.9   400 0 200000/-1 ",
		}},
		{"Envoy", "envoy", []string{
			`[2024-04-15T20:17:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 7 226 100 "10.0.35.28" "nsq2http" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations" "tcp://10.0.2.1:80"`,
			`[2024-04-15T20:17:01.310Z] "GET /a"b HTTP/1.1" 503 UF,URX 0 91 2003 - "-" "curl" "cc21d9b0" "shop.example:8080" "[2001:db8::1]:80"`,
			`[2024-04-15T20:17:02.310Z] "- - -" 0 - 116 57 5000 - "-" "-" "-" "-" "10.0.2.1:3306"`,
		}, []string{
			"20:17:00.310  POST /api/v1/locations 204 7 226000/100000 locations",
			"20:17:01.310  GET /a\"b 503 91 2003000/-1 shop.example:8080",
			"20:17:02.310    0 57 5000000/-1 ",
		}},
		{"Istio", "istio", []string{
			`[2024-11-25T21:26:18.409Z] "GET /status/418 HTTP/1.1" 418 - via_upstream - "-" 0 135 4 3 "-" "curl/7.73.0" "84961386-6d84-929d-98bd-c5aee93b5c88" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 10.44.1.23:37652 outbound_.8000_._.httpbin.foo.svc.cluster.local default`,
			`[2024-11-25T21:26:19.409Z] "- - -" 0 - - - "-" 1024 2048 61000 - "-" "-" "-" "-" "10.0.0.9:5432" outbound|5432||db 10.44.1.23:1 10.44.1.27:5432 10.44.1.23:37652 - -`,
		}, []string{
			"21:26:18.409  GET /status/418 418 135 4000/3000 httpbin:8000",
			"21:26:19.409    0 2048 61000000/-1 ",
		}},
		{"Istio, JSON", "json (envoy)", []string{
			`{"start_time":"2024-11-25T21:26:18.409Z","method":"GET","path":"/a?b=c","protocol":"HTTP/2","response_code":200,"response_flags":"-","bytes_received":0,"bytes_sent":135,"duration":4,"upstream_service_time":"3","x_forwarded_for":"192.0.2.1","user_agent":"curl","request_id":"8","authority":"shop","upstream_host":"127.0.0.1:80","downstream_remote_address":"[2001:db8::5]:37652","requested_server_name":null}`,
			`{"authority":null,"bytes_sent":0,"duration":12000,"method":"GET","path":"/slow","response_code":504,"response_flags":"UT","start_time":"2024-11-25T21:26:19.409Z","upstream_service_time":null,"downstream_remote_address":"10.0.0.7:1"}`,
			`{"authority":"-","bytes_sent":77,"duration":15,"method":null,"path":null,"response_code":0,"response_flags":"-","start_time":"2024-11-25T21:26:20.409Z","upstream_service_time":"-","downstream_remote_address":"10.0.0.7:1"}`,
		}, []string{
			"21:26:18.409 2001:db8::5 GET /a?b=c 200 135 4000/3000 shop",
			"21:26:19.409 10.0.0.7 GET /slow 504 0 12000000/-1 ",
			"21:26:20.409 10.0.0.7   0 77 15000/-1 ",
		}},
		{"Google Cloud", "json (gcp)", []string{
			`{"httpRequest":{"latency":"0.026545s","remoteIp":"2001:db8::5","requestMethod":"GET","requestSize":"137","requestUrl":"https://shop.example/items/1?a=b","responseSize":"1074","status":200,"userAgent":"curl","protocol":"HTTP/2"},"insertId":"x","jsonPayload":{"@type":"type.googleapis.com/x","statusDetails":"response_sent_by_backend"},"receiveTimestamp":"2024-05-12T10:00:02.1Z","resource":{"type":"http_load_balancer"},"timestamp":"2024-05-12T10:00:00.123Z"}`,
			`{"httpRequest":{"remoteIp":"192.0.2.9","requestMethod":"GET","requestUrl":"http://192.0.2.1/","status":502},"timestamp":"2024-05-12T10:00:01Z"}`,
			`{"httpRequest":{"latency":"1s","requestMethod":"POST","requestUrl":"/run","status":200},"timestamp":"2024-05-12T10:00:02Z"}`,
		}, []string{
			"10:00:00.123 2001:db8::5 GET https://shop.example/items/1?a=b 200 1074 26545/-1 ",
			"10:00:01.000 192.0.2.9 GET http://192.0.2.1/ 502 -1 -1/-1 ",
			"10:00:02.000  POST /run 200 -1 1000000/-1 ",
		}},
		{"Azure, Application Gateway v2: seconds", "json (azure-application-gateway)", []string{
			`{"timeStamp":"2024-10-14T22:17:11+00:00","resourceId":"/SUBSCRIPTIONS/x","operationName":"ApplicationGatewayAccess","category":"ApplicationGatewayAccessLog","properties":{"instanceId":"appgw_2","clientIP":"192.0.2.9","clientPort":45057,"httpMethod":"GET","originalRequestUriWithArgs":"\/a?x=1","requestUri":"\/a","requestQuery":"x=1","userAgent":"curl","httpStatus":200,"httpVersion":"HTTP\/1.1","receivedBytes":184,"sentBytes":466,"clientResponseTime":0,"timeTaken":0.034,"WAFEvaluationTime":"0.000","transactionId":"592d","sslEnabled":"on","serverRouted":"10.0.0.4:80","serverStatus":"200","serverResponseLatency":"0.028","originalHost":"shop.example","host":"shop.example"}}`,
			`{"timeStamp":"2024-10-14T22:17:12+00:00","properties":{"clientIP":"192.0.2.9","httpMethod":"GET","requestUri":"/b","requestQuery":"-","httpStatus":502,"sentBytes":1,"timeTaken":20.002,"transactionId":"593","serverRouted":"-","serverResponseLatency":"-"}}`,
		}, []string{
			"22:17:11.000 192.0.2.9 GET /a?x=1 200 466 34000/28000 shop.example",
			"22:17:12.000 192.0.2.9 GET /b 502 1 20002000/-1 ",
		}},
		{"Azure, Application Gateway v1: milliseconds", "json (azure-application-gateway-v1)", []string{
			`{"resourceId":"/SUBSCRIPTIONS/x","operationName":"ApplicationGatewayAccess","time":"2017-04-26T19:27:38Z","category":"ApplicationGatewayAccessLog","properties":{"instanceId":"ApplicationGatewayRole_IN_0","clientIP":"192.0.2.9","clientPort":46886,"httpMethod":"GET","requestUri":"/setup.php","requestQuery":"X=0","userAgent":"-","httpStatus":404,"httpVersion":"HTTP/1.0","receivedBytes":65,"sentBytes":553,"timeTaken":205,"sslEnabled":"off"}}`,
		}, []string{"19:27:38.000 192.0.2.9 GET /setup.php?X=0 404 553 205000/-1 "}},
		{"Azure, Front Door", "json (azure-front-door)", []string{
			`{"time":"2024-05-12T10:00:00Z","category":"FrontDoorAccessLog","properties":{"trackingReference":"x","httpMethod":"GET","httpVersion":"2.0.0.0","requestUri":"https://shop.example:443/a?b=c","requestBytes":"500","responseBytes":"12345","userAgent":"curl","clientIp":"2001:db8::5","socketIp":"2001:db8::5","timeTaken":"0.268","timeToFirstByte":"0.128","httpStatusCode":"200","cacheStatus":"MISS","hostName":"shop.example"}}`,
		}, []string{"10:00:00.000 2001:db8::5 GET https://shop.example:443/a?b=c 200 12345 268000/-1 shop.example"}},
		{"API Gateway, JSON", "json (aws-api-gateway)", []string{
			`{ "requestId":"c6af", "ip": "192.0.2.9", "caller":"-", "user":"-", "requestTime":"09/Apr/2024:12:34:56 +0000", "httpMethod":"GET","resourcePath":"/pets/{id}", "status":"200","protocol":"HTTP/1.1", "responseLength":"34", "responseLatency":"120", "integrationLatency":"98" }`,
			`{ "requestId":"c6b0", "ip": "192.0.2.9", "requestTime":"09/Apr/2024:12:34:57 +0000", "httpMethod":"GET","resourcePath":"/pets", "status":"403","protocol":"HTTP/1.1", "responseLength":"-", "responseLatency":"2", "integrationLatency":"-" }`,
			`{ "requestId":"c6b1", "ip": "192.0.2.9", "requestTime":"09/Apr/2024:12:34:58 +0000", "routeKey":"POST /pets", "status":"201","protocol":"HTTP/1.1", "responseLength":"9" }`,
		}, []string{
			"12:34:56.000 192.0.2.9 GET /pets/{id} 200 34 120000/98000 ",
			"12:34:57.000 192.0.2.9 GET /pets 403 -1 2000/-1 ",
			"12:34:58.000 192.0.2.9 POST /pets 201 9 -1/-1 ",
		}},
		{"Traefik", "traefik", []string{
			`192.0.2.9 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/2.0" 200 300 "-" "curl" 1000 "shop@docker" "http://172.18.0.11:8080" 20ms`,
			`2001:db8::5 - bob [12/May/2024:09:50:41 +0000] "GET /b?x=%22y%22 HTTP/1.1" 404 19 "-" "-" 1001 "-" "-" 0ms`,
			`192.0.2.9 - - [12/May/2024:09:50:42 +0000] "POST /c HTTP/1.1" 502 11 "-" "-" 1002 "shop@docker" "http://172.18.0.11:8080" 30001ms`,
		}, []string{
			"09:50:40.000 192.0.2.9 GET /a 200 300 20000/-1 ",
			"09:50:41.000 2001:db8::5 GET /b?x=%22y%22 404 19 0/-1 ",
			"09:50:42.000 192.0.2.9 POST /c 502 11 30001000/-1 ",
		}},
		{"Traefik, JSON", "json (traefik)", []string{
			`{"ClientAddr":"192.0.2.9:5","ClientHost":"192.0.2.9","ClientUsername":"-","DownstreamContentSize":300,"DownstreamStatus":200,"Duration":20123456,"OriginContentSize":300,"OriginDuration":19000000,"OriginStatus":200,"Overhead":1123456,"RequestAddr":"shop.example","RequestHost":"shop.example","RequestMethod":"GET","RequestPath":"/a?b=c","RequestProtocol":"HTTP/2.0","RouterName":"shop@docker","StartLocal":"2024-05-12T11:50:40.5+02:00","StartUTC":"2024-05-12T09:50:40.5Z","level":"info","msg":"","time":"2024-05-12T11:50:40+02:00"}`,
			`{"ClientHost":"192.0.2.9","DownstreamStatus":404,"Duration":51000,"RequestMethod":"GET","RequestPath":"/b","StartUTC":"2024-05-12T09:50:41Z","level":"info","msg":"","time":"2024-05-12T11:50:41+02:00"}`,
		}, []string{
			"09:50:40.500 192.0.2.9 GET /a?b=c 200 300 20123/19000 shop.example",
			"09:50:41.000 192.0.2.9 GET /b 404 -1 51/-1 ",
		}},
		{"Tomcat, JsonAccessLogValve", "json", []string{
			`{"host":"192.0.2.9","time":"[12/May/2024:09:50:40 +0000]","method":"GET","path":"/a","protocol":"HTTP/1.1","statusCode":"404","size":5}`,
		}, []string{"09:50:40.000  GET /a 404 5 -1/-1 192.0.2.9"}},
		{"varnishncsa -F", "varnish", []string{
			`192.0.2.9 - - [12/May/2024:09:50:40 +0000] "GET http://shop/a HTTP/1.1" 200 300 "-" "curl" 1500 0.001234 miss`,
			`192.0.2.9 - - [12/May/2024:09:50:41 +0000] "GET http://shop/a HTTP/1.1" 200 300 "-" "curl" 90 0.000051 hit`,
			`192.0.2.9 - - [12/May/2024:09:50:42 +0000] "GET http://shop/b HTTP/1.1" 503 - "-" "curl" 3000120 - synth`,
		}, []string{
			"09:50:40.000 192.0.2.9 GET http://shop/a 200 300 1500/1234 ",
			"09:50:41.000 192.0.2.9 GET http://shop/a 200 300 90/51 ",
			"09:50:42.000 192.0.2.9 GET http://shop/b 503 0 3000120/-1 ",
		}},
		{"Puma, Rack::CommonLogger", "rack", []string{
			`192.0.2.9 - - [12/May/2024:09:50:40 +0000] "GET /a?b=c HTTP/1.1" 200 300 0.0213`,
			`192.0.2.9 - bob [12/May/2024:09:50:41 +0000] "GET /b HTTP/1.0" 304 - 0.0004`,
		}, []string{
			"09:50:40.000 192.0.2.9 GET /a?b=c 200 300 21300/-1 ",
			"09:50:41.000 192.0.2.9 GET /b 304 0 400/-1 ",
		}},
		{"gin, before 1.4", "gin", []string{
			`[GIN] 2024/05/12 - 09:50:40 | 200 |    1.2345678s |     2001:db8::5 | GET      /a?b=c`,
			`[GIN] 2024/05/12 - 09:50:41 | 200 |   1m2.5s |     192.0.2.9 | GET      /b`,
		}, []string{
			"09:50:40.000 2001:db8::5 GET /a?b=c 200 -1 1234567/-1 ",
			"09:50:41.000 192.0.2.9 GET /b 200 -1 62500000/-1 ",
		}},
		{"gin, coloured", "gin", []string{
			"[GIN] 2024/05/12 - 09:50:40 |\x1b[97;42m 200 \x1b[0m|     213.457µs |       192.0.2.9 |\x1b[97;44m GET     \x1b[0m \"/a\"",
		}, []string{"09:50:40.000 192.0.2.9 GET /a 200 -1 213/-1 "}},
		{"morgan, no answer", "morgan", []string{
			`GET /a 200 5 - 3.082 ms`, `GET /b - - - - ms`, `POST /c 304 - - 1.5 ms`,
		}, []string{
			"00:00:00.000  GET /a 200 5 3082/-1 ", "00:00:00.000  GET /b 0 0 -1/-1 ", "00:00:00.000  POST /c 304 0 1500/-1 ",
		}},
	} {
		format, lines := reads(t, strings.Join(c.lines, "\n")+"\n")
		if format != c.format {
			t.Errorf("%s: recognised as %s, want %s", c.name, format, c.format)
			continue
		}
		for i := range c.want {
			if i >= len(lines) || lines[i] != c.want[i] {
				t.Errorf("%s, line %d:\ngot  %s\nwant %s", c.name, i+1, lines[min(i, len(lines)-1)], c.want[i])
			}
		}
	}
}
