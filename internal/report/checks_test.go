package report

import (
	"bytes"
	"strings"
	"testing"

	"kasoku/internal/prove"
)

// Every form tells what the checks saw, by whom, and that one failed.
func TestChecksAreTold(t *testing.T) {
	st, id := sampleStore(t)
	s, err := st.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	s.Checks = []prove.Result{
		{Check: prove.Equality, Outcome: prove.Held, Text: "16 answers compared", Notes: []string{"2 of 10 requests are not compared"}},
		{Check: prove.Staleness, Outcome: prove.Failed, Text: "5 writes, polled by 2 readers", Failures: 12,
			Problems: []prove.Problem{{What: "write 1: reader <list> did not see it", By: "front on web2"}}},
		{Check: prove.Restart, Outcome: prove.NotJudged, Text: "no host may be rebooted"},
	}
	if err := st.SaveSession(s); err != nil {
		t.Fatal(err)
	}
	m, err := Build(t.Context(), st, id, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text, md, html, js bytes.Buffer
	for _, err := range []error{SessionText(&text, m), Markdown(&md, m), HTML(&html, m), JSON(&js, m)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for form, got := range map[string]string{"text": text.String(), "Markdown": md.String(), "HTML": html.String(), "JSON": js.String()} {
		for _, want := range []string{"16 answers compared", "2 of 10 requests are not compared", "front on web2", "no host may be rebooted", "not judged"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s does not tell %q", form, want)
			}
		}
		if form != "JSON" && form != "text" && !strings.Contains(got, "The regulation does not hold: staleness failed.") {
			t.Errorf("%s does not tell that it does not hold", form)
		}
	}
	if strings.Contains(html.String(), "reader <list>") {
		t.Error("the page does not escape what the target said")
	}
	if !strings.Contains(text.String(), "and 11 more") {
		t.Errorf("further failures are not counted:\n%s", text.String())
	}
}
