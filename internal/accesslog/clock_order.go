package accesslog

import "kasoku/internal/lazyregexp"

// numberDate is a date of numbers of which the first two may be the day and the month.
var numberDate = lazyregexp.New(`(?:^|[^\d/])(\d{1,2})([/-])(\d{1,2})[/-]\d{4}[ T:,-]`)

// findOrder tells by a number above 12 in some line what the first two of 05/06/2024
// are in all.
func (f *Format) findOrder(lines [][]byte) {
	first, second, example := 0, 0, ""
	var r dateReader
	for _, line := range lines {
		m := numberDate.FindStringSubmatch(string(line))
		if m == nil {
			continue
		}
		example = m[1] + m[2] + m[3]
		for i, n := range []*int{&first, &second} {
			r.b, r.at = []byte(m[1+2*i]), 0
			if v, _ := r.number(2); v > 12 {
				*n++
			}
		}
	}
	switch {
	case example == "":
	case first > 0 && second == 0:
		f.order = dayFirst
	case second > 0 && first == 0:
		f.order = monthFirst
	default:
		f.Notes = append(f.Notes, "dates such as "+example+"/… may begin with the day or with the month, and nothing tells which: such are not read; --format describes the line, with the date as %{%d/%m/%Y %H:%M:%S}t or %{%m/%d/%Y %H:%M:%S}t")
	}
}
