package experiment

import (
	"encoding/json"
	"testing"
)

// Warnings are data; stores from before had plain texts.
func TestWarningsAreData(t *testing.T) {
	f := newFake(100, 200, 0.01, 1)
	f.edit = func(s *Sample, n int) {
		if n == 2 {
			s.Unfit = "processes outside the stack used 30 % of the CPU"
		}
	}
	v, err := Run(t.Context(), DefaultRule(), f, nil)
	if err != nil || len(v.Warnings) != 1 {
		t.Fatalf("%+v %v", v.Warnings, err)
	}
	if w := v.Warnings[0]; w.Kind != WarnRepeated || w.Run != 2 || w.Side != f.sides[1] || w.Why != "processes outside the stack used 30 % of the CPU" || w.String() != w.Text {
		t.Errorf("%+v", w)
	}
	doc, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back Verdict
	if err := json.Unmarshal(doc, &back); err != nil || back.Warnings[0] != v.Warnings[0] {
		t.Errorf("%+v %v", back.Warnings, err)
	}
	if err := json.Unmarshal([]byte(`{"warnings": ["run 7 was repeated"]}`), &back); err != nil || len(back.Warnings) != 1 || back.Warnings[0] != (Warning{Text: "run 7 was repeated"}) {
		t.Errorf("of an older store: %+v %v", back.Warnings, err)
	}
	if err := json.Unmarshal([]byte(`{"warnings": [7]}`), &back); err == nil {
		t.Error("a number was taken for a warning")
	}
}
