package apache

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// debianModules are compiled into Debian's apache2 (apache2 -l, 2.4.57 to 2.4.66).
var debianModules = []string{"core.c", "mod_so.c", "mod_watchdog.c", "http_core.c", "mod_log_config.c", "mod_logio.c", "mod_version.c", "mod_unixd.c"}

// sources are the names by which <IfModule> knows modules whose source file is
// not mod_NAME.c. They are from the modules' sources.
var sources = map[string]string{
	"mpm_prefork_module": "prefork.c", "mpm_worker_module": "worker.c", "mpm_event_module": "event.c", "mpm_itk_module": "mpm_itk.c",
	"php_module": "mod_php.c", "php7_module": "mod_php7.c", "php5_module": "mod_php5.c", "ldap_module": "util_ldap.c",
	"apreq_module": "mod_apreq2.c", "security2_module": "mod_security2.c", "wsgi_module": "mod_wsgi.c", "core_module": "core.c", "http_module": "http_core.c",
}

// identifiers are those of compiled-in modules whose source file is not
// mod_NAME.c.
var identifiers = map[string]string{
	"core.c": "core_module", "http_core.c": "http_module", "prefork.c": "mpm_prefork_module", "worker.c": "mpm_worker_module", "event.c": "mpm_event_module", "util_ldap.c": "ldap_module",
}

// state is what the server knows when it comes to a line.
type state struct {
	root    string
	defines map[string]bool
	// vars are the values of Define, by lower-case name (the server keeps them
	// in an apr_table), before the environment.
	vars    map[string]string
	env     map[string]string
	modules map[string]bool // identifiers and source files
	version string
	macros  map[string]macro // by lower-case name
}

func newState(o Options) *state {
	s := &state{root: o.Root, defines: map[string]bool{}, vars: map[string]string{}, env: o.Env, modules: map[string]bool{}, version: o.Version, macros: map[string]macro{}}
	for _, d := range o.Defines {
		s.defines[d] = true
	}
	compiled := o.Compiled
	if compiled == nil {
		compiled = debianModules
	}
	for _, m := range compiled {
		s.modules[m] = true
		id := identifiers[m]
		if id == "" {
			id = strings.TrimSuffix(strings.TrimPrefix(m, "mod_"), ".c") + "_module"
		}
		s.modules[id] = true
	}
	return s
}

// take notes a directive that acts while the server reads.
func (s *state) take(d *Directive) {
	if d.IsSection || len(d.Args) == 0 {
		return
	}
	switch strings.ToLower(d.Name) {
	case "define":
		s.defines[d.Args[0]] = true
		if len(d.Args) > 1 {
			s.vars[strings.ToLower(d.Args[0])] = d.Args[1]
		}
	case "undefine":
		delete(s.defines, d.Args[0])
		delete(s.vars, strings.ToLower(d.Args[0]))
	case "serverroot":
		s.root = d.Args[0]
	case "undefmacro":
		delete(s.macros, strings.ToLower(d.Args[0]))
	case "loadmodule":
		s.modules[d.Args[0]] = true
		source := sources[d.Args[0]]
		if source == "" {
			source = "mod_" + strings.TrimSuffix(d.Args[0], "_module") + ".c"
		}
		s.modules[source] = true
	}
}

// under makes a path absolute.
func (s *state) under(name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(s.root, name)
}

// resolve replaces ${NAME} where NAME is defined or in the environment; what
// is neither stays (ap_resolve_env in server/core.c). The server does this to
// the whole line before it cuts words.
func (s *state) resolve(text string) string {
	if !strings.Contains(text, "${") {
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			break
		}
		end := strings.IndexByte(text[i+2:], '}')
		if end < 0 {
			break
		}
		name := text[i+2 : i+2+end]
		value, ok := s.vars[strings.ToLower(name)]
		if !ok {
			value, ok = s.env[name]
		}
		if !ok {
			value = text[i : i+3+end]
		}
		b.WriteString(text[:i])
		b.WriteString(value)
		text = text[i+3+end:]
	}
	return b.String() + text
}

// condition says whether the server takes what is in section d.
func (s *state) condition(c *Config, d *Directive) State {
	if !d.open() {
		return Active
	}
	arg := ""
	if len(d.Args) > 0 {
		arg = d.Args[0]
	}
	name, not := strings.CutPrefix(arg, "!")
	holds := false
	switch strings.ToLower(d.Name) {
	case "ifmodule":
		holds = s.modules[name]
	case "ifdefine":
		holds = s.defines[name]
	case "iffile":
		_, err := c.read(s.under(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Unknown
		}
		holds = err == nil
	case "ifversion":
		ok, known := versionHolds(s.version, d.Args)
		if !known {
			return Unknown
		}
		holds, not = ok, false
	default: // IfDirective and IfSection depend on what modules define
		return Unknown
	}
	if holds != not {
		return Active
	}
	return Inactive
}

// versionHolds compares as <IfVersion> does (mod_version): [[!]operator]
// version, where the operator is = when it is left out.
func versionHolds(version string, args []string) (holds, known bool) {
	if version == "" || len(args) == 0 || len(args) > 2 {
		return false, false
	}
	op, want := "=", args[len(args)-1]
	if len(args) == 2 {
		op = args[0]
	}
	op, not := strings.CutPrefix(op, "!")
	cmp := 0
	switch {
	case op == "~" || strings.HasPrefix(want, "/"):
		re, err := regexp.Compile(strings.Trim(want, "/"))
		if err != nil {
			return false, false
		}
		return re.MatchString(version) != not, true
	default:
		var ok bool
		if cmp, ok = compareVersions(version, want); !ok {
			return false, false
		}
	}
	switch op {
	case "=", "==":
		holds = cmp == 0
	case ">":
		holds = cmp > 0
	case ">=":
		holds = cmp >= 0
	case "<":
		holds = cmp < 0
	case "<=":
		holds = cmp <= 0
	default:
		return false, false
	}
	return holds != not, true
}

// compareVersions compares major.minor.patch; missing parts are 0.
func compareVersions(a, b string) (int, bool) {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range 3 {
		var m, n int
		var err error
		if i < len(x) {
			if m, err = strconv.Atoi(x[i]); err != nil {
				return 0, false
			}
		}
		if i < len(y) {
			if n, err = strconv.Atoi(y[i]); err != nil {
				return 0, false
			}
		}
		if m != n {
			return m - n, true
		}
	}
	return 0, true
}
