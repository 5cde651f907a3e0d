package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"kasoku/bench/load/ratio"
)

// state of a figure.
type state string

const (
	met       state = "met"
	short     state = "MISSED"
	undecided state = "UNDECIDED" // the interval holds the bar, or there is none
	notJudged state = "not judged"
)

// figure is one bar and what was measured.
type figure struct {
	Part     string `json:"part"`
	Name     string `json:"name"`
	Bar      string `json:"bar"` // "" for a figure without one
	Measured string `json:"measured"`
	State    state  `json:"state,omitempty"`
	// Required figures count as missed when they are not judged.
	Required bool `json:"required"`
}

// figures are all, in order.
type figures []figure

// bar is a limit that the interval of a median must keep as a whole.
type bar struct {
	value float64
	least bool // value is the least that is enough, not the most
	below bool // the value itself is not enough
}

func (b bar) String() string {
	sign := "≤"
	switch {
	case b.least:
		sign = "≥"
	case b.below:
		sign = "<"
	}
	return fmt.Sprintf("%s %.4g", sign, b.value)
}

func (b bar) met(x float64) bool {
	switch {
	case b.least:
		return x >= b.value
	case b.below:
		return x < b.value
	}
	return x <= b.value
}

// judge adds a figure whose interval is held against a bar: it is met or missed
// where the whole interval lies on one side. why says what is wrong where there
// is no value.
func (f *figures) judge(part, name string, limit bar, s ratio.Summary, decimals int, required bool, why string) {
	x := figure{Part: part, Name: name, Bar: limit.String(), Measured: s.Text(decimals), Required: required}
	switch {
	case s.N == 0:
		x.State, x.Measured = notJudged, why
		if why == noQuietRound {
			x.State = undecided
		}
	case !s.Bounded:
		x.State = undecided
		x.Measured += fmt.Sprintf("; %d rounds, %d are needed", s.N, ratio.Least)
	case limit.met(s.Low) && limit.met(s.High):
		x.State = met
	case !limit.met(s.Low) && !limit.met(s.High):
		x.State = short
	default:
		x.State = undecided
	}
	*f = append(*f, x)
}

// add adds a figure that was judged otherwise.
func (f *figures) add(part, name, bar, measured string, s state, required bool) {
	*f = append(*f, figure{part, name, bar, measured, s, required})
}

// met says whether no bar is missed or undecided, and none that is required is
// not judged.
func (f figures) met() bool { return len(f.open()) == 0 }

// open names what keeps a run from being good, worst first.
func (f figures) open() []string {
	var out []string
	for _, s := range []state{short, undecided, notJudged} {
		var names []string
		for _, x := range f {
			if x.State == s && (s != notJudged || x.Required) {
				names = append(names, x.Part+": "+x.Name)
			}
		}
		if len(names) > 0 {
			out = append(out, fmt.Sprintf("%s: %s", strings.ToLower(string(s)), strings.Join(names, "; ")))
		}
	}
	return out
}

func (f figures) print(w io.Writer) {
	rows := [][]string{{"", "figure", "bar", "measured", ""}}
	for _, x := range f {
		rows = append(rows, []string{x.Part, x.Name, x.Bar, x.Measured, string(x.State)})
	}
	fmt.Fprintln(w)
	printTable(w, rows)
	open := f.open()
	if len(open) == 0 {
		open = []string{"every bar is met"}
	}
	fmt.Fprintf(w, "\n%s\n", strings.Join(open, "\n"))
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
