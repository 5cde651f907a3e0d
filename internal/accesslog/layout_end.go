package accesslog

// endsAsKnown looks at the end of a line whose last values are not read: the
// format may have gained a time there, plain or in quotes. It does not see a
// text in quotes, which tells no time.
func (l *layout) endsAsKnown(b []byte) bool {
	end := len(b) - len(l.ended.text)
	if end < 0 || string(b[end:]) != l.ended.text {
		return false
	}
	if l.ended.text != `"` {
		return true
	}
	for end--; end >= 0 && (b[end] >= '0' && b[end] <= '9' || b[end] == '.' || b[end] == 's' || b[end] == 'm'); end-- {
	}
	return end < 0 || b[end] != '"' || end == len(b)-2
}

// whole reports whether every piece of the layout is there.
func (l *layout) whole(b []byte) bool {
	at := 0
	for i := range l.pieces {
		p := &l.pieces[i]
		if !p.before.begins(b[at:]) {
			return false
		}
		from := at + len(p.before.text)
		if at = p.end(b, from); at < 0 || !p.fitsAll(b[from:at]) {
			return false
		}
	}
	return l.ended.begins(b[at:]) && at+len(l.ended.text) == len(b)
}
