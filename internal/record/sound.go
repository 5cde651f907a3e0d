package record

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/load"
)

// leaveUnsound takes the steps out of a scenario that it cannot have, so that
// one of them does not take the others with it, and says which and why. It does
// so only where the whole is not right.
func (s *scenario) leaveUnsound() (left []string, err error) {
	_, left, err = s.withoutUnsound()
	return left, err
}

// withoutUnsound is leaveUnsound, with the steps that it took out.
func (s *scenario) withoutUnsound() (removed []step, left []string, err error) {
	if fault, err := s.fault(); err != nil || fault == nil {
		return nil, nil, err
	}
	for i := range s.sessions {
		one := &s.sessions[i]
		var sound []step
		known := map[string]bool{}
		for k := range one.steps {
			st := &one.steps[k]
			lone := alone(st, known)
			lone.draw = one.draw
			fault, err := (&scenario{name: s.name, sessions: []session{lone}}).fault()
			if err != nil {
				return nil, nil, err
			}
			if fault != nil {
				removed = append(removed, *st)
				left = append(left, fmt.Sprintf("%s: %s", strings.Join(nonEmpty(st.name, shownRequest(st)), ": "), faultText(fault, st.name)))
				continue
			}
			for _, x := range st.extract {
				known[x.name] = true
			}
			sound = append(sound, *st)
		}
		one.steps = sound
	}
	sessions := s.sessions[:0]
	for _, one := range s.sessions {
		if len(one.steps) > 0 {
			sessions = append(sessions, one)
		}
	}
	s.sessions = sessions
	for _, st := range removed { // pools of operations are theirs alone
		s.pools = slices.DeleteFunc(s.pools, func(p pool) bool {
			return slices.ContainsFunc(st.draw, func(d pair) bool { return d.value == p.name })
		})
	}
	return removed, left, nil
}

// alone is a session of one step, with the variables that it may use.
func alone(st *step, known map[string]bool) session {
	before := step{request: "GET /"}
	for name := range known {
		before.extract = append(before.extract, extract{name: name, header: "X"})
	}
	return session{name: "one", steps: []step{before, *st}}
}

// fault of a scenario, with a 1 in the places of what its pools give; nil: it is
// right. err: it cannot be rendered.
func (s *scenario) fault() (fault, err error) {
	bare := *s
	bare.pools, bare.sessions = nil, nil
	var drawn []string
	undrawn := func(list []pair) []pair {
		for _, d := range list {
			drawn = append(drawn, d.key)
		}
		return nil
	}
	for _, one := range s.sessions {
		one.draw = undrawn(one.draw)
		one.steps = slices.Clone(one.steps)
		for i := range one.steps {
			one.steps[i].draw = undrawn(one.steps[i].draw)
		}
		bare.sessions = append(bare.sessions, one)
	}
	files, err := bare.files()
	if err != nil {
		return nil, err
	}
	_, fault = load.Parse(scenarioFile, []byte(withoutDrawn(string(files[0].Data), drawn)))
	return fault, nil
}

// withoutDrawn puts a 1 where the text has a value of what is drawn.
func withoutDrawn(text string, names []string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "${")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		inner, after, closed := strings.Cut(rest, "}")
		name, _, _ := strings.Cut(inner, ".")
		if text = rest; closed && !strings.HasSuffix(before, "$") && slices.Contains(names, name) {
			out.WriteString("1")
			text = after
			continue
		}
		out.WriteString("${")
	}
}

func shownRequest(st *step) string {
	masked, _ := maskQuery(st.request)
	return shortText(masked, 80)
}

func nonEmpty(texts ...string) []string {
	var out []string
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

// faultText is the first line of what is wrong, without its place in a file
// that nobody has.
func faultText(fault error, step string) string {
	text, _, _ := strings.Cut(fault.Error(), "\n")
	for {
		head, rest, ok := strings.Cut(text, ": ")
		if !ok || !strings.HasPrefix(head, scenarioFile) && !strings.HasPrefix(head, "step ") && head != step {
			return shortText(text, 200)
		}
		text = rest
	}
}

// sound leaves out what a scenario cannot have and counts again. An error says
// that nothing is left.
func (h *harDraft) sound() (left []string, err error) {
	left, err = h.out.leaveUnsound()
	if err != nil {
		return nil, err
	}
	h.taken -= int64(len(left))
	if len(h.out.sessions) == 0 {
		return nil, fmt.Errorf("read %s: %w of %s: %s", h.what, ErrNothing, h.origin, strings.Join(left, "; "))
	}
	return left, nil
}
