package diagnose

import (
	"strings"
	"testing"

	"kasoku/internal/evidence"
)

// A connection for each request is found and told with its number; a kept one
// is not; without counters it is not judged.
func TestJudgeConnects(t *testing.T) {
	for _, c := range []struct {
		name  string
		conns float64
		want  bool
	}{{"one each", 1000, true}, {"kept", 12, false}} {
		in := run()
		in.Snapshot.Databases = map[string]*evidence.Database{"db": {}}
		in.Evidence.Counters = map[string]evidence.CounterDelta{"db": {Delta: map[string]float64{"Connections": c.conns}}}
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range d.Findings {
			if f.Rule == "db.connect-per-request" {
				found = strings.Contains(f.Text, "1000 connections for 1000 right answers")
			}
		}
		if found != c.want {
			t.Errorf("%s: found %v, want %v", c.name, found, c.want)
		}
	}
}
