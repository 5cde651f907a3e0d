package diagnose

import (
	"slices"
	"testing"
)

// Of two increases of one setting the larger stays if it fits.
func TestRivalsAreOne(t *testing.T) {
	ask := func(rule, to string, memory int64) Finding {
		return Finding{Rule: rule, Settings: []Setting{{Service: "db", Name: "pool", Now: "1", To: to, Up: 1, Memory: memory}}}
	}
	other := ask("both", "2G", 2<<30)
	other.Settings = append(other.Settings, Setting{Service: "db", Name: "log", To: "1G"})
	for name, c := range map[string]struct {
		in   []Finding
		want []string // rules, in order
		not  int
	}{
		"the larger is first":       {[]Finding{ask("a", "3G", 3<<30), ask("b", "2G", 2<<30)}, []string{"a"}, 1},
		"the larger is second":      {[]Finding{ask("a", "2G", 2<<30), ask("b", "3G", 3<<30)}, []string{"b"}, 1},
		"the larger does not fit":   {[]Finding{ask("a", "2G", 2<<30), ask("b", "9G", 9<<30)}, []string{"a"}, 1},
		"without memory, by value":  {[]Finding{ask("a", "200", 0), ask("b", "1000", 0)}, []string{"b"}, 1},
		"one value is no rival":     {[]Finding{ask("a", "200", 0), ask("b", "200", 0)}, []string{"a", "b"}, 0},
		"no value agrees":           {[]Finding{ask("a", "", 0), ask("b", "200", 0)}, []string{"a", "b"}, 0},
		"what else it asks for":     {[]Finding{other, ask("b", "3G", 3<<30)}, []string{"both", "b"}, 0},
		"the larger of both is had": {[]Finding{ask("a", "2G", 2<<30), ask("b", "3G", 3<<30), {Rule: "c", Settings: []Setting{{Service: "db", Name: "x", Up: 1, Memory: 1 << 30}}}}, []string{"b"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			in := healthy()
			in.Evidence.System.MemoryAvailable = 4.5 * (1 << 30) // 3.6 GiB may be given
			m, err := newModel(in)
			if err != nil {
				t.Fatal(err)
			}
			out, not := m.reconcile(c.in, nil)
			var rules []string
			for _, f := range out {
				rules = append(rules, f.Rule)
			}
			if !slices.Equal(rules, c.want) || len(not) != c.not {
				t.Errorf("%q, not judged: %+v", rules, not)
			}
		})
	}
}
