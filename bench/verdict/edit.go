package main

import (
	"fmt"
	"strings"
)

// edit exchanges a text that stands in one of the case's files, once or more;
// only its first place is changed.
type edit struct {
	file     string // relative to the case's folder
	old, new string
}

// in is the file's text with the edit made.
func (e edit) in(text string) (string, error) {
	if !strings.Contains(text, e.old) {
		return "", fmt.Errorf("%s does not hold %q", e.file, e.old)
	}
	return strings.Replace(text, e.old, e.new, 1), nil
}

// act is one change of the service: files, and statements that put it in place
// and take it away again.
type act struct {
	edits           []edit
	sql, unsql      string
	reload, restart []string // services, after it and after it was taken away
}

// back is the act that takes this one away.
func (a act) back() act {
	b := act{sql: a.unsql, unsql: a.sql, reload: a.reload, restart: a.restart}
	for i := len(a.edits) - 1; i >= 0; i-- {
		e := a.edits[i]
		b.edits = append(b.edits, edit{e.file, e.new, e.old})
	}
	return b
}

// edited are the files that the act changes, before and after it, in the order
// in which they are first named. read gives a file's text.
func (a act) edited(read func(file string) (string, error)) (files []string, before, after map[string]string, err error) {
	before, after = map[string]string{}, map[string]string{}
	for _, e := range a.edits {
		if _, seen := before[e.file]; !seen {
			text, err := read(e.file)
			if err != nil {
				return nil, nil, nil, err
			}
			files, before[e.file], after[e.file] = append(files, e.file), text, text
		}
		if after[e.file], err = e.in(after[e.file]); err != nil {
			return nil, nil, nil, err
		}
	}
	return files, before, after, nil
}

// unified is the change of one file as a unified diff of a single hunk, which
// replaces the whole file (GNU diffutils manual, "Detailed Unified"). Neither
// text is empty and both end with a newline.
func unified(file, before, after string) string {
	hunk := func(sign, text string) (string, int) {
		lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
		return sign + strings.Join(lines, sign) + "\n", len(lines)
	}
	minus, was := hunk("-", before)
	plus, is := hunk("+", after)
	return fmt.Sprintf("--- a/%[1]s\n+++ b/%[1]s\n@@ -1,%[2]d +1,%[3]d @@\n%[4]s%[5]s", file, was, is, minus, plus)
}
