package diagnose

import (
	"fmt"
	"slices"
)

// roomLeft of the available memory that settings may take together; the rest
// is for bursts and the page cache.
const roomLeft = 0.8

// reconcile makes the findings of one run agree: none asks for what is already
// set, no two ask for opposite things, and all together need no more memory
// than there is. What had to go is said as not judged. Findings come with the
// highest bound first, and that is their order of precedence, but a decrease
// for want of memory goes before every increase.
func (m *model) reconcile(in []Finding, not []NotJudged) ([]Finding, []NotJudged) {
	type key struct{ service, name string }
	less := map[key]string{} // asked to go down, by rule
	for _, f := range in {
		for _, s := range f.Settings {
			if s.Up < 0 {
				less[key{s.Service, s.Name}] = f.Rule
			}
		}
	}
	asked := map[key]Setting{}
	room := int64(roomLeft * float64(m.in.Evidence.System.MemoryAvailable))
	known := m.in.Evidence.System.MemoryTotal > 0
	var out []Finding
	for _, f := range in {
		if len(f.Settings) == 0 {
			out = append(out, f)
			continue
		}
		var keep []Setting
		why := ""
		for _, s := range f.Settings {
			k := key{s.Service, s.Name}
			before, twice := asked[k]
			switch {
			case s.To != "" && s.To == s.Now:
				why = fmt.Sprintf("%s is %s already", s.Name, s.Now)
			case s.Up > 0 && less[k] != "":
				why = fmt.Sprintf("more %s was asked for, but %s asks for less", s.Name, less[k])
			case twice && s.Up == 0 && before.To != s.To:
				why = fmt.Sprintf("%s = %s was asked for, but a finding that may bring more asks for %s", s.Name, s.To, before.To)
			case known && s.Memory > 0 && s.Memory > room:
				why = fmt.Sprintf("%s would take %s more and %s are available", s.Name, size(s.Memory), size(max(room, 0)))
			default:
				if s.Memory > 0 && !twice {
					room -= s.Memory
				}
				asked[k] = s
				keep = append(keep, s)
			}
		}
		if len(keep) == 0 {
			not = append(not, NotJudged{Rule: f.Rule, Why: why})
			continue
		}
		f.Settings = slices.Clip(keep)
		out = append(out, f)
	}
	return out, not
}
