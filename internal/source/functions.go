package source

import "strings"

// functions names the function that each token stands in: "Class.method", "" outside.
func functions(l *lang, toks []token) []string {
	if l.indented {
		return byIndent(l, toks)
	}
	bodies := map[int]string{} // by the token of the { that begins it
	for i := range toks {
		if name, at := declared(l, toks, i); name != "" {
			bodies[at] = name
		} else if name, at := handler(toks, i); name != "" && bodies[at] == "" {
			bodies[at] = name
		}
	}
	out := make([]string, len(toks))
	var open []scope
	depth := 0
	for i, t := range toks {
		if t.kind == sign && t.s == "{" {
			depth++
			if name := bodies[i]; name != "" {
				open = append(open, scope{name, depth})
			}
		}
		out[i] = joined(l, open)
		if t.kind == sign && t.s == "}" {
			if n := len(open); n > 0 && open[n-1].at == depth {
				open = open[:n-1]
			}
			depth = max(0, depth-1)
		}
	}
	return out
}

// registers are the calls that give a route its function.
var registers = set("get post put patch delete del head options any all use match route map handle handlefunc group before after")

// handler is a function without a name that a route is given, app.get("/x", () => {…}): the
// route names it. at is the { of its body; "" if token i is no such call.
func handler(toks []token, i int) (name string, at int) {
	if toks[i].kind != word || !registers[strings.ToLower(toks[i].s)] || i+2 >= len(toks) || toks[i+1].s != "(" || !route(toks[i+2]) {
		return "", 0
	}
	end := behind(toks, i+1)
	for j := i + 3; j < end; j++ {
		if toks[j].kind == sign && toks[j].s == "{" {
			if before := toks[j-1].s; before == "=>" || before == ")" || toks[j-1].kind == word {
				return toks[i].s + " " + toks[i+2].s, j
			}
		}
	}
	return "", 0
}

// route reports whether a token is the path of one.
func route(t token) bool {
	return t.kind == text && strings.HasPrefix(t.s, "/") && len(t.s) < 200 && !strings.ContainsAny(t.s, " \n")
}

// scope is an open class or function; at is its depth, or its column.
type scope struct {
	name string
	at   int
}

func joined(l *lang, open []scope) string {
	if len(open) == 1 {
		return open[0].name
	}
	sep := map[string]string{"php": "::", "ruby": "#", "perl": "::"}[l.name]
	if sep == "" {
		sep = "."
	}
	var names []string
	for _, s := range open {
		names = append(names, s.name)
	}
	return strings.Join(names, sep)
}

// byIndent is functions for languages whose blocks end where the indentation does, or
// with an end that stands below what it ends.
func byIndent(l *lang, toks []token) []string {
	out := make([]string, len(toks))
	var open []scope
	column, depth := 0, 0
	for i, t := range toks {
		if t.first && depth == 0 {
			column = t.col
			for n := len(open); n > 0 && open[n-1].at >= column; n = len(open) {
				open = open[:n-1]
			}
		}
		if t.kind == sign {
			switch t.s {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth = max(0, depth-1)
			}
		}
		if t.kind == word && (t.s == "def" || t.s == "class" || t.s == "module") && i+1 < len(toks) && toks[i+1].kind == word && (i == 0 || toks[i-1].s != ".") {
			name := toks[i+1].s
			for j := i + 2; j+1 < len(toks) && (toks[j].s == "." || toks[j].s == "::") && toks[j+1].kind == word; j += 2 {
				name = toks[j+1].s // self.name, A::B
			}
			open = append(open, scope{name, column})
		}
		if t.first && t.kind == word && registers[t.s] && i+1 < len(toks) && route(toks[i+1]) {
			open = append(open, scope{t.s + " " + toks[i+1].s, column}) // get '/x' do
		}
		out[i] = joined(l, open)
	}
	return out
}

// notNames look like functions and are none.
var notNames = map[string]bool{"if": true, "for": true, "foreach": true, "while": true, "switch": true, "catch": true, "function": true, "return": true,
	"elseif": true, "unless": true, "until": true, "with": true, "synchronized": true, "try": true, "match": true, "using": true, "when": true}

// declared is a function or class that is declared at token i, and the { of its body; ""
// if none is.
func declared(l *lang, toks []token, i int) (name string, at int) {
	t := toks[i]
	if t.kind != word {
		return "", 0
	}
	next := func(n int) token {
		if i+n < len(toks) {
			return toks[i+n]
		}
		return token{kind: sign}
	}
	switch {
	case l.name == "go":
		if t.s != "func" {
			return "", 0
		}
		return goFunction(toks, i)
	case t.s == "class" || t.s == "trait" || t.s == "interface" || t.s == "object" || t.s == "enum":
		if next(1).kind == word && next(1).s != "extends" && l.name != "perl" {
			return next(1).s, body(toks, i+2)
		}
	case t.s == "function" && (l.name == "php" || l.name == "javascript"), t.s == "sub" && l.name == "perl", t.s == "fun" && l.name == "kotlin":
		n := 1
		if next(n).s == "&" || next(n).s == "*" {
			n++
		}
		if next(n).kind == word {
			return next(n).s, body(toks, i+n+1)
		}
		if i > 1 && (toks[i-1].s == "=" || toks[i-1].s == ":") && toks[i-2].kind == word {
			return toks[i-2].s, body(toks, i+n)
		}
	case l.name == "javascript":
		return method(toks, i, true)
	case l.name == "java":
		return method(toks, i, false)
	}
	return "", 0
}

// body is the { that begins a body after token i: the next one outside of brackets. 0 if
// a statement ends before it.
func body(toks []token, i int) int {
	depth := 0
	for j := i; j < len(toks) && j < i+mostExpression; j++ {
		switch toks[j].s {
		case "(", "[":
			depth++
		case ")", "]":
			depth--
		case "{":
			if depth == 0 && toks[j].kind == sign {
				return j
			}
		case ";":
			if depth == 0 {
				return 0
			}
		}
	}
	return 0
}

// behind is the token after the bracket that ends what begins at i.
func behind(toks []token, i int) int {
	depth := 0
	for j := i; j < len(toks); j++ {
		switch toks[j].s {
		case "(", "[", "{":
			if toks[j].kind == sign {
				depth++
			}
		case ")", "]", "}":
			if depth--; toks[j].kind == sign && depth == 0 {
				return j + 1
			}
		}
	}
	return len(toks)
}

// goFunction is the function whose "func" is token i.
func goFunction(toks []token, i int) (name string, at int) {
	j, of := i+1, ""
	if j < len(toks) && toks[j].s == "(" {
		end := behind(toks, j)
		for k := j; k < end; k++ {
			if toks[k].kind == word {
				of = toks[k].s
			}
			if toks[k].s == "[" {
				break
			}
		}
		j = end
	}
	if j >= len(toks) || toks[j].kind != word {
		return "", 0
	}
	if name = toks[j].s; of != "" {
		name = of + "." + name
	}
	for j++; j < len(toks); j++ {
		switch t := toks[j]; {
		case t.s == "(" || t.s == "[":
			j = behind(toks, j) - 1
		case t.s == "{" && (toks[j-1].s == "interface" || toks[j-1].s == "struct"):
			j = behind(toks, j) - 1
		case t.s == "{":
			return name, j
		case t.first && t.s == "func":
			return "", 0
		}
	}
	return "", 0
}

// method is name(…) {, and in JavaScript name = (…) => {, that is declared at token i.
func method(toks []token, i int, js bool) (name string, at int) {
	name = toks[i].s
	if notNames[name] || i+1 >= len(toks) || i > 0 && (toks[i-1].s == "." || toks[i-1].s == "new" || toks[i-1].s == "->") {
		return "", 0
	}
	j := i + 1
	assigned := js && (toks[j].s == "=" || toks[j].s == ":")
	if assigned {
		if j++; j < len(toks) && toks[j].s == "async" {
			j++
		}
	}
	switch {
	case j >= len(toks):
		return "", 0
	case toks[j].s == "(":
		j = behind(toks, j)
	case assigned && toks[j].kind == word:
		j++
	default:
		return "", 0
	}
	arrow := false
	for k := j; k < len(toks) && k < j+30; k++ {
		switch t := toks[k]; {
		case t.s == "=>":
			arrow = true
		case t.s == "{" && t.kind == sign:
			if assigned == arrow {
				return name, k
			}
			return "", 0
		case t.kind == word || t.s == ":" || t.s == "<" || t.s == ">" || t.s == "," || t.s == "." || t.s == "[" || t.s == "]" || t.s == "|":
			if !js && t.kind == sign && t.s == ":" {
				return "", 0
			}
		default:
			return "", 0
		}
	}
	return "", 0
}
