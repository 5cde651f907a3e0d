package report

import (
	"fmt"
	"io"
	"strings"

	"kasoku/internal/ui"
)

const (
	// mostWhereRoutes are shown of a statement.
	mostWhereRoutes = 4
	// leastStatement is shown of a statement on a narrow terminal, characters.
	leastStatement = 20
)

// WhereText writes the places for people, in lines of so many characters; single: one
// statement was asked for, and no shares are told.
func WhereText(w io.Writer, r *Where, width int, single bool) error {
	b := &strings.Builder{}
	for _, s := range r.Statements {
		if s.Total > 0 {
			fmt.Fprintf(b, "%5.1f %%  %s in %s: ", 100*s.Share, ui.Duration(s.Total), ui.Plural(int(s.Count), "run", "runs"))
		}
		fmt.Fprintln(b, shorten(ui.Clean(s.Statement), max(width-10, leastStatement)))
		for _, p := range s.Places {
			fmt.Fprint(b, "    ")
			if !p.Sure {
				fmt.Fprint(b, "probably ")
			}
			fmt.Fprintf(b, "%s:%d", ui.Clean(p.File), p.Line)
			if p.Function != "" {
				fmt.Fprint(b, "  ", ui.Clean(p.Function))
			}
			if p.Why != "" {
				fmt.Fprint(b, "  (", ui.Clean(p.Why), ")")
			}
			fmt.Fprintln(b)
		}
		if len(s.Places) == 0 {
			fmt.Fprintln(b, "    not found: no text and no call of the source fits")
		}
		if n := len(s.Routes); n > 0 {
			fmt.Fprint(b, "    in ", ui.Clean(strings.Join(s.Routes[:min(n, mostWhereRoutes)], ", ")))
			if n > mostWhereRoutes {
				fmt.Fprintf(b, " and %d more", n-mostWhereRoutes)
			}
			fmt.Fprintln(b)
		}
	}
	what := "of the statements"
	if len(r.Statements) > 0 && r.Statements[0].Total > 0 {
		what = "of the statements' time"
	}
	if !single {
		fmt.Fprintf(b, "\n%.0f %% %s has its place, %.0f %% a probable one, %.0f %% none.\n", 100*r.Sure, what, 100*r.Probable, 100*r.Unknown)
	}
	if r.Drivers > 0 {
		fmt.Fprintf(b, "Left out: what drivers send by themselves (COMMIT, SET …), %.1f %% of the time.\n", 100*r.Drivers)
	}
	for _, f := range r.Folders {
		fmt.Fprintf(b, "Read: %s of %s in %s", ui.Plural(f.Lines, "line", "lines"), ui.Plural(f.Files, "file", "files"), f.Folder)
		if len(f.Skipped) > 0 {
			fmt.Fprintf(b, "; not read: %s", ui.Clean(strings.Join(f.Skipped[:min(len(f.Skipped), 3)], "; ")))
			if n := len(f.Skipped); n > 3 {
				fmt.Fprintf(b, " and %d more", n-3)
			}
		}
		fmt.Fprintln(b, ".")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
