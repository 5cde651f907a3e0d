package source

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Index holds the texts of a folder's source.
type Index struct {
	Files int // that were read
	Lines int
	Bytes int64
	// Skipped are files of known languages that were not read, with the reason.
	Skipped []string

	fsys     fs.FS
	names    []string // of files
	patterns []pattern
	// byName are patterns by the name of theirs that is in the fewest.
	byName map[string][]int
	// pieces are the other texts of a function that may continue a statement, as words.
	pieces  map[place][][]string
	drivers []Driver
	starts  []Start
}

// place is a function of a file.
type place struct {
	file     int
	function string
}

// Limits of what is read: a source file that people wrote is smaller, and what is larger
// was generated or holds data.
const (
	mostBytes = 2 << 20
	mostFiles = 200_000
)

// skippedFolders hold no source of the application's own.
var skippedFolders = set(".git .hg .svn node_modules bower_components __pycache__ .cache .kasoku .tox .venv venv site-packages")

// Build reads the source below fsys's root. A file that cannot be read is skipped and
// named; there must be at least one of a known language.
func Build(ctx context.Context, fsys fs.FS) (*Index, error) {
	x := &Index{fsys: fsys, byName: map[string][]int{}, pieces: map[place][][]string{}}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			if name == "." {
				return err
			}
			x.Skipped = append(x.Skipped, fmt.Sprintf("%s: %v", name, err))
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
			if skippedFolders[d.Name()] && name != "." {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && languageOf(name) != nil && !generated(name):
			if x.names = append(x.names, name); len(x.names) > mostFiles {
				return fmt.Errorf("more than %d files of source", mostFiles)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(x.names) == 0 {
		return nil, fmt.Errorf("no file of Go, PHP, Ruby, Python, Perl, JavaScript, TypeScript, Java or Kotlin in it")
	}
	x.read(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	x.sort()
	return x, nil
}

// generated reports whether a file's name says that a program wrote it, or that it is a
// test.
func generated(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".min.js") || strings.HasSuffix(base, ".pb.go") || strings.HasSuffix(base, "_test.go") || strings.HasSuffix(base, ".d.ts")
}

// one is what a file holds.
type one struct {
	lines, bytes int
	patterns     []pattern
	pieces       map[place][][]string
	drivers      []Driver
	starts       []Start
	skipped      string
}

// read lexes all files, as many at a time as there are processors.
func (x *Index) read(ctx context.Context) {
	read := make([]one, len(x.names))
	next := make(chan int)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				read[i] = x.readFile(i)
			}
		})
	}
	for i := range x.names {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wait.Wait()
	for _, f := range read {
		if f.skipped != "" {
			x.Skipped = append(x.Skipped, f.skipped)
			continue
		}
		x.Files, x.Lines, x.Bytes = x.Files+1, x.Lines+f.lines, x.Bytes+int64(f.bytes)
		x.patterns, x.drivers = append(x.patterns, f.patterns...), append(x.drivers, f.drivers...)
		x.starts = append(x.starts, f.starts...)
		for at, p := range f.pieces {
			x.pieces[at] = p
		}
	}
}

// content of a file; an error says why it is not read.
func (x *Index) content(i int) ([]byte, error) {
	name := x.names[i]
	if info, err := fs.Stat(x.fsys, name); err != nil || info.Size() > mostBytes {
		if err == nil {
			err = fmt.Errorf("%s: larger than %d MiB", name, mostBytes>>20)
		}
		return nil, err
	}
	return fs.ReadFile(x.fsys, name)
}

func (x *Index) readFile(i int) one {
	src, err := x.content(i)
	if err != nil {
		return one{skipped: err.Error()}
	}
	l := languageOf(x.names[i])
	out := one{lines: strings.Count(string(src), "\n"), bytes: len(src), pieces: map[place][][]string{}}
	var others []Text
	held := map[string]bool{} // functions with a statement
	toks := lex(l, src)
	out.drivers, out.starts = drivers(l, toks, x.names[i]), starts(l, toks, x.names[i])
	for _, t := range texts(l, toks) {
		if statement(t.s) {
			if p := patternOf(t, i); len(p.words) > 2 {
				out.patterns, held[t.Function] = append(out.patterns, p), true
			}
			continue
		}
		others = append(others, t)
	}
	for _, t := range others {
		if held[t.Function] && len(t.s) < 1<<12 {
			if ws := patternOf(t, i).words; len(ws) > 0 {
				at := place{i, t.Function}
				out.pieces[at] = append(out.pieces[at], ws)
			}
		}
	}
	return out
}

// sort files patterns under the name of theirs that the fewest have.
func (x *Index) sort() {
	count := map[string]int{}
	for _, p := range x.patterns {
		for _, n := range p.names {
			count[n]++
		}
	}
	for i, p := range x.patterns {
		key := ""
		if len(p.names) > 0 {
			key = slices.MinFunc(p.names, func(a, b string) int { return count[a] - count[b] })
		}
		x.byName[key] = append(x.byName[key], i)
	}
}
