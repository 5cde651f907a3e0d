package patch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/aymanbagabas/go-udiff/myers"
)

// edit replaces the bytes from..to of a file.
type edit struct {
	from, to int
	text     string
	rows     *rowLoop // whose rows it gathers: the same for all places of the loop
}

// replace puts text in the place of a node.
func (p *Place) replace(n ast.Node, text string) {
	p.edits = append(p.edits, edit{from: p.file.offset(n.Pos()), to: p.file.offset(n.End()), text: text})
}

// remove takes the lines of statements away that stand alone on them.
func (p *Place) remove(n ast.Node) {
	from, to := p.file.linesOf(n)
	p.edits = append(p.edits, edit{from: from, to: to})
}

// before puts whole lines in front of the line that a node begins on.
func (p *Place) before(n ast.Node, lines string) {
	at := p.file.lineStart(p.file.offset(n.Pos()))
	p.edits = append(p.edits, edit{from: at, to: at, text: lines})
}

// after puts whole lines behind the line that a node ends on.
func (p *Place) after(n ast.Node, lines string) {
	_, at := p.file.linesOf(n)
	p.edits = append(p.edits, edit{from: at, to: at, text: lines})
}

// atEnd adds declarations to the file.
func (p *Place) atEnd(text string) {
	p.edits = append(p.edits, edit{from: len(p.file.src), to: len(p.file.src), text: "\n" + text})
}

// Files are the files that places of one program change, with their new content. An
// error says that two of them change the same lines, or that the result is no program.
func Files(places []*Place) (map[string][]byte, error) {
	byFile := map[*file][]*Place{}
	for _, p := range places {
		if p.Refused != nil {
			return nil, fmt.Errorf("%s is refused: %w", p.ID, p.Refused)
		}
	}
	for _, p := range partsOf(places) {
		byFile[p.file] = append(byFile[p.file], p)
	}
	out := map[string][]byte{}
	for f, of := range byFile {
		src, err := f.with(of)
		if err != nil {
			return nil, err
		}
		out[f.rel] = src
	}
	return out, check(byFile, out)
}

// with is the file's text with the edits of places.
func (f *file) with(places []*Place) ([]byte, error) {
	if sameLine(f.src, places) {
		return nil, fmt.Errorf("%s: two patches change the same lines; apply one, then look again", f.rel)
	}
	var edits []edit
	var imports []string
	for _, p := range places {
		for _, e := range p.edits {
			if e.rows == nil || !slices.Contains(edits, e) {
				edits = append(edits, e)
			}
		}
		imports = append(imports, p.imports...)
	}
	if f.php == nil {
		edits = append(edits, f.withoutFreed(places)...)
	}
	if f.php == nil {
		edits = append(edits, f.withoutImports(edits)...)
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		if e.from < at {
			return nil, fmt.Errorf("%s: two patches change the same lines; apply one, then look again", f.rel)
		}
		out.Write(f.src[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.Write(f.src[at:])
	if f.php != nil {
		return out.Bytes(), nil
	}
	src, err := f.withImports(out.Bytes(), imports)
	if err != nil {
		return nil, err
	}
	formatted, err := format.Source(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.rel, err)
	}
	if was, err := format.Source(f.src); err == nil && bytes.Equal(was, f.src) {
		return formatted, nil
	}
	return src, nil
}

// withoutFreed takes away the statements that give variables texts which nothing reads
// once all places are applied.
func (f *file) withoutFreed(places []*Place) []edit {
	var freed []*ast.Ident
	for _, p := range places {
		freed = append(freed, p.freed...)
	}
	var out []edit
	var done []types.Object
	for _, id := range freed {
		v := f.info().Uses[id]
		if slices.Contains(done, v) {
			continue
		}
		done = append(done, v)
		for _, s := range f.onlyFor(id, freed...) {
			from, to := f.linesOf(s)
			out = append(out, edit{from: from, to: to})
		}
	}
	return out
}

// withoutImports takes away the imports that nothing names once the edits are made.
func (f *file) withoutImports(edits []edit) []edit {
	uses, gone := map[types.Object]int{}, map[types.Object]int{}
	for id, o := range f.info().Uses {
		if _, ok := o.(*types.PkgName); !ok || id.Pos() < f.syntax.FileStart || id.Pos() >= f.syntax.FileEnd {
			continue
		}
		uses[o]++
		at := f.offset(id.Pos())
		if slices.ContainsFunc(edits, func(e edit) bool { return e.from <= at && at < e.to }) {
			gone[o]++
		}
	}
	var out []edit
	for _, spec := range f.syntax.Imports {
		name := f.pkg.TypesInfo.PkgNameOf(spec)
		if name == nil || gone[name] == 0 || gone[name] < uses[name] || slices.ContainsFunc(edits, func(e edit) bool { return strings.Contains(e.text, name.Name()+".") }) {
			continue
		}
		var n ast.Node = spec
		if d, ok := f.parents[spec].(*ast.GenDecl); ok && !d.Lparen.IsValid() {
			n = d
		}
		from, to := f.linesOf(n)
		out = append(out, edit{from: from, to: to})
	}
	return out
}

// sameLine reports whether two places replace text of one line: what was shown of each was
// shown of the line as it is.
func sameLine(src []byte, places []*Place) bool {
	taken := map[int]any{}
	for _, p := range places {
		for _, e := range p.edits {
			if e.from == e.to {
				continue
			}
			var own any = p
			if e.rows != nil {
				own = e.rows
			}
			first := bytes.Count(src[:e.from], []byte("\n"))
			for line := first; line <= first+bytes.Count(src[e.from:e.to-1], []byte("\n")); line++ {
				if by := taken[line]; by != nil && by != own {
					return true
				}
				taken[line] = own
			}
		}
	}
	return false
}

// withImports adds imports that are missing, in the first block of them.
func (f *file) withImports(src []byte, need []string) ([]byte, error) {
	slices.Sort(need)
	need = slices.Compact(need)
	have := map[string]bool{}
	for _, i := range f.syntax.Imports {
		if name, err := strconv.Unquote(i.Path.Value); err == nil && (i.Name == nil || i.Name.Name != "_" && i.Name.Name != ".") {
			have[name] = true
		}
	}
	need = slices.DeleteFunc(need, func(name string) bool { return have[name] })
	if len(need) == 0 {
		return src, nil
	}
	for _, name := range need {
		syntax, err := parser.ParseFile(token.NewFileSet(), "", src, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.rel, err)
		}
		src = addImport(src, syntax, name)
	}
	return src, nil
}

// addImport puts an import behind the last one of its kind, of the standard library or
// not; the text before it stays where it is.
func addImport(src []byte, syntax *ast.File, name string) []byte {
	own := func(path string) bool { first, _, _ := strings.Cut(path, "/"); return strings.Contains(first, ".") }
	at, text := int(syntax.Name.End()-syntax.FileStart), "\n\nimport "+strconv.Quote(name)
	var last, first, same *ast.ImportSpec
	for _, i := range syntax.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		if first == nil {
			first = i
		}
		if last = i; own(path) == own(name) {
			same = i
		}
	}
	grouped := func(i *ast.ImportSpec) bool { return src[int(i.Pos()-syntax.FileStart)-1] != ' ' } // "import x" has its space
	end := func(i *ast.ImportSpec) int {
		to := int(i.End() - syntax.FileStart)
		for to < len(src) && src[to] != '\n' {
			to++
		}
		return to
	}
	switch {
	case same != nil && grouped(same):
		at, text = end(same), "\n\t"+strconv.Quote(name)
	case same != nil:
		at, text = end(same), "\nimport "+strconv.Quote(name)
	case last != nil && grouped(last) && own(name):
		at, text = end(last), "\n\n\t"+strconv.Quote(name)
	case first != nil && grouped(first):
		at, text = int(first.Pos()-syntax.FileStart), strconv.Quote(name)+"\n\n\t"
	case last != nil:
		at, text = end(last), "\nimport "+strconv.Quote(name)
	}
	return slices.Concat(src[:at], []byte(text), src[at:])
}

// check type-checks the packages of changed files, and parses those of PHP.
func check(byFile map[*file][]*Place, changed map[string][]byte) error {
	done := map[string]bool{}
	for f := range byFile {
		if f.php != nil {
			defer f.program.php.keep()()
			if err := f.program.php.parses(f, changed[f.rel]); err != nil {
				return err
			}
			continue
		}
		if done[f.pkg.ID] {
			continue
		}
		done[f.pkg.ID] = true
		if err := f.checkPackage(changed); err != nil {
			return err
		}
	}
	return nil
}

// checkPackage type-checks the file's package as it is with changed files.
func (f *file) checkPackage(changed map[string][]byte) error {
	p := f.program
	var files []*ast.File
	for _, other := range p.files {
		if other.pkg != f.pkg {
			continue
		}
		syntax := other.syntax
		if src, isNew := changed[other.rel]; isNew {
			var err error
			if syntax, err = parser.ParseFile(p.fset, other.rel, src, parser.SkipObjectResolution); err != nil {
				return err
			}
		}
		files = append(files, syntax)
	}
	cfg := types.Config{Importer: p.importer(f), FakeImportC: true, Sizes: f.pkg.TypesSizes}
	if m := f.pkg.Module; m != nil && m.GoVersion != "" {
		cfg.GoVersion = "go" + m.GoVersion
	}
	_, err := cfg.Check(f.pkg.PkgPath, p.fset, files, nil)
	return err
}

// Diff is what places change, as a unified diff.
func Diff(places []*Place) (string, error) {
	files, err := Files(places)
	if err != nil {
		return "", err
	}
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	parts := partsOf(places)
	for _, name := range names {
		i := slices.IndexFunc(parts, func(p *Place) bool { return p.File == name })
		// By Myers' algorithm, whose hunks stay small where much is added: the default one gives up.
		before := string(parts[i].file.src)
		//lint:ignore SA1019 its authors keep it for their tests only, where the form of the hunks matters, as it does here
		edits := myers.ComputeEdits(before, string(files[name]))
		text, err := udiff.ToUnified(path.Join("a", name), path.Join("b", name), before, edits, udiff.DefaultContextLines)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// linesOf are the whole lines that a node stands on.
func (f *file) linesOf(n ast.Node) (from, to int) {
	from, to = f.lineStart(f.offset(n.Pos())), f.offset(n.End())
	for to < len(f.src) && f.src[to] != '\n' {
		to++
	}
	return from, min(to+1, len(f.src))
}

// absolute is the file's path on this machine.
func (p *Place) absolute() string { return filepath.Join(p.program.Dir, filepath.FromSlash(p.File)) }
