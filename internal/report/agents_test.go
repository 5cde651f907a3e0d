package report

import (
	"regexp"
	"strings"
	"testing"

	"kasoku/internal/accesslog"
	"kasoku/internal/digest"
	"kasoku/internal/evidence"
)

// hostileLog is an access log whose clients call themselves what would run in a
// browser. Its last line does not fit the format, which the run's health quotes.
const hostileLog = `10.0.0.1 - - [03/Jun/2025:14:02:01 +0000] "GET /orders HTTP/1.1" 200 512 "-" "quiet-agent<svg onload=alert(1)>"
10.0.0.2 - - [03/Jun/2025:14:02:02 +0000] "GET /orders HTTP/1.1" 200 512 "-" "quiet-agent</pre><script>alert(2)</script>"
broken "GET / HTTP/1.1" "loud-agent<img src=x onerror=alert(3)>"
`

// TestAgentsAreNotShown: no page tells what clients call themselves; where a
// line that does not fit is quoted, its agent is text.
func TestAgentsAreNotShown(t *testing.T) {
	format, err := accesslog.ParseFormat("combined")
	if err != nil {
		t.Fatal(err)
	}
	read, err := digest.AccessLogs(t.Context(), []digest.Input{digest.StreamInput("access.log", strings.NewReader(hostileLog))}, digest.AccessOptions{Format: format, Service: "web"})
	if err != nil || len(read.Routes) != 1 || read.Bad != 1 {
		t.Fatalf("%v: %+v", err, read)
	}
	m := sample(t)
	m.Seen.Evidence = fullEvidence("")
	m.Seen.Evidence.Routes = read.Routes
	m.Seen.Evidence.Health = append(m.Seen.Evidence.Health, evidence.Health{Source: "access log of web", Text: "1 line does not fit: " + read.FirstBad})
	m.Before.Unhealthy = append(m.Before.Unhealthy, read.FirstBad)
	page, md := render(t, HTML, m), render(t, Markdown, m)
	for name, text := range map[string]string{"HTML": page, "Markdown": md, "JSON": render(t, JSON, m), "text": render(t, SessionText, m)} {
		if strings.Contains(text, "quiet-agent") {
			t.Errorf("%s tells an agent", name)
		}
	}
	if !strings.Contains(page, "loud-agent&lt;img") || !strings.Contains(md, "loud-agent&lt;img") {
		t.Error("the line that does not fit is not quoted")
	}
	if raw := regexp.MustCompile(`<img src|<script>alert\(2|<svg onload`); raw.MatchString(page) || raw.MatchString(md) {
		t.Error("an agent is not escaped")
	}
}
