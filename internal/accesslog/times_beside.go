package accesslog

// microsBeside looks for two whole numbers side by side of which one is the other's
// whole seconds in every line, as Apache's %D and %T are. By chance that is so only where
// all are short, so one line at least must have a second.
type microsBeside struct {
	// fits are the places from the line's end that have been %D in each line so far; nil:
	// no line was seen. The value says whether a line had a second or more.
	fits map[int]bool
}

// add a line.
func (m *microsBeside) add(tokens []token) {
	here := map[int]bool{}
	for i := range tokens {
		micros, ok := wholeNumber(tokens, i)
		for _, j := range []int{i - 1, i + 1} {
			if secs, fine := wholeNumber(tokens, j); ok && fine && micros/1e6 == secs && micros != secs {
				here[i-len(tokens)] = secs > 0
			}
		}
	}
	if m.fits == nil {
		m.fits = here
		return
	}
	for at, long := range m.fits {
		if now, ok := here[at]; !ok {
			delete(m.fits, at)
		} else {
			m.fits[at] = long || now
		}
	}
}

// wholeNumber is the one at a place that has no name; false: there is none.
func wholeNumber(tokens []token, i int) (int64, bool) {
	if i < 0 || i >= len(tokens) || tokens[i].key != nil || tokens[i].form != 0 || !isDigits(tokens[i].value) {
		return 0, false
	}
	return number(tokens[i].value)
}

// found is the one place, from the line's end; 0: there is none, or several.
func (m *microsBeside) found() (at int) {
	for one, long := range m.fits {
		if long && at != 0 {
			return 0
		}
		if long {
			at = one
		}
	}
	return at
}
