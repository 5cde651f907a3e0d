package change

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Diff shows a change to people: a unified diff of a file whose bytes are
// loaded (see Executor.Load), the statement or the command otherwise. Values
// that look like passwords are masked.
func Diff(c Change) string {
	switch c.Kind {
	case KindFile:
		return Redact(fileDiff(c))
	case KindVariable, KindIndex, KindTable:
		return Redact(c.SQL()) + ";\n-- undo: " + Redact(c.UndoSQL()) + ";\n"
	case KindDir:
		mode := defaultDirMode
		if c.After != nil && c.After.Mode != 0 {
			mode = c.After.Mode
		}
		if dropinDir(c.Path) {
			return fmt.Sprintf("mkdir -p -m %s %s\n# undo: rmdir --ignore-fail-on-non-empty %s\n", octal(mode), commandLine([]string{c.Path}), commandLine([]string{c.Path}))
		}
		return fmt.Sprintf("mkdir -m %s %s\n# undo: rm -r %s\n", octal(mode), commandLine([]string{c.Path}), commandLine([]string{c.Path}))
	case KindLink:
		return fmt.Sprintf("%s\n# undo: %s\n", c.Link.command(c.Path, c.Link.Remove), c.Link.command(c.Path, !c.Link.Remove))
	case KindExec:
		return Redact(fmt.Sprintf("%s\n# undo: %s\n", commandLine(c.Apply), commandLine(c.Undo)))
	case KindRestart:
		return "# " + c.Title() + "\n"
	case KindReplica, KindTurn:
		return "# " + c.Title() + "\n" + c.Command + "\n"
	case KindSysctl, KindUnit, KindProcess, KindPackage, KindGit, KindReady:
		return Redact(shellDiff(c))
	}
	return ""
}

func fileDiff(c Change) string {
	var before, after []byte
	from, to := "a"+c.Path, "b"+c.Path
	if c.Before != nil {
		before = c.Before.Content
	}
	if c.After != nil {
		after = c.After.Content
	}
	if hashOf(c.Before) == "" && before == nil {
		from = "/dev/null"
	} else if before == nil && after == nil {
		return fmt.Sprintf("--- %s\n+++ %s\n(bytes not loaded: %s to %s)\n", from, to, short(string(hashOf(c.Before))), short(string(hashOf(c.After))))
	}
	if bytes.IndexByte(before, 0) >= 0 || bytes.IndexByte(after, 0) >= 0 {
		return fmt.Sprintf("Binary files %s and %s differ\n", from, to)
	}
	return unified(from, to, splitLines(string(before)), splitLines(string(after)))
}

// splitLines keeps the newline at the end of each line.
func splitLines(s string) []string {
	return slices.Collect(strings.Lines(s))
}

// context is how many unchanged lines stand around a change, as in diff -u.
const contextLines = 3

// edit is one line of a diff: ' ' in both, '-' only before, '+' only after.
type edit struct {
	mark byte
	text string
}

func unified(from, to string, a, b []string) string {
	edits := diffLines(a, b)
	if !slices.ContainsFunc(edits, func(e edit) bool { return e.mark != ' ' }) {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", from, to)
	lineA, lineB := 0, 0
	for i := 0; i < len(edits); {
		start := i // first of a run of unchanged lines
		for i < len(edits) && edits[i].mark == ' ' {
			i++
		}
		if i == len(edits) {
			break
		}
		skip := max(0, i-start-contextLines)
		end := hunkEnd(edits, i)
		hunk := edits[start+skip : end]
		countA, countB := 0, 0
		for _, e := range hunk {
			if e.mark != '+' {
				countA++
			}
			if e.mark != '-' {
				countB++
			}
		}
		lineA, lineB = lineA+skip, lineB+skip
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", span(lineA, countA), span(lineB, countB))
		for _, e := range hunk {
			out.WriteByte(e.mark)
			out.WriteString(e.text)
			if !strings.HasSuffix(e.text, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
		lineA, lineB = lineA+countA, lineB+countB
		i = end
	}
	return out.String()
}

// hunkEnd finds where the hunk with the change at i ends: after its context,
// unless the next change is so near that their contexts touch.
func hunkEnd(edits []edit, i int) int {
	last := i
	for j := i; j < len(edits) && j-last <= 2*contextLines; j++ {
		if edits[j].mark != ' ' {
			last = j
		}
	}
	return min(last+1+contextLines, len(edits))
}

func span(line, count int) string {
	if count == 0 {
		return fmt.Sprintf("%d,0", line)
	}
	if count == 1 {
		return fmt.Sprint(line + 1)
	}
	return fmt.Sprintf("%d,%d", line+1, count)
}

// maxEdits bounds the work of diffLines; a file that differs in more lines is
// shown as replaced as a whole. Memory grows with its square: 4 MB at 1000.
const maxEdits = 1000

// diffLines finds a shortest edit script (E. Myers, "An O(ND) Difference
// Algorithm and Its Variations", Algorithmica 1, 1986).
func diffLines(a, b []string) []edit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []edit
	for _, s := range a[:head] {
		out = append(out, edit{' ', s})
	}
	out = append(out, myers(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, s := range a[len(a)-tail:] {
		out = append(out, edit{' ', s})
	}
	return out
}

func myers(a, b []string) []edit {
	n, m := len(a), len(b)
	limit := min(n+m, maxEdits)
	// furthest[k+limit+1] is how far along a diagonal k = x-y got; trace
	// keeps its state before each round.
	furthest := make([]int, 2*limit+3)
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(furthest[limit+1-d:limit+2+d]))
		for k := -d; k <= d; k += 2 {
			at := k + limit + 1
			x := furthest[at-1] + 1
			if k == -d || k != d && furthest[at-1] < furthest[at+1] {
				x = furthest[at+1]
			}
			for x < n && x-k < m && a[x] == b[x-k] {
				x++
			}
			furthest[at] = x
			if x >= n && x-k >= m {
				return backtrack(a, b, trace, k)
			}
		}
	}
	var out []edit
	for _, s := range a {
		out = append(out, edit{'-', s})
	}
	for _, s := range b {
		out = append(out, edit{'+', s})
	}
	return out
}

// backtrack walks from the end to the beginning through the rounds.
func backtrack(a, b []string, trace [][]int, k int) []edit {
	var out []edit
	x, y := len(a), len(b)
	for d := len(trace) - 1; d > 0; d-- {
		// trace[d][i] is diagonal i-d after round d-1.
		at := func(k int) int { return trace[d][k+d] }
		down := k == -d || k != d && at(k-1) < at(k+1)
		prev := k - 1
		if down {
			prev = k + 1
		}
		px := at(prev)
		py := px - prev
		for x > px && y > py && (down && x > px || !down && x > px+1) {
			x, y = x-1, y-1
			out = append(out, edit{' ', a[x]})
		}
		if down {
			y--
			out = append(out, edit{'+', b[y]})
		} else {
			x--
			out = append(out, edit{'-', a[x]})
		}
		k = prev
	}
	for x > 0 {
		x--
		out = append(out, edit{' ', a[x]})
	}
	slices.Reverse(out)
	return out
}
