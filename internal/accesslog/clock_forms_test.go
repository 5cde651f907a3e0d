package accesslog

import (
	"testing"
	"time"
)

// Dates in brackets that no manual of a server has; of two readings none is taken.
func TestClockForms(t *testing.T) {
	const want = "2024-05-12T09:50:40Z"
	for text, want := range map[string]string{
		"May/12/2024:11:50:40 +0200":      want,
		"12/May/2024 09:50:40":            want,
		"12/May/2024 09:50:40 +0000":      want,
		"12/May/2024:09:50:40 AM +0000":   want,
		"Sun, 12 May 2024 09:50:40 GMT":   want,
		"Sun, 12 May 2024 11:50:40 +0200": want,
		"Sun May 12 09:50:40 2024":        want,
		"20240512T095040Z":                want,
		"Sun, 12 May 2024 11:50:40 CEST":  "",
		"05/06/2024 09:50:40":             "",
		"12/May/2024 25:50:40":            "",
		"-":                               "",
	} {
		line := "192.0.2.7 - - [" + text + `] "GET /a HTTP/1.1" 200 700 "-" "curl" 0.049`
		e, why := NewRows(Line(), true).Entry([]byte(line))
		if why != "" {
			t.Errorf("%s: %s", text, why)
			continue
		}
		got := ""
		if !e.Time.IsZero() {
			got = e.Time.Format(time.RFC3339)
		}
		if got != want || want != "" && string(e.Client) != "192.0.2.7" || micros(e.Request) != 49_000 {
			t.Errorf("%s: %q of %s, want %q", text, got, e.Client, want)
		}
	}
}
