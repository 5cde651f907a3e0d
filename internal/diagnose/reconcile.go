package diagnose

import (
	"fmt"
	"slices"
)

// roomLeft of the available memory that settings may take together; the rest
// is for bursts and the page cache.
const roomLeft = 0.8

// reconcile makes the findings of one run agree: none asks for what is already
// set, no two ask for opposite things or for two values of one setting, and all
// together need no more memory than there is. Of two increases to different
// values the larger one stays if it fits. What had to go is said as not judged. Findings come with the
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
		for i, s := range f.Settings {
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
			case known && s.Memory > 0 && s.Memory-before.Memory > free:
				why = fmt.Sprintf("%s would take %s more and %s are available", s.Name, size(s.Memory), size(max(free+before.Memory, 0)))
			case twice && rivals(s, before) && !needsMore(s, before):
				why = fmt.Sprintf("%s = %s was asked for, but another finding needs more: %s", s.Name, s.To, before.To)
			default:
				if twice && rivals(s, before) {
					out, not = without(out, not, before, s)
				}
				if more := s.Memory - max(before.Memory, 0); more > 0 {
					room[on] -= more
				} else if twice {
					s.Memory = before.Memory // what is set aside already
				}
				asked[k] = s
				keep = append(keep, f.Settings[i])
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

// rivals are two increases of one setting to different values.
func rivals(a, b Setting) bool {
	return a.Up > 0 && b.Up > 0 && a.To != "" && b.To != "" && a.To != b.To
}

// needsMore compares rivals by what they take, and by their value if that is
// the same.
func needsMore(s, than Setting) bool {
	if s.Memory != than.Memory {
		return s.Memory > than.Memory
	}
	a, okA := number(s.To)
	b, okB := number(than.To)
	return okA && okB && a > b
}

// without takes a setting back that a rival needs more of, and the finding
// with it if it asks for nothing else.
func without(in []Finding, not []NotJudged, gone, rival Setting) ([]Finding, []NotJudged) {
	var out []Finding
	for _, f := range in {
		if !slices.Contains(f.Settings, gone) {
			out = append(out, f)
			continue
		}
		f.Settings = slices.DeleteFunc(slices.Clone(f.Settings), func(s Setting) bool { return s == gone })
		if len(f.Settings) > 0 {
			out = append(out, f)
			continue
		}
		not = append(not, NotJudged{Rule: f.Rule, Why: fmt.Sprintf("%s = %s was asked for, but another finding needs more: %s", gone.Name, gone.To, rival.To)})
	}
	return out, not
}
