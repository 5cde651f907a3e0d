package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// MaxOpenAPI in bytes, of a document with all that it refers to; the largest
	// public ones have some ten megabytes.
	MaxOpenAPI = 64 << 20
	// maxAPIFiles that one document refers to.
	maxAPIFiles = 1000
	// maxJSONNesting of a document.
	maxJSONNesting = 1000
	// maxAPIProblems are told, each with its place.
	maxAPIProblems = 25
)

// apiFiles are a document and the files that it refers to.
type apiFiles struct {
	dir   string // ""; no other file is read
	left  int    // bytes that may still be read
	byRef map[string]*apiFile
	notes []string // problems, in the order in which they were found
	told  map[string]bool
	more  int
	// followed references, by their file and text.
	followed map[string]followed
	schemas  map[*yaml.Node]*schema // those that were read
}

// problem is something in the document that could not be used as it is.
func (f *apiFiles) problem(at apiNode, text string) {
	place := ""
	if at.file != nil && at.file.name != "" {
		place = at.file.name + " "
	}
	if n := at.line(); n > 0 {
		place += fmt.Sprintf("line %d", n)
	}
	if place = strings.TrimSpace(place); place != "" {
		text = place + ": " + text
	}
	switch {
	case f.told[text]:
	case len(f.notes) >= maxAPIProblems:
		f.told[text] = true
		f.more++
	default:
		f.told[text] = true
		f.notes = append(f.notes, text)
	}
}

// problems are told in the draft's report.
func (f *apiFiles) problems() []string {
	if f.more == 0 {
		return f.notes
	}
	return append(f.notes, fmt.Sprintf("and %d more of this kind", f.more))
}

// readAPI parses the document.
func readAPI(data []byte, dir string) (*apiFile, error) {
	files := &apiFiles{dir: dir, left: MaxOpenAPI, byRef: map[string]*apiFile{}, told: map[string]bool{}, schemas: map[*yaml.Node]*schema{}, followed: map[string]followed{}}
	root, err := files.parse("", "", data)
	if err != nil {
		return nil, fmt.Errorf("read OpenAPI: %w", err)
	}
	files.byRef[""] = root
	return root, nil
}

// parse reads JSON or YAML. The YAML library is foreign code on foreign
// input: a panic in it becomes an error about the file.
func (f *apiFiles) parse(name, path string, data []byte) (file *apiFile, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, fmt.Errorf("it cannot be read (%v)", r)
		}
	}()
	if f.left -= len(data); f.left < 0 {
		return nil, fmt.Errorf("larger than %d MiB with all files that it refers to", MaxOpenAPI>>20)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	file = &apiFile{name: name, path: path, files: f}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("the file is empty")
	}
	if bytes.TrimSpace(data)[0] == '{' {
		root, err := jsonNodes(data)
		if err == nil {
			file.root = root
			return file, nil
		}
		if file.root, err = yamlNodes(data); err == nil { // YAML in braces
			return file, nil
		}
		_, err = jsonNodes(data)
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	file.root, err = yamlNodes(data)
	if err == nil || !bytes.ContainsRune(data, '\t') {
		return file, err
	}
	// YAML forbids tabs in indentation; some editors write them.
	for _, width := range []int{2, 4, 8} {
		if root, failed := yamlNodes(untab(data, width)); failed == nil {
			file.root = root
			f.problem(apiNode{file: file}, fmt.Sprintf("tabs in the indentation, which YAML forbids, are read as %d blanks", width))
			return file, nil
		}
	}
	return nil, err
}

func yamlNodes(data []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, errors.New("it has no content")
	}
	return doc.Content[0], nil
}

// untab writes blanks for tabs in front of each line.
func untab(data []byte, width int) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(data) {
		rest := bytes.TrimLeft(line, " \t")
		for _, c := range line[:len(line)-len(rest)] {
			if c == '\t' {
				out.WriteString(strings.Repeat(" ", width))
			} else {
				out.WriteByte(c)
			}
		}
		out.Write(rest)
	}
	return out.Bytes()
}

// jsonReader makes nodes of JSON, with their lines.
type jsonReader struct {
	d    *json.Decoder
	data []byte
	line int
	at   int64
}

func jsonNodes(data []byte) (*yaml.Node, error) {
	r := &jsonReader{d: json.NewDecoder(bytes.NewReader(data)), data: data, line: 1}
	r.d.UseNumber()
	root, err := r.node(0)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", r.here(), jsonError(err))
	}
	return root, nil
}

func (r *jsonReader) here() int {
	now := r.d.InputOffset()
	r.line += bytes.Count(r.data[r.at:now], []byte("\n"))
	r.at = now
	return r.line
}

func (r *jsonReader) node(depth int) (*yaml.Node, error) {
	t, err := r.d.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxJSONNesting {
		return nil, errors.New("it is nested too deep")
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: r.here()}
	switch v := t.(type) {
	case string:
		n.Tag, n.Value = "!!str", v
	case json.Number:
		n.Tag, n.Value = "!!float", v.String()
		if !strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!int"
		}
	case bool:
		n.Tag, n.Value = "!!bool", fmt.Sprint(v)
	case nil:
		n.Tag, n.Value = "!!null", "null"
	case json.Delim:
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		if v == '[' {
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		}
		for r.d.More() {
			child, err := r.node(depth + 1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		_, err = r.d.Token()
	}
	return n, err
}

// errAway is for references that are not followed.
var errAway = errors.New("it is not fetched: save it beside the document")

// followed is where a reference leads, or why it leads nowhere.
type followed struct {
	to  apiNode
	err error
}

// errCircle is a reference that leads back to itself.
var errCircle = errors.New("it leads back to itself")

// follow a reference from a file. Each is followed once; while it is, it leads
// nowhere, which ends circles.
func (f *apiFiles) follow(from *apiFile, ref string) (apiNode, error) {
	key := from.path + "\x00" + ref
	if known, ok := f.followed[key]; ok {
		return known.to, known.err
	}
	f.followed[key] = followed{err: errCircle}
	to, err := f.lookUp(from, ref)
	f.followed[key] = followed{to, err}
	return to, err
}

func (f *apiFiles) lookUp(from *apiFile, ref string) (apiNode, error) {
	name, fragment, _ := strings.Cut(ref, "#")
	file := from
	if name != "" {
		var err error
		if file, err = f.beside(from, name); err != nil {
			return apiNode{}, err
		}
	}
	root := apiNode{file.root, file}
	to, ok := root.pointer(fragment)
	if !ok && fragment != "" && !strings.HasPrefix(fragment, "/") {
		to, ok = root.anchor(fragment)
	}
	if !ok {
		return apiNode{}, errors.New("it points to nothing")
	}
	return to, nil
}

// anchor finds a schema of components with this $anchor (JSON Schema 2020-12,
// 8.2.2).
func (v apiNode) anchor(name string) (apiNode, bool) {
	for _, m := range v.find("components").find("schemas").own() {
		if m.value.find("$anchor").text() == name {
			return m.value, true
		}
	}
	return apiNode{}, false
}

// beside reads a referred file within the document's folder; nothing else of
// the machine, and nothing from the network.
func (f *apiFiles) beside(from *apiFile, name string) (*apiFile, error) {
	u, err := url.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("it is no address: %w", err)
	}
	if u.Scheme != "" && u.Scheme != "file" || u.Host != "" || f.dir == "" {
		return nil, errAway
	}
	rel := path.Join(path.Dir(from.path), u.Path)
	if path.IsAbs(u.Path) || !filepath.IsLocal(filepath.FromSlash(rel)) {
		return nil, errors.New("it is outside the document's folder")
	}
	if known := f.byRef[rel]; known != nil {
		if known.root == nil {
			return nil, errors.New("that file could not be read")
		}
		return known, nil
	}
	if len(f.byRef) >= maxAPIFiles {
		return nil, fmt.Errorf("there are more than %d files", maxAPIFiles)
	}
	f.byRef[rel] = &apiFile{}
	data, err := readLocal(f.dir, rel)
	if err != nil {
		return nil, err
	}
	file, err := f.parse(rel, rel, data)
	if err != nil {
		return nil, err
	}
	f.byRef[rel] = file
	return file, nil
}

func readLocal(dir, rel string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(filepath.FromSlash(rel))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no such file")
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxOpenAPI {
		return nil, errors.New("it is no file of a document's size")
	}
	return root.ReadFile(filepath.FromSlash(rel))
}
