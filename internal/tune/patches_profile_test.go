package tune

import (
	"bytes"
	"testing"

	"github.com/google/pprof/profile"

	"kasoku/internal/evidence"
)

// What a patch's function makes in each call is told by the profile of its program, and
// nothing of one whose profile was not taken.
func TestPatchesByProfile(t *testing.T) {
	write := &profile.Function{ID: 1, Name: "main.(*log).write"}
	making := &profile.Function{ID: 2, Name: "compress/gzip.NewWriter"}
	outer := &profile.Location{ID: 1, Line: []profile.Line{{Function: write}}}
	inner := &profile.Location{ID: 2, Line: []profile.Line{{Function: making}}}
	var data bytes.Buffer
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}, Function: []*profile.Function{write, making},
		Location: []*profile.Location{outer, inner}, Sample: []*profile.Sample{{Location: []*profile.Location{inner, outer}, Value: []int64{54, 540}}, {Location: []*profile.Location{outer}, Value: []int64{46, 460}}}}
	if err := p.Write(&data); err != nil {
		t.Fatal(err)
	}
	makes := evidence.SourcePatch{Service: "app", ID: "P12-a", Makes: []string{"compress/gzip.NewWriter"}, Symbol: "main.(*log).write"}
	other := makes
	other.Service = "shop"
	snap := evidence.Snapshot{GoProfiles: map[string][]byte{"app": data.Bytes()}}
	Patches{Offered: []evidence.SourcePatch{makes, other}}.Into(&snap)
	if got := snap.Patches; got[0].Made != 0.54 || got[1].Made != 0 {
		t.Errorf("%v and %v", got[0].Made, got[1].Made)
	}
	snap.GoProfiles["app"] = []byte("no profile")
	Patches{Offered: []evidence.SourcePatch{makes}}.Into(&snap)
	if len(snap.Unpatched) != 1 || snap.Patches[0].Made != 0 {
		t.Errorf("%v, %v", snap.Unpatched, snap.Patches)
	}
}
