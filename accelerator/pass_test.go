package accelerator

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

const oneRule = `{"format": 1, "rules": [{"id": "users", "kind": "prefetch", "after": "SELECT id, user_id FROM posts ORDER BY id",
	"column": "user_id", "statement": "SELECT id, name FROM users WHERE id = ?"}]}`

func rulesOf(t testing.TB, text string) *Rules {
	t.Helper()
	r, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A driver is called the same way, and answers the same, whatever interfaces it has.
func TestDriversSeeTheSame(t *testing.T) {
	rules := rulesOf(t, oneRule)
	for name, open := range fakes {
		t.Run(name, func(t *testing.T) {
			plain, through := &diary{}, &diary{}
			drive(sql.OpenDB(fake{plain, open}), plain)
			// What a connection asks before it is used is not the service's.
			drive(sql.OpenDB(unchecked{fake{through, open}, rules}), through)
			for i, line := range plain.lines {
				if i >= len(through.lines) || through.lines[i] != line {
					t.Fatalf("line %d\nwithout: %s\nwith:    %s", i, line, strings.Join(through.lines[i:min(i+1, len(through.lines))], ""))
				}
			}
			if len(through.lines) != len(plain.lines) || len(plain.lines) < 60 {
				t.Fatalf("%d lines without, %d with", len(plain.lines), len(through.lines))
			}
		})
	}
}

// unchecked wraps without asking the server, as if it had said that all is well.
type unchecked struct {
	fake
	rules *Rules
}

func (u unchecked) Connect(ctx context.Context) (driver.Conn, error) {
	dc, err := u.fake.Connect(ctx)
	return trusting(dc, u.rules).as(), err
}

func trusting(dc driver.Conn, rules *Rules) *conn {
	c := &conn{Conn: dc, rules: rules, held: make([]held, len(rules.targets)), stable: make([]bool, len(rules.targets)), level: sql.LevelRepeatableRead}
	for i := range c.stable {
		c.stable[i] = true
	}
	return c
}

// Interfaces of package driver that a version of Go adds have to be passed on, too.
func TestAllInterfacesAreKnown(t *testing.T) {
	known := map[string]bool{}
	for _, n := range strings.Fields(`Value Driver DriverContext Connector Pinger Execer ExecerContext Queryer QueryerContext Conn ConnPrepareContext
		ConnBeginTx SessionResetter Validator Result Stmt StmtExecContext StmtQueryContext NamedValueChecker ColumnConverter Rows RowsNextResultSet
		RowsColumnTypeScanType RowsColumnTypeDatabaseTypeName RowsColumnTypeLength RowsColumnTypeNullable RowsColumnTypePrecisionScale Tx
		Valuer ValueConverter decimalDecompose decimal`) {
		known[n] = true
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src/database/sql/driver/*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				if _, ok := s.Type.(*ast.InterfaceType); ok && !known[s.Name.Name] {
					t.Errorf("%s has driver.%s, which is passed on nowhere", runtime.Version(), s.Name.Name)
				}
			}
			return true
		})
	}
}

// The library is copied: it imports the standard library alone, and builds by itself with
// an old Go's language.
func TestBuildsAlone(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "embed.go" {
			continue
		}
		text, err := Source.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "// SPDX-License-Identifier: Apache-2.0\n") {
			t.Errorf("%s does not say its licence, and is copied", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module alone\n\ngo 1.21\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "./...")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod")
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// quiet is a driver that costs nothing.
type quiet struct {
	rows quietRows
	stmt quietStmt
}

type (
	quietRows struct{ n int }
	quietStmt struct{ c *quiet }
	quietTx   struct{}
)

func (q *quiet) Prepare(string) (driver.Stmt, error) { return &q.stmt, nil }
func (q *quiet) Close() error                        { return nil }
func (q *quiet) Begin() (driver.Tx, error)           { return quietTx{}, nil }
func (q *quiet) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	return quietTx{}, nil
}
func (q *quiet) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	q.rows.n = 0
	return &q.rows, nil
}
func (q *quiet) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return driver.ResultNoRows, nil
}
func (q *quiet) CheckNamedValue(*driver.NamedValue) error       { return nil }
func (quietTx) Commit() error                                   { return nil }
func (quietTx) Rollback() error                                 { return nil }
func (s *quietStmt) Close() error                               { return nil }
func (s *quietStmt) NumInput() int                              { return -1 }
func (s *quietStmt) Exec([]driver.Value) (driver.Result, error) { return nil, nil }
func (s *quietStmt) Query([]driver.Value) (driver.Rows, error)  { return nil, nil }
func (s *quietStmt) QueryContext(context.Context, []driver.NamedValue) (driver.Rows, error) {
	return &s.c.rows, nil
}
func (s *quietStmt) ExecContext(context.Context, []driver.NamedValue) (driver.Result, error) {
	return driver.ResultNoRows, nil
}
func (r *quietRows) Columns() []string { return []string{"id", "user_id"} }
func (r *quietRows) Close() error      { return nil }
func (r *quietRows) Next(dest []driver.Value) error {
	if r.n++; r.n > 1 {
		return io.EOF
	}
	return nil
}

const (
	otherRead  = "SELECT p.id, p.title, p.body, u.name FROM posts p JOIN users u ON u.id = p.user_id WHERE p.created_at > ? AND p.deleted_at IS NULL ORDER BY p.created_at DESC LIMIT 20"
	otherWrite = "INSERT INTO events (kind, user_id, created_at) VALUES (?, ?, ?)"
)

// untouched are statements that no rule touches, by name: outside of a transaction, inside,
// and inside while memory is in use.
func untouched(t testing.TB, wrapped bool) map[string]func() {
	q := &quiet{}
	q.stmt.c = q
	var c driver.Conn = q
	args, dest, ctx := []driver.NamedValue{{Ordinal: 1, Value: int64(1)}}, make([]driver.Value, 2), context.Background()
	opts := driver.TxOptions{}
	var w *conn
	if wrapped {
		w = trusting(q, rulesOf(t, oneRule))
		c = w.as()
	}
	query := func() {
		rows, err := c.(driver.QueryerContext).QueryContext(ctx, otherRead, args)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next(dest) == nil {
		}
		rows.Close()
	}
	exec := func() {
		if _, err := c.(driver.ExecerContext).ExecContext(ctx, otherWrite, args); err != nil {
			t.Fatal(err)
		}
	}
	prepared := func() {
		var s driver.Stmt
		var err error
		if p, ok := c.(driver.ConnPrepareContext); ok {
			s, err = p.PrepareContext(ctx, otherRead)
		} else {
			s, err = c.Prepare(otherRead)
		}
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.(driver.StmtQueryContext).QueryContext(ctx, args)
		if err != nil {
			t.Fatal(err)
		}
		rows.Close()
		s.Close()
	}
	inside := func(do func()) func() {
		return func() {
			tx, err := c.(driver.ConnBeginTx).BeginTx(ctx, opts)
			if err != nil {
				t.Fatal(err)
			}
			do()
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		}
	}
	lively := func(do func()) func() {
		return inside(func() {
			if w != nil {
				w.live = true
			}
			do()
		})
	}
	return map[string]func(){
		"query": query, "exec": exec, "prepared": prepared,
		"query in a transaction": inside(query), "exec in a transaction": inside(exec), "prepared in a transaction": inside(prepared),
		"query beside memory": lively(query), "exec beside memory": lively(exec), "prepared beside memory": lively(prepared),
	}
}

// A statement that no rule touches costs no allocation.
func TestNoAllocation(t *testing.T) {
	without := untouched(t, false)
	for name, do := range untouched(t, true) {
		if with, plain := testing.AllocsPerRun(100, do), testing.AllocsPerRun(100, without[name]); with != plain {
			t.Errorf("%s: %v allocations, the driver alone %v", name, with, plain)
		}
	}
}

// Bar: a statement that no rule touches costs less than 2 µs more, and no allocation.
func BenchmarkUntouched(b *testing.B) {
	for _, wrapped := range []bool{false, true} {
		kind := "without"
		if wrapped {
			kind = "with"
		}
		for name, do := range untouched(b, wrapped) {
			b.Run(strings.ReplaceAll(name, " ", "-")+"/"+kind, func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; i < b.N; i++ {
					do()
				}
			})
		}
	}
}

// Without rules the driver's connector is used as it is.
func TestWithoutRules(t *testing.T) {
	c := fake{&diary{}, fakes["modern"]}
	for name, rules := range map[string]*Rules{"none": nil, "an empty list": rulesOf(t, `{"format": 1, "rules": []}`)} {
		if got := Connector(c, rules); !reflect.DeepEqual(reflect.ValueOf(got).Type(), reflect.TypeOf(c)) {
			t.Errorf("%s: %T", name, got)
		}
	}
}

// A statement that is seen for the first time beside memory is looked through.
func BenchmarkScan(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		scan(otherRead)
	}
}
