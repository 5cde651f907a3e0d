package accesslog

// findSwapped tells lines that have the size before the status (Apache's "%r" %b %>s):
// behind the request stand two whole numbers, of which the second is a code that servers
// answer with in every line and the first is none in some. Of a line by itself that
// cannot be told: 503 200.
func (f *Format) findSwapped(lines [][]byte) {
	if f.Name != lineName {
		return
	}
	seen, impossible := 0, 0
	for _, line := range lines {
		tokens, whole := split(line, nil)
		if !whole {
			continue
		}
		l := lineReader{f: f, e: &Entry{}, b: line, tokens: tokens, time: -1, request: -1, status: -1}
		l.findRequest()
		if l.request < 0 || !l.twoNumbers() {
			continue
		}
		if !usualStatus(tokens[l.requestEnd+1].value) {
			return
		}
		if seen++; !possibleStatus(tokens[l.requestEnd].value) {
			impossible++
		}
	}
	if 2*seen < len(lines) || seen < leastSwapped || 4*impossible < seen {
		return
	}
	f.swapped = true
	f.Notes = append(f.Notes, "of the two numbers behind the request the second is read as the status and the first as the size, as the first is no status in many lines; --format says otherwise")
}

// leastSwapped lines tell the order.
const leastSwapped = 4

// twoNumbers: the two values behind the request are whole numbers without a name.
func (l *lineReader) twoNumbers() bool {
	for i := l.requestEnd; i < l.requestEnd+2; i++ {
		if i >= len(l.tokens) || l.tokens[i].key != nil || l.tokens[i].form != 0 || !isDigits(l.tokens[i].value) {
			return false
		}
	}
	return true
}

// swappedStatus takes size and status of a line whose format has them so.
func (l *lineReader) swappedStatus() bool {
	if !l.f.swapped || !l.twoNumbers() || !possibleStatus(l.tokens[l.requestEnd+1].value) {
		return false
	}
	n, _ := number(l.tokens[l.requestEnd+1].value)
	l.e.Status, l.status = int(n), l.requestEnd+1
	l.e.Bytes, _ = number(l.tokens[l.requestEnd].value)
	return true
}
