package diagnose

import (
	"slices"
	"strings"
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// journaled has an application with this unit print 150 lines a second, and journald take
// 1.5 s of CPU for that.
func journaled(unit string) func(*Input) {
	return func(in *Input) {
		for i := range in.Stack.Services {
			if svc := &in.Stack.Services[i]; svc.Name == "api" {
				svc.Control = stack.Control{Method: stack.MethodSystemd, Unit: "api.service"}
			}
		}
		in.Snapshot.Files["local"]["/etc/systemd/system/api.service"] = evidence.File{Service: "api", Content: []byte(unit)}
		in.Evidence.Logs = append(in.Evidence.Logs, evidence.LogLine{Service: "api", Level: "", Text: "GET /", Count: 1500})
		in.Evidence.System.Others = []evidence.ProcessUse{{PID: 7, Name: "systemd-journal", Unit: "systemd-journald.service", CPU: 1.5}}
	}
}

// What is printed to a file, or by nobody of the stack, is no matter of the journal.
func TestWhoPrintsToTheJournal(t *testing.T) {
	for _, c := range []struct {
		name, unit string
		want       bool
	}{
		{"as systemd does it", "[Service]\nExecStart=/srv/api\n", true},
		{"said so", "[Service]\nExecStart=/srv/api\nStandardOutput=journal+console\n", true},
		{"a file", "[Service]\nExecStart=/srv/api\nStandardOutput=append:/var/log/api.log\n", false},
		{"nowhere", "[Service]\nExecStart=/srv/api\nStandardOutput=null\n", false},
		{"by a drop-in's last word", "[Service]\nExecStart=/srv/api\nStandardOutput=null\nStandardOutput=journal\n", true},
	} {
		in := healthy()
		journaled(c.unit)(&in)
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Rule == "system.log-output" })
		if at >= 0 != c.want {
			t.Errorf("%s: found %v", c.name, at >= 0)
		}
		if at >= 0 && !strings.Contains(d.Findings[at].Text, "/etc/systemd/system/api.service.d/output.conf") {
			t.Errorf("%s: %s", c.name, d.Findings[at].Text)
		}
	}
	in := healthy()
	journaled("[Service]\nExecStart=/srv/api\n")(&in)
	in.Evidence.System.Others[0].CPU = 0.2
	if d, err := Diagnose(in); err != nil || slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Rule == "system.log-output" }) {
		t.Errorf("half a hundredth of the CPU is told, %v", err)
	}
}
