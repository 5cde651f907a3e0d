package host

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// gatherScript prints every line of the files that its arguments (patterns of
// the shell) name, each behind the file's path and a colon, so that no file's
// text can pass for another's. xargs keeps a long list below the kernel's limit
// of arguments. What cannot be read is left out.
const gatherScript = `printf '%s\0' $@ | LC_ALL=C xargs -0 grep -aHs ''`

// gatherAtOnce files are read side by side without a program there; for more,
// or where a pattern must be resolved, gatherScript is cheaper.
const gatherAtOnce = 16

// Gather reads small files of a host in one round trip, and returns a host
// that answers ReadFile (and List of folders with numbered entries, as /proc)
// from what was read and passes everything else on. It is for files of the
// kernel, of which hundreds are read at one moment: on a host that is 20 ms
// away a process table would take five seconds one by one.
//
// Patterns are absolute paths without spaces or colons; a part "[0-9]*" stands
// for any number. Where nothing is gained, on the machine that Kasoku runs on,
// or the host lacks sh, xargs or grep, h itself is returned. A file that
// matches a pattern and could not be read, or was empty, is fs.ErrNotExist. A
// missing end of line is added, but to files named cmdline.
func Gather(ctx context.Context, h Host, patterns ...string) Host {
	switch h := h.(type) {
	case *Local:
		return h
	case *gathered:
		return Gather(ctx, h.Host, patterns...)
	}
	g := &gathered{Host: h, patterns: patterns, files: map[string][]byte{}}
	if len(patterns) <= gatherAtOnce && !slices.ContainsFunc(patterns, func(p string) bool { return strings.ContainsAny(p, "*[?") }) {
		return g.each(ctx)
	}
	res, err := h.Run(ctx, Command{Argv: append([]string{"sh", "-c", gatherScript, "sh"}, patterns...), Timeout: 10 * time.Second})
	if err != nil {
		return h
	}
	// grep ends with 2 and xargs with 123 if a file was gone, which is normal.
	if g.parse(res.Stdout); len(g.files) == 0 {
		return h
	}
	return g
}

// gathered is a host of which some files have been read.
type gathered struct {
	Host
	patterns []string
	files    map[string][]byte
}

// each reads plain paths, many at a time.
func (g *gathered) each(ctx context.Context) Host {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, p := range g.patterns {
		wg.Go(func() {
			data, err := g.Host.ReadFile(ctx, p)
			if err == nil {
				mu.Lock()
				g.files[p] = data
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return g.Host
	}
	return g
}

// parse takes the output of gatherScript apart.
func (g *gathered) parse(out []byte) {
	name, from := "", 0
	flush := func(to int) {
		if name == "" {
			return
		}
		var data []byte
		for line := range bytes.Lines(out[from:to]) {
			data = append(data, line[len(name)+1:]...)
		}
		if path.Base(name) == "cmdline" {
			data = bytes.TrimSuffix(data, []byte("\n"))
		}
		g.files[name] = data
	}
	at := 0
	for line := range bytes.Lines(out) {
		if name == "" || !bytes.HasPrefix(line, []byte(name+":")) {
			flush(at)
			p, _, ok := bytes.Cut(line, []byte(":"))
			if name, from = "", at; ok && len(p) > 0 && p[0] == '/' {
				name = string(p)
			}
		}
		at += len(line)
	}
	flush(at)
}

func (g *gathered) covers(p string) bool {
	return slices.ContainsFunc(g.patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, p)
		return ok && err == nil
	})
}

// ReadFile answers from what was read.
func (g *gathered) ReadFile(ctx context.Context, p string) ([]byte, error) {
	if data, ok := g.files[p]; ok {
		return data, nil
	}
	if g.covers(p) {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("read %s: %w", p, err)
		}
		return nil, fmt.Errorf("read %s: %w", p, fs.ErrNotExist)
	}
	return g.Host.ReadFile(ctx, p)
}

// List answers for folders whose numbered entries a pattern asked for. Of the
// entries only the paths are known.
func (g *gathered) List(ctx context.Context, dir string) ([]FileInfo, error) {
	dir = path.Clean(dir)
	asked := slices.ContainsFunc(g.patterns, func(pattern string) bool {
		at := strings.LastIndex(pattern, "/[0-9]*/")
		if at < 0 {
			return false
		}
		ok, err := path.Match(pattern[:at], dir)
		return ok && err == nil
	})
	if !asked {
		return g.Host.List(ctx, dir)
	}
	names := map[string]bool{}
	for p := range g.files {
		if rest, ok := strings.CutPrefix(p, dir+"/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			names[name] = true
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("list %s: %w", dir, fs.ErrNotExist)
	}
	var out []FileInfo
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, FileInfo{Path: path.Join(dir, name), Mode: fs.ModeDir, UID: -1, GID: -1})
	}
	return out, nil
}
