package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kasoku/internal/stack"
)

// keptForm is a line of an application's settings that says whether its
// connections to the database are kept from request to request: what stands
// before the value, and the value that says no.
type keptForm struct {
	line *regexp.Regexp
	// anyServer: caches have a setting of the same name, so it only counts in
	// a file about a database alone.
	anyServer bool
	to        string // "": the opposite of what stands there
	source    string
}

var keptForms = []keptForm{
	{line: regexp.MustCompile(`(?mi)^([ \t]*['"](?:pconnect|dbpersist)['"][ \t]*=>[ \t]*['"]?)(false|0)\b`),
		source: "CodeIgniter 3 user guide, \"Database Configuration\": pconnect; Moodle, config-dist.php: dbpersist"},
	{line: regexp.MustCompile(`(?mi)^([ \t]*\$\w+(?:\['\w+'\])*\['pconnect'\][ \t]*=[ \t]*)(false|0)\b`),
		source: "CodeIgniter 2 user guide, \"Database Configuration\": pconnect"},
	{line: regexp.MustCompile(`(?mi)^([ \t]*\\?PDO::ATTR_PERSISTENT[ \t]*=>[ \t]*)(false|0)\b`),
		source: "PHP manual, \"Connections and Connection management\" (PDO)"},
	{line: regexp.MustCompile(`(?mi)^([ \t]*['"]persistent['"][ \t]*=>[ \t]*)(false|0)\b`), anyServer: true,
		source: "CakePHP book, \"Database Basics\"; FuelPHP documentation, \"Database: Introduction\": persistent"},
	{line: regexp.MustCompile(`(?mi)^([ \t]*(?:\w+_)?(?:DB|DATABASE|MYSQL|MARIADB|PDO)_PERSISTENT[ \t]*=[ \t]*["']?)(false|0|off|no)\b`),
		source: "the application's own environment or ini file"},
	{line: regexp.MustCompile(`(?m)^([^#\n]*['"]CONN_MAX_AGE['"][ \t]*:[ \t]*)(0)\b`), to: "60",
		source: "docs.djangoproject.com, Databases: Persistent connections"},
}

// A settings module of Django that says nothing of it keeps no connection (CONN_MAX_AGE
// is 0 then). What is set at its end holds, whatever DATABASES is made by.
var (
	djangoDatabases = regexp.MustCompile(`(?m)^DATABASES[ \t]*=`)
	djangoKeeps     = regexp.MustCompile(`(?i)conn_max_age`)
)

const keptByDjango = `
# Connections stay open from request to request.
for _database in DATABASES.values():
    _database.setdefault("CONN_MAX_AGE", 60)
`

var (
	namesCache    = regexp.MustCompile(`(?i)memcache|redis`)
	namesDatabase = regexp.MustCompile(`(?i)mysql|mariadb`)
)

// opposites of the words that say no.
var opposites = map[string]string{"false": "true", "False": "True", "FALSE": "TRUE", "0": "1", "off": "on", "Off": "On", "OFF": "ON", "no": "yes", "No": "Yes", "NO": "YES"}

// KeepConnections returns a settings file in which connections to the database
// are kept, and how many settings said otherwise, or nothing where that means no.
func KeepConnections(content []byte) ([]byte, int) {
	n := 0
	for _, form := range keptForms {
		if form.anyServer && (namesCache.Match(content) || !namesDatabase.Match(content)) {
			continue
		}
		content = form.line.ReplaceAllFunc(content, func(line []byte) []byte {
			m := form.line.FindSubmatch(line)
			to := form.to
			if to == "" {
				to = opposites[string(m[2])]
			}
			if to == "" {
				return line
			}
			n++
			return append(slices.Clone(m[1]), to...)
		})
	}
	if djangoDatabases.Match(content) && namesDatabase.Match(content) && !djangoKeeps.Match(content) {
		text := string(content)
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		content, n = []byte(text+keptByDjango), n+1
	}
	return content, n
}

// judgeKeptDatabase: requests connect to the database although a setting of the
// application would keep the connection (I14).
func judgeKeptDatabase(m *model) ([]Finding, string) {
	return m.eachDB(func(v dbView) []Finding {
		conns, _ := v.delta("Connections")
		per := conns / (m.x * m.window)
		if per < connectsEach {
			return nil
		}
		var out []Finding
		for _, app := range m.in.Stack.OfKind(stack.App) {
			if !talksTo(app, v.svc.Name) {
				continue
			}
			for _, file := range AppFiles(m.in.Snapshot, app) {
				if _, n := KeepConnections(m.in.Snapshot.Files[app.HostName()][file].Content); n == 0 {
					continue
				}
				f := about(app.Name, app.Name+" is set to connect to "+v.svc.Name+" anew in each request",
					fmt.Sprintf("%.0f connections to %s for %.0f right answers (%.2f each), and by %s none is kept.", conns, v.svc.Name, m.x*m.window, per, file),
					"Connections of "+v.svc.Name, file)
				f.Subject = map[string]string{"file": file, "database": v.svc.Name}
				out = append(out, f.bounded(m.boundCalls(v.svc.Name)))
			}
		}
		return out
	})
}

// goPool is what to tell of Go programs, whose driver has no setting for it.
func (m *model) goPool() string {
	var names []string
	for name, a := range m.in.Snapshot.Apps {
		if a.Go != nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return fmt.Sprintf(" database/sql keeps 2 idle connections unless %s calls SetMaxIdleConns; no parameter of the driver's DSN says it.", strings.Join(names, ", "))
}
