package diagnose

import (
	"strings"
	"testing"

	"kasoku/internal/evidence"
)

// Programs that are started for requests are told with their names, how many, and what
// they take, and are listed as work in the source; what takes little is not.
func TestProgramsForRequests(t *testing.T) {
	look := func(cpu float64, programs []evidence.ProgramUse, forks int64) (*Finding, []Work) {
		in := healthy()
		goApp(&in)
		use := in.Evidence.Services["api"]
		use.CPU, use.ProgramsCPU, use.Programs = 8, cpu, programs
		in.Evidence.Services["api"], in.Evidence.System.Forks = use, forks
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		var found *Finding
		for i := range d.Findings {
			if d.Findings[i].Rule == "app.programs" {
				found = &d.Findings[i]
			}
		}
		var work []Work
		for _, w := range WorkList(in.Evidence, d) {
			if len(w.Programs) > 0 {
				work = append(work, w)
			}
		}
		return found, work
	}
	zip := []evidence.ProgramUse{{Name: "zip", Seen: 50, Processes: 40}}
	f, work := look(6, zip, 1200)
	if f == nil {
		t.Fatal("no finding")
	}
	for _, want := range []string{"api starts programs for its requests: zip", "At least 0.02 and at most 0.6 are started per request", "zip at 50"} {
		if !strings.Contains(f.Title+" "+f.Text, want) {
			t.Errorf("%s: %s lacks %q", f.Title, f.Text, want)
		}
	}
	if f.Bound < 1.05 || f.Spares < 0.1 || f.Spares > 0.25 {
		t.Errorf("bound ×%.2f, spares %.2f of the CPU", f.Bound, f.Spares)
	}
	if len(work) != 1 || work[0].Programs[0] != "zip" || work[0].Bound != f.Bound {
		t.Errorf("work %+v", work)
	}
	if f, _ := look(1, zip, 1200); f != nil {
		t.Errorf("a fortieth of the CPU: %s", f.Text)
	}
	if f, _ := look(6, nil, 0); f == nil || !strings.Contains(f.Text, "a diagnostic run on the machine itself tells") || strings.Contains(f.Text, "per request:") {
		t.Errorf("names unknown: %+v", f)
	}
}
