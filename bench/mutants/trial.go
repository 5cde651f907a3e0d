package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// trier runs mutants.
type trier struct {
	root  string
	box   *box
	limit time.Duration // of one run of tests; five times that for internal/change
	wide  bool
	all   map[string][]*pack
	clean map[string]bool // tests that pass as the code is
}

// mutantTest is the binary with the mutant.
const mutantTest = "mutant.test"

// try runs the tests on one mutant.
func (t *trier) try(ctx context.Context, m mutant) (result, error) {
	r := newResult(m)
	began := time.Now()
	packs := []*pack{m.pack}
	if t.wide {
		packs = append(packs, t.importers(m)...)
	}
	r.Status, r.By = survived, ""
	for _, p := range packs {
		if len(p.tests) == 0 {
			continue
		}
		status, by, err := t.test(ctx, p, m)
		if err != nil {
			return r, err
		}
		if status != survived {
			if by != "" {
				if err := t.asItIs(ctx, p, by); err != nil {
					return r, err
				}
			}
			r.Status, r.By = status, by
			if p != m.pack {
				r.By = p.dir + " " + by
			}
			break
		}
	}
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// importers are the packages of the mutant's group that import its package.
func (t *trier) importers(m mutant) []*pack {
	var out []*pack
	for _, p := range t.all[m.group] {
		if p != m.pack && slices.Contains(p.imports, m.pack.path) {
			out = append(out, p)
		}
	}
	return out
}

// asItIs makes sure that a test passes without the mutant; else what killed it
// would be something else.
func (t *trier) asItIs(ctx context.Context, p *pack, test string) error {
	bin := t.box.path(strings.ReplaceAll(p.dir, "/", "-") + ".test")
	key := p.dir + " " + test
	if t.clean[key] {
		return nil
	}
	if _, err := os.Stat(bin); err != nil {
		if err := t.build(ctx, bin, p, nil); err != nil {
			return err
		}
	}
	var out []byte
	var err error
	for range 3 { // a busy machine may fail one
		if out, err = t.box.run(ctx, t.dir(p), t.limitOf(p), bin, "-test.timeout=0", "-test.v", "-test.run=^"+test+"$"); err == nil {
			t.clean[key] = true
			return nil
		}
	}
	return fmt.Errorf("%s of %s fails without a mutant: %w: %s", test, p.dir, err, tail(out))
}

// limitOf is how long the tests of p may take: minutes where they kill real
// servers at every step.
func (t *trier) limitOf(p *pack) time.Duration {
	if p.dir == "internal/change" {
		return 5 * t.limit
	}
	return t.limit
}

func (t *trier) dir(p *pack) string { return filepath.Join(t.root, filepath.FromSlash(p.dir)) }

// build makes the test binary of p, with the mutant's file in place of its own.
func (t *trier) build(ctx context.Context, bin string, p *pack, m *mutant) error {
	args := []string{"test", "-c", "-p", "1", "-vet=off", "-o", bin}
	if m != nil {
		dir, err := os.MkdirTemp("", "kmutsrc")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		overlay, err := t.overlay(dir, *m)
		if err != nil {
			return err
		}
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+p.dir)...)
	cmd.Dir = t.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the tests of %s: %w: %s", p.dir, err, tail(out))
	}
	return nil
}

// overlay writes the mutated file and what go takes as -overlay.
func (t *trier) overlay(dir string, m mutant) (string, error) {
	original := filepath.Join(t.root, filepath.FromSlash(m.file))
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "mutant.go")
	if err := os.WriteFile(file, m.apply(text), 0o600); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": {original: file}})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, data, 0o600)
}

// test runs the tests of p on the mutant: those first that are likely to kill
// it, then the others.
func (t *trier) test(ctx context.Context, p *pack, m mutant) (status, string, error) {
	if err := t.build(ctx, t.box.path(mutantTest), p, &m); err != nil {
		return "", "", err
	}
	first, err := near(t.root, p, m)
	if err != nil {
		return "", "", err
	}
	var stages [][]string
	if len(first) > 0 {
		names := "^(" + strings.Join(first, "|") + ")$"
		stages = [][]string{{"-test.run=" + names}, {"-test.skip=" + names}}
	} else {
		stages = [][]string{nil}
	}
	for _, s := range stages {
		status, by, err := t.stage(ctx, p, s)
		if err != nil || status != survived {
			return status, by, err
		}
	}
	return survived, "", nil
}

// stage runs some tests. A test that fails is run again by itself, for on a
// busy machine one may fail of the time that things take, or the time of all be
// up: when it then passes, the others decide, with twice the time, and in the
// end what failed twice in a row.
func (t *trier) stage(ctx context.Context, p *pack, which []string) (status, string, error) {
	limit := t.limitOf(p)
	for again := false; ; again = true {
		status, by, err := t.once(ctx, p, limit, which)
		if err != nil || status == survived || again || by == "" {
			return status, by, err
		}
		alone, _, err := t.once(ctx, p, limit, []string{"-test.run=^" + by + "$"})
		if err != nil || alone != survived {
			return alone, by, err
		}
		limit *= 2
	}
}

func (t *trier) once(ctx context.Context, p *pack, limit time.Duration, which []string) (status, string, error) {
	argv := append([]string{t.box.path(mutantTest), "-test.failfast", "-test.v", "-test.timeout=" + limit.String()}, which...)
	out, err := t.box.run(ctx, t.dir(p), limit+20*time.Second, argv...)
	switch {
	case err == nil:
		return survived, "", nil
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case errors.Is(err, errLate), bytes.Contains(out, []byte("panic: test timed out")):
		return timedOut, last(out), nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return "", "", fmt.Errorf("run the tests of %s: %w", p.dir, err)
	}
	return killed, failed(out), nil
}

var (
	failLine = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)
	runLine  = regexp.MustCompile(`(?m)^=== RUN +(\w+)`)
)

// failed is the name of the first test that failed.
func failed(out []byte) string {
	if m := failLine.FindSubmatch(out); m != nil {
		return string(m[1])
	}
	return last(out)
}

// last is the name of the test that ran last.
func last(out []byte) string {
	if m := runLine.FindAllSubmatch(out, -1); m != nil {
		return string(m[len(m)-1][1])
	}
	return ""
}

func tail(out []byte) string {
	out = bytes.TrimSpace(out)
	if len(out) > 2000 {
		out = append([]byte("… "), out[len(out)-2000:]...)
	}
	return string(out)
}

// near lists the tests that are likely to kill the mutant: those of files that
// share their first word with the mutated one (act_git.go, git_test.go), and
// those that name the mutated function.
func near(root string, p *pack, m mutant) ([]string, error) {
	words := strings.Split(strings.TrimPrefix(strings.TrimSuffix(filepath.Base(m.file), ".go"), "act_"), "_")
	_, function, ok := strings.Cut(m.function, ".")
	if !ok {
		function = m.function
	}
	var out []string
	for _, f := range p.tests {
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, f), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		same := strings.HasPrefix(filepath.Base(f), words[0])
		for _, d := range tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv == nil && isTest(fn.Name.Name) && (same || names(fn, function)) {
				out = append(out, fn.Name.Name)
			}
		}
	}
	return out, nil
}

func isTest(name string) bool {
	return name != "TestMain" && (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Example"))
}

func names(fn *ast.FuncDecl, name string) bool {
	found := false
	ast.Inspect(fn, func(n ast.Node) bool {
		if i, ok := n.(*ast.Ident); ok && i.Name == name {
			found = true
		}
		return !found
	})
	return found
}
