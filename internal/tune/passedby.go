package tune

import (
	"fmt"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// passedBy says that a benchmark asked past the web server to which load.url leads, and which
// service took its requests: of applications that listen, the one that used the most CPU. ok is
// false if it did not.
func passedBy(st *stack.Stack, ev *evidence.Evidence) (h evidence.Health, ok bool) {
	front := diagnose.FrontService(st)
	if front == nil || !diagnose.AskedPast(st, ev, front) {
		return h, false
	}
	text := fmt.Sprintf("load.command asked nothing of %s, where load.url (%s) leads, so no change of it is planned", front.Name, st.Load.URL)
	var most *stack.Service
	for i := range st.Services {
		svc := &st.Services[i]
		if svc.Kind == stack.App && len(svc.Listen) > 0 && (most == nil || ev.Services[svc.Name].CPU > ev.Services[most.Name].CPU) {
			most = svc
		}
	}
	if most != nil {
		text += fmt.Sprintf("; of what it can have asked, %s (%s) used the most CPU: if that is the address, write it as load.url", most.Name, strings.Join(most.Listen, ", "))
	}
	return evidence.Health{Source: "load.url", Text: text}, true
}
