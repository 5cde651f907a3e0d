package prove

// leastValues is how many values of its own an object must have to be judged as drawn:
// an answer with a number, a token and a time beside what it tells has fewer.
const leastValues = 5

// leaveDrawn leaves out what only seemed to be the same: of a JSON object, or of a line of
// markup, of which more than half of the values differed from answer to answer, as of a card that was drawn
// from many, the others agreed by chance (a kind of five agrees in one of five pairs).
func (p *Pattern) leaveDrawn() {
	for i := range p.Lines {
		for _, o := range append(p.Lines[i].objects(), p.Lines[i].markup()) {
			if 2*o.vary <= len(o.values) || len(o.values) < leastValues {
				continue
			}
			for _, v := range o.values {
				for j := v.from; j < v.to; j++ {
					if tells(p.Lines[i].Words[j]) {
						p.Lines[i].Words[j] = ""
					}
				}
			}
		}
	}
}

// object is a JSON object in the words of a line: its values that are no objects or
// lists, and how many of them vary.
type object struct {
	values []span
	vary   int
}

// span of words: from, and the one after the last.
type span struct{ from, to int }

// objects finds the JSON objects of a line that varies. A line that is no JSON has
// none, or some that nothing follows from: they have few values.
func (l *Line) objects() (out []object) {
	var open []*object // those that are not closed yet; nil: a list
	from, quoted := -1, false
	end := func(at int) {
		if from >= 0 && from < at && len(open) > 0 && open[len(open)-1] != nil {
			o := open[len(open)-1]
			o.values = append(o.values, span{from, at})
			for _, w := range l.Words[from:at] {
				if w == "" {
					o.vary++
					break
				}
			}
		}
		from = -1
	}
	for i, w := range l.Words {
		if w == `"` && (i == 0 || l.Words[i-1] != `\`) {
			quoted = !quoted
		}
		if quoted {
			continue
		}
		switch w {
		case ":":
			from = i + 1
		case ",":
			end(i)
		case "{":
			from = -1
			open = append(open, &object{})
		case "[":
			from = -1
			open = append(open, nil)
		case "}", "]":
			end(i)
			if len(open) == 0 {
				return out
			}
			if o := open[len(open)-1]; o != nil {
				out = append(out, *o)
			}
			open = open[:len(open)-1]
		}
	}
	return out
}
