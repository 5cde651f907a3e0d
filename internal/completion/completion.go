// Package completion writes what shells need to complete a command line. In: the
// model of the command line. Out: a script for bash, zsh or fish that knows every
// command, flag and value of an enumeration by itself, with their help texts where the shell
// shows them; it starts no program while somebody types.
package completion

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
)

// Shells are those that Write knows.
var Shells = []string{"bash", "zsh", "fish"}

//go:embed *.tmpl
var texts embed.FS

var scripts = template.Must(template.New("").Funcs(template.FuncMap{"quote": quote, "join": strings.Join, "function": function}).ParseFS(texts, "*.tmpl"))

// command is one command of the line, or the program itself.
type command struct {
	Path     string // "scenario check"; "" is the program
	Commands []word // that may follow
	Words    []word // an argument that is one of these
	Flags    []flag // those of the program and of the commands before it as well
}

// word is something that may be typed, with its help.
type word struct{ Name, Help string }

// flag is an option of a command.
type flag struct {
	Names  []string // "--file", "-f"
	Help   string
	Valued bool     // a value follows
	Values []string // all that it takes; none: any, and file names are completed
}

// Write writes the script for a shell that completes the program of a model.
// It fails for a shell that is not in Shells.
func Write(w io.Writer, shell string, model *kong.Application) error {
	if !slices.Contains(Shells, shell) {
		return fmt.Errorf("no completion for %q; there is one for %s", shell, strings.Join(Shells, ", "))
	}
	var commands []command
	collect(&commands, model, model.Node, "", nil)
	return scripts.ExecuteTemplate(w, shell+".tmpl", map[string]any{"Program": model.Name, "Commands": commands})
}

// collect adds a command and those below it. An argument with the tag
// complete:"commands" is the name of one of the program's commands.
func collect(to *[]command, model *kong.Application, node *kong.Node, path string, inherited []flag) {
	c := command{Path: path, Flags: slices.Clone(inherited)}
	for _, f := range node.Flags {
		if !f.Hidden {
			c.Flags = append(c.Flags, flagOf(f))
		}
	}
	for _, arg := range node.Positional {
		if arg.Enum != "" {
			for _, v := range arg.EnumSlice() {
				c.Words = append(c.Words, word{v, sentence(arg.Help)})
			}
		}
		if arg.Tag.Get("complete") == "commands" {
			for _, o := range model.Children {
				if !o.Hidden && o.Type == kong.CommandNode {
					c.Words = append(c.Words, word{o.Name, sentence(o.Help)})
				}
			}
		}
	}
	at := len(*to)
	*to = append(*to, c)
	for _, child := range node.Children {
		if child.Hidden || child.Type != kong.CommandNode {
			continue
		}
		c.Commands = append(c.Commands, word{child.Name, sentence(child.Help)})
		collect(to, model, child, strings.TrimSpace(path+" "+child.Name), c.Flags)
	}
	(*to)[at].Commands = c.Commands
}

func flagOf(f *kong.Flag) flag {
	c := flag{Names: []string{"--" + f.Name}, Help: sentence(f.Help), Valued: !f.IsBool() && !f.IsCounter()}
	if f.Short != 0 {
		c.Names = append(c.Names, "-"+string(f.Short))
	}
	if f.Tag != nil && f.Tag.Negatable != "" {
		c.Names = append(c.Names, "--no-"+f.Name)
	}
	if f.Enum != "" {
		for _, v := range f.EnumSlice() {
			if v != "" {
				c.Values = append(c.Values, v)
			}
		}
	}
	return c
}

// sentence is the first of a help text, without its full stop.
func sentence(help string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(help), ". ")
	first, _, _ = strings.Cut(first, "\n")
	return strings.TrimSuffix(first, ".")
}

// quote makes one word of s for any of the shells.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// function is the name of a shell's function for a program.
func function(program string) string {
	return "_" + strings.Map(func(r rune) rune {
		if r == '-' || r == '.' {
			return '_'
		}
		return r
	}, program)
}
