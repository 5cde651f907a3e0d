package patch

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// Functions that a value is given to, by package and name; methods with the name of their
// type before.
var (
	// forgets are those that have done with it when they return.
	forgets = map[string][]string{
		"io":              {"Copy", "CopyN", "CopyBuffer", "WriteString", "ReadAll", "ReadFull", "ReadAtLeast"},
		"fmt":             {"Fprint", "Fprintf", "Fprintln", "Fscan", "Fscanf", "Fscanln"},
		"os":              {"WriteFile"},
		"bytes":           {"Equal", "Compare", "Contains", "Count", "Index", "IndexByte", "LastIndex", "HasPrefix", "HasSuffix", "ContainsAny", "Buffer.WriteTo", "Buffer.ReadFrom", "Reader.WriteTo"},
		"strings":         {"Reader.WriteTo"},
		"bufio":           {"Writer.ReadFrom", "Reader.WriteTo"},
		"encoding/json":   {"Valid", "Indent", "Compact", "HTMLEscape"},
		"encoding/xml":    {"Unmarshal"},
		"encoding/hex":    {"EncodeToString"},
		"encoding/binary": {"Write", "Read"},
		"encoding/base64": {"Encoding.EncodeToString"},
		"text/template":   {"Template.Execute", "Template.ExecuteTemplate"},
		"html/template":   {"Template.Execute", "Template.ExecuteTemplate", "HTMLEscape"},
		"image/png":       {"Encode", "Encoder.Encode"},
		"image/jpeg":      {"Encode"},
		"image/gif":       {"Encode"},
		"crypto/md5":      {"Sum"},
		"crypto/sha1":     {"Sum"},
		"crypto/sha256":   {"Sum256", "Sum224"},
		"crypto/sha512":   {"Sum512", "Sum384"},
		"hash/crc32":      {"ChecksumIEEE"},
		"net/http":        {"ServeContent", "DetectContentType"},
		"unicode/utf8":    {"Valid", "RuneCount"},
		"google.golang.org/protobuf/encoding/protojson": {"Unmarshal"},
	}
	// holds are those whose result has it as long as the result is there.
	holds = map[string][]string{
		"encoding/json":   {"NewEncoder", "NewDecoder"},
		"encoding/xml":    {"NewEncoder", "NewDecoder"},
		"encoding/gob":    {"NewEncoder"},
		"encoding/csv":    {"NewWriter", "NewReader"},
		"encoding/hex":    {"NewEncoder"},
		"encoding/base64": {"NewEncoder"},
		"archive/zip":     {"NewWriter"},
		"archive/tar":     {"NewWriter", "NewReader"},
		"mime/multipart":  {"NewWriter"},
		"text/tabwriter":  {"NewWriter"},
		"io":              {"TeeReader", "LimitReader", "MultiWriter", "MultiReader"},
		"bytes":           {"NewReader", "TrimSpace", "Trim", "TrimRight", "TrimLeft", "TrimSuffix", "TrimPrefix"},
		"compress/flate":  {"NewReader"},
		"compress/zlib":   {"NewReader"},
	}
)

// given follows a value that is an argument of a call, or what is called of it.
func (k *keeper) given(f *file, call *ast.CallExpr, e ast.Expr) *Refusal {
	if _, ok := f.parents[call].(*ast.GoStmt); ok {
		return refuse("kept", "a goroutine has %s, in line %d", short(f.text(e)), f.line(e.Pos()))
	}
	at := slices.Index(call.Args, e)
	if at < 0 {
		return k.keeps(f, e)
	}
	switch tv := f.info().Types[call.Fun]; {
	case tv.IsType():
		if isString(tv.Type) {
			return nil // a copy
		}
		return k.value(f, call)
	case tv.IsBuiltin():
		return k.builtin(f, call, at)
	}
	path, name, fn := f.calls(call)
	if fn == nil {
		return k.keeps(f, e)
	}
	if recv := fn.Signature().Recv(); recv != nil {
		name = receiverName(recv.Type()) + "." + name
	}
	made, _ := makes(path, name)
	switch {
	case path == "fmt" && at > 0:
		return k.keeps(f, e) // by its value it may be told from a new one
	case path == "encoding/json" && name == "Unmarshal":
		return k.methods("UnmarshalJSON", "UnmarshalText")
	case slices.Contains(forgets[path], name):
		return nil
	case slices.Contains(holds[path], name), made != nil && at == 0:
		return k.value(f, call)
	case k.program.bodies[fn.Origin()] != nil:
		return k.parameter(f, call, fn.Origin(), at)
	case isWrite(fn):
		return k.methods("Write")
	}
	return refuse("kept", "%s, which line %d gives it to, may keep %s", short(f.text(call.Fun)), f.line(call.Pos()), short(f.text(e)))
}

func (k *keeper) builtin(f *file, call *ast.CallExpr, at int) *Refusal {
	switch f.text(call.Fun) {
	case "len", "copy":
		return nil
	case "append":
		if at == 0 {
			return k.value(f, call)
		}
		if call.Ellipsis.IsValid() && isBytes(f.info().TypeOf(call.Args[at])) {
			return nil
		}
	}
	return k.keeps(f, call.Args[at])
}

// parameter follows an argument into a function of the program.
func (k *keeper) parameter(f *file, call *ast.CallExpr, fn *types.Func, at int) *Refusal {
	sig := fn.Signature()
	if sig.Variadic() && at >= sig.Params().Len()-1 || sig.TypeParams().Len() > 0 || at >= sig.Params().Len() {
		return k.keeps(f, call.Args[at])
	}
	v, d := sig.Params().At(at), k.program.bodies[fn]
	if d.Body == nil {
		return k.keeps(f, call.Args[at])
	}
	return k.variable(k.program.in[d], v, d)
}

// isWrite: a method of the form of io.Writer, whose contract is that it keeps nothing.
func isWrite(fn *types.Func) bool {
	sig := fn.Signature()
	return fn.Name() == "Write" && sig.Recv() != nil && sig.Params().Len() == 1 && isBytes(sig.Params().At(0).Type()) && sig.Results().Len() == 2
}

// methods refuses a program with a method of its own of such a name that keeps the bytes
// which it gets: by contract (io.Writer, json.Unmarshaler) it must not.
func (k *keeper) methods(names ...string) *Refusal {
	for _, name := range names {
		for _, m := range k.program.methods[name] {
			d := k.program.bodies[m]
			if params := m.Signature().Params(); d.Body == nil || params.Len() != 1 || !isBytes(params.At(0).Type()) {
				continue
			}
			if r := k.variable(k.program.in[d], m.Signature().Params().At(0), d); r != nil {
				return refuse("kept", "%s may keep what it is given: %s", k.program.in[d].function(d), r.Reason)
			}
		}
	}
	return nil
}

// receiverName is the name of a receiver's type: "Buffer".
func receiverName(t types.Type) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	text := types.TypeString(t, func(*types.Package) string { return "" })
	return strings.TrimPrefix(text, ".")
}
