package remedy

import (
	"slices"
	"strings"

	"kasoku/internal/change"
)

// MadeBy says for each plan which of those before it (by its index) does all that it does,
// too, as a whole set of settings holds one that a finding of its own asks for; -1: none.
// It is tried alone only if that one is not kept.
func MadeBy(plans []Plan) []int {
	out := make([]int, len(plans))
	acts := make([]map[string]bool, len(plans))
	for i, p := range plans {
		acts[i], out[i] = done(p.All()), -1
		if p.Search != nil || p.Workload != 0 || len(acts[i]) == 0 {
			continue
		}
		out[i] = slices.IndexFunc(acts[:i], func(earlier map[string]bool) bool { return holds(earlier, acts[i]) })
	}
	return out
}

func holds(all, some map[string]bool) bool {
	for act := range some {
		if !all[act] {
			return false
		}
	}
	return true
}

// done is all that changes do, each as a text that is the same wherever it is done: a
// variable with its value, a line that comes into a file or goes, else the change's title.
// How a line is indented or aligned is no difference. A restart does nothing by itself.
func done(changes []change.Change) map[string]bool {
	out := map[string]bool{}
	for _, c := range changes {
		switch {
		case c.Kind == change.KindRestart:
		case c.Kind == change.KindFile && c.Before != nil && c.After != nil:
			before, after := plainLines(c.Before.Content), plainLines(c.After.Content)
			at := c.Host + ":" + c.Path
			for l, n := range after {
				if n > before[l] {
					out[at+" +"+l] = true
				}
			}
			for l, n := range before {
				if n > after[l] {
					out[at+" -"+l] = true
				}
			}
		default:
			out[c.Host+" "+c.Service+" "+c.Title()] = true
		}
	}
	return out
}

func plainLines(text []byte) map[string]int {
	out := map[string]int{}
	for l := range strings.Lines(string(text)) {
		if l = strings.Join(strings.Fields(l), " "); l != "" {
			out[l]++
		}
	}
	return out
}
