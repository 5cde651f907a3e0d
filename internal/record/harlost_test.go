package record

import (
	"fmt"
	"strings"
	"testing"
)

// A recording that was saved without bodies says so where a request had one.
func TestBodiesThatTheRecordingLacks(t *testing.T) {
	const entry = `{"startedDateTime":"2024-05-12T09:50:40Z","time":5,"request":{"method":"%s","url":"http://shop.example/cart","headers":[%s],%s},` +
		`"response":{"status":201,"headers":[],"content":{"mimeType":"application/json","text":"{}"}}}`
	for _, c := range []struct {
		name, method, headers, rest string
		lost                        bool
	}{
		{"by its size", "POST", "", `"bodySize":17`, true},
		{"by its header", "PUT", `{"name":"content-length","value":"17"}`, `"bodySize":-1,"postData":{"mimeType":"application/json","params":[]}`, true},
		{"empty", "POST", `{"name":"Content-Length","value":"0"}`, `"bodySize":0,"postData":{"mimeType":"application/json","text":""}`, false},
		{"a size that is no number", "POST", "", `"bodySize":"?"`, false},
	} {
		har := `{"log":{"version":"1.2","entries":[` + fmt.Sprintf(entry, c.method, c.headers, c.rest) + `]}}`
		d, err := FromHAR(strings.NewReader(har), HAROptions{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := strings.Contains(strings.Join(d.Notes, "\n"), "/cart has no body: the HAR says how long it was, but does not hold it"); got != c.lost {
			t.Errorf("%s: %q", c.name, d.Notes)
		}
	}
}
