package phpvars

import (
	"fmt"
	"strings"

	"kasoku/internal/confedit/textedit"
)

// Set makes the variable (without $) the value of an expression, written as
// PHP code. The last assignment gets it; where there is none, or an included
// file comes after it, a new one is added at the end. It is an error if
// something else in the file may set the variable too, or if the edit changes
// what another variable reads as; then nothing is changed.
func (f *File) Set(name, expression string) error {
	if err := f.Err(); err != nil {
		return err
	}
	if err := checkExpression(expression); err != nil {
		return fmt.Errorf("set $%s: %w", name, err)
	}
	if line := f.unclear[name]; line > 0 {
		return fmt.Errorf("set $%s in %s: line %d may set it too; change it there by hand", name, f.Path, line)
	}
	before := *f
	f.text = textedit.Apply(f.text, f.edit(name, expression))
	f.parse()
	if err := f.sameBut(&before, name, expression); err != nil {
		*f = before
		return fmt.Errorf("set $%s in %s: %w", name, f.Path, err)
	}
	return nil
}

func (f *File) edit(name, expression string) textedit.Edit {
	if a := f.last(name); a != nil && a.token >= f.included {
		return textedit.Edit{Path: f.Path, From: a.from, To: a.to, New: expression}
	}
	line := "$" + name + " = " + expression + ";"
	if f.insert == len(f.text) {
		return textedit.InsertLine(f.Path, f.text, f.insert, line)
	}
	// Before a closing tag or a return: on a line of its own where that is.
	eol := textedit.EOL(f.text)
	begin := strings.LastIndexByte(f.text[:f.insert], '\n') + 1
	if strings.TrimSpace(f.text[begin:f.insert]) != "" {
		line = eol + line
	}
	return textedit.Edit{Path: f.Path, From: f.insert, To: f.insert, New: line + eol}
}

// sameBut checks that nothing but the one variable reads differently.
func (f *File) sameBut(before *File, name, expression string) error {
	if f.err != nil {
		return fmt.Errorf("the new text cannot be read: %w", f.err)
	}
	if v, ok := f.Get(name); !ok || v.Text != expression || !v.Sure {
		return fmt.Errorf("it would not read back")
	}
	for _, other := range before.Names() {
		was, _ := before.Get(other)
		now, ok := f.Get(other)
		if other != name && (!ok || was.Text != now.Text || was.Sure != now.Sure) {
			return fmt.Errorf("it would change $%s", other)
		}
	}
	return nil
}

// checkExpression makes sure that the code is one expression without side
// tracks: nothing that ends the statement, the tag or a bracket early.
func checkExpression(code string) error {
	f := Parse("", []byte("<?php\n$x = "+code+";\n"))
	v, ok := f.Get("x")
	if f.err != nil || !ok || v.Text != code || len(f.sets) != 1 || len(f.unclear) > 0 {
		return fmt.Errorf("%q is no expression of PHP that can be written here", code)
	}
	return nil
}

// Quote is a string as PHP code in single quotes, where only ' and \ are
// special (PHP manual, "Strings").
func Quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
