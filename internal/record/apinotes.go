package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func (a *apiDraft) notes() []string {
	var out []string
	if len(a.madeUp) > 0 {
		out = append(out, "Values without an example are made up: "+someNames(a.madeUp)+". Put values that exist into the pools.")
	}
	if len(a.optional) > 0 {
		out = append(out, "Optional parameters without a value are left out: "+someNames(a.optional)+".")
	}
	if len(a.secrets) > 0 {
		out = append(out, "Examples of secrets are not taken: fill in "+someNames(a.secrets)+" of a test account wherever "+fillIn+" stands.")
	}
	out = append(out, slices.Sorted(maps.Keys(a.security))...)
	for _, hint := range slices.Sorted(maps.Keys(a.hints)) {
		out = append(out, fmt.Sprintf("%d operations: %s.", a.hints[hint], hint))
	}
	if a.o.Writes {
		out = append(out, "Operations that write are in: run it on a copy, or set load.reset.")
	}
	return out
}

// someNames are the first maxMadeUp, and how many there are more.
func someNames(set map[string]bool) string {
	list := slices.Sorted(maps.Keys(set))
	if n := len(list); n > maxMadeUp {
		list = append(list[:maxMadeUp], fmt.Sprintf("and %d more", n-maxMadeUp))
	}
	return printable(strings.Join(list, ", "))
}

// maxMadeUp values are named in the report.
const maxMadeUp = 50
