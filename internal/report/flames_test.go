package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"kasoku/internal/evidence"
)

func TestReportShowsProfiles(t *testing.T) {
	st, id := sampleStore(t)
	session, err := st.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Build(t.Context(), st, id, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := HTML(&b, plain); err != nil || strings.Contains(b.String(), `id="profiles"`) {
		t.Fatalf("%v: a section without profiles", err)
	}

	var file bytes.Buffer
	if err := flameProfile("index;login<b>;hash 70", "index;render 30").Write(&file); err != nil {
		t.Fatal(err)
	}
	for _, run := range []int64{session.AsFoundRun, session.FinalRun} {
		r, err := st.Run(run)
		if err != nil {
			t.Fatal(err)
		}
		r.Evidence.Profiles = []evidence.Profile{
			{Service: "php", Tool: "excimer", Wall: true, Samples: 100, Data: bytes.Clone(file.Bytes()), Top: []evidence.ProfileFrame{
				{Function: "hash", File: "app/user<i>.php:120", Self: 0.7, Total: 0.7}, {Function: "PDOStatement::execute", Self: 0.1, Total: 0.1, Waiting: true}}},
			{Service: "app", Tool: "go pprof", Of: "bytes allocated", Samples: 5, Data: []byte("no profile")},
			{Service: "db", Tool: "perf", Samples: 7},
		}
		if err := st.SaveRun(r); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Build(t.Context(), st, id, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Flames) != 6 || m.Flames[0].When != "as found" || m.Flames[3].When != "at the end" || m.Flames[0].Picture == "" || m.Flames[2].Picture != "" {
		t.Fatalf("%+v", m.Flames)
	}
	b.Reset()
	if err := HTML(&b, m); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{`id="profiles"`, "php, as found: elapsed time by excimer, 100 samples", "app/user&lt;i&gt;.php:120", "(waits)", "bytes allocated by go pprof",
		"login&lt;b&gt;", "--artifact profile-php-excimer.pb.gz"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := strings.Count(page, `<svg class="k-f"`); n != 2 {
		t.Errorf("%d flame graphs", n)
	}
	// The broken artifact is a warning, not the end of the report.
	if n := strings.Count(page, "read profile profile-app-go-pprof-bytes-allocated.pb.gz"); n != 2 {
		t.Errorf("%d warnings", n)
	}
	data, err := json.Marshal(m)
	if err != nil || !bytes.Contains(data, []byte(`"profiles":[{"run":`)) || bytes.Contains(data, []byte("<svg")) {
		t.Error(err)
	}
}
