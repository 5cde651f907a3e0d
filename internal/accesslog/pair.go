package accesslog

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A request takes as long as the slowest of its parts; nginx rounds each of its
// times to a millisecond, so a part may seem longer by that.
const roundedBy = 2 * time.Millisecond

// mostLines of a sample must agree on which of several times is the request's.
const mostLines = 0.98

// maxTimes of one line; nginx has five.
const maxTimes = 8

// timeRow are the times that stand in one line by themselves, by their places
// from the line's end; -1 where there is none.
type timeRow struct {
	tokens int
	at     map[int]time.Duration
}

// timeRows of lines with as many values.
type timeRows struct {
	rows []timeRow
	bare bool // some value has no unit
}

// findPair looks which of two and more times without a name is the request's:
// the one that is never shorter than the others; the next longest is the
// upstream's. The first one is taken where no other is so; a note says which.
// Lines with more values than most are looked at by themselves: the format may
// have changed.
func (f *Format) findPair(lines [][]byte) {
	if f.ops != nil && !strings.HasPrefix(f.Name, "combined_time") && !strings.HasPrefix(f.Name, "main_time") {
		return // the form has names for its values
	}
	for i, g := range f.timeRows(lines) {
		f.pairOf(g, i == 0)
	}
	if len(f.pairs) > 0 && f.ops != nil { // a template has the usual order
		*f = Format{Name: lineName, parse: parseLine, escapes: true, ended: true, others: f.others, wrapped: f.wrapped,
			units: f.units, unit: f.unit, order: f.order, aliases: f.aliases, pairs: f.pairs, Notes: f.Notes, Doubt: f.Doubt}
	}
}

// pairOf looks at lines with as many values; first: most lines have so many.
func (f *Format) pairOf(g timeRows, first bool) {
	var places []int // the first of the line first
	for at := range g.rows[0].at {
		places = append(places, at)
	}
	slices.Sort(places)
	order := longest(g.rows, places[:min(len(places), maxTimes)])
	several := fmt.Sprintf("%d values with decimals or a unit", len(places))
	if !first {
		several += fmt.Sprintf(" in the lines of %d values", g.rows[0].tokens)
	}
	switch {
	case len(places) > maxTimes: // a table of numbers, not of a request's times
	case g.bare && f.slowSeconds(g.rows, places[0]):
	case len(places) > 1 && order[0] != 0 && order[0] != places[0]:
		f.pairs = append(f.pairs, pair{g.rows[0].tokens, order[0], order[1]})
		f.Notes = append(f.Notes, fmt.Sprintf("of %s the request's time is number %d from the end of the line, which is never the shorter one; --time-field says otherwise", several, -order[0]))
	case len(places) > 2 && order[0] != 0 && order[1] != 0 && order[1] != places[1]:
		f.pairs = append(f.pairs, pair{g.rows[0].tokens, order[0], order[1]})
		f.Notes = append(f.Notes, fmt.Sprintf("of %s the first is read as the request's time and number %d from the end of the line as the upstream's, which is the longest of the others; --time-field says otherwise", several, -order[1]))
	default:
		if len(places) > 1 && order[0] == places[0] && f.ops == nil { // dashes of other values may stand between
			f.pairs = append(f.pairs, pair{g.rows[0].tokens, places[0], places[1]})
		}
		if first && g.bare {
			f.noteTimes(len(places))
		}
		if len(places) > 1 && order[0] == 0 {
			f.Notes = append(f.Notes, fmt.Sprintf("of %s none is the longest in all lines, as the request's time would be: the order may have changed within the log, or they are something else; --time-field says which is the request's time", several))
		}
	}
}

// slowSeconds: with three decimals nginx writes seconds, but others write
// milliseconds. Where half of the requests would take more than slowestMedian in
// seconds, and not in milliseconds, the user is asked.
func (f *Format) slowSeconds(rows []timeRow, at int) bool {
	var s sample
	for _, r := range rows {
		if r.at[at] >= 0 {
			s.values = append(s.values, r.at[at].Seconds())
		}
	}
	if f.unit > 0 || len(s.values) == 0 || s.quantile(0.5) <= slowestMedian {
		return false
	}
	if f.Doubt == nil {
		f.Doubt = s.doubt("the values with three or six decimals", []time.Duration{time.Second, time.Millisecond})
	}
	return true
}

// noteTimes says how times by their form are read.
func (f *Format) noteTimes(n int) {
	what := "the value with three or six decimals is read as the request's time in seconds"
	if n > 1 {
		what = "of the values with three or six decimals the first is read as the request's time in seconds, the second as the upstream's"
	}
	if f.unit == 0 {
		f.Notes = append(f.Notes, what+", as nginx and gunicorn write them; --time-unit and --time-field say otherwise")
	}
}

// groupShare of the lines must have as many values, to be looked at.
const groupShare = 0.02

// timeRows are those of lines with as many values; what most have is first.
func (f *Format) timeRows(lines [][]byte) []timeRows {
	r := NewRows(&Format{parse: parseLine, escapes: true, unit: f.unit}, false)
	byLength := map[int]*timeRows{}
	for _, line := range lines {
		text := bytes.Clone(line)
		e, why := r.Entry(text)
		if why != "" || e.Time.IsZero() {
			continue
		}
		l := lineReader{f: r.format, e: e, c: &r.clock, b: text, tokens: r.clock.tokens, time: -1, request: -1, status: -1}
		l.findTime()
		l.findRequest()
		l.behind()
		g := byLength[len(l.tokens)]
		if g == nil {
			g = &timeRows{}
			byLength[len(l.tokens)] = g
		}
		row := timeRow{tokens: len(l.tokens), at: map[int]time.Duration{}}
		for i := range l.tokens {
			if d, dash, ok := l.timeAt(i); ok && l.mayBeTime(i) {
				if dash {
					d = -1
				}
				row.at[i-len(l.tokens)] = d
				g.bare = g.bare || !dash && isDigits(l.tokens[i].value[len(l.tokens[i].value)-1:])
			}
		}
		g.rows = append(g.rows, row)
	}
	var out []timeRows
	for _, g := range byLength {
		if g.rows = onlyTimes(g.rows); float64(len(g.rows)) > groupShare*float64(len(lines)) {
			out = append(out, *g)
		}
	}
	slices.SortFunc(out, func(a, b timeRows) int {
		return cmp.Or(cmp.Compare(len(b.rows), len(a.rows)), cmp.Compare(a.rows[0].tokens, b.rows[0].tokens))
	})
	return out
}

// onlyTimes leaves the places out that hold a time in no line: dashes alone.
func onlyTimes(rows []timeRow) []timeRow {
	timed := map[int]bool{}
	for _, r := range rows {
		for at, d := range r.at {
			timed[at] = timed[at] || d >= 0
		}
	}
	var out []timeRow
	for _, r := range rows {
		one := timeRow{tokens: r.tokens, at: map[int]time.Duration{}}
		for at := range timed {
			if !timed[at] {
				continue
			}
			one.at[at] = -1
			if d, ok := r.at[at]; ok {
				one.at[at] = d
			}
		}
		out = append(out, one)
	}
	if len(out) > 0 && len(out[0].at) == 0 {
		return nil
	}
	return out
}

// longest are the places of the request's time and of the next longest; 0: none
// is never shorter than the others.
func longest(rows []timeRow, places []int) [2]int {
	var out [2]int
	left := slices.Clone(places)
	for n := range out {
		most := time.Duration(-1)
		for i, at := range left {
			sum := time.Duration(0)
			for _, r := range rows {
				sum += max(r.at[at], 0)
			}
			if !neverShorter(rows, at, left) || sum <= most {
				continue
			}
			if out[n], most = at, sum; n == 0 && i == 0 {
				break // the usual place
			}
		}
		left = slices.DeleteFunc(left, func(at int) bool { return at == out[n] })
	}
	return out
}

func neverShorter(rows []timeRow, at int, others []int) bool {
	for _, other := range others {
		both, shorter := 0, 0
		for _, r := range rows {
			if r.at[at] >= 0 && r.at[other] >= 0 {
				both++
				if r.at[at]+roundedBy < r.at[other] {
					shorter++
				}
			}
		}
		if float64(shorter) > (1-mostLines)*float64(both) {
			return false
		}
	}
	return true
}
