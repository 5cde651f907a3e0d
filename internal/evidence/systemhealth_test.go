package evidence

import (
	"strings"
	"testing"
	"time"
)

func TestSystemHealth(t *testing.T) {
	sys := System{CPUs: 2, User: 6, Idle: 4, ForeignCPU: 3, Others: []ProcessUse{{PID: 7, Name: "cc1", CPU: 2.5}, {PID: 8, Name: "sh", CPU: 0.1}}}
	h := systemHealth("local", sys, 5*time.Second, nil)
	if h.OK || !strings.Contains(h.Text, "30 % of the machine (cc1 (7) 2.5 s)") {
		t.Errorf("%+v", h)
	}
	sys.Others = nil
	if h := systemHealth("local", sys, 5*time.Second, nil); h.OK || !strings.Contains(h.Text, "began and ended within the run") {
		t.Errorf("%+v", h)
	}
	sys.ForeignCPU, sys.PressureCPU = 0, -1
	if h := systemHealth("local", sys, 5*time.Second, nil); !h.OK {
		t.Errorf("%+v", h)
	}
	text := notJudged(sys, map[string]int{"db": 900}, map[string]int{"db": 950})
	if !strings.Contains(text, "not judged: pressure") || !strings.Contains(text, "db, which has 950 threads") {
		t.Error(text)
	}
	if text := notJudged(System{}); text != "" {
		t.Error(text)
	}
}
