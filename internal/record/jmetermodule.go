package record

import (
	"slices"
	"strconv"
)

// maxModules are read where module controllers call them.
const maxModules = 100

// module reads what a module controller refers to by its path of names
// (ModuleController.node_path).
func (p *jmeterPlan) module(e *jmx, scope jmeterScope, depth int) {
	var path []string
	for _, name := range e.list("ModuleController.node_path") {
		path = append(path, name.text)
	}
	p.modules++
	below := (*jmx)(nil)
	if len(path) > 0 && p.modules <= maxModules && p.more == 0 {
		below = findModule(p.tree, nil, path, 0)
	}
	if below == nil {
		p.leave(e.line, "%s %q: what it refers to is not sent here", e.tag, e.name())
		return
	}
	p.level(below, scope, depth+1)
}

// findModule is the hashTree below the element whose names, with those around
// it, end the path; nil: there is none.
func findModule(tree *jmx, around, path []string, depth int) *jmx {
	if depth > maxFolders {
		return nil
	}
	for i, e := range tree.children {
		if e.tag == "hashTree" || i+1 >= len(tree.children) || tree.children[i+1].tag != "hashTree" {
			continue
		}
		names := append(around[:len(around):len(around)], e.name())
		if n := len(path) - len(names); n >= 0 && slices.Equal(path[n:], names) {
			return tree.children[i+1]
		}
		if found := findModule(tree.children[i+1], names, path, depth+1); found != nil {
			return found
		}
	}
	return nil
}

// withStatuses adds those that an assertion expects to a list.
func (p *jmeterPlan) withStatuses(list []int, e *jmx) []int {
	list = slices.Clone(list)
	for _, n := range p.assertedStatus(e) {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// notFlag of Assertion.test_type turns the assertion round.
const notFlag = 4

// assertedStatus are the response codes of an assertion; none if it is about
// something else. Asserion is the property's name in JMeter's files.
func (p *jmeterPlan) assertedStatus(e *jmx) []int {
	kind, _ := strconv.Atoi(e.property("Assertion.test_type"))
	if e.property("Assertion.test_field") != "Assertion.response_code" || kind&notFlag != 0 {
		return nil
	}
	var out []int
	for _, s := range e.list("Asserion.test_strings") {
		n, err := strconv.Atoi(p.value(s.text, s.line))
		if err != nil || n < 200 || n > 599 {
			return nil
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
