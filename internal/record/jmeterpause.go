package record

import "strconv"

// JMeter waits before a request: the sum of all timers in whose scope it is,
// and of the pauses of flow control actions before it ("Timers", User's
// Manual). A scenario waits after a step, so a request's pause is that before
// the next one, and the last one's that before the first.

// jmeterWait is the pause before a request, in milliseconds.
type jmeterWait struct {
	group, phase string
	request      int // its place; -1: a pause behind the last one
	ms           float64
}

// timer is the pause of a constant timer, or of another text with a number of
// milliseconds.
func (p *jmeterPlan) timer(e *jmx, property string) float64 {
	text := p.value(e.property(property), e.line)
	ms, err := strconv.ParseFloat(text, 64)
	if err != nil || ms < 0 {
		if text != "" {
			p.leave(e.line, "%s %q: its pauses are not fixed; write think", e.tag, e.name())
		}
		return 0
	}
	return ms
}

// timers are the pauses of those among the elements.
func (p *jmeterPlan) timers(list []*jmx) float64 {
	sum := 0.0
	for _, e := range list {
		if e.tag == "ConstantTimer" && e.enabled() {
			sum += p.timer(e, "ConstantTimer.delay")
		}
	}
	return sum
}

// pauseAction is the action 1 of a flow control action (TestAction).
const pauseAction = "1"

// action is a flow control action; timers hold for it, too.
func (p *jmeterPlan) action(e, below *jmx, scope *jmeterScope) {
	ms := scope.pause + p.timers(below.children)
	if e.property("ActionProcessor.action") == pauseAction {
		ms += p.timer(e, "ActionProcessor.duration")
	} else {
		p.leave(e.line, "%s %q: it ends threads or loops", e.tag, e.name())
	}
	p.waits = append(p.waits, jmeterWait{scope.group, scope.phase, -1, ms})
}

// pauses writes them into the requests.
func (p *jmeterPlan) pauses() {
	type place struct{ group, phase string }
	last, first, before := map[place]int{}, map[place]float64{}, map[place]float64{}
	var places []place
	for _, w := range p.waits {
		at := place{w.group, w.phase}
		if before[at] += w.ms; w.request < 0 {
			continue
		}
		if prev, ok := last[at]; ok {
			p.requests[prev].think = pause(before[at] / 1000)
		} else {
			first[at] = before[at]
			places = append(places, at)
		}
		last[at], before[at] = w.request, 0
	}
	for _, at := range places {
		ms := before[at]
		if at.phase == "" {
			ms += first[at]
		}
		p.requests[last[at]].think = pause(ms / 1000)
	}
}
