package patch

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// canTell refuses rows whose types have no name where the loop is.
func (w *readWriter) canTell(f *file) *Refusal {
	for _, t := range w.rowTypes() {
		if _, ok := f.typeText(t); !ok {
			return refuse("compiles", "the type %s has no name where the loop is", f.typeName(t))
		}
	}
	return nil
}

// rowTypes are what a row is told as.
func (w *readWriter) rowTypes() []types.Type {
	if w.intoStruct != nil {
		return []types.Type{types.NewPointer(w.intoStruct)}
	}
	var out []types.Type
	for _, d := range w.dsts {
		out = append(out, w.f.info().TypeOf(d).Underlying().(*types.Pointer).Elem())
	}
	return out
}

// hearsType is the type of the function that is told of rows.
func (w *readWriter) hearsType(f *file) string {
	var out []string
	for _, t := range w.rowTypes() {
		text, _ := f.typeText(t)
		out = append(out, text)
	}
	return "func(" + strings.Join(out, ", ") + ")"
}

// hears is the parameter for a function that is told of rows, if there are followers.
func (w *readWriter) hears() []string {
	if w.hear == "" {
		return nil
	}
	return []string{"each " + w.hearsType(w.f)}
}

// hearer is the function that the loop's code gives to the new one, which gathers the keys
// of the followers; "" without followers.
func (w *readWriter) hearer(at *Place) string {
	if len(w.followers) == 0 {
		return ""
	}
	f := w.loop.f
	in := f.indent(w.loop.node.Pos())
	var params []string
	for i, t := range w.rowTypes() {
		text, _ := f.typeText(t)
		params = append(params, w.names[i]+" "+text)
	}
	at.in(f).imports = append(at.in(f).imports, f.lacking(w.rowTypes())...)
	var b strings.Builder
	fmt.Fprintf(&b, "func(%s) {\n", strings.Join(params, ", "))
	for _, each := range w.followers {
		each.keyVars = each.keyNames(true, f.freshLocal)
		b.WriteString(each.appended(in + "\t"))
	}
	return b.String() + in + "}"
}

// appended puts the keys of a row into their slices.
func (w *eachWriter) appended(in string) string {
	var there []string
	for _, k := range w.keys {
		for _, n := range k.from.nils {
			if test := n + " != nil"; !slices.Contains(there, test) {
				there = append(there, test)
			}
		}
	}
	var b strings.Builder
	if len(there) > 0 {
		fmt.Fprintf(&b, "%sif %s {\n", in, strings.Join(there, " && "))
	}
	for i, k := range w.keys {
		tab := ""
		if len(there) > 0 {
			tab = "\t"
		}
		fmt.Fprintf(&b, "%s%s%s = append(%s, %s)\n", in, tab, w.keyVars[i], w.keyVars[i], k.from.text)
	}
	if len(there) > 0 {
		b.WriteString(in + "}\n")
	}
	return b.String()
}

// slicesOfFollowers are the lines that make the slices of their keys.
func (w *readWriter) slicesOfFollowers(at *Place) string {
	f := w.loop.f
	var b strings.Builder
	for _, each := range w.followers {
		at.in(f).imports = append(at.in(f).imports, f.lacking(each.keyTypes())...)
		for i, k := range each.keys {
			t, _ := f.typeText(k.t)
			fmt.Fprintf(&b, "%s%s := make([]%s, 0, len(%s))\n", f.indent(w.loop.node.Pos()), each.keyVars[i], t, w.loop.overText())
		}
	}
	return b.String()
}

// tells is the line that tells of a row; "" without followers.
func (w *readWriter) tells(in, whole, row string) string {
	if len(w.followers) == 0 {
		return ""
	}
	args := []string{whole}
	if w.intoStruct == nil && len(w.dsts) > 1 {
		args = nil
		for i := range w.dsts {
			args = append(args, row+"."+numbered("column", i))
		}
	}
	return in + "each(" + strings.Join(args, ", ") + ")\n"
}

// wholeRow is what an element's row is told as, if it is told in one piece.
func (w *eachWriter) wholeRow() string {
	if w.intoStruct != nil {
		return "e.row"
	}
	return "*e.row"
}

func (w *readWriter) saysEach() string {
	if len(w.followers) == 0 {
		return ""
	}
	return " each is told of the rows that are not read alone."
}

func (w *eachWriter) saysKeys() string {
	if w.given == nil {
		return ""
	}
	return " More keys may come while the loop runs."
}

// pointer: keys that come later are looked at through a pointer to their slice.
func (w *eachWriter) pointer() string {
	if w.given == nil {
		return ""
	}
	return "*"
}

// addressed are the slices of keys as they are given to the new function.
func (w *eachWriter) addressed(keys []string) []string {
	if w.given == nil {
		return keys
	}
	var out []string
	for _, k := range keys {
		out = append(out, "&"+k)
	}
	return out
}

// gatheredLater writes the list of elements, each key once, for keys that come later.
func (w *eachWriter) gatheredLater(b *strings.Builder, keyType string) {
	element := w.localType("element")
	fmt.Fprintf(b, "\tvar elements []%s\n\tat := make(map[%s]int)\n\tgathered := 0\n\tgather := func() {\n", element, keyType)
	key := "(*keys)[gathered]"
	if len(w.keys) > 1 {
		var of []string
		for i := range w.keys {
			of = append(of, "(*"+w.sliceName(i)+")[gathered]")
		}
		key = keyType + "{" + strings.Join(of, ", ") + "}"
	}
	fmt.Fprintf(b, "\t\tfor ; gathered < len(*%s); gathered++ {\n\t\t\tkey := %s\n\t\t\tif _, ok := at[key]; !ok {\n\t\t\t\tat[key] = len(elements)\n\t\t\t\telements = append(elements, %s{key: key})\n\t\t\t}\n\t\t}\n\t}\n", w.sliceName(0), key, element)
}
