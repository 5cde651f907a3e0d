package diagnose

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/kind/goapp"
	"kasoku/internal/stack"
)

// goDSNs are data source names of Go's MySQL driver: user:password@tcp(…)/app?…
// (go-sql-driver/mysql, "DSN"). The groups are the address's part with the
// database's name, and the parameters.
var goDSNs = regexp.MustCompile("(@(?:tcp|unix)\\([^()\\s]*\\)/[A-Za-z0-9_$.-]*)(\\?[^\\s\"'`<>]*)?")

// noInterpolation are encodings that the driver refuses to fill values in for
// (its README, "interpolateParams").
var noInterpolation = []string{"big5", "cp932", "gb2312", "gbk", "sjis"}

// Interpolate returns a settings file with interpolateParams=true in each data
// source name of Go's driver that says nothing about it, and how many there
// are. An encoding that forbids it leaves a name as it is.
func Interpolate(content []byte) ([]byte, int) {
	n := 0
	out := goDSNs.ReplaceAllFunc(content, func(dsn []byte) []byte {
		m := goDSNs.FindSubmatch(dsn)
		params := strings.TrimPrefix(string(m[2]), "?")
		values, err := url.ParseQuery(params)
		if err != nil || values.Has("interpolateParams") {
			return dsn
		}
		encoding := strings.ToLower(values.Get("collation") + " " + values.Get("charset"))
		if slices.ContainsFunc(noInterpolation, func(e string) bool { return strings.Contains(encoding, e) }) {
			return dsn
		}
		n++
		if params == "" {
			return append(m[1], "?interpolateParams=true"...)
		}
		return append(slices.Clone(dsn), "&interpolateParams=true"...)
	})
	return out, n
}

// namesDriver reports whether a file of settings holds a whole data source name of an
// application of this database, in which the driver's option can be set.
func (m *model) namesDriver(database string) bool {
	for _, svc := range m.in.Stack.OfKind(stack.App) {
		if len(svc.TalksTo) > 0 && !slices.Contains(svc.TalksTo, database) {
			continue
		}
		for _, file := range AppFiles(m.in.Snapshot, svc) {
			if _, n := Interpolate(m.in.Snapshot.Files[svc.HostName()][file].Content); n > 0 {
				return true
			}
		}
	}
	return false
}

// boundOfPrepares: a prepare is about half of what a short statement costs both sides.
func (m *model) boundOfPrepares(v dbView, svc *stack.Service) (ceiling, string) {
	return m.boundOf(map[string]float64{v.svc.Name: v.perReq / 2, svc.Name: m.perReq[svc.Name] / 2})
}

// databaseOf is the name of the database that an application takes from its environment,
// if the server has such a schema and no other service reads the file that says it.
func (m *model) databaseOf(svc *stack.Service, n *goapp.NamedDatabase, v dbView) (string, bool) {
	start, err := StartOf(m.in.Snapshot, svc)
	if err != nil {
		return "", false
	}
	name, ok := start.Env(n.Variable)
	if !ok {
		name = n.Default
	}
	for i := range m.in.Stack.Services {
		if other := &m.in.Stack.Services[i]; other.Name != svc.Name && other.HostName() == svc.HostName() && m.readsVariable(other, n.Variable) {
			return "", false
		}
	}
	return name, slices.ContainsFunc(v.db.Tables, func(t evidence.Table) bool { return t.Schema == name })
}

// readsVariable reports whether a service is started with a variable out of a file.
func (m *model) readsVariable(svc *stack.Service, variable string) bool {
	if svc.Kind != stack.App {
		return false
	}
	start, err := StartOf(m.in.Snapshot, svc)
	if err != nil {
		return true // nobody can tell
	}
	_, ok := start.Env(variable)
	return ok
}

// judgeInterpolate: statements prepared and used once, by an app whose driver
// could fill the values in (I06).
func judgeInterpolate(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		prepares, _ := v.delta("Com_stmt_prepare")
		executes, _ := v.delta("Com_stmt_execute")
		perRequest := prepares / (m.x * m.window)
		if perRequest < 0.5 || executes > 1.5*prepares {
			return nil
		}
		var out []Finding
		for _, svc := range m.in.Stack.OfKind(stack.App) {
			if len(svc.TalksTo) > 0 && !slices.Contains(svc.TalksTo, v.svc.Name) {
				continue
			}
			host := svc.HostName()
			for _, file := range AppFiles(m.in.Snapshot, svc) {
				if _, n := Interpolate(m.in.Snapshot.Files[host][file].Content); n == 0 {
					continue
				}
				f := about(svc.Name, svc.Name+" has each statement prepared at the server and uses it once",
					fmt.Sprintf("%.1f prepares and %.1f executions per request at %s, and %s does not say interpolateParams: two round trips in place of one.", perRequest, executes/(m.x*m.window), v.svc.Name, file),
					"Com_stmt_prepare, Com_stmt_execute of "+v.svc.Name, file)
				f.Subject = map[string]string{"file": file, "database": v.svc.Name}
				out = append(out, f.bounded(m.boundOfPrepares(v, svc)))
			}
			if n := m.in.Snapshot.Apps[svc.Name].Named; n != nil && len(out) == 0 {
				if name, ok := m.databaseOf(svc, n, v); ok {
					f := about(svc.Name, svc.Name+" has each statement prepared at the server and uses it once",
						fmt.Sprintf("%.1f prepares and %.1f executions per request at %s: two round trips in place of one. %s:%d makes the data source name, with the name of the database out of %s, which can carry the driver's option.",
							perRequest, executes/(m.x*m.window), v.svc.Name, n.File, n.Line, n.Variable),
						"Com_stmt_prepare, Com_stmt_execute of "+v.svc.Name, n.File)
					f.Subject = map[string]string{"variable": n.Variable, "value": n.WithValues(name), "database": v.svc.Name}
					out = append(out, f.bounded(m.boundOfPrepares(v, svc)))
				}
			}
		}
		return out
	})
}
