package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// Reboot is what the check of a reboot saw of the score (docs/reference/checks.md), and
// what was measured later, with nothing changed since.
type Reboot struct {
	Before, After, Later float64 // scores
	// Least is the share of Before that must be there right after a reboot, 0–1.
	Least float64
}

// Cold reports whether the score was too low after the reboot and came back by
// itself: what is lost with a setting stays lost, what is lost with a cache does
// not.
func (r *Reboot) Cold() bool {
	return r != nil && r.After > 0 && r.After < r.Least*r.Before && r.Later >= r.Least*r.Before
}

var bootRules = []Rule{
	{"boot.cold", []string{"W16"}, "a reboot that was checked (checks.reboot)", judgeBootCold},
}

// judgeBootCold: the first answers after a reboot are slow, later ones are not
// (W16).
func judgeBootCold(m *model) ([]Finding, string) {
	r := m.in.Reboot
	if !r.Cold() {
		return nil, ""
	}
	pages := warmUpPages(m.in.Evidence.Load)
	service := ""
	if svc := FrontService(m.in.Stack); svc != nil {
		service = svc.Name
	}
	f := about(service, "caches are cold after a reboot",
		fmt.Sprintf("Right after a reboot the score was %s, %.0f %% of the %s before it; later it was %s, and nobody had changed anything. What a reboot takes and time gives back are caches: of pages, of compiled code, of the database's pages, of files. Strangers ask for %d pages that could be asked for at boot.",
			ui.Number(r.After), 100*r.After/r.Before, ui.Number(r.Before), ui.Number(r.Later), len(pages)),
		"the check of a reboot", "runs after it")
	return []Finding{f.with("pages", strings.Join(pages, "\n")).
		atMost(r.Later/r.After, fmt.Sprintf("%s later / %s right after the reboot", ui.Number(r.Later), ui.Number(r.After)))}, ""
}

// mostWarmUpPages that are asked for at boot. At a cold 200 ms each that is ten
// seconds; what comes after them is asked for rarely.
const mostWarmUpPages = 50

// warmUpPages are the URLs with query, most time first, then the files, that
// may be asked for in nobody's name: strangers of the scenario got them with
// GET, and no cookie with them.
func warmUpPages(l *load.Result) []string {
	var out []string
	add := func(url string) {
		plain := strings.HasPrefix(url, "/") && !strings.ContainsFunc(url, func(r rune) bool { return r <= ' ' || r == 0x7f })
		if plain && len(out) < mostWarmUpPages && !slices.Contains(out, url) {
			out = append(out, url)
		}
	}
	for _, p := range l.Pages {
		if p.Status == 200 && p.Count > 0 && !p.SetsCookie {
			add(p.URL)
		}
	}
	for _, a := range l.Assets {
		if a.Status == 200 && a.Private == "" && !a.SetsCookie {
			add(a.Path)
		}
	}
	return out
}

// FrontService is the service that listens where load.url points; nil if
// kasoku.yaml names none. Of several the one that others stand behind.
func FrontService(st *stack.Stack) *stack.Service {
	port := FrontPort(st)
	for _, kind := range []stack.Kind{stack.Varnish, stack.Nginx, stack.Apache, stack.App} {
		for _, svc := range st.OfKind(kind) {
			if port != "" && svc.SpareFor == "" && slices.ContainsFunc(svc.Listen, func(l string) bool { return strings.HasSuffix(l, ":"+port) }) {
				return svc
			}
		}
	}
	return nil
}
