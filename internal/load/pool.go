package load

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

const (
	// maxPoolFile of a CSV pool in bytes: it is held in memory as a whole.
	maxPoolFile = 256 << 20
	// maxGenerated rows; a permutation needs no table, so this is only a guard
	// against a slip of the finger.
	maxGenerated = 1_000_000_000_000
)

// pool is data that sessions draw rows from.
type pool struct {
	name   string
	index  int // in Scenario.pools
	rows   uint64
	order  poolOrder
	fields []string

	from  int64         // generated: n of row 0
	exprs [][]fieldPart // generated: one per field
	cells []string      // from a file: row-major
}

// poolOrder says which row a draw gives.
type poolOrder uint8

const (
	uniqueOrder     poolOrder = iota // each row once per round, in a random order
	randomOrder                      // independent draws
	sequentialOrder                  // as in the file, over all users
)

// fieldPart of a generated field: a literal, or n with operations.
type fieldPart struct {
	literal string
	number  bool
	ops     []operation
}

// operation is / (integer division) or % on n.
type operation struct {
	modulo bool
	by     int64
}

// append writes a row's field.
func (p *pool) append(dst []byte, row uint64, field int) []byte {
	if p.exprs == nil {
		return append(dst, p.cells[row*uint64(len(p.fields))+uint64(field)]...)
	}
	for i := range p.exprs[field] {
		e := &p.exprs[field][i]
		if !e.number {
			dst = append(dst, e.literal...)
			continue
		}
		n := p.from + int64(row)
		for _, op := range e.ops {
			if op.modulo {
				n %= op.by
			} else {
				n /= op.by
			}
		}
		dst = strconv.AppendInt(dst, n, 10)
	}
	return dst
}

// position of VU user's i-th draw of a unique pool shared by users: user,
// user+users, … and from the start of its own share when that is used up. Two
// users never hold the same row, unless there are more users than rows.
func (p *pool) position(i, user, users uint64) uint64 {
	if user >= p.rows {
		return user % p.rows
	}
	share := (p.rows - user + users - 1) / users
	return user + i%share*users
}

// readPool compiles one entry of pools.
func (d *document) readPool(p pair) *pool {
	what := "pool " + p.key
	if !isName(p.key) {
		d.fail(p.at, "%q cannot name a pool; use letters, digits, - and _", p.key)
	}
	o := d.object(p.value, what, "generate", "fields", "file", "order")
	out := &pool{name: p.key}
	if n := o["order"]; n != nil {
		switch s, _ := d.text(n, what+": order"); s {
		case "unique":
		case "random":
			out.order = randomOrder
		case "sequential":
			out.order = sequentialOrder
		default:
			d.fail(n, "%s: order is %q; write unique, random or sequential", what, s)
		}
	}
	switch {
	case o["generate"] != nil && o["file"] != nil:
		d.fail(p.at, "%s has both generate and file; keep one", what)
	case o["generate"] != nil:
		d.readGenerated(out, what, o["generate"], o["fields"], p.at)
	case o["file"] != nil:
		if o["fields"] != nil {
			d.fail(o["fields"], "%s: a file's header line names its fields; remove fields", what)
		}
		d.readPoolFile(out, what, o["file"])
	default:
		d.fail(p.at, "%s needs generate (with fields) or file", what)
	}
	return out
}

func (d *document) readGenerated(p *pool, what string, generate, fields, at ast.Node) {
	o := d.object(generate, what+": generate", "from", "to")
	first, last := int64(1), int64(-1)
	d.integer(o["from"], what+": from", 0, maxGenerated, &first)
	d.integer(o["to"], what+": to", 0, maxGenerated, &last)
	if o["to"] == nil {
		d.fail(generate, "%s: generate needs to, the last n", what)
	} else if last < first {
		d.fail(o["to"], "%s: to (%d) is below from (%d)", what, last, first)
		last = first
	}
	p.from, p.rows = first, uint64(max(last-first+1, 1))
	p.exprs = [][]fieldPart{}
	if fields == nil {
		d.fail(at, `%s needs fields, for example fields: {name: "user${n}"}`, what)
		return
	}
	for _, f := range d.pairs(fields, what+": fields") {
		if !isName(f.key) {
			d.fail(f.at, "%s: %q cannot name a field; use letters, digits, - and _", what, f.key)
		}
		text, ok := d.text(f.value, what+": "+f.key)
		if !ok {
			continue
		}
		expr, err := parseField(text)
		if err != nil {
			d.fail(f.value, "%s: %s: %v", what, f.key, err)
		}
		p.fields, p.exprs = append(p.fields, f.key), append(p.exprs, expr)
	}
}

// parseField compiles "10.${n/256}.${n%256}".
func parseField(text string) ([]fieldPart, error) {
	pieces, err := splitText(text)
	if err != nil {
		return nil, err
	}
	var out []fieldPart
	for _, p := range pieces {
		if !p.variable {
			out = append(out, fieldPart{literal: p.text})
			continue
		}
		ops, err := parseNumber(p.text)
		if err != nil {
			return nil, err
		}
		out = append(out, fieldPart{number: true, ops: ops})
	}
	return out, nil
}

// parseNumber compiles n, n/K, n%K and chains of them, done from the left.
func parseNumber(s string) ([]operation, error) {
	bad := fmt.Errorf("${%s} is unknown here; write ${n}, ${n/K} or ${n%%K} with a number K above 0", shorten(s, 40))
	rest, ok := strings.CutPrefix(strings.ReplaceAll(s, " ", ""), "n")
	if !ok {
		return nil, bad
	}
	var ops []operation
	for rest != "" {
		if rest[0] != '/' && rest[0] != '%' {
			return nil, bad
		}
		end := strings.IndexAny(rest[1:], "/%") + 1
		if end == 0 {
			end = len(rest)
		}
		by, err := strconv.ParseInt(rest[1:end], 10, 64)
		if err != nil || by <= 0 {
			return nil, bad
		}
		ops = append(ops, operation{modulo: rest[0] == '%', by: by})
		rest = rest[end:]
	}
	return ops, nil
}

// readPoolFile reads a CSV file, relative to the scenario's folder.
func (d *document) readPoolFile(p *pool, what string, n ast.Node) {
	path, ok := d.text(n, what+": file")
	if !ok {
		return
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(d.name), path)
	}
	d.reads(path)
	f, err := os.Open(path)
	if err != nil {
		hint := "check its permissions"
		if errors.Is(err, fs.ErrNotExist) {
			hint = "its path is relative to the scenario's folder"
		}
		d.fail(n, "%s: %v; %s", what, err, hint)
		return
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() {
		d.fail(n, "%s: %s is not a file", what, path)
		return
	}
	if err := p.readCSV(f); err != nil {
		d.fail(n, "%s: %s: %v", what, path, err)
	}
}

// readCSV fills the pool from a file whose first line names the fields.
func (p *pool) readCSV(r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, maxPoolFile+1))
	if err != nil {
		return err
	}
	if len(data) > maxPoolFile {
		return fmt.Errorf("is larger than %d MiB; use a smaller file", maxPoolFile>>20)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return fmt.Errorf("%w; write comma-separated lines as many fields each as the header line", err)
	}
	if len(rows) < 2 {
		return errors.New("has no rows; write a header line with the fields' names and one line or more of data")
	}
	for i, name := range rows[0] {
		if !isName(name) {
			return fmt.Errorf("the header line has %q; name fields with letters, digits, - and _", name)
		}
		if slices.Contains(rows[0][:i], name) {
			return fmt.Errorf("the header line has %q twice", name)
		}
	}
	p.fields, p.rows = rows[0], uint64(len(rows)-1)
	p.cells = make([]string, 0, len(p.fields)*int(p.rows))
	for _, row := range rows[1:] {
		p.cells = append(p.cells, row...)
	}
	return nil
}

// isName: what can stand in ${…}.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || i > 0 && (c >= '0' && c <= '9' || c == '-') {
			continue
		}
		return false
	}
	return s != ""
}
