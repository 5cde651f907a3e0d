package accesslog

import (
	"bytes"
	"time"
)

// nameTimes gives times the words beside them, which split took for values of their
// own: the name before one ("request_time 0.012", "took 12ms"), and the unit behind
// one that has a name ("duration: 12 microseconds").
func nameTimes(b []byte, tokens []token) {
	for i := 0; i+1 < len(tokens); i++ {
		t, next := &tokens[i], &tokens[i+1]
		if next.key != nil || next.form != 0 || t.form != 0 {
			continue
		}
		if t.key == nil && isTimeWord(t.value) && timesAlone(next.value, bytes.IndexByte(t.value, '_') >= 0) {
			next.key = t.value
			continue
		}
		if t.key != nil && isDecimal(t.value) {
			t.joinUnit(b, next)
		}
	}
}

// isTimeWord: one of timeNames, written as there.
func isTimeWord(v []byte) bool {
	if len(v) < 2 || len(v) > maxKey || v[0] < 'a' || v[0] > 'z' {
		return false
	}
	_, ok := timeNames[string(v)]
	return ok
}

// timesAlone: a dash, or times by their form, joined as nginx does; whole says that
// other numbers are times, too, as no text has request_time in it.
func timesAlone(v []byte, whole bool) bool {
	for one := range bytes.FieldsFuncSeq(v, func(r rune) bool { return r == ',' || r == ' ' || r == ':' }) {
		if string(one) != "-" && !isTimeForm(one) && (!whole || !isDecimal(one)) {
			return false
		}
	}
	return len(v) > 0
}

// joinUnit takes a unit that stands behind a named number. Three decimals of what is
// nginx's by its name are seconds, whatever word its log_format has behind them.
func (t *token) joinUnit(b []byte, next *token) {
	p := timeName(t.key)
	word := bytes.TrimRight(next.value, ").,")
	unit, ok := unitWords[string(word)]
	_, fraction, _ := bytes.Cut(t.value, []byte("."))
	if !ok || !p.kind.isTime() || p.unsure == bySeconds && len(fraction) == 3 && unit < time.Second {
		return
	}
	end := next.end - (len(next.value) - len(word))
	begin := t.end - len(t.value)
	if begin >= 0 && bytes.Equal(b[begin:t.end], t.value) && bytes.Equal(b[end-len(word):end], word) {
		t.value = b[begin:end]
	}
}
