package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"kasoku/internal/capacity"
	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/digest"
	"kasoku/internal/load"
	"kasoku/internal/report"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/lab"
)

var writeSchema = flag.Bool("update", false, "write docs/reference/json.schema.json anew")

const jsonSchemaFile = "docs/reference/json.schema.json"

// printed are the types of what commands print with --json: by the command, and what
// chooses one of its results.
var printed = map[string]any{
	"accelerator add":       addedAccelerator{},
	"accelerator rules":     learnedRules{},
	"capacity":              capacity.Plan{},
	"check":                 stack.Rights{},
	"compare":               tune.Comparison{},
	"diagnose":              diagnose.Diagnosis{},
	"digest access":         digest.Access{},
	"digest slow":           digest.Statements{},
	"digest --diff":         digest.Diff{},
	"export":                []string{},
	"history":               historyList{},
	"lab base":              lab.BaseInfo{},
	"lab cut":               pluggedHost{},
	"lab down":              removedLabs{},
	"lab heal":              pluggedHost{},
	"lab limit":             lab.Settings{},
	"lab list":              []listedLab{},
	"lab reboot":            rebootedHost{},
	"lab up":                lab.Lab{},
	"load":                  load.Result{},
	"load --find-max":       load.MaxRate{},
	"patch":                 report.Patches{},
	"patch apply":           appliedPatches{},
	"patch export":          exportedPatches{},
	"patch show":            shownPatch{},
	"plan":                  plannedList{},
	"prove":                 proof{},
	"recover":               []change.Tx{},
	"recover --dry-run":     []change.Prospect{},
	"report":                report.Model{},
	"run":                   ranTwice{},
	"scenario check":        checkedScenario{},
	"scenario from-curl":    writtenDraft{},
	"scenario from-har":     writtenDraft{},
	"scenario from-jmeter":  writtenDraft{},
	"scenario from-k6":      writtenDraft{},
	"scenario from-log":     writtenDraft{},
	"scenario from-openapi": writtenDraft{},
	"scenario from-postman": writtenDraft{},
	"scenario record":       recordedAnswers{},
	"show --artifact ?":     []store.Artifact{},
	"show RUN":              store.Run{},
	"show STEP":             store.Step{},
	"show TX":               change.Tx{},
	"try":                   report.TryResult{},
	"tune":                  report.Model{},
	"undo":                  []change.Tx{},
	"verify":                verification{},
	"version":               build{},
	"where":                 report.Where{},
}

// notDescribed are the commands that print no facts as JSON of Kasoku's own.
var notDescribed = map[string]string{
	"agent serve": "an inner command", "guard": "an inner command",
	"completion": "a script", "man": "manual pages", "mcp": "a protocol", "serve": "pages", "init": "a file",
	"schema": "a JSON Schema itself", "scenario schema": "a JSON Schema itself", "scenario new": "a file",
	"lab exec": "what the command prints", "lab ssh": "what the command prints",
}

// notHeld are the outputs that no test of this package has: they need hosts of a lab.
var notHeld = []string{"lab base", "lab cut", "lab heal", "lab limit", "lab reboot", "lab up"}

// TestJSONSchema: the page for programs holds what commands print (-update writes it).
func TestJSONSchema(t *testing.T) {
	text, err := json.MarshalIndent(outputSchema(t, false), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	file := filepath.Join("../..", jsonSchemaFile)
	if *writeSchema {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := os.ReadFile(file); err != nil || !bytes.Equal(was, text) {
		t.Errorf("%s is not what the types say (%v): go test ./cmd/kasoku -run TestJSONSchema -args -update", jsonSchemaFile, err)
	}
}

// fits checks what a command printed against the schema, in which no field may be unknown.
func fits(t *testing.T, command, out string) {
	t.Helper()
	if printed[command] == nil {
		t.Errorf("the schema has no %q", command)
		return
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
	if err != nil {
		t.Errorf("%s --json: %v in %s", command, err, out)
		return
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	text, err := json.Marshal(outputSchema(t, true))
	if err != nil {
		t.Fatal(err)
	}
	all, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("https://kasoku.test/json", all); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("https://kasoku.test/json#/properties/" + strings.NewReplacer(" ", "%20", "?", "%3F").Replace(command))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("%s --json: %v", command, err)
	}
}

// TestEveryCommandIsDescribed: a command that prints JSON is in the schema, and what it
// really prints is held to that in a test.
func TestEveryCommandIsDescribed(t *testing.T) {
	var cli CLI
	k, err := commandLine(&cli, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]bool{}
	for _, leaf := range k.Model.Leaves(false) {
		name := strings.TrimPrefix(leaf.FullPath(), "kasoku ")
		if leaf.Parent.DefaultCmd == leaf { // it may be left out
			name = strings.TrimPrefix(leaf.Parent.FullPath(), "kasoku ")
		}
		commands[name] = true
		there := false
		for p := range printed {
			there = there || p == name || strings.HasPrefix(p, name+" ")
		}
		if there == (notDescribed[name] != "") {
			t.Errorf("%q is to be in printed or in notDescribed", name)
		}
	}
	held := held(t)
	for _, name := range slices.Sorted(maps.Keys(printed)) {
		words := strings.Fields(name)
		if !commands[name] && !commands[strings.Join(words[:len(words)-1], " ")] && !commands[words[0]] {
			t.Errorf("there is no command %q", name)
		}
		if held[name] == slices.Contains(notHeld, name) {
			t.Errorf("%q is to be held to the schema in a test or in notHeld, and not in both", name)
		}
	}
}

// held finds the outputs that tests hold to the schema: the second word of fits, the keys
// of what printsAsDescribed gets, and `fits` in scripts.
func held(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				for _, e := range heldByCall(call) {
					if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
						out[strings.Trim(l.Value, `"`)] = true
					}
				}
			}
			return true
		})
	}
	scripts, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range scripts {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(strings.TrimSpace(l), "fits "); ok {
				out[strings.Trim(name, "'")] = true
			}
		}
	}
	return out
}

// heldByCall are the names of outputs in a call of fits or printsAsDescribed.
func heldByCall(call *ast.CallExpr) []ast.Expr {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		if fun.Name == "fits" {
			return call.Args[1:2]
		}
	case *ast.SelectorExpr:
		if fun.Sel.Name != "printsAsDescribed" {
			return nil
		}
		var keys []ast.Expr
		for _, e := range call.Args[0].(*ast.CompositeLit).Elts {
			keys = append(keys, e.(*ast.KeyValueExpr).Key)
		}
		return keys
	}
	return nil
}

// schemaWriter makes a JSON Schema of Go types.
type schemaWriter struct {
	t      *testing.T
	strict bool // no field may be unknown
	defs   map[string]any
	said   map[string]map[string]string // by package path and "Type.Field": its comment
}

func outputSchema(t *testing.T, strict bool) map[string]any {
	t.Helper()
	w := &schemaWriter{t: t, strict: strict, defs: map[string]any{}, said: map[string]map[string]string{}}
	commands := map[string]any{}
	for name, v := range printed {
		commands[name] = w.of(reflect.TypeOf(v))
	}
	return map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "What kasoku prints with --json",
		"description": "One property for each command. Times named in no other way are nanoseconds; fields are added, never renamed.",
		"type":        "object", "properties": commands, "$defs": w.defs,
	}
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	marshals     = reflect.TypeFor[json.Marshaler]()
	texts        = reflect.TypeFor[encoding.TextMarshaler]()
)

func (w *schemaWriter) of(t reflect.Type) map[string]any {
	orNull := func(kind string, more map[string]any) map[string]any {
		more["type"] = []string{kind, "null"}
		return more
	}
	switch {
	case t == timeType:
		return map[string]any{"type": "string", "format": "date-time"}
	case t == durationType:
		return map[string]any{"type": "integer", "description": "nanoseconds"}
	case t.Kind() == reflect.Pointer:
		return map[string]any{"anyOf": []any{w.of(t.Elem()), map[string]any{"type": "null"}}}
	case t.Implements(marshals) || reflect.PointerTo(t).Implements(marshals):
		return map[string]any{}
	case t.Implements(texts):
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer"}
	case reflect.Map:
		return orNull("object", map[string]any{"additionalProperties": w.of(t.Elem())})
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return orNull("string", map[string]any{"contentEncoding": "base64"})
		}
		return orNull("array", map[string]any{"items": w.of(t.Elem())})
	case reflect.Array:
		return map[string]any{"type": "array", "items": w.of(t.Elem())}
	case reflect.Struct:
		return w.structOf(t)
	}
	return map[string]any{} // an interface: anything
}

// structOf names a struct in $defs; one without a name stands where it is used.
func (w *schemaWriter) structOf(t reflect.Type) map[string]any {
	name := filepath.Base(t.PkgPath()) + "." + t.Name()
	ref := map[string]any{"$ref": "#/$defs/" + name}
	if t.Name() != "" {
		if w.defs[name] != nil {
			return ref
		}
		w.defs[name] = true // it may hold itself
	}
	fields := map[string]any{}
	w.fields(t, fields)
	out := map[string]any{"type": "object", "properties": fields}
	if w.strict {
		out["additionalProperties"] = false
	}
	if t.Name() == "" {
		return out
	}
	w.defs[name] = out
	return ref
}

// fields adds those of a struct and of what it embeds; the outer one counts.
func (w *schemaWriter) fields(t reflect.Type, into map[string]any) {
	var embedded []reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-" && options == "":
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			embedded = append(embedded, inner)
		case !f.IsExported():
		default:
			if name == "" {
				name = f.Name
			}
			if into[name] != nil {
				continue
			}
			s := w.of(f.Type)
			if slices.Contains(strings.Split(options, ","), "string") {
				s = map[string]any{"type": "string"}
			}
			if text := w.comment(t, f.Name); text != "" && !w.strict {
				s = withText(s, text)
			}
			into[name] = s
		}
	}
	for _, e := range embedded {
		w.fields(e, into)
	}
}

func withText(s map[string]any, text string) map[string]any {
	out := map[string]any{"description": text}
	for k, v := range s {
		if k == "description" {
			out[k] = text + " (" + fmt.Sprint(v) + ")"
			continue
		}
		out[k] = v
	}
	return out
}

// comment is what the source says of a field.
func (w *schemaWriter) comment(t reflect.Type, field string) string {
	if w.strict || !strings.HasPrefix(t.PkgPath(), "kasoku") {
		return ""
	}
	if w.said[t.PkgPath()] == nil {
		w.said[t.PkgPath()] = w.comments(t.PkgPath())
	}
	return w.said[t.PkgPath()][t.Name()+"."+field]
}

func (w *schemaWriter) comments(pkg string) map[string]string {
	out := map[string]string{}
	files, err := filepath.Glob(filepath.Join("../..", strings.TrimPrefix(pkg, "kasoku/"), "*.go"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			w.t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					text := strings.Join(strings.Fields(field.Doc.Text()+" "+field.Comment.Text()), " ")
					for _, n := range field.Names {
						out[spec.Name.Name+"."+n.Name] = text
					}
				}
			}
			return true
		})
	}
	return out
}
