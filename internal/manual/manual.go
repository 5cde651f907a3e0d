// Package manual writes manual pages, one for the program and one for each of its
// commands. In: the model of the command line. Out: roff for man(1), by man(7)
// (groff_man_style(7) of groff 1.22).
package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Program is what pages tell of all commands.
type Program struct {
	Model   *kong.Application
	Version string
	Date    string // of the version, "2026-11-28"; "" is left out
	// Exit is the text of the section on exit status.
	Exit string
	// Files is the text of the section on files.
	Files string
}

// Page is one manual page.
type Page struct {
	Name string // "kasoku-scenario-check"; the file is Name.1
	node *kong.Node
}

// Pages lists the program's page and those of its commands, the program's first.
func (p *Program) Pages() []Page {
	var pages []Page
	var add func(name string, n *kong.Node)
	add = func(name string, n *kong.Node) {
		pages = append(pages, Page{name, n})
		for _, child := range commands(n) {
			add(name+"-"+child.Name, child)
		}
	}
	add(p.Model.Name, p.Model.Node)
	return pages
}

func commands(n *kong.Node) []*kong.Node {
	var list []*kong.Node
	for _, c := range n.Children {
		if c.Type == kong.CommandNode && !c.Hidden {
			list = append(list, c)
		}
	}
	return list
}

// Write writes one page.
func (p *Program) Write(w io.Writer, page Page) error {
	n, own := page.node, page.node == p.Model.Node
	r := &roff{}
	r.line(".TH %s 1 %s %s %s", argument(strings.ToUpper(page.Name)), argument(p.Date), argument(strings.TrimSpace(p.Model.Name+" "+p.Version)), argument("User commands"))
	r.section("Name")
	short, rest := n.Help, n.Detail
	if own { // the program's help is its first sentence and the examples
		short, rest, _ = strings.Cut(n.Help, "\n")
	}
	r.line("%s \\- %s", text(page.Name), text(strings.TrimSuffix(strings.TrimSpace(short), ".")))
	r.section("Synopsis")
	r.line("%s", text(p.synopsis(page)))
	if rest = strings.TrimSpace(rest); rest != "" {
		r.section("Description")
		r.prose(rest)
	}
	if list := commands(n); len(list) > 0 {
		r.section("Commands")
		for _, c := range list {
			r.term(fmt.Sprintf("\\fB%s\\fR(1)", text(page.Name+"-"+c.Name)), c.Help)
		}
	}
	r.arguments(n)
	r.flags(n, own)
	if own {
		r.section("Files")
		r.prose(p.Files)
	}
	r.section("Exit status")
	r.prose(p.Exit)
	if !own {
		r.section("See also")
		r.line("\\fB%s\\fR(1)", text(p.Model.Name))
	}
	_, err := io.WriteString(w, r.String())
	return err
}

// synopsis is the usage line.
func (p *Program) synopsis(page Page) string {
	if page.node == p.Model.Node {
		return p.Model.Name + " COMMAND [flags]"
	}
	return p.Model.Name + " " + page.node.Summary()
}

// arguments tells what follows a command.
func (r *roff) arguments(n *kong.Node) {
	if len(n.Positional) == 0 {
		return
	}
	r.section("Arguments")
	for _, v := range n.Positional {
		r.term("\\fI"+text(v.Summary())+"\\fR", v.Help)
	}
}

// flags tells the flags of a node; those of all commands stand in the program's page.
func (r *roff) flags(n *kong.Node, own bool) {
	var list []*kong.Flag
	for _, f := range n.Flags {
		if !f.Hidden && (own || f.Name != "help") {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return
	}
	r.section("Options")
	for _, f := range list {
		names := "\\fB" + text(f.Summary()) + "\\fR"
		if f.Short != 0 {
			names = "\\fB\\-" + text(string(f.Short)) + "\\fR, " + names
		}
		help := f.Help
		if f.Enum != "" {
			help = strings.TrimSuffix(help, ".") + ". One of: " + strings.ReplaceAll(f.Enum, ",", ", ") + "."
		}
		for _, env := range f.Envs {
			help += " The environment's " + env + " does the same."
		}
		r.term(names, help)
	}
}

// roff is a page being written.
type roff struct{ strings.Builder }

func (r *roff) line(format string, args ...any) { fmt.Fprintf(r, format+"\n", args...) }

func (r *roff) section(name string) { r.line(".SH %s", argument(strings.ToUpper(name))) }

// term writes a word and what it means.
func (r *roff) term(word, help string) {
	r.line(".TP\n%s\n%s", word, text(strings.TrimSpace(help)))
}

// prose writes paragraphs; lines that are set in by two spaces stand as they are.
func (r *roff) prose(s string) {
	asIs := false
	for i, l := range strings.Split(s, "\n") {
		in := strings.HasPrefix(l, "  ")
		switch {
		case in && !asIs:
			r.line(".PP\n.RS 4\n.nf")
		case !in && asIs && l != "":
			r.line(".fi\n.RE\n.PP")
		}
		if in || l != "" {
			asIs = in
		}
		switch {
		case in:
			r.line("%s", text(strings.TrimPrefix(l, "  ")))
		case l == "" && !asIs && i > 0:
			r.line(".PP")
		case l != "":
			r.line("%s", text(l))
		}
	}
	if asIs {
		r.line(".fi\n.RE")
	}
}

// special are the characters that roff would read as its own, or show as
// something that cannot be copied into a shell.
var special = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// text makes s stand in a page as it is, on its line.
func text(s string) string {
	s = special.Replace(strings.ReplaceAll(s, "\n", " "))
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

// argument is s as one argument of a macro.
func argument(s string) string { return `"` + strings.ReplaceAll(text(s), `"`, `\(dq`) + `"` }
