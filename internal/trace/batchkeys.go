package trace

import (
	"slices"
	"strings"
)

// varying are the columns whose compared value differs between calls of one
// fingerprint: the keys of the loop. nil if that cannot be told, as with
// placeholders whose values are unknown.
func varying(calls []*call) []string {
	var first []string
	differs := map[int]bool{}
	for _, c := range calls {
		if c.open {
			return nil
		}
		words := reTokens.FindAllString(c.row, -1)
		if first == nil {
			first = words
			continue
		}
		if len(words) != len(first) {
			return nil
		}
		for i, w := range words {
			if w != first[i] {
				differs[i] = true
			}
		}
	}
	var out []string
	for i := range first {
		if !differs[i] {
			continue
		}
		if i < 2 || first[i-1] != "=" {
			return nil
		}
		if name := strings.Trim(first[i-2], "`"); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// varyingOf are the keys of a group's statements together.
func varyingOf(calls []*call) []string {
	var out []string
	order, groups := byFingerprint(calls)
	for _, fp := range order {
		for _, k := range varying(groups[fp]) {
			if !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	}
	return out
}
