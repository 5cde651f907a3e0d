package main

import (
	"fmt"
	"io"
	"strings"

	"kasoku/internal/ui"
)

// mostRoutes are shown of a statement.
const mostRoutes = 4

func (j *whereJob) print(w io.Writer) error {
	b := &strings.Builder{}
	for _, s := range j.result.Statements {
		if s.Total > 0 {
			fmt.Fprintf(b, "%5.1f %%  %s in %s: ", 100*s.Share, ui.Duration(s.Total), ui.Plural(int(s.Count), "run", "runs"))
		}
		fmt.Fprintln(b, cut(s.Statement, textWidth(w)-10))
		for _, p := range s.Places {
			fmt.Fprint(b, "    ")
			if !p.Sure {
				fmt.Fprint(b, "probably ")
			}
			fmt.Fprintf(b, "%s:%d", p.File, p.Line)
			if p.Function != "" {
				fmt.Fprint(b, "  ", p.Function)
			}
			if p.Why != "" {
				fmt.Fprint(b, "  (", p.Why, ")")
			}
			fmt.Fprintln(b)
		}
		if len(s.Places) == 0 {
			fmt.Fprintln(b, "    not found: no text and no call of the source fits")
		}
		if n := len(s.Routes); n > 0 {
			fmt.Fprint(b, "    in ", strings.Join(s.Routes[:min(n, mostRoutes)], ", "))
			if n > mostRoutes {
				fmt.Fprintf(b, " and %d more", n-mostRoutes)
			}
			fmt.Fprintln(b)
		}
	}
	what := "of the statements"
	if len(j.result.Statements) > 0 && j.result.Statements[0].Total > 0 {
		what = "of the statements' time"
	}
	if !j.one() {
		fmt.Fprintf(b, "\n%.0f %% %s has its place, %.0f %% a probable one, %.0f %% none.\n", 100*j.result.Sure, what, 100*j.result.Probable, 100*j.result.Unknown)
	}
	if j.result.Drivers > 0 {
		fmt.Fprintf(b, "Left out: what drivers send by themselves (COMMIT, SET …), %.1f %% of the time.\n", 100*j.result.Drivers)
	}
	for _, f := range j.result.Folders {
		fmt.Fprintf(b, "Read: %s of %s in %s", ui.Plural(f.Lines, "line", "lines"), ui.Plural(f.Files, "file", "files"), f.Folder)
		if len(f.Skipped) > 0 {
			fmt.Fprintf(b, "; not read: %s", strings.Join(f.Skipped[:min(len(f.Skipped), 3)], "; "))
			if n := len(f.Skipped); n > 3 {
				fmt.Fprintf(b, " and %d more", n-3)
			}
		}
		fmt.Fprintln(b, ".")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cut shortens a text to width characters.
func cut(s string, width int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if width < 20 || len(r) <= width {
		return string(r)
	}
	return string(r[:width-1]) + "…"
}
