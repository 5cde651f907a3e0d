package main

import (
	"fmt"
	"go/ast"
	"strings"
)

// clockReasons reads clockList: path, tab, why the file asks the clock. Empty
// lines and those that begin with # are for people.
func clockReasons(data []byte) (reasons map[string]int, out []problem) {
	reasons = map[string]int{}
	last := ""
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		file, why, _ := strings.Cut(line, "\t")
		switch {
		case strings.TrimSpace(why) == "":
			out = append(out, problem{clockList, i + 1, fmt.Sprintf("%s has no reason; write path, tab, why", file)})
		case file <= last:
			out = append(out, problem{clockList, i + 1, fmt.Sprintf("%s stands after %s; keep the list sorted", file, last)})
		}
		reasons[file], last = i+1, file
	}
	return reasons, out
}

// checkClock finds what makes a test's verdict depend on how fast the machine
// is: a sleep, and a look at how long something took. Allowed are both in
// waiter, in the virtual time of testing/synctest, and in the files of the list;
// a time that is only logged decides nothing. A listed file without either is a
// problem, too, so that the list says what is.
func checkClock(sources []*source, list []byte) []problem {
	reasons, out := clockReasons(list)
	used := map[string]bool{}
	for _, s := range sources {
		if !s.test && (!forTests(s.dir()) || contains(breakers, s.dir())) || s.dir() == waiter {
			continue
		}
		found := clockUses(s)
		if used[s.file] = len(found) > 0; reasons[s.file] == 0 {
			out = append(out, found...)
		}
	}
	for file, line := range reasons {
		if !used[file] {
			out = append(out, problem{clockList, line, file + " does not ask the clock; take it from the list"})
		}
	}
	return out
}

const sleeps = "a test that sleeps depends on the machine's speed; wait for the event (%s), or use testing/synctest (docs/contributing/testing.md)"

// clockUses are the sleeps and looks at the clock in s.
func clockUses(s *source) []problem {
	var out []problem
	limits := map[ast.Stmt]bool{}
	imports := importNames(s.tree)
	of := func(n ast.Node, pkg string) string {
		f, ok := n.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		if x, ok := f.X.(*ast.Ident); ok && x.Obj == nil && imports[x.Name] == pkg {
			return f.Sel.Name
		}
		return ""
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if of(n.Fun, "testing/synctest") == "Test" {
				return false
			}
			f, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if contains(logs, f.Sel.Name) && of(f, "log") == "" {
				return false
			}
			now, ok := f.X.(*ast.CallExpr)
			if ok && of(now.Fun, "time") == "Now" && contains(clockCompares, f.Sel.Name) {
				out = append(out, s.at(f, "a test that compares the time depends on the machine's speed; wait for the event (%s), or use testing/synctest (docs/contributing/testing.md)", waiter))
			}
		case *ast.CommClause:
			limits[n.Comm] = true
		case *ast.ExprStmt: // <-time.After(d) is a sleep, unless it is the limit beside an event
			if r, ok := n.X.(*ast.UnaryExpr); ok && !limits[n] {
				if c, ok := r.X.(*ast.CallExpr); ok && of(c.Fun, "time") == "After" {
					out = append(out, s.at(n, sleeps, waiter))
				}
			}
		case *ast.SelectorExpr:
			switch name := of(n, "time"); {
			case name == "Sleep":
				out = append(out, s.at(n, sleeps, waiter))
			case contains(clockReads, name):
				out = append(out, s.at(n, "a test that looks at how long something takes depends on the machine's speed; count what is done, or use testing/synctest (docs/contributing/testing.md)"))
			}
		}
		return true
	})
	return out
}
