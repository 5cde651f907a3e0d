package diagnose

import (
	"fmt"
	"regexp"

	"kasoku/internal/stack"
)

// persistentID is what Kasoku calls the connections that an application keeps:
// a name that all processes of one pool share (PHP manual,
// Memcached::__construct, persistent_id).
const persistentID = "kasoku"

var (
	// noPersistentID is Laravel's variable without a value (its config/cache.php:
	// 'persistent_id' => env('MEMCACHED_PERSISTENT_ID')).
	noPersistentID  = regexp.MustCompile(`(?m)^([ \t]*MEMCACHED_PERSISTENT_ID[ \t]*=)[ \t]*(?:null|""|'')?[ \t]*$`)
	anyPersistentID = regexp.MustCompile(`(?m)^[ \t]*MEMCACHED_PERSISTENT_ID[ \t]*=`)
	memcachedHost   = regexp.MustCompile(`(?m)^[ \t]*MEMCACHED_HOST[ \t]*=[^\n]*\n`)
)

// KeepMemcached returns an environment file in which connections to memcached
// are kept, and whether it said otherwise. reads: the application looks the
// variable up where it is not there yet.
func KeepMemcached(content []byte, reads bool) ([]byte, bool) {
	if noPersistentID.Match(content) {
		return noPersistentID.ReplaceAll(content, []byte("${1}"+persistentID)), true
	}
	if at := memcachedHost.FindIndex(content); at != nil && reads && !anyPersistentID.Match(content) {
		out := append([]byte{}, content[:at[1]]...)
		return append(append(out, "MEMCACHED_PERSISTENT_ID="+persistentID+"\n"...), content[at[1]:]...), true
	}
	return content, false
}

// readsPersistentID reports whether an application looks the variable up.
func (m *model) readsPersistentID(app string) bool { return m.in.Snapshot.Known[app].ID == "laravel" }

// judgeKeptMemcached: requests connect to memcached although a setting of the
// application would keep the connection (C13).
func judgeKeptMemcached(m *model) ([]Finding, string) {
	return m.eachCounted(func(svc *stack.Service, delta, _ func(string) (float64, bool)) []Finding {
		n, _ := delta("total_connections")
		per := n / (m.x * m.window)
		if per < connectsEach {
			return nil
		}
		var out []Finding
		for _, app := range m.in.Stack.OfKind(stack.App) {
			if !talksTo(app, svc.Name) || app.RunsIn == "" {
				continue
			}
			for _, file := range AppFiles(m.in.Snapshot, app) {
				if _, could := KeepMemcached(m.in.Snapshot.Files[app.HostName()][file].Content, m.readsPersistentID(app.Name)); !could {
					continue
				}
				f := about(app.Name, app.Name+" connects to "+svc.Name+" anew in each request",
					fmt.Sprintf("%.0f connections to %s for %.0f right answers (%.2f each), and %s gives them no name to be kept by (MEMCACHED_PERSISTENT_ID).", n, svc.Name, m.x*m.window, per, file),
					"total_connections of "+svc.Name, file)
				f.Subject = map[string]string{"file": file, "cache": svc.Name}
				if m.readsPersistentID(app.Name) {
					f.Subject["reads"] = "yes"
				}
				out = append(out, f.bounded(m.boundCalls(svc.Name)))
			}
		}
		return out
	}, stack.Memcached)
}
