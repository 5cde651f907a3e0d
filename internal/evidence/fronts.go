package evidence

import (
	"fmt"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/stack"
)

// fronts looks at services that may be put in front of another one. Of one that
// serves nothing yet only the configuration is read, as far as there is any.
func (t *taker) fronts() {
	states, err := stack.FrontStates(t.ctx, t.hosts, t.st)
	if err != nil {
		t.bad("services that may be put in front", err)
		return
	}
	t.snap.Fronts = states
	for name, f := range states {
		if f.InUse {
			continue
		}
		host := f.Service.HostName()
		if t.snap.Files[host] == nil {
			t.snap.Files[host] = map[string]File{}
		}
		r := &fileReader{ctx: t.ctx, h: t.hosts[host], service: name, files: t.snap.Files[host]}
		text := "it can be put in front of " + f.Service.FrontFor
		if _, err := nginx.Load(f.Service.Config, f.Service.Prefix, r.read, r.glob); err != nil {
			text += fmt.Sprintf("; it has no configuration yet (%v)", err)
		}
		t.good("configuration of "+name, text)
	}
}
