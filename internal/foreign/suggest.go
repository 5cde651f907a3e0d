package foreign

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// named is a number behind a name: "points: 12", "rps=12.5", `"ops": 12`, "総合点：12".
var named = lazyregexp.New(`([\pL_][\pL\pN_./ -]*?)("?)[ \t]*([:=：])[ \t]*([-+]?\d[\d,]*(?:\.\d+)?)`)

// scoreWords are what benchmarks call their result, the surest first.
var scoreWords = []string{"score", "スコア", "得点", "点", "points", "punkte", "puntos", "result", "rps", "req/s",
	"requests/s", "ops", "tps", "qps", "throughput", "total"}

const (
	suggestLines = 40 // of the end of each stream are looked at
	suggestMost  = 3  // candidates are shown
)

// suggest is what to write for load.command.score: the patterns that fit numbers at
// the end of the output, those with a name that benchmarks use for their result first;
// an example where there is none.
func (o *output) suggest() string {
	type candidate struct {
		pattern, value string
		rank           int
	}
	var found []candidate
	lines := strings.Split(strings.TrimSpace(o.text), "\n")
	for i, stream := range o.streams {
		l := strings.Split(strings.TrimSpace(stream), "\n")
		if i == 0 {
			lines = nil
		}
		lines = append(lines, l[max(len(l)-suggestLines, 0):]...)
	}
	for _, line := range slices.Backward(lines) {
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			name := m[1][strings.LastIndexByte(m[1], ' ')+1:]
			rank := slices.IndexFunc(scoreWords, func(w string) bool { return strings.Contains(strings.ToLower(name), w) })
			pattern := regexp.QuoteMeta(name) + m[2] + `\s*` + m[3] + `\s*([\d.,]+)`
			if rank < 0 || slices.ContainsFunc(found, func(c candidate) bool { return c.pattern == pattern }) {
				continue
			}
			found = append(found, candidate{pattern, m[4], rank})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.rank - b.rank })
	if len(found) == 0 {
		return `{regexp: 'score: (\d+)'} or {json: "$.score"}`
	}
	var out []string
	for _, c := range found[:min(len(found), suggestMost)] {
		out = append(out, fmt.Sprintf("{regexp: '%s'} if %s is it", strings.ReplaceAll(c.pattern, "'", "''"), c.value))
	}
	return strings.Join(out, ", or ")
}
