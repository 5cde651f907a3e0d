package nodeapp

import (
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/lazyregexp"
)

// versionInPath is a version in the path of a Node that a tool such as nvm, fnm or asdf put
// there.
var versionInPath = lazyregexp.New(`/(?:node-)?v?(\d{1,2})\.(\d{1,2})\.\d{1,2}(?:[-/])`)

// TakesSemiSpace reports whether Node lets NODE_OPTIONS hold --max-semi-space-size: since
// 16.18 and 18.10 (nodejs/node, pull request 44436; the changelogs of both). A path that
// does not tell the version may be such a one: an older Node says so and ends.
func TakesSemiSpace(exe string) bool {
	m := versionInPath.FindStringSubmatch(exe)
	if m == nil {
		return true
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return major > 18 || major == 18 && minor >= 10 || major == 16 && minor >= 18
}

// SemiSpaceChosen reports whether somebody has set the size of V8's young generation: by
// NODE_OPTIONS as it is set or as the process has it, or in the command.
func SemiSpaceChosen(set, has string, words []string) bool {
	for _, w := range append(append(strings.Fields(set), strings.Fields(has)...), words...) {
		name, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimLeft(w, "-"), "_", "-"), "=")
		if strings.HasPrefix(w, "--") && (name == "max-semi-space-size" || name == "min-semi-space-size" || name == "semi-space-growth-factor") {
			return true
		}
	}
	return false
}

// WithSemiSpace adds a semi-space of so many MiB to NODE_OPTIONS.
func WithSemiSpace(options string, mib int) string {
	return strings.TrimSpace(fmt.Sprintf("%s --max-semi-space-size=%d", options, mib))
}
