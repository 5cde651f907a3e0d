package record

import (
	"fmt"
	"strings"

	"kasoku/internal/load"
)

// leaveUnsound takes the steps out of a scenario that it cannot have, so that
// one of them does not take the others with it, and says which and why. It does
// so only where the whole is not right, and only for steps without pools.
func (s *scenario) leaveUnsound() (left []string, err error) {
	if fault, err := s.fault(); err != nil || fault == nil {
		return nil, err
	}
	for i := range s.sessions {
		one := &s.sessions[i]
		var sound []step
		known := map[string]bool{}
		for k := range one.steps {
			st := &one.steps[k]
			fault, err := (&scenario{name: s.name, sessions: []session{alone(st, known)}}).fault()
			if err != nil {
				return nil, err
			}
			if fault != nil && len(one.draw)+len(st.draw) == 0 {
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
	return left, nil
}

// alone is a session of one step, with the variables that it may use.
func alone(st *step, known map[string]bool) session {
	before := step{request: "GET /"}
	for name := range known {
		before.extract = append(before.extract, extract{name: name, header: "X"})
	}
	return session{name: "one", steps: []step{before, *st}}
}

// fault of a scenario without its pools; nil: it is right. err: it cannot be
// rendered.
func (s *scenario) fault() (fault, err error) {
	if len(s.pools) > 0 {
		return nil, nil
	}
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	_, fault = load.Parse(scenarioFile, files[0].Data)
	return fault, nil
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
