package source

import (
	"cmp"
	"slices"
	"strings"

	"kasoku/internal/lazyregexp"
)

// Driver is a place where a program chooses that its MySQL driver prepares statements at
// the server, or could choose that it fills the values in itself.
type Driver struct {
	File     string `json:"file"` // below the folder
	Line     int    `json:"line"` // from 1
	Function string `json:"function,omitempty"`
	// Edit is what to write there.
	Edit string `json:"edit"`
}

// Drivers are the places of all files, in order. None where the drivers that are used fill
// values in by themselves (PHP's PDO, mysqlclient, DBD::mysql), or are told to.
func (x *Index) Drivers() []Driver {
	out := slices.Clone(x.drivers)
	slices.SortStableFunc(out, func(a, b Driver) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return out
}

// driverRule finds places in the tokens of one language.
type driverRule struct {
	languages string
	find      func(l *lang, toks []token) []Driver
}

// driverRules by driver. Each says what its manual calls the option.
var driverRules = []driverRule{
	{"go", goDriver},
	{"php", valueAfter("ATTR_EMULATE_PREPARES", []string{"false", "0"}, "PDO::ATTR_EMULATE_PREPARES => true: the driver puts the values in (PHP manual, \"PDO::setAttribute\")")},
	{"javascript typescript", callsOf("mysql2", "execute", "query(…) in place of execute(…): mysql2 then puts the values in (its README, \"Using Prepared Statements\")")},
	{"python", valueAfter("prepared", []string{"True"}, "a cursor without prepared=True: the driver puts the values in (MySQL Connector/Python, \"cursor.MySQLCursorPrepared\")")},
	{"java kotlin", inText(lazyregexp.New(`useServerPrepStmts=true`), "useServerPrepStmts=false, or cachePrepStmts=true beside it (MySQL Connector/J, \"Performance Extensions\")")},
	{"perl", inText(lazyregexp.New(`(?i)mysql_server_prepare=1`), "mysql_server_prepare=0: DBD::mysql puts the values in")},
	{"perl", valueAfter("mysql_server_prepare", []string{"1"}, "mysql_server_prepare => 0: DBD::mysql puts the values in")},
}

// drivers of one file.
func drivers(l *lang, toks []token, file string) []Driver {
	var out []Driver
	for _, r := range driverRules {
		if !slices.Contains(strings.Fields(r.languages), l.name) {
			continue
		}
		for _, d := range r.find(l, toks) {
			d.File = file
			out = append(out, d)
		}
	}
	return out
}

// goDSN is a data source name of go-sql-driver/mysql, with holes where the program puts
// parts in.
var goDSN = lazyregexp.New(`@(tcp|unix)\([^()\s]*\)/`)

const interpolate = "interpolateParams"

// goDriver finds data source names that a program puts together, and configurations
// (mysql.Config, mysql.NewConfig) that it fills. A file that names the option has chosen.
func goDriver(l *lang, toks []token) []Driver {
	if slices.ContainsFunc(toks, func(t token) bool { return strings.Contains(strings.ToLower(t.s), strings.ToLower(interpolate)) }) {
		return nil
	}
	in := functions(l, toks)
	var out []Driver
	for _, t := range rawTexts(l, toks) {
		at := goDSN.FindStringIndex(t.s)
		if at == nil {
			continue
		}
		edit := "“?" + interpolate + "=true” at the end of the data source name"
		if strings.Contains(t.s[at[1]:], "?") {
			edit = "“&" + interpolate + "=true” at the end of the data source name"
		}
		out = append(out, Driver{Line: t.Line, Function: t.Function, Edit: edit + " (go-sql-driver/mysql, \"interpolateParams\")"})
	}
	for i := range toks {
		switch {
		case is(toks, i, "mysql", ".", "NewConfig", "("):
			name := "the configuration"
			switch {
			case i > 2 && toks[i-1].s == "=" && toks[i-2].s == ":":
				name = toks[i-3].s
			case i > 1 && toks[i-1].s == "=":
				name = toks[i-2].s
			}
			out = append(out, Driver{Line: toks[i].line, Function: in[i], Edit: name + ".InterpolateParams = true after it (go-sql-driver/mysql, \"interpolateParams\")"})
		case is(toks, i, "mysql", ".", "Config", "{"):
			out = append(out, Driver{Line: toks[i].line, Function: in[i], Edit: "InterpolateParams: true among its fields (go-sql-driver/mysql, \"interpolateParams\")"})
		}
	}
	return out
}

// is reports whether the tokens from i on are these.
func is(toks []token, i int, want ...string) bool {
	if i+len(want) > len(toks) {
		return false
	}
	for j, s := range want {
		if toks[i+j].kind == text || toks[i+j].s != s {
			return false
		}
	}
	return true
}

// nearTokens is how far a value stands from its option's name: "=>", "," or "=" between.
const nearTokens = 4

// valueAfter finds an option by its name where one of these values follows.
func valueAfter(name string, values []string, edit string) func(*lang, []token) []Driver {
	return func(l *lang, toks []token) []Driver {
		in := functions(l, toks)
		var out []Driver
		for i, t := range toks {
			if t.s != name {
				continue
			}
			for j := i + 1; j < len(toks) && j <= i+nearTokens; j++ {
				if s := toks[j]; s.kind == word || s.s >= "0" && s.s <= "9" {
					if slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, s.s) }) {
						out = append(out, Driver{Line: t.line, Function: in[i], Edit: edit})
					}
					break
				}
			}
		}
		return out
	}
}

// callsOf finds calls of a method in files that name the driver.
func callsOf(driver, method, edit string) func(*lang, []token) []Driver {
	return func(l *lang, toks []token) []Driver {
		if !slices.ContainsFunc(toks, func(t token) bool {
			return t.kind == text && (t.s == driver || strings.HasPrefix(t.s, driver+"/"))
		}) {
			return nil
		}
		in := functions(l, toks)
		var out []Driver
		for i := range toks {
			if is(toks, i, ".", method, "(") {
				out = append(out, Driver{Line: toks[i].line, Function: in[i], Edit: edit})
			}
		}
		return out
	}
}

// inText finds texts that hold a pattern.
func inText(re *lazyregexp.Regexp, edit string) func(*lang, []token) []Driver {
	return func(l *lang, toks []token) []Driver {
		var out []Driver
		for _, t := range texts(l, toks) {
			if re.MatchString(t.s) {
				out = append(out, Driver{Line: t.Line, Function: t.Function, Edit: edit})
			}
		}
		return out
	}
}
