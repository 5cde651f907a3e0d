package main

import (
	"regexp"
	"strings"
)

// module is the path in go.mod.
const module = "kasoku"

// layer is one step of the pipeline. A package may import packages of earlier
// layers and of its own group, nothing else of the module.
type layer []string

// layers is the import order, left to right as data flows (docs/explanation/architecture.md).
// A name stands for the folder under internal/ and all that is in it; these
// are the groups. Two groups in one layer do not import each other.
var layers = []layer{
	{"rapidseed", "await", "lazyregexp", "envelope"},
	{"confedit/textedit", "confedit/memory", "redact"},
	{"confedit/args"},
	{"lab", "regulation", "host", "stat", "ui", "phpsyntax", "tables", "confedit/apache", "confedit/ini", "confedit/nginx", "confedit/phpvars", "confedit/sysctl", "confedit/redis", "confedit/shell", "confedit/memcached", "confedit/unit", "confedit/supervisor", "confedit/vcl", "confedit/haproxy", "accesslog", "sqllog", "appserver", "completion", "manual"},
	{"load", "digest", "source", "patch", "trace", "confedit", "history", "knownapp", "kind", "accelerator"},
	{"foreign", "record", "prefetch"},
	{"stack"},
	{"change", "evidence", "rewind"},
	{"diagnose"},
	{"remedy/index", "remedy/planning"},
	{"scratch", "remedy/database", "remedy/web", "remedy/kernel", "remedy/packages", "remedy/units", "remedy/boot", "remedy/workload"},
	{"remedy/php", "remedy/pagecache", "remedy/apps", "remedy/topology"},
	{"remedy/cache", "remedy/front", "remedy/applications"},
	{"remedy"},
	{"experiment", "prove"},
	{"store"},
	{"tune", "capacity"},
	{"report", "screen"},
	{"mcp", "web"},
}

// alone are groups that import nothing of the module and that nothing imports.
var alone = []string{"lint"}

// testOnly are packages that only tests may import, and what serves only these:
// each other, and testBeds.
var testOnly = []string{"await", "host/hosttest", "host/sshtest", "lab/labtest", "confedit/memory", "ui/uitest", "rapidseed", "change/secrettest", "ui/webtest"}

// testBeds are what the tests of remedies, and those of cases, have in common.
var testBeds = []string{"cases/remedies/bed", "cases/lib/played"}

// waiter is where tests wait.
const waiter = "internal/await"

// clockList names the files that ask the clock for a reason (checkClock).
const clockList = "internal/lint/clock.txt"

// clockReads are the functions of package time whose result is another one on a
// machine that is busy.
var clockReads = []string{"Since", "Until"}

// clockCompares are the methods of a time.Time that compare it.
var clockCompares = []string{"Sub", "Before", "After", "Compare"}

// logs are the methods whose arguments decide nothing.
var logs = []string{"Log", "Logf"}

// breakers break hosts on purpose, as tests do.
var breakers = []string{"bench/faults"}

// outer are the folders beside internal/ whose packages may import everything
// and are imported by nothing.
var outer = []string{"cmd", "cases", "scripts", "bench"}

// writer is a method of host.Host that changes the host.
type writer struct {
	name string
	// args is how many arguments a call has; it tells host's Remove from others
	// of that name. 0: the name is enough.
	args int
}

var writers = []writer{{"ReplaceFile", 0}, {"MakeDir", 0}, {"RemoveDir", 0}, {"Remove", 3}}

// mayWrite are the groups that call writers: change, and host itself with its
// contract suite.
var mayWrite = []string{"change", "host"}

// mostFields is how many fields a struct of a package has at most (checkFields), where
// that is asked for: the loop, whose state was the hardest to follow.
var mostFields = map[string]int{"internal/tune": 15}

// pureFiles choose what a session tries next (internal/tune/schedule.go): they are told
// what time it is, and read nothing, so that a recorded session can be replayed through
// them (checkPure).
var pureFiles = []string{"internal/tune/schedule.go", "internal/tune/tried.go", "internal/tune/promise.go", "internal/tune/learned.go",
	"internal/tune/joined.go", "internal/tune/split.go", "internal/tune/order.go"}

// impure are the packages that they may not import, and the functions of package time
// that they may not use.
var (
	impureImports = []string{"context", "os", "net", "net/http", "database/sql", "math/rand", "math/rand/v2", "sync", module + "/internal/host"}
	impureTime    = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}
)

// exits are the functions that end the process without running deferred work.
// Only a command's main package calls them.
var exits = map[string][]string{
	"os":  {"Exit"},
	"log": {"Fatal", "Fatalf", "Fatalln"},
}

// word is text that no tracked file may hold.
type word struct {
	re  *regexp.Regexp
	low [][]byte // in small letters; one of them is in whatever re matches
	why string
}

// words is split inside so that this file does not hold what it forbids.
var words = []word{
	oneOf(`(^|[^\w.*/-])`, ``, "a path of one machine; write a relative one, or a placeholder", "/wo"+"rk/", "/ro"+"ot/"),
	oneOf(`\b`, `\b`, "something left to be done; do it or open an issue", "TO"+"DO", "FIX"+"ME", "XX"+"X"),
	oneOf(`(?i)\b`, `\b`, "the name of a tool that has no part in the project", "cla"+"ude", "anth"+"ropic", "chat"+"gpt", "open"+"ai", "cop"+"ilot"),
	oneOf(`(?i)\b`, `\b`, "a package registry's host; its client knows it",
		"proxy.go"+"lang.org", "sum.go"+"lang.org", "deb.deb"+"ian.org", "py"+"pi.org", "registry.np"+"mjs.org", "crates."+"io"),
}

// oneOf is one of the texts between two expressions.
func oneOf(before, after, why string, texts ...string) word {
	w := word{why: why}
	var quoted []string
	for _, text := range texts {
		quoted = append(quoted, regexp.QuoteMeta(text))
		w.low = append(w.low, []byte(strings.ToLower(text)))
	}
	w.re = regexp.MustCompile(before + "(" + strings.Join(quoted, "|") + ")" + after)
	return w
}

func forbid(expr string) *regexp.Regexp { return regexp.MustCompile(expr) }
