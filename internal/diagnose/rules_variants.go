package diagnose

import (
	"fmt"
	"strings"

	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// variantShare: with less than a fifth of the CPU that a request costs, an
// application has less to save than what else it would change.
const variantShare = 0.2

// judgeVariants: an application that takes much of what a request costs, and of
// which kasoku.yaml names other implementations, may be quicker as one of them
// (L02, L04, I14, I21). Which of them it is cannot be told from a run.
func judgeVariants(m *model) ([]Finding, string) {
	var out []Finding
	var why []string
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		names := svc.Implementations()
		if names == nil {
			continue
		}
		using := svc.InUse()
		if using == "" {
			why = append(why, fmt.Sprintf("%s: it could not be seen which of its implementations runs", svc.Name))
			continue
		}
		cost := m.perReq[svc.Name]
		if cost < variantShare*m.allCPU {
			why = append(why, fmt.Sprintf("%s takes %s of the %s of CPU per request, whichever implementation it is", svc.Name, seconds(cost), seconds(m.allCPU)))
			continue
		}
		k := m.at(svc.Name)
		f := about(svc.Name, fmt.Sprintf("%s runs as %s; kasoku.yaml names %s of it", svc.Name, using, ui.Plural(len(names)-1, "other implementation", "other implementations")),
			fmt.Sprintf("%s takes %s of the %s of CPU per request, and CPU is %s busy with %.1f requests under way. kasoku.yaml names %s; which answers most is found by trying.",
				svc.Name, seconds(cost), seconds(m.allCPU), percent(k.busy), m.inSystem, strings.Join(names, ", ")),
			"processes of "+svc.Name, "kasoku.yaml")
		f.Subject = map[string]string{"using": using}
		if k.busy >= saturatedCPU {
			f = f.bounded(m.serviceBound(svc.Name))
		} else {
			f = f.bounded(m.boundWait())
		}
		out = append(out, f)
	}
	return out, strings.Join(why, "; ")
}
