package patch

import (
	"fmt"
	"go/ast"
	"go/types"
	"strconv"
	"strings"
)

// mostOfShell is how long a text may be that a shell surely takes as an argument: Linux
// takes 128 KiB, and quoting makes four bytes of one.
const mostOfShell = "16<<10"

// write makes the edits.
func (s *started) write(at *Place) {
	f := s.f
	name := "base64Text"
	if s.does.sum != "" {
		name = s.does.sum + "Sum"
	}
	name = f.fresh(s.call, name)
	var args []string
	if s.ctx != nil {
		args = append(args, f.text(s.ctx))
	}
	text := f.text(s.inner)
	if !s.does.printed && !isBytes(f.info().TypeOf(s.inner)) {
		text = "[]byte(" + text + ")"
	}
	args = append(args, text)
	at.replace(s.output, name+"("+strings.Join(args, ", ")+")")
	for _, stmt := range s.gone {
		at.remove(stmt)
	}
	at.frees(s.argv)
	at.atEnd(s.helper(at, name))
	at.Symbol, at.Makes = f.symbol(s.call), []string{"os/exec.(*Cmd).Start"}
	at.Subject = fmt.Sprintf("Make %s in %s without a program", s.noun(), f.function(s.call))
	at.Body = fmt.Sprintf("%s started %s in each call. Starting a process costs more than what it did here; the standard library does it in place. What comes out is the same to the byte.", f.function(s.call), s.startedWhat())
	if s.does.printed {
		at.Body += "\n\nA text that the kernel may refuse as an argument is given to the shell as before: a long one, or one with a byte of zero."
	}
	if s.does.echo {
		at.Body += " So is one that echo may take for an option, or in which it may look for escapes."
	}
}

// frees notes the variables that the arguments are, which nothing else reads.
func (p *Place) frees(args []ast.Expr) {
	for _, a := range args {
		if id, ok := ast.Unparen(a).(*ast.Ident); ok {
			p.freed = append(p.freed, id)
		}
	}
}

func (s *started) noun() string {
	if s.does.sum == "" {
		return "base64"
	}
	return "the " + strings.ToUpper(s.does.sum) + " sum"
}

// startedWhat are the programs, as a shell is told.
func (s *started) startedWhat() string {
	if s.script == nil {
		var words []string
		for _, a := range s.argv {
			text, _ := s.f.constant(a)
			words = append(words, text)
		}
		return "`" + strings.Join(words, " ") + "`"
	}
	var b strings.Builder
	for _, p := range s.script {
		b.WriteString(p.text)
		if p.hole != nil {
			b.WriteString("TEXT")
		}
	}
	return "a shell with `" + b.String() + "`"
}

// helper is the function that does it.
func (s *started) helper(at *Place, name string) string {
	f, j := s.f, s.does
	var params []string
	if s.ctx != nil {
		t, _ := f.typeText(f.info().TypeOf(s.ctx))
		params = append(params, "ctx "+t)
		at.imports = append(at.imports, f.lacking([]types.Type{f.info().TypeOf(s.ctx)})...)
	}
	content := "text"
	if j.printed {
		params = append(params, "text string")
		content = "[]byte(text)"
		if j.line != "" {
			content = `[]byte(text + "\n")`
		}
	} else {
		params = append(params, "text []byte")
	}
	var b strings.Builder
	says := fmt.Sprintf("%s gives what %s prints", name, strings.TrimPrefix(s.startedWhat(), "a shell with "))
	if !j.printed {
		says += " for a text"
	}
	b.WriteString("// " + strings.ReplaceAll(wrap(says+".", 85), "\n", "\n// ") + "\n")
	fmt.Fprintf(&b, "func %s(%s) ([]byte, error) {\n", name, strings.Join(params, ", "))
	if j.printed {
		odd := fmt.Sprintf("%s.Contains(text, \"\\x00\")", f.packageName("strings"))
		if j.echo {
			odd = fmt.Sprintf("%s.ContainsAny(text, \"\\x00\\\\\") || %s.HasPrefix(text, \"-\")", f.packageName("strings"), f.packageName("strings"))
		}
		at.imports = append(at.imports, "strings")
		fmt.Fprintf(&b, "\tif len(text) > %s || %s {\n\t\treturn %s.Output() // which may refuse it\n\t}\n", mostOfShell, odd, s.asBefore())
	}
	if s.ctx != nil {
		b.WriteString("\tif err := ctx.Err(); err != nil {\n\t\treturn nil, err\n\t}\n")
	}
	if j.sum == "" {
		at.imports = append(at.imports, "encoding/base64")
		fmt.Fprintf(&b, "\treturn []byte(%s.StdEncoding.EncodeToString(%s)), nil\n}\n", f.packageName("encoding/base64"), content)
		return b.String()
	}
	sum := sums[j.sum]
	at.imports = append(at.imports, sum.path)
	fmt.Fprintf(&b, "\tsum := %s.%s(%s)\n", f.packageName(sum.path), sum.fun, content)
	if j.raw {
		b.WriteString("\treturn sum[:], nil\n}\n")
		return b.String()
	}
	at.imports = append(at.imports, "encoding/hex")
	out := f.packageName("encoding/hex") + ".EncodeToString(sum[:])"
	if j.before != "" {
		out = strconv.Quote(j.before) + " + " + out
	}
	if j.after != "" {
		out += " + " + strconv.Quote(j.after)
	}
	fmt.Fprintf(&b, "\treturn []byte(%s), nil\n}\n", out)
	return b.String()
}

// asBefore is the start of the program for the parameter text.
func (s *started) asBefore() string {
	f := s.f
	from := f.offset(s.scriptOf.Pos())
	script := string(f.src[from:f.offset(s.inner.Pos())]) + "text" + string(f.src[f.offset(s.inner.End()):f.offset(s.scriptOf.End())])
	args := []string{f.text(s.argv[0]), f.text(s.argv[1]), script}
	if s.ctx != nil {
		args = append([]string{"ctx"}, args...)
	}
	return f.text(s.call.Fun) + "(" + strings.Join(args, ", ") + ")"
}
