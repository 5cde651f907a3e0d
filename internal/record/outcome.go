package record

import (
	"fmt"
	"strconv"
	"strings"

	"kasoku/internal/load"
)

// outcome has a step expect what the recorded answer says of itself; false: it says nothing.
func (h *harDraft) outcome(m *made) bool {
	e := m.entry
	if h.client || !strings.HasSuffix(e.answerType(), "json") || e.Request.Method == "HEAD" {
		return false
	}
	o, ok := load.OutcomeOf([]byte(e.body))
	if !ok {
		return false
	}
	value := o.Value
	if strings.HasPrefix(value, `"`) {
		text, err := strconv.Unquote(value)
		if err != nil {
			return false
		}
		value = double(literal(text))
	}
	m.step.equals = pair{"$." + o.Field, value}
	if !o.Good {
		h.once(fmt.Sprintf("%s was refused when it was recorded: its answer says %s %s. That is what its step expects; record it again, or put right what it should be.",
			shownRequest(&m.step), o.Field, o.Value))
	}
	return true
}
