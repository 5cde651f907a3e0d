package stack

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxFileSize of kasoku.yaml in bytes. A real one has a few kilobytes; the
// bound keeps a wrong file (a dump, a log) from being parsed: the parser needs
// time that grows with the square of the nesting.
const maxFileSize = 64 << 10

// Load reads and validates kasoku.yaml. Relative paths are made absolute
// against its folder and defaults are filled in. An error lists every problem
// as file:line:column with what to write instead.
func Load(path string) (*Stack, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, absentError{path}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	s, err := parse(path, data, filepath.Dir(abs))
	if err != nil {
		return nil, err
	}
	s.Path = abs
	return s, nil
}

// absentError says which kasoku.yaml is not there; what to do about it is the
// caller's to say.
type absentError struct{ path string }

func (e absentError) Error() string { return fmt.Sprintf("read %s: there is no such file", e.path) }

// Unwrap makes it an fs.ErrNotExist.
func (absentError) Unwrap() error { return fs.ErrNotExist }

// parse is Load without the disk. name stands in the errors; dir is what
// relative paths are relative to.
func parse(name string, data []byte, dir string) (s *Stack, err error) {
	if len(data) > maxFileSize {
		return nil, fmt.Errorf("%s: larger than %d KiB; this is not a kasoku.yaml", name, maxFileSize>>10)
	}
	// The YAML library is foreign code on foreign input: a panic in it becomes
	// an error about the file.
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("%s:1:1: cannot be read as YAML (%v)", name, r)
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, yamlError(name, err)
	}
	if len(file.Docs) > 1 {
		return nil, fmt.Errorf("%s:1:1: has %d YAML documents; write one, without --- lines in between", name, len(file.Docs))
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, fmt.Errorf("%s:1:1: is empty; write one with `kasoku init`", name)
	}
	d := &document{file: name, at: map[string]*token.Token{}}
	d.walk(file.Docs[0].Body, reflect.TypeFor[Stack](), "")
	if err := d.err(); err != nil {
		return nil, err
	}
	s = &Stack{Dir: dir}
	if err := yaml.NodeToValue(file.Docs[0].Body, s, yaml.Strict()); err != nil {
		return nil, yamlError(name, err)
	}
	s.Dir = dir
	s.fill()
	s.validate(d)
	if err := d.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// yamlError makes the library's error one line with the place in front.
func yamlError(name string, err error) error {
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil || y.GetToken().Position == nil {
		return fmt.Errorf("%s:1:1: not valid YAML: %w", name, err)
	}
	p := y.GetToken().Position
	return fmt.Errorf("%s:%d:%d: not valid YAML: %s", name, p.Line, p.Column, y.GetMessage())
}
