package load

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"kasoku/internal/await"
)

// compiledSchema is the schema as an editor would use it.
func compiledSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("https://kasoku.test/"+SchemaURL, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("https://kasoku.test/" + SchemaURL)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate checks YAML as an editor's language server does.
func validate(s *jsonschema.Schema, src []byte) error {
	data, err := yaml.YAMLToJSON(src)
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// keyLists finds the known keys of every call of object in the compiler's
// source, by their place there.
func keyLists(t *testing.T) map[string][]string {
	t.Helper()
	fset := token.NewFileSet()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	lists := map[string][]string{} // package-level []string variables
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
				for i, name := range v.Names {
					if c, ok := v.Values[i].(*ast.CompositeLit); ok {
						if words, ok := stringLiterals(c.Elts); ok {
							lists[name.Name] = words
						}
					}
				}
			}
			return true
		})
	}
	out := map[string][]string{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fun, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || fun.Sel.Name != "object" || len(call.Args) < 3 {
				return true
			}
			where := fset.Position(call.Pos())
			at := fmt.Sprintf("%s:%d", where.Filename, where.Line)
			words, ok := stringLiterals(call.Args[2:])
			if call.Ellipsis.IsValid() {
				words, ok = nil, false
				if name, isName := call.Args[2].(*ast.Ident); isName {
					words, ok = lists[name.Name], lists[name.Name] != nil
				}
			}
			if !ok {
				t.Errorf("%s: the known keys of this call of object are not literal; write them there or in a package variable, so that they can be compared with keys.go", at)
				return true
			}
			out[at] = words
			return true
		})
	}
	return out
}

func stringLiterals(list []ast.Expr) (words []string, ok bool) {
	for _, e := range list {
		l, is := e.(*ast.BasicLit)
		if !is || l.Kind != token.STRING {
			return nil, false
		}
		word, err := strconv.Unquote(l.Value)
		if err != nil {
			return nil, false
		}
		words = append(words, word)
	}
	return words, len(words) > 0
}

func (p *sectionSpec) names() []string {
	var out []string
	for _, k := range p.keys {
		out = append(out, k.name)
	}
	return out
}

// without is what a has and b has not.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// Every key that the compiler knows is in the table, and every key of the
// table is known to the compiler.
func TestSchemaIsComplete(t *testing.T) {
	lists := keyLists(t)
	read, told := map[string]bool{}, map[string]bool{}
	for at, known := range lists { // those that agree
		for i := range places {
			if names := places[i].names(); len(names) == len(known) && len(without(known, names)) == 0 {
				read[places[i].name] = true
				delete(lists, at)
			}
		}
	}
	for _, at := range slices.Sorted(maps.Keys(lists)) { // the others belong to the likest of the other places
		known := lists[at]
		best, common := -1, 0
		for i := range places {
			if n := len(known) - len(without(known, places[i].names())); n > common && !read[places[i].name] {
				best, common = i, n
			}
		}
		if best < 0 {
			t.Errorf("%s reads a place that keys.go does not have, with the keys %s; add it there with examples, then `go generate ./internal/load`", at, strings.Join(known, ", "))
			continue
		}
		p := &places[best]
		if missing := without(known, p.names()); len(missing) > 0 {
			t.Errorf("%s reads keys that keys.go does not list under %q: %s; add them there with an example, then `go generate ./internal/load`", at, p.name, strings.Join(missing, ", "))
		}
		if surplus := without(p.names(), known); len(surplus) > 0 {
			t.Errorf("keys.go lists keys under %q that %s does not read: %s", p.name, at, strings.Join(surplus, ", "))
		}
		told[p.name] = true
	}
	for _, p := range places {
		if !read[p.name] && !told[p.name] {
			t.Errorf("keys.go has the place %q, which no call of object reads", p.name)
		}
	}
}

// withFiles gives a folder with the files that examples refer to.
func withFiles(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cat.png":      "not really a picture",
		"page.html":    "<h1>id=1</h1>",
		"words.csv":    "word,lang\nkasoku,ja\nfast,en\n",
		"arrivals.csv": "at,session\n0,visit\n0.25,visit\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Every example is right, for the compiler and for the schema.
func TestSchemaExamples(t *testing.T) {
	s := compiledSchema(t)
	dir := withFiles(t)
	for i := range places {
		p := &places[i]
		for _, k := range p.keys {
			if k.meaning == "" || k.example == "" {
				t.Errorf("%s: %s has no meaning or no example", p.name, k.name)
				continue
			}
			src := []byte(k.scenario(p))
			if _, err := Parse(filepath.Join(dir, "scenario.yaml"), src); err != nil {
				t.Errorf("%s: the example of %s is wrong: %v\n%s", p.name, k.name, err, src)
			}
			if err := validate(s, src); err != nil {
				t.Errorf("%s: the schema refuses the example of %s: %v\n%s", p.name, k.name, err, src)
			}
		}
	}
}

// A default is what the schema itself allows.
func TestSchemaDefaults(t *testing.T) {
	s := compiledSchema(t)
	for i := range places {
		p := &places[i]
		for _, k := range p.keys {
			if k.fallback == "" {
				continue
			}
			k.example = k.fallback
			if err := validate(s, []byte(k.scenario(p))); err != nil {
				t.Errorf("%s: the default of %s: %v", p.name, k.name, err)
			}
		}
	}
}

// The schema refuses nothing that the compiler takes; and a key that one does
// not know is unknown to the other.
func TestSchemaIsNotStricter(t *testing.T) {
	await.SkipShort(t)
	s := compiledSchema(t)
	name := filepath.Join(withFiles(t), "scenario.yaml")
	values := []string{"[]", "{}", "[[]]", "text", `"1"`, "1", "0", "-1", "1.5", "250", "true", "1s", "1.5h", "0s", `"@in"`, "[1]", "[a, b]", "[200, 302]",
		"{a: b}", "{a: 1}", "{a: [b, c]}", "{a: {b: c}}", "{a: null}", `{"$.a": 1}`, `{"$.a": "@in"}`, "{user: users}", "null", "GET /x", "users", "random", "auto"}
	for i := range places {
		p := &places[i]
		for _, k := range p.keys {
			for _, v := range values {
				k.example = v
				src := []byte(k.scenario(p))
				_, parsed := Parse(name, src)
				if err := validate(s, src); err != nil && parsed == nil {
					t.Errorf("%s: %s: %s is right, but the schema refuses it: %v", p.name, k.name, v, err)
				}
			}
		}
		unknown := keySpec{name: "nonsense", example: "1"}
		src := []byte(unknown.scenario(p))
		if _, err := Parse(name, src); err == nil || !strings.Contains(err.Error(), "nonsense") {
			t.Errorf("%s: the compiler says about an unknown key: %v", p.name, err)
		}
		if validate(s, src) == nil {
			t.Errorf("%s: the schema takes an unknown key", p.name)
		}
	}
}

// The files in docs are what the table says, and name every key.
func TestSchemaDocuments(t *testing.T) {
	schema, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var keys bytes.Buffer
	if err := WriteKeys(&keys); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]byte{"../../docs/reference/" + SchemaURL: schema, "../../docs/reference/scenario-keys.md": keys.Bytes()} {
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date (%v): run `go generate ./internal/load`", path, err)
		}
	}
	page, err := os.ReadFile("../../docs/reference/scenario.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range places {
		for _, k := range p.keys {
			if !regexp.MustCompile(`(?m)(^|[\s{\[,` + "`" + `])` + k.name + "[:`]").Match(page) {
				t.Errorf("docs/reference/scenario.md does not name %s: %s", p.name, k.name)
			}
		}
	}
	if !strings.Contains(string(page), "# yaml-language-server: $schema=") {
		t.Error("docs/reference/scenario.md does not show the editors' modeline")
	}
}

// The scenarios of this repository are right for editors, too.
func TestSchemaTakesScenarios(t *testing.T) {
	s := compiledSchema(t)
	paths, err := filepath.Glob("../../cases/*/scenario.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios in cases (%v)", err)
	}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(s, src); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	page, err := os.ReadFile("../../docs/reference/scenario.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	if err := validate(s, []byte(example)); err != nil {
		t.Errorf("the example of docs/reference/scenario.md: %v", err)
	}
}
