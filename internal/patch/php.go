package patch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/lazyregexp"
	"kasoku/internal/phpsyntax"
)

// php is the PHP code of a folder. Files are read as trees when something is asked of them.
type php struct {
	program *Program
	files   []*file
	// declared are the files that declare a function or method, by its name in lower case.
	declared map[string][]*file
	text     phpFacts
	vendored bool

	ctx    context.Context
	parser *phpsyntax.Parser
	keeps  int             // calls of keep that have not ended
	parsed map[string]bool // texts that are PHP
	funcs  map[string][]*phpFunc
	taken  map[string]bool // names that the program has
	// variables are the names that functions have.
	variables map[*phpNode]map[string]bool
	// types are those found so far, by a text, or a phpParameter that declares none.
	types   map[any]string
	words   map[string][]*file    // in lower case
	senders map[string]*phpSender // senderOf
}

// phpFile is what a file has that is PHP.
type phpFile struct {
	tree  *phpsyntax.Node
	err   error
	funcs []*phpFunc
}

// phpFunc is a function or method.
type phpFunc struct {
	f     *file
	node  *phpsyntax.Node
	class *phpsyntax.Node // nil: a function
}

const (
	mostPHPBytes = 1 << 20 // what is larger is data
	mostPHPFiles = 20000
)

var phpSuffixes = []string{".php", ".inc", ".phtml", ".php7"}

// phpFolders are folders with other people's code.
var phpFolders = []string{"vendor", "node_modules", "testdata"}

var phpDeclares = lazyregexp.New(`(?i)\bfunction\s+&?\s*([a-z_\x80-\xff][\w\x80-\xff]*)\s*\(`)

// loadPHP reads the texts of a folder's PHP files; nil if there are none.
func (p *Program) loadPHP(ctx context.Context) (*php, error) {
	out := &php{program: p, ctx: ctx, declared: map[string][]*file{}, funcs: map[string][]*phpFunc{}}
	err := filepath.WalkDir(p.Dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name != p.Dir && (strings.HasPrefix(d.Name(), ".") || slices.Contains(phpFolders, d.Name())) {
				out.vendored = out.vendored || d.Name() == "vendor"
				return fs.SkipDir
			}
		case d.Type().IsRegular() && slices.Contains(phpSuffixes, strings.ToLower(filepath.Ext(d.Name()))):
			return out.read(name, d)
		}
		return nil
	})
	if err != nil || len(out.files) == 0 {
		return nil, err
	}
	if len(out.files) > mostPHPFiles {
		return nil, errors.New("it has more PHP files than are looked at; name a folder below")
	}
	if err := out.start(); err != nil {
		return nil, err
	}
	out.close()
	out.look()
	out.ctx = context.WithoutCancel(ctx) // what is asked later is short, and of whoever asks it
	return out, nil
}

// HoldsPHP reports a folder with PHP of its own.
func HoldsPHP(dir string) bool {
	found := false
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is none
		case d.IsDir() && name != dir && (strings.HasPrefix(d.Name(), ".") || slices.Contains(phpFolders, d.Name())):
			return fs.SkipDir
		case d.Type().IsRegular() && slices.Contains(phpSuffixes, strings.ToLower(filepath.Ext(d.Name()))):
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func (p *php) read(name string, d fs.DirEntry) error {
	if info, err := d.Info(); err != nil || info.Size() > mostPHPBytes {
		return err
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(p.program.Dir, name)
	if err != nil || !strings.Contains(string(src), "<?") {
		return err
	}
	f := &file{program: p.program, name: name, rel: filepath.ToSlash(rel), src: src, php: &phpFile{}}
	p.files = append(p.files, f)
	for _, m := range phpDeclares.FindAllStringSubmatch(string(src), -1) {
		fn := strings.ToLower(m[1])
		if !slices.Contains(p.declared[fn], f) {
			p.declared[fn] = append(p.declared[fn], f)
		}
	}
	return nil
}

// start runs a PHP that reads trees, as the owner of the folder.
func (p *php) start() error {
	if p.parser != nil {
		return nil
	}
	var err error
	p.parser, err = phpsyntax.Start(p.ctx, ownerOf(p.program.Dir).does)
	return err
}

// close ends the PHP that reads trees, unless a caller keeps it.
func (p *php) close() {
	if p.keeps == 0 {
		p.end()
	}
}

// end ends the PHP that reads trees; the next one that is needed starts anew.
func (p *php) end() {
	if p.parser != nil {
		_ = p.parser.Close()
		p.parser = nil
	}
}

// keep lets one PHP read all trees until the returned function is called: to start one takes
// longer than to read a file.
func (p *php) keep() (end func()) {
	if p == nil {
		return func() {}
	}
	p.keeps++
	return func() {
		p.keeps--
		p.close()
	}
}

// tree of a file; nil if it is no PHP that is understood.
func (p *php) tree(f *file) *phpsyntax.Node {
	if f.php.tree != nil || f.php.err != nil {
		return f.php.tree
	}
	if f.php.err = p.start(); f.php.err != nil {
		return nil
	}
	if f.php.tree, f.php.err = p.parser.Parse(f.src); f.php.err != nil {
		return nil
	}
	f.php.tree.Walk(func(n *phpsyntax.Node) bool {
		if n.Is("Stmt_Function", "Stmt_ClassMethod") {
			fn := &phpFunc{f: f, node: n}
			if n.Is("Stmt_ClassMethod") {
				fn.class = n.Parent
			}
			f.php.funcs = append(f.php.funcs, fn)
		}
		return true
	})
	return f.php.tree
}

// named are the functions and methods of the program by a name.
func (p *php) named(name string) []*phpFunc {
	name = strings.ToLower(name)
	if out, done := p.funcs[name]; done {
		return out
	}
	var out []*phpFunc
	for _, f := range p.declared[name] {
		p.tree(f)
		for _, fn := range f.php.funcs {
			if strings.EqualFold(fn.node.Name(), name) {
				out = append(out, fn)
			}
		}
	}
	p.funcs[name] = out
	return out
}

// holding are the files whose text holds a word, as far as they are read as trees.
func (p *php) holding(words ...string) []*file {
	p.indexWords()
	var out []*file
	for _, w := range words {
		for _, f := range p.words[strings.ToLower(w)] {
			if !slices.Contains(out, f) && p.tree(f) != nil {
				out = append(out, f)
			}
		}
	}
	return out
}

// indexWords notes once which file holds which word.
func (p *php) indexWords() {
	if p.words != nil {
		return
	}
	p.words = map[string][]*file{}
	for _, f := range p.files {
		text := strings.ToLower(string(f.src))
		for i := 0; i < len(text); i++ {
			if !isWordByte(text[i]) || text[i] == '$' || text[i] == '@' {
				continue
			}
			from := i
			for i < len(text) && isWordByte(text[i]) && text[i] != '$' && text[i] != '@' {
				i++
			}
			w := text[from:i]
			if of := p.words[w]; len(of) == 0 || of[len(of)-1] != f {
				p.words[w] = append(of, f)
			}
		}
	}
}

// fresh is a name that nothing of the program has: want, or with the function that it is
// for. It is taken then.
func (p *php) fresh(n *phpNode, want string) string {
	if p.taken == nil {
		p.indexWords()
		p.taken = map[string]bool{}
		for w := range p.words {
			p.taken[w] = true
		}
	}
	return free(p.taken, n, want)
}

// freshVariable is a name that no variable of the function around a node has; of code of no
// function, none of the program.
func (p *php) freshVariable(n *phpNode, want string) string {
	scope := n
	for scope.Is("Expr_Closure", "Expr_ArrowFunction") || !scope.Is(phpScopes...) {
		scope = scope.Parent
	}
	if scope.Kind == "" {
		return p.fresh(n, want)
	}
	if p.variables == nil {
		p.variables = map[*phpNode]map[string]bool{}
	}
	if p.variables[scope] == nil {
		p.variables[scope] = map[string]bool{}
		scope.Walk(func(n *phpNode) bool {
			for _, s := range []string{n.Variable(), n.Text("value"), n.Text("name")} {
				p.variables[scope][strings.ToLower(s)] = true
			}
			return true
		})
	}
	return free(p.variables[scope], n, want)
}

func free(taken map[string]bool, n *phpNode, want string) string {
	name := want
	for i := 1; taken[strings.ToLower(name)]; i++ {
		fn := n.Around("Stmt_Function", "Stmt_ClassMethod").Name()
		if strings.Contains(want, "_") || strings.Contains(fn, "_") {
			name = strings.TrimSuffix(want+"_of_"+strings.ToLower(fn), "_of_")
		} else if fn != "" {
			name = want + "Of" + strings.ToUpper(fn[:1]) + fn[1:]
		}
		if i > 1 {
			name += strconv.Itoa(i)
		}
	}
	taken[strings.ToLower(name)] = true
	return name
}

// phpText of a node as it stands.
func (f *file) phpText(n *phpsyntax.Node) string { return string(f.src[n.From:n.To]) }

// phpOwn refuses files that are not the application's own text.
func (f *file) phpOwn() *Refusal {
	head := strings.ToLower(string(f.src[:min(len(f.src), 600)]))
	switch {
	case strings.Contains(head, "do not edit") || strings.Contains(head, "@generated") || strings.Contains(head, "auto-generated") || strings.Contains(head, "autogenerated"):
		return refuse("own", "the file says that it was generated")
	case strings.Contains(string(f.src), "\r"):
		return refuse("own", "its lines end with CR LF")
	}
	return nil
}
