package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"kasoku/bench/load/ratio"
)

// state of a figure.
type state string

const (
	met       state = "ok"
	short     state = "SHORT"
	notJudged state = "not judged"
)

// figure is one bar and what was measured.
type figure struct {
	Part     string `json:"part"`
	Name     string `json:"name"`
	Bar      string `json:"bar"`
	Measured string `json:"measured"`
	State    state  `json:"state"`
}

// figures are all, in order.
type figures []figure

// bar is the least that a median must reach.
type bar struct{ least float64 }

func (b bar) String() string { return fmt.Sprintf("≥ %.4g", b.least) }

// judge holds the median of the ratios of two series against a bar. why says
// what is wrong where there is none.
func (f *figures) judge(part, name string, limit bar, a, b []float64, why string) {
	s := ratio.Pairs(a, b)
	if s.N == 0 {
		f.missing(part, name, limit, why)
		return
	}
	x := figure{part, name, limit.String(), s.Text(2), short}
	if s.Median >= limit.least {
		x.State = met
	}
	*f = append(*f, x)
}

func (f *figures) missing(part, name string, limit bar, why string) {
	*f = append(*f, figure{part, name, limit.String(), why, notJudged})
}

// most judges by the worst of several values, which must be below the limit.
func (f *figures) most(part, name string, limit float64, values []float64) {
	x := figure{part, name, fmt.Sprintf("< %.4g", limit), "nothing was measured", notJudged}
	if len(values) > 0 {
		worst := slices.Max(values)
		x.Measured, x.State = fmt.Sprintf("%.4g", worst), short
		if worst > 0 && worst < limit {
			x.State = met
		}
	}
	*f = append(*f, x)
}

// same judges that nothing differs.
func (f *figures) same(part, name string, differences []string, compared string) {
	x := figure{part, name, "equal", compared, met}
	if len(differences) > 0 {
		x.State, x.Measured = short, strings.Join(differences[:min(len(differences), 3)], "; ")
	}
	*f = append(*f, x)
}

// met says whether every figure reached its bar. A bar that could not be
// judged is not reached.
func (f figures) met() bool {
	for _, x := range f {
		if x.State != met {
			return false
		}
	}
	return true
}

func (f figures) print(w io.Writer) {
	rows := [][]string{{"", "figure", "bar", "measured", ""}}
	for _, x := range f {
		rows = append(rows, []string{x.Part, x.Name, x.Bar, x.Measured, string(x.State)})
	}
	fmt.Fprintln(w)
	printTable(w, rows)
}

// printTable writes rows in columns; the first row is the heading.
func printTable(w io.Writer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}
