package accesslog

import "testing"

// Where the status is not behind the request, the number there is the size.
func TestStatusElsewhere(t *testing.T) {
	for _, c := range []struct {
		line   string
		status int
		bytes  int64
	}{
		{`404 [12/May/2024:09:50:40 +0000] 192.0.2.7 "GET /a HTTP/1.1" 301 0.010`, 404, 301},
		{`[12/May/2024:09:50:40 +0000] 192.0.2.7 503 "GET /a HTTP/1.1" 404`, 503, 404},
		{`[12/May/2024:09:50:40 +0000] 192.0.2.7 TLSv1.3 TLS_AES_256_GCM_SHA384 "GET /a HTTP/1.1" 500`, 0, 500},
		{`[12/May/2024:09:50:40 +0000] 192.0.2.7 TLSv1.3 TLS_AES_256_GCM_SHA384 "GET /a HTTP/1.1" 71204`, 0, 71204},
		{`[12/May/2024:09:50:40 +0000] 192.0.2.7 TLSv1.3 "GET /a HTTP/1.1" 404 500`, 404, 500},
		{`192.0.2.7 - - [12/May/2024:09:50:40 +0000] "GET /a HTTP/1.1" 404 500`, 404, 500},
	} {
		e, why := NewRows(Line(), false).Entry([]byte(c.line))
		if why != "" || e.Status != c.status || e.Bytes != c.bytes {
			t.Errorf("%s: %+v %s, want status %d and %d bytes", c.line, e, why, c.status, c.bytes)
		}
	}
}
