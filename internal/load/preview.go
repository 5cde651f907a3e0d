package load

import (
	"context"
	"fmt"
)

// Preview renders the first n requests of the first virtual user as they
// would be sent with the scenario's seed, if every answer is right. What only
// an answer can tell is missing: cookies, redirects, assets found in pages;
// extracted values stand as extracted-NAME.
func (s *Scenario) Preview(n int) ([]string, error) {
	// Nothing is sent: the address only has to be allowed.
	r, err := newRun(context.Background(), Options{Scenario: s, URL: "http://127.0.0.1:1", Engine: EngineNet})
	if err != nil {
		return nil, fmt.Errorf("preview of scenario %s: %w", s.Name, err)
	}
	r.hostLine = []byte("Host: target\r\n")
	u, setup := r.users[0], r.users[r.opts.Workload]
	setup.vars[baseSlot] = []byte("http://target")
	for i := range s.setup.steps {
		setup.draw(s.setup.steps[i].draws)
		setup.pretend(&s.setup.steps[i])
	}
	for slot := range s.globals {
		u.vars[slot] = append(u.vars[slot][:0], setup.vars[slot]...)
	}
	var out []string
	for len(out) < n {
		visit := u.pick()
		if len(visit.steps) == 0 {
			return out, nil
		}
		u.draw(visit.draws)
		for i := range visit.steps {
			st := &visit.steps[i]
			for range st.repeat {
				u.draw(st.draws)
				out = append(out, u.preview(st))
				u.pretend(st)
				for _, a := range st.assets {
					u.target, u.body = s.assets[a].target, u.body[:0]
					u.build(&s.assets[a].step, "GET")
					out = append(out, string(u.out))
				}
				if len(out) >= n {
					return out[:n], nil
				}
			}
		}
	}
	return out, nil
}

func (u *user) preview(st *step) string {
	u.body = st.body.append(u.body[:0], u.vars)
	u.target = st.path.append(nil, u.vars)
	u.build(st, st.method)
	return string(u.out)
}

// pretend that the step's answer held what it extracts.
func (u *user) pretend(st *step) {
	for _, x := range st.extract {
		u.vars[x.slot] = append(u.vars[x.slot][:0], "extracted-"+x.name...)
	}
}
