package diagnose

import (
	"math"
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// What a right answer costs a host is what was spent there, without the
// generator and others: of 19 CPU seconds 2 and 1, by 1,000 answers.
func TestHostDemands(t *testing.T) {
	in := run()
	in.Snapshot = nil
	in.Evidence.System.Disks = []evidence.DiskUse{{Name: "sda", Busy: 0.25}, {Name: "sdb"}}
	in.Evidence.System.Networks = []evidence.NetworkUse{{Name: "eth0", ReceiveBytes: 1e6, SendBytes: 2e7, SpeedBytes: 1e8}, {Name: "lo", SendBytes: 1e9}}
	got, err := HostDemands(in)
	if err != nil {
		t.Fatal(err)
	}
	want := []HostDemand{{"", "cpu", 0.016, 2}, {"", "disk: sda", 0.0025, 1}, {"", "network: eth0", 0.002, 1}}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i, d := range got {
		if d.Resource != want[i].Resource || d.Capacity != want[i].Capacity || math.Abs(d.PerRequest-want[i].PerRequest) > 1e-9 {
			t.Errorf("got %+v, want %+v", d, want[i])
		}
	}
	if _, err := HostDemands(Input{Stack: &stack.Stack{}, Evidence: &evidence.Evidence{}}); err == nil {
		t.Error("a run without a result gave no error")
	}
}
