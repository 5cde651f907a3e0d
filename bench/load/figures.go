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
	met       state = "ok"
	short     state = "SHORT"
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

// bar is a limit that a median must keep.
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

// judge adds a figure whose median is held against a bar. why says what is
// wrong where there is no value.
func (f *figures) judge(part, name string, limit bar, s ratio.Summary, decimals int, required bool, why string) {
	x := figure{Part: part, Name: name, Bar: limit.String(), Measured: s.Text(decimals), Required: required}
	switch {
	case s.N == 0:
		x.State, x.Measured = notJudged, why
	case limit.met(s.Median):
		x.State = met
	default:
		x.State = short
	}
	*f = append(*f, x)
}

// add adds a figure that was judged otherwise.
func (f *figures) add(part, name, bar, measured string, s state, required bool) {
	*f = append(*f, figure{part, name, bar, measured, s, required})
}

// met says whether no figure falls short, and none that is required is not
// judged.
func (f figures) met() bool {
	for _, x := range f {
		if x.State == short || x.State == notJudged && x.Required {
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
