package change

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/stack"
)

// fixture is an executor over files in a folder and services that only write
// down what is asked of them.
type fixture struct {
	t     *testing.T
	dir   string
	host  *hosttest.Faulty
	calls []string
	// fail makes a call fail: "check web", "reload web", "healthy db".
	fail  map[string]error
	x     *Executor
	trace func(string)
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, dir: t.TempDir(), host: hosttest.NewFaulty(host.NewLocal()), fail: map[string]error{}}
	f.open()
	t.Cleanup(func() { f.x.Close() })
	return f
}

func (f *fixture) options() Options {
	s := &stack.Stack{Services: []stack.Service{
		{Name: "web", Kind: stack.Nginx, TalksTo: []string{"php"}},
		{Name: "shop", Kind: stack.App, RunsIn: "php", TalksTo: []string{"db"}},
		{Name: "php", Kind: stack.PHPFPM},
		{Name: "db", Kind: stack.MariaDB},
	}}
	return Options{Dir: filepath.Join(f.dir, ".kasoku"), Stack: s, Hosts: map[string]host.Host{"local": f.host},
		Control: func(service string) (Controller, error) {
			if s.Service(service) == nil {
				return nil, errors.New("no service " + service)
			}
			return &recorder{f, service}, nil
		},
		Trace: func(step string) {
			if f.trace != nil {
				f.trace(step)
			}
		}}
}

func (f *fixture) open() {
	f.t.Helper()
	x, err := Open(f.t.Context(), f.options())
	must(f.t, err)
	f.x = x
}

// reopen is what the next process does after a kill.
func (f *fixture) reopen() {
	f.t.Helper()
	must(f.t, f.x.Close())
	f.open()
}

// recorder is a Controller that writes down its calls.
type recorder struct {
	f       *fixture
	service string
}

func (r *recorder) call(act string) error {
	what := act + " " + r.service
	r.f.calls = append(r.f.calls, what)
	return r.f.fail[what]
}
func (r *recorder) Check(context.Context) error       { return r.call("check") }
func (r *recorder) Reload(context.Context) error      { return r.call("reload") }
func (r *recorder) Restart(context.Context) error     { return r.call("restart") }
func (r *recorder) WaitHealthy(context.Context) error { return r.call("healthy") }

// did returns the reloads and restarts since the last call.
func (f *fixture) did() string {
	var out []string
	for _, c := range f.calls {
		if strings.HasPrefix(c, "reload") || strings.HasPrefix(c, "restart") {
			out = append(out, c)
		}
	}
	f.calls = nil
	return strings.Join(out, ", ")
}

var long = time.Date(2011, 11, 11, 11, 11, 11, 123456789, time.UTC)

// file writes a file with a mode and a time of its own.
func (f *fixture) file(name, content string) string {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	must(f.t, os.WriteFile(path, []byte(content), 0o640))
	must(f.t, os.Chtimes(path, long, long))
	return path
}

func edit1(path, before, after, service string, how Activation) Change {
	return Change{Kind: KindFile, Path: path, Service: service, Activate: how,
		Before: stateOf(before), After: stateOf(after)}
}

func stateOf(content string) *FileState {
	return &FileState{Hash: host.HashOf([]byte(content)), Content: []byte(content), Mode: 0o640}
}

func create(path, content, service string) Change {
	return Change{Kind: KindFile, Path: path, Service: service, Activate: Reload,
		After: &FileState{Content: []byte(content), Mode: 0o604, UID: -1, GID: -1}}
}

func (f *fixture) apply(changes ...Change) (Tx, error) {
	return f.x.Apply(f.t.Context(), Intent{Title: "test", Plan: "p", Session: 7, Changes: changes})
}

// tree is everything about the files of the fixture that must come back.
func (f *fixture) tree() string { return treeOf(f.t, f.dir) }

func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".kasoku" {
			return filepath.SkipDir
		}
		info, err := host.NewLocal().Stat(t.Context(), path)
		if err != nil {
			return err
		}
		line := []string{path, info.Mode.String(), info.Target, itoa(info.UID), itoa(info.GID)}
		if info.Mode.IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line = append(line, string(host.HashOf(b)), info.ModTime.UTC().String())
		}
		out = append(out, strings.Join(line, " "))
		return nil
	}))
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, err, is error) {
	t.Helper()
	if !errors.Is(err, is) {
		t.Fatalf("error %v, want %v", err, is)
	}
}

func wantText(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if err == nil || !strings.Contains(err.Error(), p) {
			t.Fatalf("error %v does not say %q", err, p)
		}
	}
}

func wantEqual(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Fatalf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

func states(txs []Tx) string {
	var out []string
	for _, t := range txs {
		out = append(out, itoa(int(t.ID))+" "+t.State)
	}
	return strings.Join(out, ", ")
}
