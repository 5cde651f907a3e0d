package accesslog

import (
	"bytes"
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

// findPair looks which of two and more times without a name is the request's:
// the one that is never shorter than the others. The first one is taken
// where no other is so; a note says which.
func (f *Format) findPair(lines [][]byte) {
	if f.ops != nil && !strings.HasPrefix(f.Name, "combined_time") && !strings.HasPrefix(f.Name, "main_time") {
		return // the form has names for its values
	}
	rows := f.timeRows(lines)
	if len(rows) == 0 {
		return
	}
	var places []int // the first of the line first
	for at := range rows[0].at {
		places = append(places, at)
	}
	slices.Sort(places)
	order := longest(rows, places[:min(len(places), maxTimes)])
	first := fmt.Sprintf("%d values with decimals or a unit", len(places))
	switch {
	case len(places) > maxTimes: // a table of numbers, not of a request's times
	case f.slowSeconds(rows, places[0]):
	case len(places) < 2 || order[0] == places[0] || order[0] == 0: // the usual order, unless another contradicts it
		f.noteTimes(len(places))
	default:
		f.pair = pair{rows[0].tokens, order[0], order[1]}
		if f.ops != nil { // a template has the usual order
			*f = Format{Name: lineName, parse: parseLine, escapes: true, ended: true, others: f.others, wrapped: f.wrapped,
				units: f.units, unit: f.unit, pair: f.pair, Notes: f.Notes}
		}
		f.Notes = append(f.Notes, fmt.Sprintf("of %s the request's time is number %d from the end of the line, which is never the shorter one; --time-field says otherwise", first, -order[0]))
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

// timeRows are those of the lines that are most alike.
func (f *Format) timeRows(lines [][]byte) []timeRow {
	r := NewRows(&Format{parse: parseLine, escapes: true, unit: f.unit}, false)
	byLength := map[int][]timeRow{}
	bare := false
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
		row := timeRow{tokens: len(l.tokens), at: map[int]time.Duration{}}
		for i := range l.tokens {
			if d, dash, ok := l.timeOf(l.tokens[i].value); ok && l.mayBeTime(i) {
				if dash {
					d = -1
				}
				row.at[i-len(l.tokens)] = d
				bare = bare || !dash && isDigits(l.tokens[i].value[len(l.tokens[i].value)-1:])
			}
		}
		byLength[row.tokens] = append(byLength[row.tokens], row)
	}
	var most []timeRow
	for _, rows := range byLength {
		if len(rows) > len(most) || len(rows) == len(most) && len(rows) > 0 && rows[0].tokens < most[0].tokens {
			most = rows
		}
	}
	if !bare {
		return nil
	}
	return onlyTimes(most)
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
