package patch

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// started is a program that is started for what the standard library does.
type started struct {
	f      *file
	call   *ast.CallExpr // of exec.Command
	output *ast.CallExpr // of its Output
	ctx    ast.Expr      // of exec.CommandContext; nil: without
	argv   []ast.Expr    // the program and its arguments
	// gone are the statements that make the command and its input, where they stand apart.
	gone  []ast.Stmt
	stdin ast.Expr // what the program reads, if it is given so
	// script is the text that a shell is given; hole is the part of it that is quoted, of
	// the text inner.
	script      []part
	scriptOf    ast.Expr
	hole, inner ast.Expr
	does        *job
}

// part of a script: a constant text, or what a function for quotes gives.
type part struct {
	text string
	hole ast.Expr
}

var shells = []string{"sh", "/bin/sh", "bash", "/bin/bash", "/usr/bin/bash", "/usr/bin/sh"}

// findStarted finds P11.
func findStarted(p *Program) []*Place {
	var out []*Place
	for _, f := range p.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if path, name, fn := f.calls(call); fn == nil || path != "os/exec" || name != "Command" && name != "CommandContext" || len(call.Args) == 0 {
				return true
			}
			if at := f.startedPlace(call); at != nil {
				out = append(out, at)
			}
			return true
		})
	}
	return out
}

// startedPlace judges the start of a program; nil if it is none of those that are known.
func (f *file) startedPlace(call *ast.CallExpr) *Place {
	s := &started{f: f, call: call, argv: call.Args}
	if _, name, _ := f.calls(call); name == "CommandContext" {
		s.ctx, s.argv = call.Args[0], call.Args[1:]
	}
	tool := s.tool()
	if tool == "" {
		return nil
	}
	at := f.place("P11", call, tool+" started in each call")
	at.refused(f.own()).refused(f.inRequest(call))
	for _, check := range []func() *Refusal{s.checkArguments, s.checkOutput, s.checkJob, s.checkInput} {
		if at.Refused == nil {
			at.refused(check())
		}
	}
	if at.Refused == nil {
		s.write(at)
	}
	return at
}

// tool is the program that is known among the texts of the arguments.
func (s *started) tool() string {
	var texts strings.Builder
	for _, a := range s.argv {
		for _, e := range s.texts(a) {
			texts.WriteString(e + " ")
		}
	}
	for _, word := range strings.FieldsFunc(texts.String(), func(r rune) bool { return strings.ContainsRune(" \t\n|;&()'\"", r) }) {
		if word = word[strings.LastIndex(word, "/")+1:]; isTool(word) {
			return word
		}
	}
	return ""
}

// texts are the constant texts that an argument is made of.
func (s *started) texts(e ast.Expr) (out []string) {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		if v, ok := s.f.info().Uses[id].(*types.Var); ok {
			if made := s.f.made(v); made != nil {
				e = made
			}
		}
	}
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok {
			if v := s.f.info().Types[x].Value; v != nil && v.Kind() == constant.String {
				out = append(out, constant.StringVal(v))
				return false
			}
		}
		return true
	})
	return out
}

// checkArguments shows what is started: a program with constant arguments, or a shell with
// a script in which one text is quoted.
func (s *started) checkArguments() *Refusal {
	if s.call.Ellipsis.IsValid() || len(s.argv) == 0 {
		return refuse("arguments", "its arguments are a list")
	}
	if s.ctx != nil && !plainPath(s.ctx) && !s.requestsOwn(s.ctx) {
		return refuse("arguments", "%s is more than a variable", short(s.f.text(s.ctx)))
	}
	name, ok := s.f.constant(s.argv[0])
	if !ok {
		return refuse("arguments", "which program is started is a value of the program")
	}
	if !slices.Contains(shells, name) {
		return nil
	}
	if flag, _ := s.f.constant(s.argv[1]); len(s.argv) != 3 || flag != "-c" {
		return refuse("arguments", "the shell is given more than -c and a script")
	}
	if why := s.findScript(); why != nil {
		return why
	}
	script, why := s.parts(s.scriptOf)
	if why != nil {
		return why
	}
	s.script = script
	for _, p := range script {
		switch {
		case p.hole == nil:
		case s.hole != nil:
			return refuse("arguments", "the script has two values in it")
		default:
			s.hole, s.inner = p.hole, s.f.quoted(p.hole)
			if s.inner == nil {
				return refuse("quotes", "nothing shows that %s is quoted for the shell", short(s.f.text(p.hole)))
			}
		}
	}
	return nil
}

// findScript finds the expression that makes the script: the argument, or what a variable
// that nothing else reads is given right before.
func (s *started) findScript() *Refusal {
	f := s.f
	s.scriptOf = s.argv[2]
	id, ok := ast.Unparen(s.scriptOf).(*ast.Ident)
	if _, constant := f.constant(s.scriptOf); constant || !ok {
		return nil
	}
	v, ok := f.info().Uses[id].(*types.Var)
	if !ok {
		return nil
	}
	made, uses := f.made(v), 0
	for _, o := range f.info().Uses {
		if o == v {
			uses++
		}
	}
	assign, ok := f.parents[made].(*ast.AssignStmt)
	if made == nil || !ok || uses != 1 || !f.follows(assign, s.call) {
		return refuse("order", "%s is not made for it alone, right before", id.Name)
	}
	s.scriptOf, s.gone = made, []ast.Stmt{assign}
	return nil
}

// requestsOwn is r.Context() of a request.
func (s *started) requestsOwn(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && s.f.requestContext(call)
}

// parts of a text that is put together.
func (s *started) parts(e ast.Expr) ([]part, *Refusal) {
	f := s.f
	e = ast.Unparen(e)
	if text, ok := f.constant(e); ok {
		if strings.Contains(text, "\x00") {
			return nil, refuse("arguments", "the script has a byte of zero in it")
		}
		return []part{{text: text}}, nil
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			break
		}
		left, why := s.parts(e.X)
		if why != nil {
			return nil, why
		}
		right, why := s.parts(e.Y)
		return append(left, right...), why
	case *ast.CallExpr:
		if path, name, fn := f.calls(e); fn != nil && path == "fmt" && name == "Sprintf" && len(e.Args) > 0 && f.quoted(e) == nil {
			return s.formatted(e)
		}
	}
	return []part{{hole: e}}, nil
}

// formatted are the parts of fmt.Sprintf with %s and %%.
func (s *started) formatted(e *ast.CallExpr) ([]part, *Refusal) {
	format, ok := s.f.constant(e.Args[0])
	args := e.Args[1:]
	unknown := refuse("arguments", "the format of the script is not understood")
	if !ok || e.Ellipsis.IsValid() {
		return nil, unknown
	}
	var out []part
	for {
		before, after, found := strings.Cut(format, "%")
		out = append(out, part{text: before})
		if !found {
			break
		}
		switch {
		case strings.HasPrefix(after, "%"):
			out = append(out, part{text: "%"})
		case strings.HasPrefix(after, "s") && len(args) > 0 && isString(s.f.info().TypeOf(args[0])):
			in, why := s.parts(args[0])
			if why != nil {
				return nil, why
			}
			out, args = append(out, in...), args[1:]
		default:
			return nil, unknown
		}
		format = after[1:]
	}
	if len(args) > 0 {
		return nil, unknown
	}
	return out, nil
}

// quoted is the text that an expression quotes for a shell: 'text', with each quote in it
// left and written as \'; nil if that is not shown.
func (f *file) quoted(e ast.Expr) ast.Expr {
	if of := f.inQuotes(e); of != nil {
		return of
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil
	}
	path, name, fn := f.calls(call)
	if fn == nil || !isString(f.info().TypeOf(call.Args[0])) {
		return nil
	}
	if name == "Quote" && slices.Contains([]string{"al.essio.dev/pkg/shellescape", "github.com/alessio/shellescape", "gopkg.in/alessio/shellescape.v1"}, path) {
		return call.Args[0]
	}
	d := f.program.bodies[fn]
	if d == nil || d.Body == nil || len(d.Body.List) != 1 || fn.Signature().Params().Len() != 1 {
		return nil
	}
	ret, ok := d.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return nil
	}
	in := f.program.in[d]
	id, ok := in.inQuotes(ret.Results[0]).(*ast.Ident)
	if !ok || in.info().Uses[id] != fn.Signature().Params().At(0) {
		return nil
	}
	return call.Args[0]
}

// inQuotes is x of "'" + strings.ReplaceAll(x, "'", `'\”`) + "'", also by Sprintf; nil if
// an expression is none.
func (f *file) inQuotes(e ast.Expr) ast.Expr {
	var inner ast.Expr
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		left, ok := ast.Unparen(e.X).(*ast.BinaryExpr)
		if !ok || e.Op != token.ADD || left.Op != token.ADD || !f.isText(left.X, "'") || !f.isText(e.Y, "'") {
			return nil
		}
		inner = left.Y
	case *ast.CallExpr:
		if path, name, _ := f.calls(e); path != "fmt" || name != "Sprintf" || len(e.Args) != 2 || !f.isText(e.Args[0], "'%s'") {
			return nil
		}
		inner = e.Args[1]
	}
	call, ok := ast.Unparen(inner).(*ast.CallExpr)
	if !ok || len(call.Args) < 3 || !f.isText(call.Args[1], "'") || !f.isText(call.Args[2], `'\''`) && !f.isText(call.Args[2], `'"'"'`) {
		return nil
	}
	path, name, _ := f.calls(call)
	all := name == "ReplaceAll" || name == "Replace" && len(call.Args) == 4 && f.isNegative(call.Args[3])
	if path != "strings" || !all || !types.Identical(f.info().TypeOf(call.Args[0]), types.Typ[types.String]) {
		return nil
	}
	return call.Args[0]
}

func (f *file) isText(e ast.Expr, text string) bool {
	v := f.info().Types[e].Value
	return v != nil && v.Kind() == constant.String && constant.StringVal(v) == text
}

func (f *file) isNegative(e ast.Expr) bool {
	v := f.info().Types[e].Value
	return v != nil && v.Kind() == constant.Int && constant.Sign(v) < 0
}
