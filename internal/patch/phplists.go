package patch

import (
	"slices"
	"strings"
)

// phpListFetches are the calls that give all rows.
var phpListFetches = map[string]string{"fetchall": "PDO", "fetch_all": "mysqli", "mysqli_fetch_all": "mysqli"}

// isListFetch reports a call that looks as if it gave all rows.
func isListFetch(n *phpNode) bool {
	name := calledNameOf(n)
	return phpListFetches[name] != "" && n.Is("Expr_FuncCall") == strings.HasPrefix(name, "mysqli_")
}

// fetchAPI is whose rows a fetch gives: "PDO", "mysqli".
func fetchAPI(fetch *phpNode) string {
	if isListFetch(fetch) {
		return phpListFetches[calledName(fetch)]
	}
	return phpFetches[calledName(fetch)]
}

// loopAround is the nearest loop or function around an expression in whose turns it is asked
// for: what a foreach goes over is asked for once, before it.
func loopAround(n *phpNode) *phpNode {
	around := n.Around(append(phpLoops, phpScopes...)...)
	for around.Is("Stmt_Foreach") && n.Within(around.Node("expr")) {
		around = around.Around(append(phpLoops, phpScopes...)...)
	}
	return around
}

// overList is the foreach that goes over all that a fetch gives, nil if none does.
func overList(fetch *phpNode) *phpNode {
	if each := fetch.Parent; each.Is("Stmt_Foreach") && each.Node("expr") == fetch && isListFetch(fetch) {
		return each
	}
	return nil
}

// ofStatement: a loop goes over the rows of a statement or a result itself.
func (r *phpRead) ofStatement() bool {
	return r.each != nil && r.fetch == r.each.Node("expr") && !isListFetch(r.fetch)
}

// overList is the loop that goes over the list that is read, or that a function gives.
func (w *phpWriter) overList() *phpNode {
	if !w.read.list || w.via == nil {
		return w.read.each
	}
	if each := w.at.Parent; each.Is("Stmt_Foreach") && each.Node("expr") == w.at {
		return each
	}
	return nil
}

// overStatement looks at a loop, within another one, over the rows of a statement or result.
func (f *phpFinder) overStatement(of *file, each *phpNode) {
	r, why := f.readInto(&phpRead{f: of, fetch: each.Node("expr"), list: true, each: each})
	if r == nil || isListFetch(r.fetch) {
		return
	}
	if why == nil && each.Has("byRef") {
		why = refuse("end", "it goes over the rows by reference")
	}
	f.inLoop(r, why)
}

// inWhile looks at a loop, within another one, that fetches row by row.
func (f *phpFinder) inWhile(of *file, fetch, loop *phpNode) {
	row, is := whileRow(loop)
	if is != fetch || !loopAround(loop).Is(phpLoops...) {
		return
	}
	r, why := f.readInto(&phpRead{f: of, fetch: fetch, api: fetchAPI(fetch), list: true, each: loop})
	if r == nil {
		return
	}
	switch scope := phpScope(loop); {
	case why != nil:
	case row == "" || r.mode == "COLUMN":
		why = refuse("end", "it ends with the first value that is empty")
	case f.text.unbuffered:
		why = refuse("end", "the result that it goes through is not known to be read whole")
	case len(f.usesAfter(scope, row, loop)) > 0 || scope.Kind == "" && f.seenElsewhere(of, row):
		why = refuse("end", "$%s is used behind the loop", row)
	}
	f.inLoop(r, why)
}

// shape of the place of a read.
func (r *phpRead) shape() string {
	if r.list || isSum(r.text) {
		return "P2"
	}
	return "P1"
}

// what a read gives.
func (r *phpRead) what() string {
	switch {
	case r.list:
		return "a list"
	case isSum(r.text):
		return "a sum"
	}
	return "a row"
}

// branchable checks the statement of a list, which becomes branches of a UNION ALL.
func (p *php) branchable(r *phpRead) *Refusal {
	b, why := parseBranch(r.text)
	switch {
	case why != "":
		return refuse("statement", "%s", why)
	case b.params != len(r.args):
		return refuse("statement", "its placeholders and values do not go together one by one")
	case len(b.tables) == 0:
		return refuse("statement", "it reads no table")
	}
	for at, among := range b.inList {
		if among {
			return refuse("statement", "%s stands among its columns", short(r.f.phpText(r.args[at])))
		}
	}
	s := p.program.schema
	for _, t := range b.tables {
		if s.tables[strings.ToLower(t)] == nil {
			return refuse("statement", "neither a .sql file nor a run shows the columns of %s, which a UNION may give in another form", t)
		}
		if column := s.unlikeInUnion(t); column != "" {
			return refuse("statement", "%s.%s is a %s, which a UNION may give in another form", t, column, strings.ToUpper(s.typeOf(t, column)))
		}
	}
	if r.number = b.numberColumn(s); r.number == "" {
		return refuse("statement", "no name is free for the key of a branch")
	}
	r.branch, r.sql = b, &read{table: b.tables[0]}
	return nil
}

// findInBranch notes the only value that varies.
func (r *phpRead) findInBranch(at int) *Refusal {
	r.keyArg = r.args[at]
	r.key.column = "key"
	ws, _ := words(r.text)
	marks := -1
	for i, w := range ws {
		if w.is("?") {
			marks++
		}
		if marks == at {
			if i > 1 && ws[i-1].is("=") && ws[i-2].isName() {
				r.key.column = ws[i-2].text
			}
			break
		}
	}
	return nil
}

// most branches of one statement; all of its rows are kept until the next one is sent.
func (r *phpRead) most() string {
	if r.branch.limited {
		return phpNumber(mostBranches)
	}
	return phpNumber(mostLists)
}

// lists writes the function that gives the list of a key, and reads those of the next keys
// with it.
func (b *phpBody) lists(free []string) {
	r, keys := b.r, b.keys
	key, next, lists := b.local("key"), b.local("next"), b.local("lists")
	b.line(0, keys+" = array_values(array_unique(array_filter("+keys+", function ("+key+") {")
	b.line(1, "return is_int("+key+") || is_string("+key+") && (string) (int) "+key+" === "+key+";")
	b.line(0, "})));")
	b.line(0, next+" = array_flip("+keys+"); // what was not read yet")
	b.line(0, lists+" = [];")
	uses := ""
	for _, v := range free {
		uses += "$" + v + ", "
	}
	b.line(0, "return function ("+key+") use ("+uses+keys+", &"+next+", &"+lists+") {")
	b.line(1, "if (isset("+lists+"["+key+"]) || !isset("+next+"["+key+"])) {")
	b.line(2, "return "+lists+"["+key+"] ?? null;")
	b.line(1, "}")
	branches, values, some := b.local("branches"), "", b.local("some")
	made := lists + " = " + branches
	if r.prepared && !b.bound() {
		values = b.local("values")
		made += " = " + values
	}
	b.line(1, made+" = [];")
	b.line(1, "foreach (array_slice("+keys+", "+next+"["+key+"], "+r.most()+") as "+some+") {")
	b.line(2, "if (isset("+next+"["+some+"])) {")
	b.line(3, branches+"[] = "+b.branch(some)+";")
	if values != "" {
		b.line(3, "array_push("+values+", "+strings.Join(b.given(some), ", ")+");")
	}
	b.line(3, lists+"["+some+"] = [];")
	b.line(3, "unset("+next+"["+some+"]);")
	b.line(2, "}")
	b.line(1, "}")
	b.line(1, "if (count("+branches+") === 1) {")
	b.line(2, "return "+lists+" = null; // which is read alone")
	b.line(1, "}")
	b.send(branches, values, lists, some)
	b.line(1, "return "+lists+"["+key+"] ?? null;")
	b.line(0, "};")
}

// bound: values are bound one by one, since some of them are bound as numbers.
func (b *phpBody) bound() bool { return b.r.api == "PDO" && len(b.r.numbers) > 0 }

// branch is the text of the branch of one key.
func (b *phpBody) branch(key string) string {
	head, tail := b.r.branch.withNumber(b.r.number)
	tag := phpQuote(head) + " . (int) " + key + " . "
	if b.r.prepared {
		return tag + phpQuote(tail)
	}
	before, after, _ := strings.Cut(tail, "?")
	return tag + phpQuote(before+b.r.quote) + " . " + key + " . " + phpQuote(b.r.quote+after)
}

// given are the values of the branch of one key.
func (b *phpBody) given(key string) []string {
	var out []string
	for _, a := range b.r.args {
		if a == b.r.keyArg {
			out = append(out, key)
		} else {
			out = append(out, b.r.f.phpText(a))
		}
	}
	return out
}

// send sends the branches and puts their rows into lists.
func (b *phpBody) send(branches, values, lists, some string) {
	r := b.r
	stmt, caught := b.local("stmt"), map[string]string{"PDO": "PDOException", "mysqli": "mysqli_sql_exception"}[r.api]
	all := "implode(' UNION ALL ', " + branches + ")"
	handle := ""
	if r.handle != nil {
		handle = r.f.phpText(r.handle)
	}
	b.line(1, "try {")
	switch {
	case r.sender != "":
		b.line(2, stmt+" = "+r.sender+"("+all+", "+values+");")
	case !r.prepared:
		b.line(2, stmt+" = "+handle+"->query("+all+");")
	default:
		b.line(2, stmt+" = "+handle+"->prepare("+all+");")
		b.bind(stmt, values, lists, some)
	}
	b.rows(stmt, lists)
	b.line(1, "} catch ("+b.w.fileOf().class(caught)+" "+b.local("e")+") {")
	b.line(2, lists+" = []; // each is read alone then")
	b.line(1, "}")
}

// bind gives the statement its values and executes it.
func (b *phpBody) bind(stmt, values, lists, some string) {
	r := b.r
	switch {
	case b.bound():
		at := b.local("at")
		b.line(2, at+" = 0;")
		b.line(2, "foreach (array_keys("+lists+") as "+some+") {")
		given := b.given(some)
		for i, a := range r.args {
			number := ""
			if slices.Contains(r.numbers, a) {
				number = ", " + b.w.fileOf().class("PDO") + "::PARAM_INT"
			}
			b.line(3, stmt+"->bindValue(++"+at+", "+given[i]+number+");")
		}
		b.line(2, "}")
		b.line(2, stmt+"->execute();")
	case r.api == "PDO":
		b.line(2, stmt+"->execute("+values+");")
	default:
		b.line(2, stmt+"->bind_param(str_repeat("+phpQuote(r.types)+", count("+lists+")), ..."+values+");")
		b.line(2, stmt+"->execute();")
	}
}

// rows takes the rows of a statement, whose last column is the key.
func (b *phpBody) rows(stmt, lists string) {
	r, row, result := b.r, b.local("row"), stmt
	mode := r.mode
	if mode == "COLUMN" {
		mode = "NUM"
	}
	fetch := "fetch(" + b.w.fileOf().class("PDO") + "::FETCH_" + mode + ")"
	if r.api == "mysqli" {
		fetch = "fetch_array(MYSQLI_" + mode + ")"
		if r.prepared {
			result = b.local("result")
			b.line(2, result+" = "+stmt+"->get_result();")
		}
	}
	b.line(2, "while ("+row+" = "+result+"->"+fetch+") {")
	if mode == "BOTH" {
		b.line(3, "array_pop("+row+"); // the key has a name and a number")
	}
	of := b.local("of")
	b.line(3, of+" = array_pop("+row+");")
	if r.mode == "COLUMN" {
		row += "[0]"
	}
	b.line(3, lists+"["+of+"][] = "+row+";")
	b.line(2, "}")
}

// writeList puts a list into a variable, and has the loop go over it.
func (w *phpWriter) writeList(each *phpNode, ask, found, indent, unit string) {
	lines := []string{ask}
	rest := w.read.region[:len(w.read.region)-1]
	switch {
	case w.via != nil:
		lines = append(lines, w.listName+" = "+found+" ?? "+w.f.phpText(w.at)+";")
	case len(rest) == 0:
		lines = append(lines, w.listName+" = "+found+" ?? "+w.allRows()+";")
	default:
		lines = append(lines, w.listName+" = "+found+";", "if ("+w.listName+" === null) {",
			unit+w.f.indented(rest[0].From, rest[len(rest)-1].To, unit, rest), unit+w.listName+" = "+w.allRows()+";", "}")
		w.edit(rest[0].From, each.From, strings.Join(lines, "\n"+indent)+"\n"+indent)
		lines = nil
	}
	if lines != nil {
		w.insert(each, indent, lines)
	}
	if each.Is("Stmt_Foreach") {
		w.edit(each.Node("expr").From, each.Node("expr").To, w.listName)
		return
	}
	row, _ := whileRow(each)
	(&phpWriter{php: w.php, f: w.f, place: w.place, loop: &phpLoop{f: w.f, node: each, head: "foreach (" + w.listName + " as $" + row + ")"}}).writeHead()
}

// allRows is the text of what gives the rows of the statement at once.
func (w *phpWriter) allRows() string {
	r := w.read
	of := r.f.phpText(r.fetch)
	switch {
	case isListFetch(r.fetch):
		return of
	case isFetch(r.fetch):
		of = r.f.phpText(objectOf(r.fetch))
	}
	if r.api == "mysqli" {
		return of + "->fetch_all(MYSQLI_" + r.mode + ")"
	}
	return of + "->fetchAll(" + r.f.class("PDO") + "::FETCH_" + r.mode + ")"
}
