package diagnose

import (
	"fmt"
	"strings"

	"kasoku/internal/stack"
)

// preloadSaves is the most of a request's PHP that preloading has been seen to
// save: half, of a page that hardly does more than load its framework (PHP RFC
// "Preloading", Stogov 2018: 1,300 against 670 requests a second).
const preloadSaves = 0.5

// judgePreload: a known application brings a list of the classes that each
// request loads, and PHP-FPM loads nothing when it starts. What is preloaded is
// there for all requests of all pools, so only where that application is the
// only one in this PHP-FPM.
func judgePreload(m *model) ([]Finding, string) {
	return m.eachPHP(func(svc *stack.Service, php map[string]string) []Finding {
		script, app := "", m.onlyApp(svc.Name)
		if app != nil {
			script = m.in.Snapshot.Known[app.Name].Preload
		}
		named, known := php["opcache.preload"] // since PHP 7.4
		if svc.Kind != stack.PHPFPM || script == "" || !known || named != "" || !On(php["opcache.enable"]) {
			return nil
		}
		if full, ok := fold(m.in.Evidence.Counters[svc.Name].Value, "opcache.cache_full"); ok && On(full) {
			return nil // PHP does not start if what it preloads does not fit
		}
		f := about(svc.Name, fmt.Sprintf("Each request of %s links the classes of %s anew", svc.Name, app.Name),
			fmt.Sprintf("opcache.preload is not set, and %s brings %s for it: its classes would be loaded and linked once, when %s starts. From then on a changed class is seen after a reload only. %s takes %s of CPU per request.",
				app.Name, strings.TrimPrefix(script, app.Root+"/"), svc.Name, svc.Name, seconds(m.perReq[svc.Name])), "effective PHP settings of "+svc.Name, script)
		f.Subject = map[string]string{"script": script}
		return []Finding{f.asks(Setting{Service: svc.Name, Name: "opcache.preload", To: script}).bounded(m.boundBy(svc.Name, preloadSaves*m.perReq[svc.Name]))}
	})
}

// onlyApp is the app that runs in a service's processes; nil if there are
// several, or none.
func (m *model) onlyApp(service string) *stack.Service {
	var only *stack.Service
	for _, app := range m.in.Stack.OfKind(stack.App) {
		if app.RunsIn != service {
			continue
		}
		if only != nil {
			return nil
		}
		only = app
	}
	return only
}
