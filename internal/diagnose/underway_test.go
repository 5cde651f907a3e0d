package diagnose

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/digest"
)

// Where somebody else's benchmark is the load, the access log tells how many requests
// are under way; where that has no times, nobody says that there are none.
func TestUnderWayByTheLog(t *testing.T) {
	for _, c := range []struct {
		about  string
		routes []digest.Route
		want   float64
		known  bool
	}{
		{"the front's log", []digest.Route{{Service: "web", Time: digest.Times{Total: 80 * time.Second}}, {Service: "web", Time: digest.Times{Total: 20 * time.Second}},
			{Service: "httpd", Time: digest.Times{Total: 60 * time.Second}}}, 10, true}, // within 10 s
		{"a log without times", []digest.Route{{Service: "web", Count: 2000}}, 0, false},
		{"no log", nil, 0, false},
	} {
		in := healthy()
		in.Evidence.Load.Routes, in.Evidence.Routes = nil, c.routes
		in.Evidence.System.User, in.Evidence.System.Sys, in.Evidence.System.Idle = 8, 2, 30
		m, err := newModel(in)
		if err != nil {
			t.Fatal(err)
		}
		if m.inSystem != c.want || m.timed != c.known {
			t.Errorf("%s: %.2f under way, known %v", c.about, m.inSystem, m.timed)
		}
		if _, text := m.binds(); strings.Contains(text, "0.0 requests are under way") {
			t.Errorf("%s: %s", c.about, text)
		}
	}
}
