package pagecache

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

const proxyNginx = `worker_processes 1;
pid %DIR%/nginx.pid;
error_log %DIR%/nginx-error.log warn;
events { worker_connections 256; }
http {
    access_log off;
    client_body_temp_path %DIR%/t1; proxy_temp_path %DIR%/t2; fastcgi_temp_path %DIR%/t3; uwsgi_temp_path %DIR%/t4; scgi_temp_path %DIR%/t5;
    server {
        listen %ADDRESS%;
        location / {
            proxy_pass %APP%;
            proxy_set_header Host $http_host;
        }
    }
}
`

// TestProxyPageCache is the same for an application behind proxy_pass, whose
// pages have lives of their own.
func TestProxyPageCache(t *testing.T) {
	var made atomic.Int64
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		made.Add(1)
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			w.Header().Set("Cache-Control", "public, max-age=600")
		case "/dated":
			w.Header().Set("Expires", "Thu, 01 Dec 2094 16:00:00 GMT")
		case "/variants":
			w.Header().Set("Vary", "Accept-Language")
			fmt.Fprintf(w, "in %q ", r.Header.Get("Accept-Language"))
		case "/unsaid": // as /variants, but it does not say so
			fmt.Fprintf(w, "in %q ", r.Header.Get("Accept-Language"))
		}
		fmt.Fprintf(w, "page %s", r.URL)
	}))
	t.Cleanup(app.Close)
	dir, address := bed.Folder(t), fmt.Sprintf("127.0.0.1:%d", bed.FreePort(t))
	fill := strings.NewReplacer("%ADDRESS%", address, "%APP%", app.URL)
	bed.Write(t, dir, "nginx.conf", fill.Replace(proxyNginx))
	bed.Write(t, dir, "scenario.yaml", `version: 1
name: proxy
workload: 2
sessions:
  - name: stranger
    steps:
      - {name: top, request: GET /, expect: {contains: [page]}}
      - {name: variants, request: GET /variants}
      - {name: unsaid, request: GET /unsaid}
      - {name: dated, request: GET /dated}
`)
	bed.Write(t, dir, "kasoku.yaml", fill.Replace(`version: 1
name: proxy
services:
  - name: web
    kind: nginx
    binary: `+nginxProgram+`
    config: %DIR%/nginx.conf
    prefix: %DIR%
    listen: ["%ADDRESS%"]
    control: {method: process, pid_file: %DIR%/nginx.pid}
load: {scenario: scenario.yaml, url: "http://%ADDRESS%"}
`))
	bed.Start(t, dir, "nginx", nginxProgram, "-p", dir, "-c", dir+"/nginx.conf", "-g", "daemon off;")
	bed.Await(t, address)
	b := bed.Open(t, dir)
	b.Show(t, func(t *testing.T, p remedy.Plan) {
		if strings.Join(p.Fresh.URLs, " ") != "/ /variants" {
			t.Errorf("kept: %v", p.Fresh.URLs)
		}
		before := made.Load()
		for range 10 {
			get(t, address, "/")
			if text := get(t, address, "/variants", "Accept-Language: ja"); !strings.Contains(text, `"ja"`) {
				t.Error(text)
			}
			if text := get(t, address, "/variants", "Accept-Language: de"); !strings.Contains(text, `"de"`) {
				t.Error(text)
			}
		}
		if n := made.Load() - before; n > 9 {
			t.Errorf("30 requests of strangers were made %d times", n)
		}
		before = made.Load()
		for range 5 {
			get(t, address, "/dated")
			get(t, address, "/", "Cookie: a=b")
		}
		if n := made.Load() - before; n != 10 {
			t.Errorf("10 requests that no cache may answer were made %d times", n)
		}
	}, "nginx.page-cache")
}
