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
	type key struct{ host, service, name string }
	less := map[key]string{} // asked to go down, by rule
	for _, f := range in {
		for _, s := range f.Settings {
			if s.Up < 0 {
				less[key{s.Host, s.Service, s.Name}] = f.Rule
			}
		}
	}
	asked := map[key]Setting{}
	room := map[string]int64{} // by host; absent if its memory was not read
	for _, k := range m.machines {
		if k.sys.MemoryTotal > 0 {
			room[k.name] = int64(roomLeft * float64(k.sys.MemoryAvailable))
		}
	}
	var out []Finding
	for _, f := range in {
		if len(f.Settings) == 0 {
			out = append(out, f)
			continue
		}
		var keep []Setting
		why := ""
		for _, s := range f.Settings {
			k := key{s.Host, s.Service, s.Name}
			before, twice := asked[k]
			on := m.hostOf(s.Service)
			free, known := room[on]
			switch {
			case s.To != "" && s.To == s.Now:
				why = fmt.Sprintf("%s is %s already", s.Name, s.Now)
			case s.Up > 0 && less[k] != "":
				why = fmt.Sprintf("more %s was asked for, but %s asks for less", s.Name, less[k])
			case twice && s.Up == 0 && before.To != s.To:
				why = fmt.Sprintf("%s = %s was asked for, but a finding that may bring more asks for %s", s.Name, s.To, before.To)
			case known && s.Memory > 0 && s.Memory > free:
				why = fmt.Sprintf("%s would take %s more and %s are available", s.Name, size(s.Memory), size(max(free, 0)))
			default:
				if s.Memory > 0 && !twice {
					room[on] -= s.Memory
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
